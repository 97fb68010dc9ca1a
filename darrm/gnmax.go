// The Gaussian noisy maximum on two classes, for comparison. It assumes disjoint shards.

package darrm

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// GNMaxNoise returns the smallest standard deviation for which the noisy
// maximum of the vote counts of non-private teachers on disjoint data (GNMax of
// Papernot and others, "Scalable Private Learning with PATE", ICLR 2018) is
// (ε, δ)-DP by its Rényi bound λ/σ² and the conversion ε + log(1/δ)/(λ−1), with
// the order λ that gives it. It is the paper's comparison; the Gaussian profile
// itself needs less noise.
func GNMaxNoise(epsilon, delta float64) (sigma, order float64, err error) {
	if !(epsilon > 0 && epsilon <= 700) {
		return 0, 0, fault.New("epsilon", "%v is not in (0, 700]", epsilon)
	}
	if !(delta > 0 && delta < 1) {
		return 0, 0, fault.New("delta", "%v is not in (0, 1)", delta)
	}
	l := -xmath.Log(delta)
	x := (l + math.Sqrt(l*l+epsilon*l)) / epsilon
	// εx − L is √(L² + εL), free of cancellation.
	return math.Sqrt((1 + x) * x / math.Sqrt(l*l+epsilon*l)), 1 + x, nil
}

// GNMaxAccuracy returns the probability that GNMax on two classes answers with
// the class that leads by the given number of votes.
func GNMaxAccuracy(lead, sigma float64) float64 {
	return xmath.NormalTail(-lead / (sigma * math.Sqrt2))
}
