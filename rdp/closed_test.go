package rdp

// Curves in closed form, which the curves of the mechanisms are held to.

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Finite returns the exact curve of two output distributions on the same
// outcomes, the larger of the two directions. Each must be non-negative and sum
// to 1 within 1e-9, and is divided by its sum; outcomes with p = q = 0 are
// ignored. Relation: that of the data sets that p and q belong to.
func Finite(p, q []float64) (Curve, error) {
	if _, err := profiles.NewFinite(p, q); err != nil {
		return nil, err
	}
	f, b := newPair(p, q), newPair(q, p)
	return maxOf(f, b), nil
}

// pair is a finite pair that keeps the relative accuracy of p − q, which losses
// near 0 lose.
type pair struct {
	logQ, loss []float64
	top        float64
}

func newPair(p, q []float64) pair {
	var sp, sq xmath.Sum
	for i := range p {
		sp.Add(p[i])
		sq.Add(q[i])
	}
	var c pair
	for i := range p {
		// r − 1 = (p·Σq − q·Σp)/(q·Σp); the two products are formed with their low
		// halves, so their difference is accurate relative to itself up to the
		// rounding of the sums, whose common factor on r has no effect to first
		// order (E_Q[r − 1] = 0).
		x, y := p[i]*sq.Value(), q[i]*sp.Value()
		d := (x - y) + (math.FMA(p[i], sq.Value(), -x) - math.FMA(q[i], sp.Value(), -y))
		switch {
		case p[i] == 0 && q[i] == 0:
			continue
		case q[i] == 0:
			c.top = math.Inf(1)
		case p[i] == 0:
			c.loss = append(c.loss, math.Inf(-1))
		case math.Abs(d) < y/2:
			c.loss = append(c.loss, math.Log1p(d/y))
		default:
			c.loss = append(c.loss, xmath.Log(p[i])-xmath.Log(q[i])+xmath.Log(sq.Value()/sp.Value()))
		}
		if q[i] != 0 {
			c.logQ = append(c.logQ, xmath.Log(q[i]/sq.Value()))
			c.top = max(c.top, c.loss[len(c.loss)-1])
		}
	}
	return c
}

func (c pair) RDP(alpha float64) float64 {
	top := xmath.RoundUp(c.top, 8)
	if math.IsInf(c.top, 1) || alpha > hugeOrder {
		return top
	}
	terms := make([]float64, len(c.logQ))
	for i := range terms {
		// 8 u relative on losses (logarithms of quotients), 4 u on masses.
		terms[i] = term(alpha, c.logQ[i], c.loss[i], 4*xmath.U, 0)
		if !math.IsInf(c.loss[i], 0) {
			terms[i] += 8 * xmath.U * (2 + alpha*math.Abs(c.loss[i]))
		}
	}
	return min(fromMoment(alpha, logSumUp(terms)), top)
}

// DiscreteGaussian returns the exact curve of discrete Gaussian noise with σ =
// noiseMultiplier × sensitivity on one whole number with that sensitivity. At
// orders with integer α·sensitivity it equals the continuous α/(2·noiseMultiplier²);
// in between it is lower, visibly so only for σ below 1. For a vector of queries use
// the bound ZCDP(1/(2·noiseMultiplier²)) with the L2 sensitivity.
//
// Theorem: Canonne, Kamath and Steinke (NeurIPS 2020), Proposition 5 and its
// proof: D_α = αs²/(2σ²) + log(Θ(αs)/Θ(0))/(α−1), Θ(c) = Σ_k e^{−(k−c)²/(2σ²)}.
// Relation: the one under which the sensitivity was measured.
func DiscreteGaussian(noiseMultiplier float64, sensitivity int) (Curve, error) {
	if err := noiserange.CheckDiscrete("discrete-gaussian", noiseMultiplier, sensitivity); err != nil {
		return nil, err
	}
	return exactGaussian{noiseMultiplier * float64(sensitivity), float64(sensitivity), gaussian{noiseMultiplier}}, nil
}

type exactGaussian struct {
	sigma, shift float64
	bound        gaussian
}

func (m exactGaussian) RDP(alpha float64) float64 {
	v := m.bound.RDP(alpha)
	centre := alpha * m.shift
	// By Poisson summation Θ(c)/Θ(0) lies in 1 ± 5·e^{−2π²σ²}: beyond σ = 2.5
	// nothing of the correction is left. Nor is it worth listing 1e5 outcomes.
	if m.sigma > 2.5 || centre == math.Trunc(centre) || centre > 1e5 {
		return v
	}
	// Outcomes from 40σ below 0 to 40σ above αs, under Q shifted to 0; what lies
	// beyond weighs e^{−800} of the sum.
	margin := math.Ceil(40*m.sigma) + 2
	var logQ, loss []float64
	z := math.Inf(-1)
	for k := -margin; k <= math.Ceil(centre)+margin; k++ {
		w := -k * k / (2 * m.sigma * m.sigma)
		logQ = append(logQ, w)
		loss = append(loss, m.shift*(2*k-m.shift)/(2*m.sigma*m.sigma))
		z = xmath.LogAdd(z, w)
	}
	terms := make([]float64, len(logQ))
	for i := range terms {
		rel := 8 * xmath.U // of weights and losses
		terms[i] = term(alpha, logQ[i]-z, loss[i], rel*(math.Abs(logQ[i])+100), 0) + rel*(2+alpha*math.Abs(loss[i]))
	}
	return min(v, fromMoment(alpha, logSumUp(terms)))
}

// DiscreteLaplace returns the exact curve of discrete Laplace (two-sided
// geometric) noise of scale noiseMultiplier × sensitivity on one whole number
// with that sensitivity, which is the worst of all integer vectors with that L1
// sensitivity (docs/theory/pairs.md §6). With sensitivity 1 it is Pure(1/noiseMultiplier), which
// also stands in for sensitivities above 4096.
//
// Exact: losses are a(2k − s) on 0 < k < s and ±as beyond, a = 1/scale.
// Relation: the one under which the sensitivity was measured; the same in both
// directions.
func DiscreteLaplace(noiseMultiplier float64, sensitivity int) (Curve, error) {
	if err := noiserange.CheckDiscrete("discrete-laplace", noiseMultiplier, sensitivity); err != nil {
		return nil, err
	}
	pure := twoAnswers{1 / noiseMultiplier}
	if sensitivity == 1 || sensitivity > 4096 {
		return pure, nil
	}
	return discreteLaplace{1 / (noiseMultiplier * float64(sensitivity)), sensitivity, pure}, nil
}

type discreteLaplace struct {
	a     float64
	shift int
	pure  twoAnswers
}

func (m discreteLaplace) RDP(alpha float64) float64 {
	top := m.pure.RDP(alpha)
	if alpha > hugeOrder {
		return top
	}
	s := float64(m.shift)
	log1w := math.Log1p(math.Exp(-m.a))
	inner := xmath.Log1mExp(-m.a) - log1w
	terms := make([]float64, 0, m.shift+1)
	add := func(logQ, loss float64) {
		e := 16 * xmath.U * (1 + math.Abs(logQ) + math.Abs(xmath.Log(m.a)))
		terms = append(terms, term(alpha, logQ, loss, e, 0)+8*xmath.U*(2+alpha*math.Abs(loss)))
	}
	add(-log1w, -m.a*s)
	for k := 1.0; k < s; k++ {
		if 2*k != s {
			add(inner-m.a*k, m.a*(2*k-s))
		}
	}
	add(-m.a*s-log1w, m.a*s)
	return min(fromMoment(alpha, logSumUp(terms)), top)
}

// ZCDP returns the curve ρα of ρ-zero-concentrated differential privacy.
//
// Definition: Bun and Steinke, "Concentrated differential privacy" (TCC 2016),
// Definition 1.1. Relation: that of ρ. A Gaussian of noise multiplier σ has
// ρ = 1/(2σ²), and so has discrete Gaussian noise in any dimension.
func ZCDP(rho float64) (Curve, error) {
	if err := checkRange("zcdp", "rho", rho, math.MaxFloat64); err != nil {
		return nil, err
	}
	if rho == 0 {
		return Func(func(float64) float64 { return 0 }), nil
	}
	return Func(func(alpha float64) float64 { return xmath.RoundUp(rho*alpha, 2) }), nil
}

// RandomizedResponse returns the curve of randomized response over a number of
// categories, in which the given probability is that of answering with a
// uniformly random category. Exact: the pair of two true categories, all
// other answers having loss 0 (Mironov 2017, Proposition 5, for two
// categories). Relation: substitute (of the one answer); the same in both
// directions.
func RandomizedResponse(probability float64, categories int) (Curve, error) {
	const name = "randomized-response"
	if err := checkRange(name, "probability", probability, 1); err != nil {
		return nil, err
	}
	if categories < 2 || categories > 1e9 {
		return nil, fault.In(name, fault.New("categories", "%d is not an integer in [2, 1000000000]", categories))
	}
	k := float64(categories)
	return manyAnswers{math.Log1p((1 - probability) / probability * k), k}, nil
}

// manyAnswers is twoAnswers on k outcomes, of which the others have the same probability under both.
type manyAnswers struct{ eps, k float64 }

func (m manyAnswers) RDP(alpha float64) float64 {
	switch {
	case m.eps == 0:
		return 0
	case alpha > hugeOrder || math.IsInf(m.eps, 1) || m.eps < tinyEpsilon:
		return xmath.RoundUp(m.eps, 8)
	}
	a, b := alpha*m.eps, (alpha-1)*m.eps
	la := xmath.Log1mExp(-b) + logExpm1(a) - xmath.LogAdd(m.eps, xmath.Log(m.k-1))
	la += xmath.U * (16 + 4*a + 4*math.Abs(xmath.Log(b)) + 4*m.eps + 4*math.Abs(la))
	return min(fromMoment(alpha, la), xmath.RoundUp(m.eps, 8))
}

// Laplace returns the curve of Laplace noise with the noise multiplier b (scale
// over L1 sensitivity),
//
//	1/(α−1) · log(α/(2α−1)·e^{(α−1)/b} + (α−1)/(2α−1)·e^{−α/b}).
//
// Theorem: Mironov 2017, Proposition 6; exact. Relation: the one under which
// the sensitivity was measured; the same in both directions.
func Laplace(noiseMultiplier float64) (Curve, error) {
	if err := noiserange.Check("laplace", noiseMultiplier); err != nil {
		return nil, err
	}
	return laplace{1 / noiseMultiplier}, nil
}

// Exponential returns the curve of a mechanism whose privacy loss on any pair of
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
func Exponential(epsilon float64) (Curve, error) {
	if err := checkRange("exponential", "epsilon", epsilon, maxEpsilon); err != nil {
		return nil, err
	}
	return boundedRange{epsilon}, nil
}

// poissonGaussianAdd returns the curve of the add direction of PoissonGaussian, or of the other one where its transform proves
// nothing.
func poissonGaussianAdd(rate, noiseMultiplier float64) (Curve, error) {
	c, err := newPoissonGaussian(rate, noiseMultiplier)
	g, ok := c.(poissonGaussian)
	if !ok {
		return c, err
	}
	return Func(func(alpha float64) float64 {
		v := g.RDP(alpha)
		if alpha <= maxOrder {
			v = min(v, byTransform(g.t.Reverse(), alpha))
		}
		return v
	}), err
}
