// Whole-number noise with a log-concave law, and its probit step: how much a shift by one costs in units of
// Gaussian noise (docs/theory/integer-noise.md).
//
// It assumes symmetric laws that are log-concave by a theorem: discrete Gaussian, Skellam and two-sided geometric
// noise, and sums of them. It returns the step rounded up, with what the tails beyond it may give away.

package profiles

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// An integerLaw is symmetric log-concave noise N on the whole numbers, by the logarithms of P[N = j] and of
// P[N ≥ j] for j = 0, 1, …, with bounds of their errors.
//
// A law that is continued is that of N up to the last of them, but for one factor, and falls by e^−rate at each
// further j, which is no faster than N: Theorem 2 of docs/theory/integer-noise.md has its D for that of N, and what is
// given away.
type integerLaw struct {
	mass, tail       []float64
	massErr, tailErr []float64
	continued        bool
	rate             float64 // rounded up
}

// A probitStep is D = sup_j z(P[N ≤ j]) − z(P[N < j]), z the inverse of the normal distribution function, rounded up, over the
// steps up to that which ends at P[N < last], or over all of a law that is continued. Where all is set, no step of N is longer.
type probitStep struct {
	step  float64
	last  int
	z, dz float64 // the probit of P[N ≥ last], and its error
	all   bool
}

// probit returns z with log Φ̄(z) = logTail, for tails below ½, and a bound of its error, given that of logTail. It
// begins at start.
func probit(logTail, err, start float64) (z, dz float64) {
	z = start
	wrong := math.Inf(1)
	for range 60 {
		d := xmath.LogNormalTail(z) - logTail
		if !(math.Abs(d) < wrong) {
			break
		}
		wrong = math.Abs(d)
		if wrong <= 2*xmath.U*(1+math.Abs(logTail)) {
			break
		}
		z = max(0, z+d/xmath.NormalHazard(z))
	}
	wrong += err + 5*xmath.U*(1+math.Abs(logTail))
	// From 0 on the hazard, the slope of −log Φ̄, is at least √(2/π) > 0.79, and it is at least its argument, which is
	// above z − wrong/0.79.
	return z, (wrong/max(z-wrong/0.79, 0.79) + xmath.U*z) * (1 + 4*xmath.U)
}

// firstProbit is probit without a value next to it.
func firstProbit(logTail, err float64) (z, dz float64) {
	return probit(logTail, err, math.Sqrt(max(0, -2*logTail-2*math.Ln2)))
}

// step returns the probit step over all of the law that is listed. g(j) − g(j−1) is z(j+1) − z(j) with Φ̄(z(j)) = P[N ≥ j]
// for j ≥ 1, and 2z(1) for j = 0; the others follow by symmetry.
func (l *integerLaw) step() probitStep {
	z, dz := firstProbit(l.tail[1], l.tailErr[1])
	s := probitStep{step: xmath.Up(2*(z+dz), 2), last: len(l.tail) - 1}
	before := -z
	for j := 2; j < len(l.tail); j++ {
		next, dn := probit(l.tail[j], l.tailErr[j], 2*z-before)
		s.step = max(s.step, xmath.Up(next-z+dn+dz, 2))
		before, z, dz = z, next, dn
	}
	s.z, s.dz = z, dz
	if l.continued {
		// −log of each ratio from here on is the integral of the normal hazard over one step. The hazard increases, and at z
		// it is at least (3z + √(z²+8))/4 (Sampford 1953).
		z -= dz
		s.step = max(s.step, xmath.Up(l.rate*4/(3*z+math.Sqrt(z*z+8)), 8))
	}
	return s
}

// fromRatios returns the law of ratios[j] = P[N = j]/P[N = j−1], j ≥ 1, known to the relative errors err[j], to the last
// but spare of them: those are what its tails are summed from. Ratios do not increase, by log-concavity. Without spare ones
// it is continued.
func fromRatios(ratios, err []float64, spare int) *integerLaw {
	n := len(ratios)
	l := &integerLaw{continued: spare == 0}
	// rest[j] = P[N ≥ j]/P[N = j] = 1 + ratios[j+1]·rest[j+1]. Beyond the last, it is between 1 and 1/(1 − ratio).
	rest, wrong := make([]float64, n), make([]float64, n)
	most := min(ratios[n-1]*(1+2*err[n-1]), 1-1e-16)
	last := 1 / (1 - most)
	rest[n-1], wrong[n-1] = (1+last)/2, (last-1)/2+4*xmath.U*last
	if l.continued {
		l.rate = xmath.Up(-xmath.Log(ratios[n-1])+2*err[n-1], 2)
		rest[n-1], wrong[n-1] = last, (4*err[n-1]+4*xmath.U)*last*last
	}
	for j := n - 2; j >= 0; j-- {
		x := ratios[j+1] * rest[j+1]
		rest[j] = 1 + x
		wrong[j] = ratios[j+1]*wrong[j+1]*(1+err[j+1]) + x*(err[j+1]+2*xmath.U) + xmath.U*rest[j]
	}
	n -= spare
	l.mass, l.tail, l.massErr, l.tailErr = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	// The masses of both sides make 1.
	first := 2*rest[0] - 1
	var log xmath.Sum
	log.Add(-xmath.Log(first))
	at := 2*wrong[0]/first + 3*xmath.U*(1+math.Abs(log.Value()))
	for j := range n {
		if j > 0 {
			r := xmath.Log(ratios[j])
			log.Add(r)
			at += err[j]*(1+err[j]) + xmath.U*(1+math.Abs(r))
		}
		l.mass[j], l.massErr[j] = log.Value(), at+xmath.U*math.Abs(log.Value())
		l.tail[j] = l.mass[j] + xmath.Log(rest[j])
		l.tailErr[j] = l.massErr[j] + wrong[j]/rest[j]*(1+1e-9) + 4*xmath.U*(1+math.Abs(l.tail[j]))
	}
	return l
}

// Sizes of the laws whose steps are looked at. A law longer than mostSteps has its tails given away.
const (
	mostSteps    = 1 << 16
	mostGaussian = 1 << 18
	deepestTail  = -720 // log of a mass that no float64 δ can tell
	spareRatios  = 64
)

// gaussianLaw returns discrete Gaussian noise up to j, and Lemma 3 of docs/theory/integer-noise.md.
func gaussianLaw(sigma float64) (*integerLaw, probitStep) { return nearlyGaussian(sigma, 0) }

// nearlyGaussian returns log-concave noise whose masses are those of discrete Gaussian noise up to factors of e^±ripple, and
// the same lemma for it.
func nearlyGaussian(sigma, ripple float64) (*integerLaw, probitStep) {
	deep := int(math.Ceil(math.Sqrt(-2*deepestTail)*sigma)) + 2
	n, spare := max(int(math.Ceil(16.4*sigma*sigma))+4, deep), spareRatios
	if n > mostGaussian {
		n, spare = deep, 0
	}
	ratios, wrong := make([]float64, n+spare), make([]float64, n+spare)
	for j := 1; j < len(ratios); j++ {
		x := (2*float64(j) - 1) / (2 * sigma * sigma)
		ratios[j], wrong[j] = math.Exp(-x), xmath.U*(2+12*x) // sigma may have been rounded, twice
	}
	l := fromRatios(ratios, wrong, spare)
	l.rippled(ripple)
	s := l.step()
	s.step = max(s.step, xmath.Up(1/sigma, 8)) // the lemma assumes D ≥ 1/σ
	if !l.continued {
		s = s.gaussianTail(sigma, ripple)
	}
	return l, s
}

// rippled makes room for a factor of e^±ripple at each mass.
func (l *integerLaw) rippled(ripple float64) {
	if ripple == 0 {
		return
	}
	tail := ripple
	if l.continued { // by a ratio that is known to 2·ripple
		tail += 2 * ripple / -math.Expm1(-l.rate)
		l.rate = xmath.Up(l.rate+2*ripple, 1)
	}
	for j := range l.mass {
		l.massErr[j] = xmath.Up(l.massErr[j]+ripple, 1)
		l.tailErr[j] = xmath.Up(l.tailErr[j]+tail*(1+1e-9), 2)
	}
}

// gaussianTail returns s with what Lemma 3 says: D, or one that is larger by at most 1e-6 of it, covers all steps if both of
// its conditions hold at the last one.
func (s probitStep) gaussianTail(sigma, ripple float64) probitStep {
	j, v := float64(s.last), sigma*sigma
	far := (2*j+1)/(2*v) + 2*ripple
	low, high := s.z-s.dz, s.z+s.dz
	for _, more := range []float64{0, 1e-9, 1e-7, 1e-6} {
		d := xmath.Up(s.step*(1+more), 1)
		if high+1/low <= d*(j-0.5-2*ripple*v)*(1-1e-12) && low >= (far+math.Log1p(math.Exp(-far)))/d*(1+1e-12) {
			s.step, s.all = d, true
			return s
		}
	}
	return s
}

// skellamLaw returns the difference of two Poisson variables of mean variance/2 each, and Lemma 3′ of
// docs/theory/integer-noise.md. The ratios of its masses are those of Bessel functions I_j(v), for which
// ρ(j) = 1/(2j/v + ρ(j+1)).
func skellamLaw(v float64) (*integerLaw, probitStep) {
	// Chernoff: log P[N ≥ x] ≤ −v·(y·asinh y − √(1+y²) + 1), y = x/v, which is at least v·y²/(2+y).
	_, far := xmath.Bisect(0, 1500*(1+1/v), 60, func(y float64) bool {
		return v*(y*math.Asinh(y)-math.Sqrt(1+y*y)+1) < -deepestTail
	})
	deep := 2 + int(math.Ceil(v*far))
	n, spare := max(int(math.Ceil(2.3*v))+16, deep), spareRatios
	if n > mostSkellam {
		n = deep
		spare += int(40 * v / float64(n)) // tails fall by about n/v at each j
	}
	low, wrong := recurrence{a0: 1, b1: 2 / v, c0: 1, unsure: 2}.ratios(n+spare, 0)
	l := fromRatios(low, wrong, spare)
	s := l.step()
	if s.all = s.skellamTail(v); !s.all {
		l = fromRatios(low[:n], wrong[:n], 0)
		s = l.step()
	}
	return l, s
}

// mostSkellam is to where the steps of Skellam noise are looked at one by one, if that does for Lemma 3′. It trades time for
// digits of nothing.
const mostSkellam = 1 << 13

// skellamTail reports whether no step beyond the last is longer than D, by Lemma 3′ at a j from which on it holds. On the way
// there steps in (a, b] are at most −log of the ratio of tails at b, which is at most asinh of (b + 1/asinh((b−½)/v))/v,
// over the hazard at a; and the tail at a is at most that at the last one times e^−v(H(a/v) − H(last/v)), H(y) = y·asinh y −
// √(1+y²) (Lemma 3‴).
func (s probitStep) skellamTail(v float64) bool {
	logTail, a := xmath.LogNormalTail(s.z-s.dz), float64(s.last)
	first := a
	z := s.z - s.dz
	for wide := 0.01; ; {
		near, far := xmath.Log(2+2*(a+1)/v), xmath.Log(2+2*(a+2)/v)
		if a+1 >= v && z >= near/s.step*(1+1e-12) &&
			far/(v+a+1) <= s.step*s.step*z*z/(1+z*z)*xmath.Log(2*(a+1)/v)*(1-1e-12) {
			return true
		}
		b := math.Ceil(a * (1 + wide))
		if b-a < 1 || !(a*a > 4*v) {
			return false
		}
		if math.Asinh((b+1/math.Asinh((b-0.5)/v))/v)*4*(1+1e-12) > s.step*(3*z+math.Sqrt(z*z+8)) {
			if wide /= 2; b == a+1 {
				return false
			}
			continue
		}
		a, wide = b, min(0.01, wide*1.5)
		h := a/v*math.Asinh(a/v) - first/v*math.Asinh(first/v) - (a/v-first/v)*(a/v+first/v)/(math.Sqrt(1+a*a/v/v)+math.Sqrt(1+first*first/v/v))
		var dz float64
		z, dz = probit(logTail-v*h*(1-1e-12), 0, z)
		z -= dz
	}
}

// A recurrence is of three masses next to each other: b₁j·f(j) = (a₀+a₁j)·f(j−1) − (c₀+c₁j)·f(j+1), so that the ratios
// ρ(j) = f(j)/f(j−1) are (a₀+a₁j)/(b₁j + (c₀+c₁j)·ρ(j+1)).
type recurrence struct {
	a0, a1, b1, c0, c1 float64
	unsure             float64 // relative error of the coefficients, in units of rounding
}

// farRatio is by how much the ratios from two starts may differ where they begin to be kept, relative to them.
const farRatio = 64 * xmath.U

// ratios returns ρ(j), 1 ≤ j < n, and bounds of their relative errors. ρ falls, and lies between least and 1; whatever it is
// far out, its error shrinks from one j to the next.
func (c recurrence) ratios(n int, least float64) (out, err []float64) {
	for more := 64; ; more *= 2 {
		low, high := least, 1.0
		for j := n + more; j >= n; j-- {
			low, _, _ = c.next(j, low)
			high, _, _ = c.next(j, high)
		}
		if math.Abs(high-low) > farRatio*low {
			continue
		}
		out, err = make([]float64, n), make([]float64, n)
		e := farRatio * (1 + 1e-9)
		for j := n - 1; j >= 1; j-- {
			ratio, share, rounding := c.next(j, low)
			low, e = ratio, rounding+share*e
			out[j], err[j] = low, e
		}
		return out, err
	}
}

// next returns ρ(j) from ρ(j+1), its share of that one's relative error, and what rounding adds.
func (c recurrence) next(j int, rho float64) (ratio, share, rounding float64) {
	x := float64(j)
	a, b, part := c.a0+c.a1*x, c.b1*x, (c.c0+c.c1*x)*rho
	below := b + part
	wrong := c.unsure * (b + math.Abs(part)) / below
	if c.a1 != 0 {
		wrong += c.unsure + 2
	}
	return a / below, math.Abs(part) / below, (wrong + 2.1) * xmath.U
}

// geometricLaw returns two-sided geometric noise of scale b, and Lemma 3″: the longest step is the one at the centre.
func geometricLaw(b float64) (*integerLaw, probitStep) {
	n := min(int(math.Ceil(-deepestTail*b))+2, mostSteps)
	a := 1 / b
	l := &integerLaw{mass: make([]float64, n), tail: make([]float64, n), massErr: make([]float64, n), tailErr: make([]float64, n)}
	w := laplaceWeights{a}
	for j := range n {
		l.mass[j], l.tail[j] = w.log(j), w.tail(j)
		l.massErr[j] = xmath.U * (8 + 4*math.Abs(l.mass[j]))
		l.tailErr[j] = xmath.U * (8 + 4*math.Abs(l.tail[j]))
	}
	z, dz := firstProbit(l.tail[1], l.tailErr[1])
	return l, probitStep{step: xmath.Up(2*(z+dz), 2), last: n - 1, all: true}
}

// gaussianSum returns the sum of n independent copies of discrete Gaussian noise. Its masses are those of one discrete
// Gaussian but for factors of e^±ripple; where that is too much for most, times the deviation, they are convolved.
func gaussianSum(sigma float64, n int64, most float64) (*integerLaw, probitStep, error) {
	if n == 1 {
		l, s := gaussianLaw(sigma)
		return l, s, nil
	}
	total := sigma * math.Sqrt(float64(n))
	if ripple := gaussianRipple(sigma, n); ripple*total <= most {
		l, s := nearlyGaussian(total, ripple)
		return l, s, nil
	}
	one, _ := gaussianLaw(sigma)
	l, err := one.sumOf(n)
	if err != nil {
		return nil, probitStep{}, err
	}
	s := l.step()
	return l, s, nil
}

// gaussianRipple bounds |log| of the masses of the sum over those of one discrete Gaussian (Lemma 4 of
// docs/theory/integer-noise.md), +Inf where it is not small.
func gaussianRipple(sigma float64, n int64) float64 {
	if sigma < 1 {
		return math.Inf(1)
	}
	t := 2 * math.Pi * math.Pi * sigma * sigma * (1 - 1e-12)
	// Vectors of at most eight entries besides 0, and all others. 2.0001 sums e^{−t(x²−1)/2} over x ≠ 0.
	few := 2.0001 * float64(n) * math.Exp(-t*max(0.5, 1-8/float64(n)))
	many := 2.0001 * float64(n) * math.Exp(-t/2)
	eta := few*(1+few) + math.Pow(many, 9)/362880*math.Exp(many)
	if !(few < 0.1 && eta < 0.01) {
		return math.Inf(1)
	}
	return 2.1 * eta
}

// geometricSum returns the sum of n independent copies of two-sided geometric noise of scale b, r = e^{−1/b}: its masses
// have (1+r²)·j·f(j) = r(j−1+n)·f(j−1) + r(j+1−n)·f(j+1), from their generating function (1 + r² − r(z+1/z))^−n. Ratios of
// masses fall to r, so that −log of no ratio of tails is above 1/b: a step from P[N ≥ j] on is at most that over the
// hazard.
func geometricSum(b float64, n int64) (*integerLaw, probitStep, error) {
	if n == 1 {
		l, s := geometricLaw(b)
		return l, s, nil
	}
	r, k := math.Exp(-1/b), float64(n)
	sd := math.Sqrt(2*r*k) / -math.Expm1(-1/b)
	// P[N ≥ √(2t)·sd + t·b] ≤ e^−t. At t = n or so no step is longer than the first.
	reach := func(t float64) float64 { return math.Ceil(math.Sqrt(2*t)*sd+t*b) + 4 }
	most, spare := reach(max(-deepestTail, 1.2*k)), spareRatios
	if most > mostSteps {
		most, spare = reach(-deepestTail), 0
	}
	if most > mostSummedReach {
		return nil, probitStep{}, fault.New("standard-deviation", "with a scale of %v for each of %d clients, tails of the sum reach beyond %d", b, n, mostSummedReach)
	}
	low, wrong := recurrence{a0: r * (k - 1), a1: r, b1: 1 + r*r, c0: r * (k - 1), c1: -r, unsure: 6 + 3/b}.ratios(int(most)+spare, r*(1-1e-15))
	l := fromRatios(low, wrong, spare)
	s := l.step()
	s.all = !l.continued && 4/b <= s.step*(3*(s.z-s.dz)+math.Sqrt(s.z*s.z+8)*(1-1e-9))*(1-1e-12)
	return l, s, nil
}

// mostSummedReach bounds how far tails of geometric noise are listed.
const mostSummedReach = 1 << 20

// mostSummed bounds the standard deviation of a sum whose masses are convolved, which takes its square.
const mostSummed = 300

// sumOf returns the law of the sum of n independent copies of l: log-concave (Hoggar 1974). Masses below leastMass are left
// out, and bounded by their errors.
func (l *integerLaw) sumOf(n int64) (*integerLaw, error) {
	one := l.masses()
	variance := 0.0
	for j, w := range one.w {
		variance += 2 * float64(j) * float64(j) * w
	}
	if sd := math.Sqrt(variance * float64(n)); !(sd <= mostSummed) {
		return nil, fault.New("standard-deviation", "that of the sum, %.5g, is not at most %d", sd, mostSummed)
	}
	var sum *masses
	for ; ; n >>= 1 {
		if n&1 == 1 {
			sum = one.plus(sum)
		}
		if n == 1 {
			return sum.law(), nil
		}
		one = one.plus(one)
	}
}

// masses are those of a symmetric law as numbers: w[j] is P[N = j] up to a relative error err and up to lost, the mass
// that was left out.
type masses struct {
	w         []float64
	err, lost float64
}

// leastMass is below what the masses of a sum are followed to. It is far above the least float64.
const leastMass = 1e-290

func (l *integerLaw) masses() *masses {
	m := &masses{}
	for j, x := range l.mass {
		if x < xmath.Log(leastMass) {
			m.lost = 2 * math.Exp(min(0, l.tail[j])) * (1 + 1e-9)
			break
		}
		m.w = append(m.w, math.Exp(x))
		m.err = max(m.err, l.massErr[j]+4*xmath.U*(1+math.Abs(x)))
	}
	if last := len(l.tail) - 1; len(m.w) > last {
		m.lost = 2 * math.Exp(l.tail[last]) * (1 + 1e-9) // and the last mass once more
	}
	return m
}

// plus returns the law of the sum; that of m alone if o is nil.
func (m *masses) plus(o *masses) *masses {
	if o == nil {
		return m
	}
	a, b := m.w, o.w
	n := len(a) + len(b) - 1
	// Both sides, so that a term is a product of neighbours: b(j − i) = b(i − j).
	both := func(w []float64) []float64 {
		x := make([]float64, 2*len(w)-1)
		for j, v := range w {
			x[len(w)-1+j], x[len(w)-1-j] = v, v
		}
		return x
	}
	first, second := both(a), both(b)
	out := &masses{err: m.err + o.err + xmath.U*float64(2*len(a)+8), lost: m.lost + o.lost}
	for j := range n {
		from, to := max(-len(a)+1, j-len(b)+1), min(len(a)-1, j+len(b)-1)
		x, y := first[from+len(a)-1:to+len(a)], second[from-j+len(b)-1:]
		sum := 0.0
		for i, v := range x {
			sum += v * y[i]
		}
		if sum < leastMass {
			// Log-concave masses fall at least as fast from here on.
			ratio := sum / out.w[j-1]
			out.lost += 2 * sum / (1 - ratio) * (1 + 1e-6)
			break
		}
		out.w = append(out.w, sum)
	}
	return out
}

// law returns the law of the masses, continued from the last that is known well.
func (m *masses) law() *integerLaw {
	n := len(m.w)
	for n > 3 && m.w[n-1] < 1e9*(m.lost+leastMass) {
		n--
	}
	l := &integerLaw{mass: make([]float64, n), tail: make([]float64, n), massErr: make([]float64, n), tailErr: make([]float64, n), continued: true}
	own := m.err + 2*xmath.U*float64(n+8)
	ratio := m.w[n-1] / m.w[n-2]
	l.rate = xmath.Up(-xmath.Log(ratio)+2.1*(own+2*m.lost/m.w[n-1]), 2)
	sum := m.w[n-1] / (1 - ratio) * ratio // beyond
	unsure := (own + 2*m.lost/m.w[n-1]) * 3 / (1 - ratio) * sum
	for j := n - 1; j >= 0; j-- {
		sum += m.w[j]
		l.mass[j], l.massErr[j] = xmath.Log(m.w[j]), 1.01*(own+m.lost/m.w[j])+4*xmath.U*math.Abs(xmath.Log(m.w[j]))
		l.tail[j], l.tailErr[j] = xmath.Log(sum), 1.01*(own+(m.lost+unsure)/sum)+4*xmath.U*math.Abs(xmath.Log(sum))
	}
	return l
}

// Proof (docs/theory/integer-noise.md §2): steps beyond J.
//
// Beyond J the step of Ñ is at most −log r over the hazard at z(1 − G̃(J)): −log G̃ grows by −log r, which is the
// integral of the hazard, and the hazard φ/Φ̄ increases; it is at least (3z + √(z²+8))/4 (Sampford 1953).

// Proof (docs/theory/integer-noise.md §3): Lemma 3.
//
// (2j−1)/2σ² − 2c ≤ λ_j ≤ λ̄_j = log(1 + e^{(2j−1)/2σ² + 2c}), and λ̄ grows by at most 1/σ². Induction with z_{j−1} ≥
// λ̄_j/D and z_{j−1} ≤ z_J + D(j−1−J): d_j ≤ λ̄_j/z_{j−1} ≤ D, so that z_j + 1/z_j ≤ D(j − ½ − 2cσ²) and d_j ≥
// λ_j/(z_j + 1/z_j) ≥ 1/(σ²D): z_j ≥ λ̄_{j+1}/D. ∎

// Proof (docs/theory/integer-noise.md §3): Lemma 3′.
//
// I_{j−1}/I_j lies in [2j/v, 2j/v + 1], so log(2j/v) ≤ λ_j ≤ a_j. With z_{j−1} ≥ a_j/D: d_j ≤ D, and z_j² ≥ z_{j−1}² +
// 2κλ_j, κ = z_J²/(1+z_J²), while a_{j+1}² − a_j² ≤ 2a_{j+1}/(v+j) ≤ 2D²κλ_j, by the condition and as the left side
// falls and the right one grows. ∎

// Proof (docs/theory/integer-noise.md §3): Lemma 3‴.
//
// e^{−asinh(j/v)} ≤ I_j/I_{j−1} ≤ e^{−asinh((j−½)/v)} (Amos 1974). G(j)/G(j−1) is the mean of ratios I_i/I_{i−1}, i ≥
// j, with weights f(i−1) that fall at least geometrically: the mean of i − j is at most 1/asinh((j−½)/v), and
// e^{−asinh} is convex (Jensen). It is at most the first ratio, and asinh is concave, so that the midpoint is at least
// the integral. ∎

// Proof (docs/theory/integer-noise.md §3): Lemma 4.
//
// By (1) of `profiles/vectornoise.go` for v′ = (1, …, 1) they are, up to θ, which is constant up to the sum of
// e^{−2π²σ²|w|²} over the non-zero w of the projection of Z^n onto the complement of v′. Each w is that of an x with
// median 0, |w|² = Σ_{i<k}(x_i − x_k)²/n. An entry other than 0 differs by at least its size from all that are 0 or of
// the other sign, at least n·max(½, 1 − m/n) of them if m are not 0. ∎
