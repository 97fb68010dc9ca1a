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
// neighbouring relation and 0 < δ' < 1. It is an upper bound, rounded up, and a loose one:
// the accountant composes the profiles themselves.
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
	// Elementary functions are within two units, other steps within one; no path has more than 14.
	epsOut = min(xmath.RoundUp(n*epsilon, 1),
		xmath.RoundUp(mean+epsilon*math.Sqrt(2*n*xmath.Log(math.E+math.Sqrt(n)*epsilon/slack)), 16),
		xmath.RoundUp(mean+epsilon*math.Sqrt(-2*n*xmath.Log(slack)), 16))
	deltaOut = xmath.RoundUp(-math.Expm1(n*math.Log1p(-delta)+math.Log1p(-slack)), 10)
	return epsOut, min(deltaOut, 1), nil
}
