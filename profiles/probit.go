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
type integerLaw struct {
	mass, tail       []float64
	massErr, tailErr []float64
}

// A probitStep is D = sup_j z(P[N ≤ j]) − z(P[N < j]), z the inverse of the normal distribution function, over the
// steps up to last, rounded up. Where all is set, no other step is longer.
type probitStep struct {
	step float64
	last int
	all  bool
}

// probit returns z with log Φ̄(z) = logTail, for tails below ½, and a bound of its error, given that of logTail.
func probit(logTail, err float64) (z, dz float64) {
	z = math.Sqrt(max(0, -2*logTail-2*math.Ln2))
	wrong := math.Inf(1)
	for range 60 {
		d := xmath.LogNormalTail(z) - logTail
		if !(math.Abs(d) < wrong) {
			break
		}
		wrong = math.Abs(d)
		z = max(0, z+d/xmath.NormalHazard(z))
	}
	wrong = math.Abs(xmath.LogNormalTail(z)-logTail) + err + 5*xmath.U*(1+math.Abs(logTail))
	// The hazard is at least z, and at least √(2/π) from 0 on.
	return z, wrong/max(z, 0.79)*(1+1e-9) + xmath.U*z
}

// step returns the probit step over all of the law that is listed. g(j) − g(j−1) is z(j+1) − z(j) with Φ̄(z(j)) = P[N ≥ j]
// for j ≥ 1, and 2z(1) for j = 0; the others follow by symmetry.
func (l *integerLaw) step() probitStep {
	z, dz := probit(l.tail[1], l.tailErr[1])
	s := probitStep{step: xmath.Up(2*(z+dz), 2), last: len(l.tail) - 2}
	for j := 2; j < len(l.tail); j++ {
		next, dn := probit(l.tail[j], l.tailErr[j])
		s.step = max(s.step, xmath.Up(next-z+dn+dz, 2))
		z, dz = next, dn
	}
	return s
}

// fromRatios returns the law of ratios[j] = P[N = j]/P[N = j−1], j ≥ 1, known to the relative errors err[j], to the last
// but spare of them: those are what its tails are summed from. Ratios do not increase, by log-concavity.
func fromRatios(ratios, err []float64, spare int) *integerLaw {
	n := len(ratios)
	// rest[j] = P[N ≥ j]/P[N = j] = 1 + ratios[j+1]·rest[j+1]. Beyond the last, it is between 1 and 1/(1 − ratio).
	rest, wrong := make([]float64, n), make([]float64, n)
	last := 1 / (1 - min(ratios[n-1]*(1+2*err[n-1]), 1-1e-16))
	rest[n-1], wrong[n-1] = (1+last)/2, (last-1)/2+4*xmath.U*last
	for j := n - 2; j >= 0; j-- {
		x := ratios[j+1] * rest[j+1]
		rest[j] = 1 + x
		wrong[j] = ratios[j+1]*wrong[j+1]*(1+err[j+1]) + x*(err[j+1]+2*xmath.U) + xmath.U*rest[j]
	}
	n -= spare
	l := &integerLaw{mass: make([]float64, n), tail: make([]float64, n), massErr: make([]float64, n), tailErr: make([]float64, n)}
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
	mostSteps   = 1 << 16
	deepestTail = -720 // log of a mass that no float64 δ can tell
	spareRatios = 64
)

// gaussianLaw returns discrete Gaussian noise up to j, and Lemma 3 of docs/theory/integer-noise.md.
func gaussianLaw(sigma float64) (*integerLaw, probitStep) {
	deep := int(math.Ceil(math.Sqrt(-2*deepestTail)*sigma)) + 2
	n := max(int(math.Ceil(16.3*sigma*sigma))+4, deep)
	whole := n <= mostSteps
	if !whole {
		n = deep
	}
	ratios, wrong := make([]float64, n+spareRatios), make([]float64, n+spareRatios)
	for j := 1; j < len(ratios); j++ {
		x := (2*float64(j) - 1) / (2 * sigma * sigma)
		ratios[j], wrong[j] = math.Exp(-x), xmath.U*(2+3*x)
	}
	l := fromRatios(ratios, wrong, spareRatios)
	s := l.step()
	s.step = max(s.step, xmath.Up(1/(sigma*sigma), 4)*sigma) // the lemma assumes D ≥ 1/σ
	if whole {
		j := float64(s.last)
		z, dz := probit(l.tail[s.last], l.tailErr[s.last])
		far := (2*j + 1) / (2 * sigma * sigma)
		s.all = z+dz+1/(z-dz) <= s.step*(j-0.5)*(1-1e-12) && z-dz >= (far+math.Log1p(math.Exp(-far)))/s.step*(1+1e-12)
	}
	return l, s
}

// skellamLaw returns the difference of two Poisson variables of mean variance/2 each, and Lemma 3′ of
// docs/theory/integer-noise.md. The ratios of its masses are those of Bessel functions I_j(v), for which
// ρ(j) = 1/(2j/v + ρ(j+1)): whatever ρ is far out, its error shrinks by ρ² from one to the next.
func skellamLaw(v float64) (*integerLaw, probitStep) {
	deep := int(math.Ceil(math.Sqrt(-2.2*deepestTail*v))) + 2
	for x := float64(deep); x*(math.Log(2*x/v)-1) < -deepestTail && x < 4*v+1000; x = float64(deep) {
		deep += deep/8 + 1
	}
	n := max(int(math.Ceil(2.3*v))+16, deep)
	whole := n <= mostSteps
	if !whole {
		n = deep
	}
	var low, high, wrong []float64
	for more := 64; ; more *= 2 {
		low, wrong = besselRatios(v, n+spareRatios, more, 0)
		high, _ = besselRatios(v, n+spareRatios, more, 1)
		if math.Abs(high[len(high)-1]-low[len(low)-1]) <= farRatio*low[len(low)-1] {
			break
		}
	}
	l := fromRatios(low, wrong, spareRatios)
	s := l.step()
	if whole {
		j := float64(s.last)
		z, dz := probit(l.tail[s.last], l.tailErr[s.last])
		z -= dz
		near, far := math.Log(2+2*(j+1)/v), math.Log(2+2*(j+2)/v)
		s.all = j+1 >= v && z >= near/s.step*(1+1e-12) &&
			far/(v+j+1) <= s.step*s.step*z*z/(1+z*z)*math.Log(2*(j+1)/v)*(1-1e-12)
	}
	return l, s
}

// farRatio is by how much the ratios from two starts may differ where they begin to be kept, relative to them.
const farRatio = 64 * xmath.U

// besselRatios returns I_j(v)/I_{j−1}(v), 1 ≤ j < n, from a start at n + more, and their relative errors: of rounding, and
// farRatio at the last one. The ratios are between those with ρ = 0 and ρ = 1 at the start.
func besselRatios(v float64, n, more int, start float64) (out, err []float64) {
	out, err = make([]float64, n), make([]float64, n)
	r := start
	for j := n + more; j >= n; j-- {
		r = 1 / (2*float64(j)/v + r)
	}
	e := farRatio * (1 + 1e-9)
	for j := n - 1; j >= 1; j-- {
		x := 2*float64(j)/v + r
		// Of the quotient, the sum and the inverse; and the share of r in the sum.
		e = 3.1*xmath.U + r/x*e
		r = 1 / x
		out[j], err[j] = r, e
	}
	return out, err
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
	z, dz := probit(l.tail[1], l.tailErr[1])
	return l, probitStep{step: xmath.Up(2*(z+dz), 2), last: n - 2, all: true}
}

var errTooLong = fault.New("standard-deviation", "the noise of all clients together is too large: its sum is followed to %d at the most", mostSpread)

// mostSpread bounds the length of a side of a sum of noise, whose convolution takes its square.
const mostSpread = 1 << 13

// sumOf returns the law of the sum of n independent copies of l: log-concave (Hoggar 1974). Masses below e^deepestTail of
// the centre are left out, and bounded by their errors.
func (l *integerLaw) sumOf(n int64) (*integerLaw, error) {
	if float64(len(l.mass))*math.Sqrt(float64(n)) > 4*mostSpread {
		return nil, errTooLong
	}
	one := l.masses()
	var sum *masses
	for {
		if n&1 == 1 {
			var err error
			if sum, err = one.plus(sum); err != nil {
				return nil, err
			}
		}
		if n >>= 1; n == 0 {
			return sum.law(), nil
		}
		var err error
		if one, err = one.plus(one); err != nil {
			return nil, err
		}
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
func (m *masses) plus(o *masses) (*masses, error) {
	if o == nil {
		return m, nil
	}
	a, b := m.w, o.w
	n := len(a) + len(b) - 1
	if n > 2*mostSpread {
		return nil, errTooLong
	}
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
	return out, nil
}

// law returns the law of the masses.
func (m *masses) law() *integerLaw {
	// The last masses are next to what was left out.
	n := len(m.w)
	for n > 2 && m.w[n-1] < 1e6*(m.lost+leastMass) {
		n--
	}
	l := &integerLaw{mass: make([]float64, n), tail: make([]float64, n), massErr: make([]float64, n), tailErr: make([]float64, n)}
	sum := 0.0
	for j := len(m.w) - 1; j >= 0; j-- {
		sum += m.w[j]
		if j >= n {
			continue
		}
		own := m.err + xmath.U*float64(len(m.w)+8)
		l.mass[j], l.massErr[j] = xmath.Log(m.w[j]), 1.01*(own+m.lost/m.w[j])+4*xmath.U*math.Abs(xmath.Log(m.w[j]))
		l.tail[j], l.tailErr[j] = xmath.Log(sum), 1.01*(own+m.lost/sum)+4*xmath.U*math.Abs(xmath.Log(sum))
	}
	return l
}
