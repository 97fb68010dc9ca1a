// The Gaussian noisy maximum on two classes, for comparison. It assumes disjoint shards.

package darrm

import (
	"fmt"
	"math"
	"slices"

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
	l := -math.Log(delta)
	x := (l + math.Sqrt(l*l+epsilon*l)) / epsilon
	// εx − L is √(L² + εL), free of cancellation.
	return math.Sqrt((1 + x) * x / math.Sqrt(l*l+epsilon*l)), 1 + x, nil
}

// GNMaxAccuracy returns the probability that GNMax on two classes answers with
// the class that leads by the given number of votes.
func GNMaxAccuracy(lead, sigma float64) float64 {
	return xmath.NormalTail(-lead / (sigma * math.Sqrt2))
}

// GNMaxDataDependentRDP returns the Rényi cost of order λ of one GNMax query for
// the votes actually cast (Theorem 6 of Papernot and others 2018; Algorithm 6 of
// the paper with its three slips mended). The number depends on the private
// votes: it must not be published, and is no guarantee without smooth sensitivity.
func GNMaxDataDependentRDP(sigma, order float64, votes []float64) (float64, error) {
	if !(sigma > 0 && sigma <= 1e15) {
		return 0, fault.New("sigma", "%v is not in (0, 1e15]", sigma)
	}
	if !(order > 1 && order <= 1e15) {
		return 0, fault.New("order", "%v is not in (1, 1e15]", order)
	}
	if len(votes) < 2 {
		return 0, fault.New("votes", "there are %d counts, must be at least 2", len(votes))
	}
	for i, v := range votes {
		if !(v >= 0 && v <= 1e15) {
			return 0, fault.New(fmt.Sprintf("votes[%d]", i), "%v is not in [0, 1e15]", v)
		}
	}
	base := order / (sigma * sigma)
	lead := slices.Index(votes, slices.Max(votes))
	var logs []float64
	for i, v := range votes {
		if i != lead {
			logs = append(logs, xmath.LogNormalTail((votes[lead]-v)/(sigma*math.Sqrt2)))
		}
	}
	lq := xmath.LogSum(logs)
	if lq >= 0 {
		return base, nil
	}
	m2 := sigma * math.Sqrt(-lq)
	m1 := m2 + 1
	e1, e2 := m1/(sigma*sigma), m2/(sigma*sigma)
	if !(m1 >= order && m2 > 1 && -lq > e2 &&
		lq <= (m2-1)*e2-m2*(math.Log(m1/(m1-1))+math.Log(m2/(m2-1)))) {
		return base, nil
	}
	la := xmath.Log1mExp(lq) - math.Log(-math.Expm1((lq+e2)*(m2-1)/m2))
	lb := e1 - lq/(m1-1)
	return min(base, xmath.LogAdd(xmath.Log1mExp(lq)+(order-1)*la, lq+(order-1)*lb)/(order-1)), nil
}
