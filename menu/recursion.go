// The recursion over budgets, from above or from below, in one direction. It assumes laws on one lattice on the same side,
// and returns values that are at least, or at most, those of the recursion with these laws; every error is in the values
// themselves.

package menu

import (
	"context"
	"math"
	"sort"

	"github.com/dpaccountant/accountant/internal/gonumfft"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	gonum "gonum.org/v1/gonum/dsp/fourier"
)

// directMasses is how many masses the laws of a menu may have together for direct sums, which have a relative error and
// need no transform.
const directMasses = 512

// perProduct is what a term of a direct sum takes, in the unit of parallel.WithWork.
const perProduct = 0.03

// A recursion holds V_b(k) = R_b(e^{−k·step}) for k from low to low+len(value)−1, of the last budget b that was reached; so
// δ_b(ε) is at k = −ε/step.
//
// Beyond the ends, with R convex in α and its slope at least −1: above, R − (1 − α) falls with the loss, so that the value
// at the end bounds what comes; below the low end V is at most its value there. From below these are 1 − α and 0.
type recursion struct {
	up    bool
	step  float64
	theta float64 // values and masses are tilted by it before they are transformed
	low   int
	laws  []*law
	cost  []int
	units int // b

	value  []float64
	inf    []float64 // by budget, bounds from below of the mass that an analyst has at +∞
	kept   []level   // of the last max(cost) budgets, by b modulo their number
	pads   [2]int    // losses below and above that laws reach
	rest   []float64 // 1 − e^{−y} at every point of the padded array, and 0 below
	weight []float64 // e^{−θy} there
	masses int       // of all laws, that are not 0
	back   []float64 // e^{θy}/n at every value
	n      int       // length of transforms; 0 for direct sums
	fft    *gonum.FFT
	freq   [][]complex128 // transforms of the tilted masses
	spread []float64      // of each law, see advance
	buf    []float64
	next   []float64
	prod   []complex128
}

// A level is what later budgets need of one.
type level struct {
	padded []float64    // with direct sums
	freq   []complex128 // with transforms
	norm   float64      // of what was transformed
}

func newRecursion(laws []*law, cost []int, up bool, step, theta float64, low, high int) *recursion {
	r := &recursion{up: up, step: step, theta: theta, low: low, laws: laws, cost: cost}
	deepest := 0
	for i, l := range laws {
		for _, m := range l.mass {
			if m > 0 {
				r.masses++
			}
		}
		deepest = max(deepest, cost[i])
		r.pads[0], r.pads[1] = max(r.pads[0], -l.low), max(r.pads[1], l.high())
	}
	size := high - low + 1 + r.pads[0] + r.pads[1]
	r.value, r.next = make([]float64, high-low+1), make([]float64, high-low+1)
	r.rest, r.weight = make([]float64, size), make([]float64, size)
	for i := range r.rest {
		y := step * float64(low-r.pads[0]+i)
		if y > 0 {
			r.rest[i] = -math.Expm1(-y)
		}
		r.weight[i] = math.Exp(-theta * y)
	}
	r.kept = make([]level, deepest)
	r.inf = []float64{0}
	sign := 1.0
	if !up {
		sign = -1
	}
	for i := range r.value {
		r.value[i] = max(0, r.rest[r.pads[0]+i]*(1+sign*4*xmath.U))
	}
	if r.masses > directMasses {
		r.n = gonumfft.Length(size)
		r.fft = gonum.NewFFT(r.n)
		for i := range r.value {
			r.back = append(r.back, math.Exp(theta*step*float64(low+i))/float64(r.n))
		}
		r.buf, r.prod = make([]float64, r.n), make([]complex128, r.n/2+1)
		for _, l := range laws {
			clear(r.buf)
			sum, square := 0.0, 0.0
			for i, m := range l.mass {
				k := l.low + i
				v := m * math.Exp(theta*step*float64(k))
				r.buf[((-k%r.n)+r.n)%r.n] = v
				sum += v
				square += v * v
			}
			r.freq = append(r.freq, r.fft.Coefficients(nil, r.buf))
			r.spread = append(r.spread, 3*sum+math.Sqrt(float64(r.n)*square))
		}
	}
	r.keep()
	return r
}

// price is what a level takes of a limit of work.
func (r *recursion) price() float64 {
	if r.n > 0 {
		return perPoint * float64(r.n) * float64(len(r.laws)+1) / 2
	}
	return perProduct * float64(r.masses) * float64(len(r.value))
}

// keep stores the values of the budget that was reached for those to come, with their pads.
func (r *recursion) keep() {
	at := &r.kept[r.units%len(r.kept)]
	buf := at.padded
	if r.n > 0 {
		buf = r.buf
		clear(buf)
	} else if buf == nil {
		buf = make([]float64, len(r.rest))
		at.padded = buf
	}
	below, last := r.pads[0], len(r.value)-1
	for i := range r.rest {
		j := i - below
		switch {
		case j < 0 && r.up:
			buf[i] = r.value[0]
		case j < 0:
			buf[i] = 0
		case j <= last:
			buf[i] = r.value[j]
		case r.up:
			// V(y) − (1 − e^{−y}) is at most that at the end.
			buf[i] = min(1, r.rest[i]+max(0, r.value[last]-r.rest[below+last])+4*xmath.U)
		default:
			buf[i] = r.rest[i] * (1 - 4*xmath.U)
		}
	}
	if r.n == 0 {
		return
	}
	norm := 0.0
	for i := range r.rest {
		buf[i] *= r.weight[i]
		norm += buf[i] * buf[i]
	}
	at.norm = math.Sqrt(norm) * (1 + 1e-9)
	at.freq = r.fft.Coefficients(at.freq, buf)
}

// advance goes on to the next budget.
//
// A direct sum of W positive terms has a relative error of (W + 3)·u, and what underflows is some smallest numbers. By a
// transform, the error of each tilted value is at most η·‖V‖₂·(3M + √n·‖p‖₂), M = Σp: the transform of the values has an
// error of η relative to its 2-norm, as has the inverse, and so has that of the masses (package gonumfft; the proof is that
// of docs/theory/subsampling.md §10). Weights are off by some units times their exponents.
func (r *recursion) advance(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := parallel.Spend(ctx, r.price()); err != nil {
		return err
	}
	r.units++
	size := float64(len(r.rest))
	round := 32 * xmath.U * (4 + r.theta*r.step*size)
	copy(r.next, r.value) // never running is never worse
	inf := r.inf[r.units-1]
	for i, l := range r.laws {
		if left := r.units - r.cost[i]; left >= 0 {
			inf = max(inf, (l.inf+l.total()*r.inf[left])*(1-32*xmath.U))
		}
	}
	r.inf = append(r.inf, inf)
	for i, l := range r.laws {
		if r.cost[i] > r.units {
			continue
		}
		from := &r.kept[(r.units-r.cost[i])%len(r.kept)]
		if r.n == 0 {
			r.direct(l, from.padded)
			continue
		}
		own, prod := r.freq[i][:len(from.freq)], r.prod[:len(from.freq)]
		for j, f := range from.freq {
			g := own[j]
			prod[j] = complex(real(f)*real(g)-imag(f)*imag(g), real(f)*imag(g)+imag(f)*real(g))
		}
		r.fft.Sequence(r.buf, r.prod)
		slack := gonumfft.Eta(r.n) * from.norm * r.spread[i] * float64(r.n) * 1.001
		factor, inf := 1-2*round, l.inf*(1-4*xmath.U)
		if r.up {
			slack, factor, inf = -slack, 1+2*round, l.inf*(1+4*xmath.U)
		}
		next, out, back := r.next, r.buf[r.pads[0]:], r.back
		for j, w := range back[:len(next)] {
			if v := (out[j]-slack)*w*factor + inf; v > next[j] || v != v && r.up {
				next[j] = v
			}
		}
	}
	if r.up {
		for j, v := range r.next {
			if !(v <= 1) { // also no number
				r.next[j] = 1
			}
		}
	}
	r.value, r.next = r.next, r.value
	r.keep()
	return nil
}

// direct sets next to the values of running a type with this law, where they are larger.
func (r *recursion) direct(l *law, padded []float64) {
	round := xmath.U * float64(len(l.mass)+4)
	tiny := math.SmallestNonzeroFloat64 * float64(len(l.mass))
	var places []int // of masses
	for i, m := range l.mass {
		if m > 0 {
			places = append(places, i)
		}
	}
	for j := range r.next {
		from := padded[r.pads[0]+j+l.low:]
		sum := l.inf
		for _, i := range places {
			sum += l.mass[i] * from[i]
		}
		if r.up {
			r.next[j] = max(r.next[j], sum*(1+round)+tiny)
		} else {
			r.next[j] = max(r.next[j], sum*(1-round)-tiny)
		}
	}
}

// at returns the value at the loss j·step below 0, where δ(j·step) is, or a bound of it beyond the ends.
func (r *recursion) at(j int) float64 {
	switch k := -j - r.low; {
	case k >= 0 && k < len(r.value):
		return r.value[k]
	case k < 0 && r.up:
		return r.value[0]
	case k < 0:
		return 0
	case r.up:
		return 1
	default:
		return max(0, -math.Expm1(float64(j)*r.step)*(1-4*xmath.U))
	}
}

// A direction has what is known of R_b in one direction of the relation: values above and below, at the points of one
// lattice.
type direction struct {
	above, below *recursion
	moved        float64 // by how much a unit of the budget may displace a loss
}

// place returns the point before ε, which is rounded by less than near to it, and how far ε is from it.
func (d *direction) place(eps float64) (j int, left float64) {
	step := d.above.step
	j = int(math.Floor(min(eps/step, 1e9)))
	return j, min(max(0, eps-float64(j)*step), step)
}

// near is by how much ε is moved outward before it is read: what laws displace, and the rounding of its place.
func (d *direction) near(eps float64) float64 {
	return (d.moved*float64(d.above.units) + 8*xmath.U*(math.Abs(eps)+d.above.step)) * (1 + 1e-9)
}

// upper returns an upper bound of δ at ε ≥ 0: R is convex in α = e^ε, so that a chord between two points is above it.
func (d *direction) upper(eps float64) float64 {
	j, left := d.place(eps - d.near(eps))
	a, b := d.above.at(j), d.above.at(j+1)
	share := math.Expm1(left) / math.Expm1(d.above.step)
	return min(1, (a*max(0, 1-share)+b*share)*(1+16*xmath.U)+8*xmath.U*a)
}

// lower returns a lower bound of δ at ε ≥ 0: R falls, and lies above the line through two of its points beyond either of
// them. Of the point that is further away the value above counts.
func (d *direction) lower(eps float64) float64 {
	step := d.below.step
	j, left := d.place(eps + d.near(eps))
	a, b := d.below.at(j), d.below.at(j+1)
	best := b
	for m := 1; m <= 32; m *= 2 {
		// In units of α_j, and of α_{j+1}.
		if fall := (d.above.at(j-m) - a) / -math.Expm1(-step*float64(m)); fall >= 0 {
			best = max(best, a-fall*math.Expm1(left)*(1+16*xmath.U)-16*xmath.U*a)
		}
		if fall := (b - d.above.at(j+1+m)) / math.Expm1(step*float64(m)); fall > 0 {
			best = max(best, b+fall*-math.Expm1(left-step)*(1-16*xmath.U)-16*xmath.U*b)
		}
	}
	return min(best, a)
}

// epsilon returns bounds of the least ε ≥ 0 with a δ of at most delta, +Inf above where the lattice ends.
func (d *direction) epsilon(delta float64) (lower, upper float64) {
	most := max(0, -d.above.low-1)
	// The first point at which a bound is met; both bounds fall.
	first := func(met func(eps float64) bool) float64 {
		i := sort.Search(most+1, func(i int) bool { return met(float64(i) * d.above.step) })
		switch {
		case i == 0:
			return 0
		case i > most:
			return math.Inf(1)
		}
		in, _ := xmath.Bisect(float64(i)*d.above.step, float64(i-1)*d.above.step, 60, met)
		return in
	}
	upper = first(func(eps float64) bool { return d.upper(eps) <= delta })
	// Not met just below what is returned: δ is above delta there.
	lower = first(func(eps float64) bool { return d.lower(eps) <= delta })
	if math.IsInf(lower, 1) {
		lower = float64(most) * d.above.step
	}
	if d.below.inf[d.below.units] > delta {
		lower = math.Inf(1)
	}
	return lower * (1 - 4*xmath.U), upper
}

// Proof (docs/theory/adaptive.md §4): ends and rounding.
//
// Above the largest point R − (1 − α) falls with y, so that V⁺(y) ≤ V⁺(K) + e^{−Kw} − e^{−y} there; below the smallest
// V⁺ is at most its value there. V⁻ has 1 − e^{−y} and 0.
//
// A direct sum of W terms has a relative error of (W + 3)u, and W smallest numbers. A transform of tilted values v =
// Ve^{−θy} and masses p̃ has an error of η‖v‖₂(3Σp̃ + √n‖p̃‖₂) in every value, the pads of the ends included in v and
// in the length n, so that nothing wraps. Weights have relative errors of their exponents. All of it is added to, or
// taken off, every value of every level.
