// Sampled: sparse vector where probabilities are estimated by running each mechanism
// many times. It assumes pure candidates; Plan returns what a run takes.

package selection

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A SparsePlan holds the parameters that a sampled sparse-vector algorithm runs
// with.
type SparsePlan struct {
	Sensitivity    float64 // S
	Constant       float64 // C
	PaperOffset    float64 // Δ of the theorem: enough for privacy
	Offset         float64 // Δ used: enough for utility as well
	PaperCalls     float64 // N of the theorem
	Calls          float64 // N used: for each query (SampledSparseVector) or in all (ThresholdSearch)
	Margin         float64 // Λ (ThresholdSearch)
	ThresholdScale float64 // scale of the noise on the threshold
	QueryScale     float64 // scale of the noise on each query
	PaperLower     float64 // the quantile the theorem states (ThresholdSearch)
	Lower          float64 // the quantile that is proved for Calls (ThresholdSearch)
}

// offsets fills in C, Δ: the Δ of the theorems, C·log(2/δ₀)/(ε₀(e^{ε₀+ε₁}−1)), is
// too small for the utility event at the same δ₀, which needs
// 2(e^{ε₀/2}+1)·log(1/δ₀)/(ε₀(e^{ε₀/2}−1)); a larger Δ is always private.
func (p *SparsePlan) offsets(slack, eps, delta0 float64) {
	p.Constant = 2 * (math.Exp(slack+eps) + 1 + math.Exp(slack/2))
	p.PaperOffset = p.Constant * xmath.Log(2/delta0) / (slack * math.Expm1(slack+eps))
	p.Offset = max(p.PaperOffset, 2*(math.Exp(slack/2)+1)*xmath.Log(1/delta0)/(slack*math.Expm1(slack/2)))
}

// SampledSparseVector is [SparseVector] when probabilities can only be estimated
// by running each mechanism many times: Algorithm 4 of Liu and Talwar (STOC
// 2019). It costs (Epsilon, Delta), Theorem 4.4(a). Any neighbouring relation.
//
// The number of runs grows like ((Queries+1)/Beta)^{12(ε₁+ε₀)/ε₃}; [Plan] tells
// it, and Run refuses beyond MaxCalls.
type SampledSparseVector struct {
	Percentile       float64 // the probability to reach, in (0, 1)
	CandidateEpsilon float64 // ε₁ of each mechanism in the stream, pure
	Slack            float64 // ε₀, in (0, 1)
	Epsilon, Delta   float64 // of the answer; Delta in (0, 1)
	Beta             float64 // probability of failure, in (0, 1)
	Queries          int     // the largest number of queries, above 1
	MaxCalls         float64 // calls of the candidate mechanisms in all; 0 is 1e8
}

// Plan returns the parameters of a run. Calls is per query, and twice that of the
// theorem at the offset used: its parts (b) and (c) need that.
func (s SampledSparseVector) Plan() (SparsePlan, error) {
	var p SparsePlan
	if err := checkFields(fieldRange{"percentile", s.Percentile, 0, 1},
		fieldRange{"candidate-epsilon", s.CandidateEpsilon, 0, 500}, fieldRange{"slack", s.Slack, 0, 1},
		fieldRange{"epsilon", s.Epsilon, 0, math.Inf(1)}, fieldRange{"delta", s.Delta, 0, 1},
		fieldRange{"beta", s.Beta, 0, 1}, fieldRange{"queries", float64(s.Queries), 1, 1e15}); err != nil {
		return p, err
	}
	n := float64(s.Queries)
	p.Sensitivity = 2 * (s.CandidateEpsilon + s.Slack)
	p.offsets(s.Slack, s.CandidateEpsilon, s.Delta/(4*n))
	grow := math.Exp(s.Slack) / min(s.Percentile, 1-s.Percentile) * math.Pow((n+1)/s.Beta, 6*p.Sensitivity/s.Epsilon)
	p.PaperCalls = grow * p.PaperOffset
	p.Calls = math.Ceil(2 * grow * p.Offset)
	p.ThresholdScale, p.QueryScale = 2*p.Sensitivity/s.Epsilon, 4*p.Sensitivity/s.Epsilon
	return p, nil
}

// Run draws Calls samples of each query, which reports whether its mechanism
// reached its threshold, and returns the index of the first query that passes, or
// −1. Its noise is exact, as in [SparseVector.Run].
func (s SampledSparseVector) Run(ctx context.Context, src rand.Source, above func(ctx context.Context, query int, rng *rand.Rand) (bool, error)) (int, error) {
	p, err := s.Plan()
	if err != nil {
		return -1, err
	}
	if err := checkCalls(p.Calls*float64(s.Queries), s.MaxCalls); err != nil {
		return -1, err
	}
	next := generators(src)
	rng := next()
	return s.run(ctx, p, rng, func(i int) (float64, error) {
		hits := 0.0
		for range int64(p.Calls) {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			ok, err := above(ctx, i, next())
			if err != nil {
				return 0, err
			}
			if ok {
				hits++
			}
		}
		return hits, nil
	})
}

// run compares ξ + log Φ(x) with ν + log Φ(p*), Φ(x) = (Nx+Δ)/(N(1−x)+Δ).
func (s SampledSparseVector) run(ctx context.Context, p SparsePlan, rng *rand.Rand, hits func(i int) (float64, error)) (int, error) {
	phi := func(h, miss float64) float64 { return xmath.Log(h+p.Offset) - xmath.Log(miss+p.Offset) }
	a, b, err := widened(p.Sensitivity, p.ThresholdScale, p.QueryScale)
	if err != nil {
		return -1, err
	}
	level := noisy(rng, phi(p.Calls*s.Percentile, p.Calls*(1-s.Percentile)), a)
	return firstQuery(ctx, s.Queries, level, func(i int) (random.Sum, error) {
		h, err := hits(i)
		return noisy(rng, phi(h, p.Calls-h), b), err
	})
}
