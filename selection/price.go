// What a search costs, from what one run costs. It assumes independent runs of one
// candidate; every number is rounded up.

package selection

import (
	"cmp"
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Price tells what a selection costs, given what one run of the candidate
// mechanism costs. The neighbouring relation is that of the candidate.
//
// The bounds rest on one lemma. With f the generating function of K and F(y) the
// probability that one run ranks at or below y, the best of K runs has the
// density f'(F(y)) relative to one run; so with R_f the largest ratio of f'
// between two neighbouring data sets, ε_A ≤ ε + ln R_f for pure candidates and
// δ_A(ε) ≤ E[K]·δ_Q(ε − ln R_f) in general (the identity is that of Papernot and
// Steinke, ICLR 2022, Lemma 7; R_f is taken over the whole region of pairs that
// the candidate's profile allows).
type Price struct {
	law   Law
	first bool
}

// PriceOfBest returns the price of [Best] under a law.
func PriceOfBest(l Law) Price { return Price{law: l} }

// PriceOfFirstAbove returns the price of [FirstAbove] under a law: geometric,
// possibly conditioned or censored.
func PriceOfFirstAbove(l Law) (Price, error) {
	if err := (Price{law: l}).ready(); err != nil {
		return Price{}, err
	}
	if err := checkFirstAbove(l); err != nil {
		return Price{}, err
	}
	return Price{law: l, first: true}, nil
}

func checkFirstAbove(l Law) error {
	if eta, _, ok := l.Family(); ok {
		if n, bounded := l.MaxRuns(); eta == 1 || bounded && n == 1 {
			return nil
		}
	}
	return fault.New("law", "%v is not geometric (plain, conditioned or censored), as a threshold needs", l)
}

// ready returns what is missing of a price that no constructor has made, or was made of no law.
func (p Price) ready() error {
	if p.law == nil {
		return fault.New("law", "is missing")
	}
	return nil
}

// logRatio returns the logarithm of the ratio that the outcome's weights can
// have, for a pure candidate: exact for best-of, and for first-above a bound on
// the accepted outcomes and on "no outcome" less ε.
func (p Price) pure(l Law, eps float64) float64 {
	if !p.first {
		return xmath.RoundUp(eps+l.pureRatio(eps), 4)
	}
	_, gamma, _ := l.Family()
	whole := xmath.RoundUp(eps+pureRoot(eps, gamma), 4)
	c, ok := l.(*capped)
	if !ok {
		return whole
	}
	if !c.censored && !c.tilted && c.max() > tableLimit {
		return whole
	}
	// Accepted outcomes have weight Σ Pr[K > k](1−p)^k, "no outcome" f(1−p).
	tail := make(series, c.max())
	rest := 0.0
	for k := c.max(); k >= 1; k-- {
		rest += c.pmf[k]
		tail[k-1] = rest
	}
	accepted := xmath.RoundUp(eps+tail.ratio(eps, c.slack()), 4)
	none := series(c.pmf).ratio(eps, c.slack())
	if c.tilted {
		return max(accepted, none)
	}
	if c.censored {
		return max(min(accepted, whole), min(none, xmath.RoundUp(2*eps+censoringCost(c.gamma, c.max()), 4)))
	}
	return min(whole, max(accepted, none))
}

// Pure returns the ε of the selection when one run is ε-DP, for instance
//
//	ε + (1+η)·t*, t* = log((e^ε+γ)/(1+γe^ε))   best of negative binomial runs,
//	ε + μ·tanh(ε/2)                            best of Poisson(μ) runs,
//	ε + t*                                     first above a threshold.
//
// They are suprema over all pairs of ε-close candidates, so never above the 2ε
// and 3ε of Liu and Talwar (STOC 2019, Theorems 3.1 and 3.2) or the (2+η)ε of
// Papernot and Steinke (ICLR 2022, Corollary 3). Any neighbouring relation.
func (p Price) Pure(eps float64) (float64, error) {
	if err := cmp.Or(p.ready(), checkApprox(eps, 0)); err != nil {
		return 0, err
	}
	return p.pure(p.law, eps), nil
}

// Approximate returns the (ε, δ) of the selection when one run is (ε, δ)-DP:
// δ' = 1 − f(1−δ) ≤ E[K]·δ, which is attained, and ε' the pure price under the
// law of K given that no run leaked. By the decomposition of (ε, δ)-close pairs
// of Kairouz, Oh and Viswanath (ICML 2015): with probability f(1−δ), the same
// on both data sets, all runs are draws from ε-close pairs. Any neighbouring
// relation that is symmetric.
func (p Price) Approximate(eps, delta float64) (epsOut, deltaOut float64, err error) {
	if err := cmp.Or(p.ready(), checkApprox(eps, delta)); err != nil {
		return 0, 0, err
	}
	l := p.law
	if delta > 0 {
		l = l.without(delta)
		n := 64.0
		switch l := p.law.(type) {
		case *capped:
			n += l.slack() / xmath.U
		case tnb:
			n += 16 * l.b // the exponent of ratio
		}
		deltaOut = min(1, xmath.RoundUp(p.law.Hit(delta), n))
	}
	return p.pure(l, eps), deltaOut, nil
}

// Profile returns a bound on the privacy profile of the selection, from one on
// the candidate's: E[K]·δ_Q(ε − ln R_f) with ln R_f = (1+η)·t* (best of negative
// binomial runs) or t* (first above), where t* ≥ 0 is the root of
// (1−γ)·δ_Q(t) = γ·(e^t − 1), and μ·δ_Q(0) for Poisson, (n−1)·t_b for binomial
// runs. Relation: any, that of the candidate, whose bound
// must hold for both directions.
//
// For Poisson laws the price from a Rényi curve can be the smaller one; take the
// Min of both when a curve is at hand.
//
// The candidate is asked some dozens of times for t*; once ctx is done, the error
// is that of ctx. The bound returned asks the candidate once for each question.
func (p Price) Profile(ctx context.Context, candidate Bound) (Bound, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	if candidate == nil {
		return nil, fault.New("candidate", "is missing")
	}
	lnR, err := p.profileRatio(candidate.until(ctx))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	logM := p.law.logMean()
	return func(eps float64) float64 {
		// ε − ln R_f is rounded down: δ decreases.
		x := eps - lnR
		x -= 2 * xmath.U * (eps + lnR)
		d := logM + candidate.at(x)
		if math.IsInf(d, -1) {
			return d
		}
		return min(0, d+4*xmath.U*(1+math.Abs(d)+math.Abs(logM)))
	}, nil
}

func (p Price) profileRatio(candidate Bound) (float64, error) {
	if !p.first {
		return p.law.profileRatio(candidate)
	}
	c, bounded := p.law.(*capped)
	if bounded && c.censored {
		return c.profileRatio(candidate)
	}
	_, gamma, _ := p.law.Family()
	if gamma == 0 {
		return c.profileRatio(candidate)
	}
	return candidate.root(math.Log1p(-gamma), xmath.Log(gamma))
}

// censoringCost bounds from above what cutting a geometric search off after max
// runs adds to the 2ε of Algorithm 1 of Liu and Talwar (STOC 2019):
// log(1 + (1−γ)^T(1−1/T)^{T−1}/(Tγ)), for every T ≥ 1. Their own ε₀ is
// 2e^{−γT}, much larger. It is +Inf for γ = 0.
func censoringCost(gamma float64, maxRuns int) float64 {
	t := float64(maxRuns)
	if !(gamma > 0 && gamma <= 1) || maxRuns < 1 {
		return math.Inf(1)
	}
	if gamma == 1 {
		return 0
	}
	x := t * math.Log1p(-gamma)
	if maxRuns > 1 {
		x += (t - 1) * math.Log1p(-1/t)
	}
	return xmath.RoundUp(math.Log1p(math.Exp(x)/(t*gamma)), 32+4*math.Abs(x))
}
