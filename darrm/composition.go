// What the paper charges for many answers, for comparison.

package darrm

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// GeneralComposition returns what the paper spends on k runs of an (ε, δ)-DP
// mechanism: (ε', 1 − (1−δ)^k (1−δ')), Theorem 3.4 of Kairouz, Oh and Viswanath,
// "The Composition Theorem for Differential Privacy" (its Theorem 2.3), for any
// neighbouring relation and 0 < δ' < 1. It is an upper bound, rounded up,
// and a loose one: the accountant composes the profiles themselves.
func GeneralComposition(epsilon, delta float64, k int, slack float64) (epsOut, deltaOut float64, err error) {
	switch {
	case !(epsilon >= 0 && epsilon <= 700):
		return 0, 0, fault.New("epsilon", "%v is not in [0, 700]", epsilon)
	case !(delta >= 0 && delta <= 1):
		return 0, 0, fault.New("delta", "%v is not in [0, 1]", delta)
	case k < 1 || k > 1e12:
		return 0, 0, fault.New("count", "%d is not in [1, 1e12]", k)
	case !(slack > 0 && slack < 1):
		return 0, 0, fault.New("slack", "%v is not in (0, 1)", slack)
	}
	n := float64(k)
	mean := math.Tanh(epsilon/2) * epsilon * n
	epsOut = min(n*epsilon,
		mean+epsilon*math.Sqrt(2*n*math.Log(math.E+math.Sqrt(n)*epsilon/slack)),
		mean+epsilon*math.Sqrt(2*n*math.Log(1/slack)))
	deltaOut = -math.Expm1(n*math.Log1p(-delta) + math.Log1p(-slack))
	// Positive terms, each of a dozen roundings at most; logarithms and tanh are within some units.
	return xmath.RoundUp(epsOut, 24), min(1, xmath.RoundUp(deltaOut, 24)), nil
}
