package selection

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
)

// LiuTalwarFirstAbove is Theorem 3.1 of Liu and Talwar (STOC 2019): the (ε, δ)
// of their Algorithm 1, a geometric search for the first outcome above a
// threshold that is cut off after maxRuns or more, for an (ε, δ)-DP candidate and
// a slack in [0, 1]: (2ε + slack, 3e^{2ε+slack}δ/γ). maxRuns is
// max{log(2/slack)/γ, 1 + 1/(eγ)} rounded up, 0 standing for no bound. Any
// symmetric neighbouring relation. [Price] is tighter in both numbers.
func LiuTalwarFirstAbove(eps, delta, gamma, slack float64) (epsOut, deltaOut float64, maxRuns float64, err error) {
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
	epsOut = up(2*eps+slack, 4)
	if delta > 0 {
		deltaOut = min(1, up(3*math.Exp(epsOut)*delta/gamma, 16+8*epsOut))
	}
	return epsOut, deltaOut, maxRuns, nil
}

// LiuTalwarBest is Theorem 3.2 of Liu and Talwar (STOC 2019): the best of a
// geometric number of runs of an ε-DP candidate is 3ε-DP. Any neighbouring
// relation.
func LiuTalwarBest(eps float64) (float64, error) { return PapernotSteinkePure(eps, 1) }

// LiuTalwarMiss is Theorem 3.3 of Liu and Talwar (STOC 2019), a bound on the
// probability γ/p to miss the top fraction p, next to its exact value
// γ(1−p)/(p+γ−γp).
func LiuTalwarMiss(gamma, p float64) (bound, exact float64, err error) {
	if !(gamma > 0 && gamma <= 1) {
		return 0, 0, fault.New("gamma", "%v is not in (0, 1]", gamma)
	}
	if !(p > 0 && p <= 1) {
		return 0, 0, fault.New("p", "%v is not in (0, 1]", p)
	}
	return min(1, gamma/p), gamma * (1 - p) / (p + gamma - gamma*p), nil
}

// LiuTalwarCensoredBest is Theorem 3.5 of Liu and Talwar (STOC 2019): the best
// of min(G, maxRuns) runs of an ε-DP candidate, G geometric, is 3(ε+slack)-DP
// for the maxRuns returned (or more), slack in (0, ½). Any neighbouring relation.
// [Price] of a [Censored] law holds for every maxRuns and is tighter.
func LiuTalwarCensoredBest(eps, gamma, slack float64) (epsOut, maxRuns float64, err error) {
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
	return up(3*eps+3*slack, 4), math.Ceil((l + math.Log(l)) / gamma), nil
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
	maxRuns = math.Ceil(math.Log(1/delta2) / gamma)
	s := math.Sqrt(2 * delta)
	epsOut, deltaOut = 3*eps+3*s, s*maxRuns+delta2
	if deltaOut >= 1 {
		return epsOut, deltaOut, maxRuns, fault.New("delta", "%v gives δ = %v, which is not in [0, 1): the statement is empty", delta, deltaOut)
	}
	return epsOut, deltaOut, maxRuns, nil
}
