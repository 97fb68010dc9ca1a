package shuffler

// The mean of the positive part of a sum of very many independent terms, above and below, as one sum over frequencies
// (docs/theory/shuffler.md, Theorem S).

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A value is what is proved of a game at one α: δ(α) ≤ above, and the line through below at α with the slope −slope is
// nowhere above δ.
type value struct{ above, below, slope float64 }

// perNode is the work of one frequency, in terms of a sum, on top of that of each slot.
const (
	perNode = 2
	perSlot = 0.4
)

// deepest is where terms are left out: e^−deepest of the largest. They are counted.
const deepest = 46

// A rule is where the sum is taken: any is sound.
type rule struct {
	theta float64 // the tilt
	tau   float64 // the deviation of the smoothing
	shift float64 // L, what the sum over frequencies is periodic in
	last  float64 // the number of frequencies
	deep  float64 // terms below e^−deep of the largest are left out
}

// sum returns the value of a game at α ≥ 1 for smoothing of a part of the standard deviation.
func (g game) sum(ctx context.Context, alpha, smooth float64) (v value, err error) {
	if g.ratio > 0 && alpha >= g.ratio*(1+1e-12) {
		return value{above: g.outA * (1 + 4*u), below: g.outA * (1 - 4*u)}, nil
	}
	t := newTilt(g, alpha)
	theta, sd, ok := t.saddle()
	if !ok {
		return value{above: 1, below: g.outA * (1 - 4*u)}, nil
	}
	r := rule{theta: theta, tau: smooth * sd, shift: max(40/theta, 14*math.Sqrt(sd*sd+1/(theta*theta))), deep: deepest}
	r.last = math.Ceil(9 / r.tau * r.shift / (2 * math.Pi))
	if err := parallel.Spend(ctx, r.last*(perNode+perSlot*float64(len(g.slots)))); err != nil {
		return value{}, err
	}
	return t.sum(r), ctx.Err()
}

// sum is the value by a rule.
//
// With X = Σ(a − αb), k = ka − α·kb and G normal of deviation τ, mean 0, independent:
//
//	E(X+k)₊ ≤ E(X+k+G)₊ = (h/π)·Re Σ' e^{Φ(s)}/s² − (terms ≥ 0),  s = θ + ijh,  Φ(s) = n·log E e^{sV} + sk + τ²s²/2,
//
// Σ' with half of the first term: the sum over frequencies is that over shifts by multiples of L = 2π/h (Poisson), each
// of which is not negative. That is the upper end. "X + k + G > 0" is a randomized test, and the probabilities of a
// test under both data sets are a line below δ: they are such sums with e^Φ·E(Σa + ka | tilted by s)/s,
// with the shifts bounded by Chernoff's bound. Frequencies that are left out are bounded by the Gaussian factor.
func (t *tilt) sum(r rule) (v value) {
	g, theta, tau := t.g, r.theta, r.tau
	line := t.lean(theta, tau)
	at := line.at(0)
	if at.re < -740 {
		return value{above: g.outA*(1+4*u) + 1e-300/min(1, theta), below: g.outA * (1 - 4*u)} // E(Y)₊ ≤ e^Φ/(eθ)
	}
	h := 2 * math.Pi / r.shift
	top := math.Exp(at.re) // of |e^Φ|
	var up, a, b, errUp, errA, errB float64
	skipped := 0.0
	for j := 0.0; j <= r.last; j++ {
		w := 1.0
		if j == 0 {
			w = 0.5
		}
		y := line.at(j * h)
		if t.n > 50 && y.re < at.re-r.deep {
			skipped++
			continue
		}
		size := w * math.Exp(y.re)
		sin, cos := math.Sincos(y.im)
		// e^Φ/s and e^Φ/s²
		m2 := theta*theta + j*h*j*h
		over := complex(theta/m2, -j*h/m2)
		one := complex(size*cos, size*sin) * over
		up += real(one * over)
		a += real(one * y.a)
		b += real(one * y.b)
		m := math.Sqrt(m2)
		errUp += size / m2 * y.err
		errA += size / m * y.err * (1 + y.sizeA)
		errB += size / m * y.err * (1 + y.sizeB)
	}
	// Frequencies beyond the last one, T: ∫ e^{−τ²t²/2} dt/t² ≤ e^{−τ²T²/2}/(τ²T³), and dt/t likewise. Where |e^Φ| was
	// skipped, q = |E e^{sV}|/E e^{θV} has qⁿ ≤ e^−deep, and a test qⁿ⁻¹, n > 50.
	cutA, cutB := at.sizeA, at.sizeB
	end, f := r.last*h, h/math.Pi
	far := math.Exp(-tau*tau*end*end/2) / (tau * tau * end * end) / math.Pi
	skip := skipped * math.Exp(-r.deep*49/50) * f
	up = (up+errUp)*f + top*(far/end+skip/(theta*theta))
	a = (a-errA)*f - top*cutA*(far+skip/theta)
	b = (b+errB)*f + top*cutB*(far+skip/theta)
	// Shifts of the test: by m·L up it has at most the probability 1, by m·L down that of Chernoff's bound at 2θ.
	alias := math.Exp(-theta*r.shift) / -math.Expm1(-theta*r.shift)
	if deep := t.lean(2*theta, tau).at(0); deep.re-theta*r.shift < 300 {
		alias += math.Exp(deep.re-theta*r.shift) * deep.sizeA / -math.Expm1(-theta*r.shift)
	} else {
		alias = 1
	}
	a = max(0, min(1, a-alias))
	b = max(0, b)
	v = value{above: min(1, (up+g.outA)*(1+8*u)), below: (a+g.outA)*(1-4*u) - t.alpha*b*(1+4*u), slope: t.alpha * b * (1 + 4*u)}
	if math.IsNaN(v.above) {
		v.above = 1
	}
	if !(v.below > g.outA*(1-4*u)) {
		v.below, v.slope = g.outA*(1-4*u), 0
	}
	return v
}

// A tilt is the law of one term V = a − αb under e^{sV}.
type tilt struct {
	g     game
	v     []float64
	k     float64
	n     float64
	alpha float64
}

func newTilt(g game, alpha float64) *tilt {
	t := &tilt{g: g, n: float64(g.n), k: g.ka - alpha*g.kb, alpha: alpha}
	for _, s := range g.slots {
		t.v = append(t.v, s.a-alpha*s.b)
	}
	return t
}

// saddle returns a tilt near which e^Φ/s² is least, and about the standard deviation of the sum there. Any θ > 0 is sound.
func (t *tilt) saddle() (theta, sd float64, ok bool) {
	moments := func(s float64) (mean, variance float64) {
		var m0, m1, m2 float64
		for i, x := range t.g.slots {
			w := x.p * math.Exp(s*t.v[i])
			m0, m1, m2 = m0+w, m1+w*t.v[i], m2+w*t.v[i]*t.v[i]
		}
		mean = m1 / m0
		return t.n*mean + t.k, t.n * max(0, m2/m0-mean*mean)
	}
	_, v0 := moments(0)
	if !(v0 > 0) {
		return 0, 0, false
	}
	largest := 0.0
	for _, v := range t.v {
		largest = max(largest, math.Abs(v))
	}
	lo, hi := 1e-3/math.Sqrt(v0), 150/largest // e^{2θv} does not overflow when it is squared
	if lo >= hi {
		lo = hi / 1e6
	}
	// Φ′(θ) − 2/θ ascends. The ends are a thousandth apart after so many halvings of the logarithm.
	halvings := int(math.Ceil(math.Log2(xmath.Log(hi/lo) / 1e-3)))
	hi, _ = xmath.BisectLog(hi, lo, halvings, func(s float64) bool { m, _ := moments(s); return m > 2/s })
	_, v := moments(hi)
	if !(v > v0*1e-6) {
		v = v0 * 1e-6
	}
	return hi, math.Sqrt(v + 1/(4*hi*hi)), true
}

// A node is what is known at one frequency: Φ = re + i·im, the means of Σa + ka and Σb + kb, bounds of their sizes, and a
// relative error of e^Φ.
type node struct {
	re, im       float64
	a, b         complex128
	sizeA, sizeB float64
	err          float64
}

// A lean is a tilt by one θ: what all its frequencies share.
type lean struct {
	*tilt
	theta, tau   float64
	mass, rise   []float64 // p·e^{θv} and p·expm1(θv)
	size, sa, sb float64   // Σ p·|v|·max(1, e^{θv}), and Σ p·e^{θv} of |a| and |b|
}

func (t *tilt) lean(theta, tau float64) *lean {
	l := &lean{tilt: t, theta: theta, tau: tau}
	for i, s := range t.g.slots {
		c := s.p * math.Exp(theta*t.v[i])
		l.mass, l.rise = append(l.mass, c), append(l.rise, s.p*math.Expm1(theta*t.v[i]))
		l.size += max(s.p, c) * math.Abs(t.v[i])
		l.sa, l.sb = l.sa+c*math.Abs(s.a), l.sb+c*math.Abs(s.b)
	}
	return l
}

// at returns the node at θ + it.
//
// With c = e^{θv}: e^{sv} − 1 = expm1(θv) − 2c·sin²(tv/2) + i·c·sin(tv), each part to 8 u of |sv|·max(1, c), which also
// covers parameters that are known to 8 u. The error of n·log(1 + d) is n/|1 + d| times that of d.
func (t *lean) at(freq float64) (y node) {
	var dr, di, ar, ai, br, bi float64
	for i, s := range t.g.slots {
		c := t.mass[i]
		sin, cos := math.Sincos(freq * t.v[i] / 2)
		re, im := c*(1-2*sin*sin), c*2*sin*cos
		dr += t.rise[i] - c*2*sin*sin
		di += im
		ar, ai = ar+s.a*re, ai+s.a*im
		br, bi = br+s.b*re, bi+s.b*im
	}
	m := math.Sqrt((1+dr)*(1+dr) + di*di)
	abs := math.Sqrt(t.theta*t.theta + freq*freq)
	log := 0.5 * math.Log1p(2*dr+dr*dr+di*di)
	if m < 0.5 {
		log = xmath.Log(m)
	}
	arg := math.Atan2(di, 1+dr)
	y.re = t.n*log + t.theta*t.k + t.tau*t.tau*(t.theta*t.theta-freq*freq)/2
	y.im = t.n*arg + freq*t.k + t.tau*t.tau*t.theta*freq
	// n/(1 + d), its conjugate over the square
	fr, fi := t.n*(1+dr)/(m*m), -t.n*di/(m*m)
	y.a = complex(ar*fr-ai*fi+t.g.ka, ar*fi+ai*fr)
	y.b = complex(br*fr-bi*fi+t.g.kb, br*fi+bi*fr)
	y.sizeA, y.sizeB = t.n*t.sa/m+math.Abs(t.g.ka), t.n*t.sb/m+math.Abs(t.g.kb)
	y.err = u * (64 + 16*t.n*abs*t.size/m + 8*(math.Abs(t.n*log)+math.Abs(t.n*arg)) + 8*abs*math.Abs(t.k) + 8*t.tau*t.tau*abs*abs)
	return y
}

// Proof (docs/theory/shuffler.md §2): Theorem S.
//
// H_α = E(X + k)₊ with X a sum of n equal terms V = a − αb on a few points. Let G be normal with deviation τ. By
// Jensen, E(X+k)₊ ≤ E(X+k+G)₊. With Φ(s) = n·log E e^{sV} + sk + τ²s²/2, s_j = θ + ijh, Poisson's summation gives
// (h/2π)Σ_j e^{Φ(s_j)}/s_j² = Σ_m g(2πm/h)e^{−2πmθ/h}, g(x) = E(X+k+G+x)₊ ≥ 0: every term but m = 0 is at least 0, so
// that the sum is an upper end for every θ, h and τ. "X+k+G > 0" is a randomized test; its probabilities under both
// data sets are such sums with (E Σa + ka under the tilt)/s, the terms m ≠ 0 being at most e^{−θmL}, and e^{Φ(2θ)−θmL}
// times the same factor by Chernoff's bound. A test is a line below δ at every α. What is cut: |e^Φ(s)| ≤
// e^{Φ(θ)−τ²t²/2}, so frequencies beyond T leave at most e^{Φ(θ)−τ²T²/2}/(πτ²T³). Rounding is counted per node. The
// cost does not depend on the number of users. ∎
