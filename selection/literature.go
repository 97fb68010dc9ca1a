package selection

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/rdp"
)

// The bounds below are those of the literature, for comparison; those of [Price]
// are never worse.

// PapernotSteinkePure is Corollary 3 of Papernot and Steinke (ICLR 2022): the
// best of negative binomial runs of shape η of an ε-DP candidate is (2+η)ε-DP.
// Any neighbouring relation.
func PapernotSteinkePure(eps, shape float64) (float64, error) {
	if err := checkApprox(eps, 0); err != nil {
		return 0, err
	}
	if err := checkShape(shape); err != nil {
		return 0, err
	}
	return upMul(2+shape, eps), nil
}

// TopRunsPure is the bound (2m+η)ε on releasing the m best of negative binomial
// runs of shape η of an ε-DP candidate (Cohen et al., ITCS 2023, for their law;
// the same proof). Any neighbouring relation.
func TopRunsPure(eps, shape float64, m int) (float64, error) {
	if err := checkApprox(eps, 0); err != nil {
		return 0, err
	}
	if err := checkShape(shape); err != nil {
		return 0, err
	}
	if m < 1 {
		return 0, fault.New("m", "%d is not at least 1", m)
	}
	return up((2*float64(m)+shape)*eps, 4), nil
}

func uncapped(l Law) (tnb, error) {
	t, ok := l.(tnb)
	if !ok {
		return tnb{}, fault.New("law", "%v is not a negative binomial law without a cap", l)
	}
	return t, nil
}

// PapernotSteinke is Theorem 2 of Papernot and Steinke (ICLR 2022): the Rényi
// curve of the best of negative binomial runs,
//
//	ε(λ) + (1+η)(1−1/λ̂)ε(λ̂) + (1+η)log(1/γ)/λ̂ + log E[K]/(λ−1),
//
// least over the orders λ̂ given, 1 and ∞ (over real orders when orders is nil).
// With sharp the intermediate line of its proof stands for the two middle terms,
// (1+η)/λ̂·log(1 + (1/γ−1)e^{(λ̂−1)ε(λ̂)}). The curve is not lowered to its
// [Envelope]. Relation: that of c.
func PapernotSteinke(c rdp.Curve, l Law, orders []float64, sharp bool) (rdp.Curve, error) {
	t, err := uncapped(l)
	if err != nil {
		return nil, err
	}
	x := sharpened(c, t.gamma, orders)
	if !sharp {
		x = overOrders(c, t.b, orders, func(lambda, e float64) float64 {
			return (1-1/lambda)*e + t.b/lambda
		})
	}
	x = up((1+t.eta)*x, 4)
	logM := t.logMean()
	return rdp.Func(func(lambda float64) float64 {
		if math.IsInf(lambda, 1) {
			return up(c.RDP(lambda)+x, 4)
		}
		return up(c.RDP(lambda)+x+logM/(lambda-1), 8)
	}), nil
}

// PapernotSteinkeConcentrated is Corollary 4 of Papernot and Steinke (ICLR
// 2022): the Rényi divergence at order lambda of the best of negative binomial
// runs of a ρ-zCDP candidate, ρ ≤ log(1/γ). Relation: that of ρ.
func PapernotSteinkeConcentrated(rho float64, l Law, lambda float64) (float64, error) {
	t, err := uncapped(l)
	if err != nil {
		return 0, err
	}
	if !(rho > 0 && rho <= t.b) {
		return 0, fault.New("rho", "%v is not in (0, %v], the range up to log(1/γ)", rho, t.b)
	}
	if !(lambda > 1) {
		return 0, fault.New("lambda", "%v is not above 1", lambda)
	}
	logM := t.logMean()
	b := 2*(1+t.eta)*math.Sqrt(rho*t.b) - t.eta*rho
	// Between the two forms: the second is the first at its least order.
	if order := 1 + math.Sqrt(logM/rho); lambda > order {
		return up(rho*(lambda-1)+logM/(lambda-1)+b, 32), nil
	}
	return up(2*math.Sqrt(rho*logM)+b, 32), nil
}

// PapernotSteinkePoissonUnproved is Theorem 6 of Papernot and Steinke (ICLR
// 2022) as published, ε(λ) + μ·δ(log(λ/(λ−1))) + log(μ)/(λ−1), for Poisson runs.
// It is no bound for μ < 1: it leaves out the probability of no run, and can be
// negative. [Price.Curve] repairs it.
func PapernotSteinkePoissonUnproved(c rdp.Curve, candidate Bound, mean, lambda float64) (float64, error) {
	if _, err := Poisson(mean); err != nil {
		return 0, err
	}
	if !(lambda > 1) {
		return 0, fault.New("lambda", "%v is not above 1", lambda)
	}
	return c.RDP(lambda) + mean*math.Exp(candidate(math.Log1p(1/(lambda-1)))) + math.Log(mean)/(lambda-1), nil
}

// ThresholdCurve is the Rényi curve of the first outcome above a threshold
// within a geometric number of runs by conditional sampling: Corollary 16 of
// Papernot and Steinke (ICLR 2022, Appendix C) with Q(S) ≥ γ, in the form
// ε(λ) + (1−1/λ̂)ε(λ̂) + (1/λ̂ + 1/(λ−1))·log(1/γ) for one order λ̂ ≥ 1. Relation:
// that of c. [Price.Curve] is tighter.
func ThresholdCurve(c rdp.Curve, gamma, lambdaHat float64) (rdp.Curve, error) {
	if !(gamma > 0 && gamma <= 1) {
		return nil, fault.New("gamma", "%v is not in (0, 1]", gamma)
	}
	if !(lambdaHat >= 1) {
		return nil, fault.New("lambda-hat", "%v is not at least 1", lambdaHat)
	}
	x := 0.0
	if lambdaHat > 1 {
		x = (1 - 1/lambdaHat) * c.RDP(lambdaHat)
	}
	g := -math.Log(gamma)
	return rdp.Func(func(lambda float64) float64 {
		return up(c.RDP(lambda)+x+(1/lambdaHat+1/(lambda-1))*g, 16)
	}), nil
}

// KoskelaRedbergWang is the form of the profile bound of Koskela, Redberg and
// Wang (ICML 2024) with one free parameter epsHat ≥ 0: E[K]·δ(ε − x) with x =
// (η+1)·log(e^ε̂ + (1/γ−1)δ(ε̂)) for negative binomial, μ(e^ε̂ − 1 + δ(ε̂)) for
// Poisson and (n−1)·log(1 + p(e^ε̂−1) + p/(1−p)·δ(ε̂)) for binomial runs. Relation:
// that of the candidate. The price [Price.Profile] is never above it. The candidate
// is asked once; where ctx is done by then, the error is that of ctx.
func KoskelaRedbergWang(ctx context.Context, candidate Bound, l Law, epsHat float64) (Bound, error) {
	if !(epsHat >= 0 && epsHat <= 700) {
		return nil, fault.New("epsilon-hat", "%v is not in [0, 700]", epsHat)
	}
	d := math.Exp(candidate.until(ctx).at(epsHat))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var x float64
	switch l := l.(type) {
	case tnb:
		x = (l.eta + 1) * math.Log1p(math.Expm1(epsHat)+(1/l.gamma-1)*d)
	case poisson:
		x = l.mu * (math.Expm1(epsHat) + d)
	case binomial:
		x = float64(l.n-1) * math.Log1p(l.p*math.Expm1(epsHat)+l.p/(1-l.p)*d)
	default:
		return nil, fault.New("law", "%v is not negative binomial, Poisson or binomial", l)
	}
	x = up(x, 32)
	logM := l.logMean()
	return func(eps float64) float64 {
		v := logM + candidate.at(eps-x-4*xmath.U*(eps+x))
		if math.IsInf(v, -1) {
			return v
		}
		return min(0, v+8*xmath.U*(1+math.Abs(v)))
	}, nil
}

// DPHyPO is Theorem 1 of Wang et al. (NeurIPS 2023): the Rényi curve of the best
// of negative binomial runs when the density of the next candidate may depend on
// earlier outcomes, as long as it stays within factors [c, C] of a fixed one;
// spread is log(C/c):
//
//	ε(λ) + (1+η)(1−1/λ̂)ε(λ̂) + (λ/(λ−1) + 1 + η)·spread + (1+η)log(1/γ)/λ̂ + log E[K]/(λ−1).
//
// For a pure candidate it is (2+η)(ε + spread) at order +Inf (their Theorem 2).
// Relation: that of c, which must hold for every single candidate.
func DPHyPO(c rdp.Curve, l Law, spread float64) (rdp.Curve, error) {
	t, err := uncapped(l)
	if err != nil {
		return nil, err
	}
	if !(spread >= 0 && spread <= maxPure) {
		return nil, fault.New("spread", "%v is not in [0, %g]", spread, float64(maxPure))
	}
	base, err := PapernotSteinke(c, l, nil, false)
	if err != nil {
		return nil, err
	}
	return rdp.Func(func(lambda float64) float64 {
		factor := 2 + t.eta
		if !math.IsInf(lambda, 1) {
			factor = 1 + t.eta + lambda/(lambda-1)
		}
		return up(base.RDP(lambda)+factor*spread, 16)
	}), nil
}
