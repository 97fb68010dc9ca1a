// Curves of the base mechanisms in closed form, rounded up.

package rdp

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// maxEpsilon is that of the profiles.
const maxEpsilon = 1e6

// Where products of α and ε leave float64, D_α ≤ D_∞ = ε stands in for D_α.
const hugeOrder, tinyEpsilon = 1e18, 1e-140

func checkRange(mechanism, field string, x, hi float64) error {
	if !(x >= 0 && x <= hi) {
		return fault.In(mechanism, fault.New(field, "%v is not in [0, %g]", x, hi))
	}
	return nil
}

// Gaussian returns the curve α/(2σ²) of Gaussian noise with the noise
// multiplier σ (standard deviation over L2 sensitivity), in any dimension.
//
// Theorem: Mironov 2017, Proposition 7; exact. Relation: the one under which
// the sensitivity was measured.
func Gaussian(noiseMultiplier float64) (Curve, error) {
	if err := noiserange.Check("gaussian", noiseMultiplier); err != nil {
		return nil, err
	}
	return gaussian{noiseMultiplier}, nil
}

type gaussian struct{ sigma float64 }

// Three operations, and up to 4 u from a σ that was inverted twice.
func (g gaussian) RDP(alpha float64) float64 { return xmath.RoundUp(alpha/(2*g.sigma*g.sigma), 10) }

// Pure returns the tight curve of pure ε-differential privacy,
//
//	1/(α−1) · log((e^{αε} + e^{(1−α)ε})/(1 + e^ε)),
//
// that of randomized response on one bit, which dominates every ε-DP mechanism
// (Kairouz, Oh and Viswanath, ICML 2015, Theorem 3). It implies min(ε, ε²α/2).
// Relation: that of ε; the same in both directions.
func Pure(epsilon float64) (Curve, error) {
	if err := checkRange("pure", "epsilon", epsilon, maxEpsilon); err != nil {
		return nil, err
	}
	return twoAnswers{epsilon}, nil
}

// twoAnswers is the pair on two outcomes with probabilities (e^ε, 1) and (1, e^ε),
// each over e^ε + 1. In closed form
//
//	e^{(α−1)D_α} − 1 = (1 − e^{−(α−1)ε})(e^{αε} − 1)/(e^ε + 1).
type twoAnswers struct{ eps float64 }

func (m twoAnswers) RDP(alpha float64) float64 {
	switch {
	case m.eps == 0:
		return 0
	case alpha > hugeOrder || m.eps < tinyEpsilon:
		return xmath.RoundUp(m.eps, 8)
	}
	a, b := alpha*m.eps, (alpha-1)*m.eps
	la := xmath.Log1mExp(-b) + logExpm1(a) - xmath.LogAdd(m.eps, 0)
	// Products round once, and logExpm1(a) and the last logarithm a few times;
	// a relative error of u in a small b is one of u in 1 − e^{−b}.
	la += xmath.U * (16 + 4*a + 4*math.Abs(xmath.Log(b)) + 4*m.eps + 4*math.Abs(la))
	return min(fromMoment(alpha, la), xmath.RoundUp(m.eps, 8))
}

// laplace is the curve of Laplace noise with the noise multiplier b = 1/m (scale
// over L1 sensitivity),
//
//	1/(α−1) · log(α/(2α−1)·e^{(α−1)/b} + (α−1)/(2α−1)·e^{−α/b}).
//
// Theorem: Mironov 2017, Proposition 6; exact. Relation: the one under which
// the sensitivity was measured; the same in both directions.
type laplace struct{ m float64 }

func (l laplace) RDP(alpha float64) float64 {
	top := xmath.RoundUp(l.m, 2)
	if alpha > hugeOrder {
		return top
	}
	// With f(x) = e^x − 1 − x, the moment is
	// (α·f((α−1)m) + (α−1)·f(−αm))/(2α−1): two positive terms.
	t := alpha - 1
	w := xmath.Log(alpha + t)
	la := xmath.LogAdd(xmath.Log(alpha)-w+logF(t*l.m), xmath.Log(t)-w+logF(-alpha*l.m))
	la += xmath.U * (64 + 8*alpha*l.m + 8*math.Abs(la) + 8*math.Abs(xmath.Log(t)))
	return min(fromMoment(alpha, la), top)
}

// logF returns log(e^x − 1 − x), x ≠ 0.
func logF(x float64) float64 {
	switch {
	case math.Abs(x) < 0.5:
		// x²/2·(1 + x/3 + x²/12 + …): ratios below 1/6.
		s, term := 0.0, 1.0
		for k := 3; math.Abs(term) > 1e-18; k++ {
			s += term
			term *= x / float64(k)
		}
		return 2*xmath.Log(math.Abs(x)) - math.Ln2 + xmath.Log(s)
	case x > 700:
		return x + math.Log1p(-(1+x)*math.Exp(-x))
	}
	return xmath.Log(math.Expm1(x) - x)
}

// boundedRange is the curve of a mechanism whose privacy loss on any pair of
// neighbours has a range of length at most ε: the exponential mechanism that
// samples outcomes with weight exp(ε·u/(2Δ)), or report-noisy-max with Gumbel
// noise. The worst pair has losses t and t − ε; the curve takes the worst t.
//
// Theorem: Dong, Durfee and Rogers, "Optimal differential privacy composition
// for exponential mechanisms" (ICML 2020), Lemma 3.2 (bounded range is
// dominated by two-point pairs); with E_Q[r] = 1 and r in [e^{t−ε}, e^t] the
// convex r^α lies below its chord, and the best t is
// log((α−1)(1 − e^{−αε})/(α(e^{−ε} − e^{−αε}))). Relation: that of the
// sensitivity Δ; the same in both directions.
type boundedRange struct{ eps float64 }

func (m boundedRange) RDP(alpha float64) float64 {
	switch {
	case m.eps == 0:
		return 0
	case alpha > hugeOrder || m.eps < tinyEpsilon:
		return xmath.RoundUp(m.eps, 2)
	}
	// An error δ of s lowers log A by α²δ²/2 and A − 1 by (δ/ε)² relative at most; bestShift is
	// within some 100 u of s, and of ε where that is smaller, so that the loss stays far below
	// the 2^12 units added.
	return min(xmath.RoundUp(m.at(alpha, bestShift(alpha, m.eps)), 1<<12), xmath.RoundUp(m.eps, 2))
}

// bestShift returns the s for which the losses ε − s and −s are worst: with t = α − 1 and
// φ(x) = (1 − e^{−x})/x, e^s = φ(tε)/φ(αε) = (1 + 1/t)/(1 + (1 − e^{−ε})/(e^{tε} − 1)). Where αε is
// small the two factors agree, and the series of log φ is subtracted term by term; the first that
// is left out is below 1e-15·ε.
func bestShift(alpha, eps float64) float64 {
	t := alpha - 1
	if x, y := alpha*eps, t*eps; x < 0.01 {
		return eps * (0.5 - (x+y)/24 + (x+y)*(x*x+y*y)/2880)
	}
	return math.Log1p(1/t) - math.Log1p(-math.Expm1(-eps)/math.Expm1(t*eps))
}

// at is the curve of the pair with losses ε − s and −s.
func (m boundedRange) at(alpha, s float64) float64 {
	logZ := logExpm1(m.eps)
	// Q(ε−s) = (e^s − 1)/(e^ε − 1), Q(−s) = (e^ε − e^s)/(e^ε − 1).
	q1 := logExpm1(s) - logZ
	q2 := s + logExpm1(m.eps-s) - logZ
	qErr := xmath.U * (16 + 4*m.eps + 4*math.Abs(logZ))
	return fromMoment(alpha, logSumUp([]float64{
		term(alpha, q1, m.eps-s, qErr, 0),
		term(alpha, q2, -s, qErr, 0),
	}))
}

// maxOf returns the larger of the curves at every order: both directions of one
// mechanism, or a mechanism that may be any of several.
func maxOf(curves ...Curve) Curve { return maximum{composed{slices.Clone(curves)}} }

type maximum struct{ composed }

func (c maximum) RDP(alpha float64) float64 {
	most := 0.0
	for _, p := range c.parts {
		most = max(most, value(p, alpha)) // NaN if any is
	}
	return most
}

// Curves of discrete profiles, exact but for rounding up.

// fromDiscrete returns the exact Rényi divergence of a discrete profile: of its
// one direction P against Q. Take maxOf with the curve of profiles.Reverse(d) for
// a guarantee in both directions. It is +Inf at every order if some outcome is
// possible under P only.
//
// When d dominates a mechanism the curve bounds the mechanism's divergences:
// they are integrals of the privacy profile with non-negative weights (Zhu,
// Dong and Wang, AISTATS 2022, section 2). Relation and direction: those of d.
func fromDiscrete(d *profiles.Discrete) Curve { return discrete{d} }

type discrete struct{ d *profiles.Discrete }

func (c discrete) RDP(alpha float64) float64 {
	s := c.d.Support()
	if !math.IsInf(s.LogPInf, -1) {
		return math.Inf(1)
	}
	top := xmath.RoundUp(max(s.Max, 0)+s.LossErr, 2)
	if alpha > hugeOrder {
		return top
	}
	atoms := c.d.Atoms()
	terms := make([]float64, 0, len(atoms)+1)
	for _, a := range atoms {
		terms = append(terms, atomTerm(alpha, a, c.d.MassErr(), s.LossErr))
	}
	if !math.IsInf(s.LogQInf, -1) {
		terms = append(terms, atomTerm(alpha, profiles.Atom{LogQ: s.LogQInf, Loss: math.Inf(-1)}, c.d.MassErr(), 0))
	}
	return min(fromMoment(alpha, logSumUp(terms)), top)
}

// atomTerm is the term of an atom, from Q's side for small losses, where a
// profile's masses under Q and its losses are both accurate: a mass of logarithm x to massErr·(1 + |x|).
func atomTerm(alpha float64, a profiles.Atom, massErr, lossErr float64) float64 {
	return term(alpha, a.LogQ, a.Loss, massErr*(1+xmath.FiniteAbs(a.LogQ)), lossErr)
}
