// The threshold check as a mechanism with two outcomes, and its cost.

package pate

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

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

func thresholdCost(sigma1 float64) func(order float64) gaussianCost {
	t := 1 / sigma1
	return func(order float64) gaussianCost {
		return newGaussianCost(order, t/math.Sqrt2, t*t/2)
	}
}
