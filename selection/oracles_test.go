package selection

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/rdp"
)

// Bounds of the literature that prices are compared with.

// thresholdCurve is the Rényi curve of the first outcome above a threshold
// within a geometric number of runs by conditional sampling: Corollary 16 of
// Papernot and Steinke (ICLR 2022, Appendix C) with Q(S) ≥ γ, in the form
// ε(λ) + (1−1/λ̂)ε(λ̂) + (1/λ̂ + 1/(λ−1))·log(1/γ) for one order λ̂ ≥ 1. Relation:
// that of c. [Price.Curve] is tighter.
func thresholdCurve(c rdp.Curve, gamma, lambdaHat float64) (rdp.Curve, error) {
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
		return xmath.RoundUp(c.RDP(lambda)+x+(1/lambdaHat+1/(lambda-1))*g, 16)
	}), nil
}

// liuTalwarFirstAbove is Theorem 3.1 of Liu and Talwar (STOC 2019): the (ε, δ)
// of their Algorithm 1, a geometric search for the first outcome above a
// threshold that is cut off after maxRuns or more, for an (ε, δ)-DP candidate and
// a slack in [0, 1]: (2ε + slack, 3e^{2ε+slack}δ/γ). maxRuns is
// max{log(2/slack)/γ, 1 + 1/(eγ)} rounded up, 0 standing for no bound. Any
// symmetric neighbouring relation. [Price] is tighter in both numbers.
func liuTalwarFirstAbove(eps, delta, gamma, slack float64) (epsOut, deltaOut float64, maxRuns float64, err error) {
	if err := checkApprox(eps, delta); err != nil {
		return 0, 0, 0, err
	}
	if !(gamma >= 0 && gamma <= 1) {
		return 0, 0, 0, fault.New("gamma", "%v is not in [0, 1]", gamma)
	}
	if !(slack >= 0 && slack <= 1) {
		return 0, 0, 0, fault.New("slack", "%v is not in [0, 1]", slack)
	}
	if slack > 0 && gamma > 0 {
		maxRuns = math.Ceil(max(math.Log(2/slack)/gamma, 1+1/(math.E*gamma)))
	}
	epsOut = xmath.RoundUp(2*eps+slack, 4)
	if delta > 0 {
		deltaOut = min(1, xmath.RoundUp(3*math.Exp(epsOut)*delta/gamma, 16+8*epsOut))
	}
	return epsOut, deltaOut, maxRuns, nil
}

// liuTalwarCensoredBest is Theorem 3.5 of Liu and Talwar (STOC 2019): the best
// of min(G, maxRuns) runs of an ε-DP candidate, G geometric, is 3(ε+slack)-DP
// for the maxRuns returned (or more), slack in (0, ½). Any neighbouring relation.
// [Price] of a [Censored] law holds for every maxRuns and is tighter.
func liuTalwarCensoredBest(eps, gamma, slack float64) (epsOut, maxRuns float64, err error) {
	if err := checkApprox(eps, 0); err != nil {
		return 0, 0, err
	}
	if !(gamma > 0 && gamma <= 1) {
		return 0, 0, fault.New("gamma", "%v is not in (0, 1]", gamma)
	}
	if !(slack > 0 && slack < 0.5) {
		return 0, 0, fault.New("slack", "%v is not in (0, 0.5)", slack)
	}
	l := math.Log(2 * (1 + gamma) * (1 + gamma) / (slack * gamma * gamma))
	return xmath.RoundUp(3*eps+3*slack, 4), math.Ceil((l + math.Log(l)) / gamma), nil
}
