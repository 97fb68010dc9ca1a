package selection

import (
	"cmp"
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
	if err := cmp.Or(checkApprox(eps, 0), checkShape(shape)); err != nil {
		return 0, err
	}
	return upMul(2+shape, eps), nil
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
// envelope. Relation: that of c.
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
	x = xmath.RoundUp((1+t.eta)*x, 4)
	logM := t.logMean()
	return rdp.Func(func(lambda float64) float64 {
		if math.IsInf(lambda, 1) {
			return xmath.RoundUp(c.RDP(lambda)+x, 4)
		}
		return xmath.RoundUp(c.RDP(lambda)+x+logM/(lambda-1), 8)
	}), nil
}

// PapernotSteinkePoissonUnproved is Theorem 6 of Papernot and Steinke (ICLR
// 2022) as published, ε(λ) + μ·δ(log(λ/(λ−1))) + log(μ)/(λ−1), for Poisson runs.
// It is no bound for μ < 1: it leaves out the probability of no run, and can be
// negative. [Price.Curve] repairs it.
func PapernotSteinkePoissonUnproved(c rdp.Curve, candidate Bound, mean, lambda float64) (float64, error) {
	if _, err := newPoisson(mean); err != nil {
		return 0, err
	}
	if !(lambda > 1) {
		return 0, fault.New("lambda", "%v is not above 1", lambda)
	}
	return c.RDP(lambda) + mean*math.Exp(candidate(math.Log1p(1/(lambda-1)))) + xmath.Log(mean)/(lambda-1), nil
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
		if l.p == 1 {
			return nil, notPriced(l)
		}
	default:
		return nil, notPriced(l)
	}
	x = xmath.RoundUp(x, 32)
	logM := l.logMean()
	return func(eps float64) float64 {
		v := logM + candidate.at(eps-x-4*xmath.U*(eps+x))
		if math.IsInf(v, -1) {
			return v
		}
		return min(0, v+8*xmath.U*(1+math.Abs(v)))
	}, nil
}

func notPriced(l Law) error {
	return fault.New("law", "%v is not negative binomial, Poisson or binomial", l)
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
		return xmath.RoundUp(base.RDP(lambda)+factor*spread, 16)
	}), nil
}

// LiuTalwarApproximateUnproved is what Theorem 3.4 of Liu and Talwar (STOC 2019)
// states for the best of min(G, T) runs of an (ε, δ)-DP candidate, T =
// log(1/delta2)/γ rounded up: (3ε + 3√(2δ), √(2δ)·T + delta2). It is no bound: the
// lemma behind it (E.2) conditions on a one-sided event and drops the
// renormalisation. It is refused where its δ is 1 or more. Use
// [Price.Approximate].
func LiuTalwarApproximateUnproved(eps, delta, gamma, delta2 float64) (epsOut, deltaOut, maxRuns float64, err error) {
	if err := checkApprox(eps, delta); err != nil {
		return 0, 0, 0, err
	}
	if !(gamma > 0 && gamma <= 1) {
		return 0, 0, 0, fault.New("gamma", "%v is not in (0, 1]", gamma)
	}
	if !(delta2 > 0 && delta2 < 1) {
		return 0, 0, 0, fault.New("delta2", "%v is not in (0, 1)", delta2)
	}
	maxRuns = math.Ceil(xmath.Log(1/delta2) / gamma)
	s := math.Sqrt(2 * delta)
	epsOut, deltaOut = 3*eps+3*s, s*maxRuns+delta2
	if deltaOut >= 1 {
		return epsOut, deltaOut, maxRuns, fault.New("delta", "%v gives δ = %v, which is not in [0, 1): the statement is empty", delta, deltaOut)
	}
	return epsOut, deltaOut, maxRuns, nil
}
