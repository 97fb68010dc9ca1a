package pate

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// ThresholdLogs returns log Pr[v + N(0, σ1²) ≥ T] and log Pr[… < T], each from
// its own tail, so that neither rounds to log 1 minus nothing.
func ThresholdLogs(threshold, sigma1, v float64) (pass, fail float64, err error) {
	if err := errorsOf(checkThreshold(threshold), checkSigma("sigma1", sigma1), checkRange("v", v, -maxThreshold, maxThreshold)); err != nil {
		return 0, 0, err
	}
	pass, fail = thresholdLogs(threshold, sigma1, v)
	return pass, fail, nil
}

func thresholdLogs(threshold, sigma1, v float64) (pass, fail float64) {
	x := (threshold - v) / sigma1
	return xmath.LogNormalTail(x), xmath.LogNormalTail(-x)
}

// thresholdLogQ returns the log of the probability of the less likely outcome
// of the threshold check, rounded up.
func thresholdLogQ(threshold, sigma1, v float64) float64 {
	pass, fail := thresholdLogs(threshold, sigma1, v)
	l := min(pass, fail)
	if math.IsInf(l, -1) {
		return l
	}
	return min(0, l+logTailErr(l))
}

// ThresholdRDP returns the cost at one order of comparing v + N(0, σ1²) with T,
// where v changes by at most 1 between neighbours: the data-dependent bound
// where it applies, and never more than λ/(2σ1²).
//
// Theorem: PATE 2018, Theorem 6 with ε_k = μ_k/(2σ1²), the check being a
// mechanism with two outcomes whose unlikely one has exactly the probability q;
// Proposition 10 with σ = √2·σ1. It bounds D_λ(M(D) ‖ M(D')) at the v of D.
func ThresholdRDP(threshold, sigma1, v, order float64) (float64, error) {
	if err := errorsOf(checkThreshold(threshold), checkSigma("sigma1", sigma1),
		checkRange("v", v, -maxThreshold, maxThreshold), checkOrder("order", order)); err != nil {
		return 0, err
	}
	return thresholdCost(sigma1)(order).upper(thresholdLogQ(threshold, sigma1, v)), nil
}

func thresholdCost(sigma1 float64) func(order float64) gaussianCost {
	t := 1 / sigma1
	return func(order float64) gaussianCost {
		return newGaussianCost(order, t/math.Sqrt2, t*t/2)
	}
}
