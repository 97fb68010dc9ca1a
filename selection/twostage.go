// TwoStage: a search for a threshold, then the first outcome above it. It assumes pure
// candidates with scores in [0, 1].

package selection

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// TwoStage selects among private candidates with scores in [0, 1] when no
// threshold is known: a [ThresholdSearch], then [FirstAbove] with the threshold it
// finds. It is Algorithm 7 of Liu and Talwar (STOC 2019), Theorem 4.7, and costs at
// most (2ε₁ + Slack, Delta) for candidates that are ε₁-DP. Any neighbouring
// relation.
//
// It is here to show what approaching 2ε₁ takes: the number of calls grows like
// Candidates·(Resolution+1)^{6+12ε₁/ε₀} and is out of reach for all but toy
// parameters. Use [Best].
type TwoStage struct {
	Candidates       int     // number of candidates that the trial draws from
	CandidateEpsilon float64 // ε₁, pure
	Slack            float64 // ε₀, in (0, 1]
	Delta            float64 // in (0, 1)
	Beta             float64 // probability of failure, in (0, 1)
	Resolution       int     // R > 1
	MaxCalls         float64 // 0 is 1e8
}

// A TwoStagePlan holds the parameters that a [TwoStage] selection runs with.
type TwoStagePlan struct {
	Exponent float64 // 6 + 12ε₁/ε₀
	Share    float64 // p₁, the probability that the second stage counts on
	Gamma    float64 // stopping probability of the second stage
	MaxRuns  float64 // log(2/ε₀')/γ, the cut-off of the theorem, ε₀' = ε₀/2
	Calls    float64 // of the first stage, plus the expected ones of the second
	Search   ThresholdSearch
	Epsilon  float64 // what both stages cost together, Delta being as given
}

// Plan returns the parameters of a run. Both stages get half of the slack, which
// is what makes the exponent and the total of the theorem come out.
func (s TwoStage) Plan() (TwoStagePlan, error) {
	var p TwoStagePlan
	if err := checkFields(fieldRange{name: "candidates", value: float64(s.Candidates), above: 0, below: 1e15},
		fieldRange{name: "candidate-epsilon", value: s.CandidateEpsilon, above: 0, below: 500},
		fieldRange{name: "slack", value: s.Slack, above: 0, below: math.Nextafter(1, 2)}, fieldRange{name: "delta", value: s.Delta, above: 0, below: 1},
		fieldRange{name: "beta", value: s.Beta, above: 0, below: 1}, fieldRange{name: "resolution", value: float64(s.Resolution), above: 1, below: maxResolution + 1}); err != nil {
		return p, err
	}
	k := float64(s.Candidates)
	half := s.Slack / 2
	p.Exponent = 6 + 12*s.CandidateEpsilon/s.Slack
	p.Share = math.Pow(s.Beta*s.Beta/float64(s.Resolution+1), p.Exponent) / (12 * k)
	p.Gamma = p.Share * s.Beta
	p.MaxRuns = math.Ceil(xmath.Log(2/half) / p.Gamma)
	p.Search = ThresholdSearch{Percentile: 1 / (2 * k), CandidateEpsilon: s.CandidateEpsilon, Slack: half,
		Epsilon: half, Delta: s.Delta, Beta: s.Beta, Resolution: s.Resolution, MaxCalls: s.MaxCalls}
	search, err := p.Search.Plan()
	if err != nil {
		return p, err
	}
	p.Calls = search.Calls + 1/p.Gamma
	l, err := newGeometric(p.Gamma)
	if err != nil {
		return p, err
	}
	price, err := PriceOfFirstAbove(l)
	if err != nil {
		return p, err
	}
	second, err := price.Pure(s.CandidateEpsilon)
	p.Epsilon = xmath.RoundUp(half+second, 4)
	return p, err
}

// RunTwoStage runs both stages. The second one is not cut off, which costs less
// than the theorem's cut-off and has the same expected number of calls.
func RunTwoStage[T any](ctx context.Context, src rand.Source, s TwoStage, trial Trial[T]) (Result[T], error) {
	p, err := s.Plan()
	if err != nil {
		return Result[T]{}, err
	}
	if err := checkCalls(p.Calls, s.MaxCalls); err != nil {
		return Result[T]{}, err
	}
	l, err := newGeometric(p.Gamma)
	if err != nil {
		return Result[T]{}, err
	}
	master := random.Source(src)
	search, runs := random.Split(master), random.Split(master)
	threshold, err := p.Search.Run(ctx, search, func(ctx context.Context, rng *rand.Rand) (float64, error) {
		_, score, err := trial(ctx, rng)
		return score, err
	})
	if err != nil {
		return Result[T]{}, err
	}
	return FirstAbove(ctx, l, threshold, trial, Options{Source: runs})
}
