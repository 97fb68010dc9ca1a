// ThresholdSearch: the threshold that a mechanism with scores in [0, 1] reaches often
// enough, from one batch of runs. It assumes a pure candidate.

package selection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// ThresholdSearch finds a threshold that a mechanism with scores in [0, 1]
// reaches with probability about Percentile, on a grid of Resolution steps:
// Algorithm 5 of Liu and Talwar (STOC 2019). The threshold is (Epsilon,
// Delta)-DP, Theorem 4.6(a). Any neighbouring relation. One batch of runs serves
// all steps; its size grows like (Resolution+1)^{6(ε₁+ε₀)/ε₃}.
type ThresholdSearch struct {
	Percentile       float64 // p*, in (0, 1)
	CandidateEpsilon float64 // ε₁ of the mechanism, pure
	Slack            float64 // ε₀, in (0, 1)
	Epsilon, Delta   float64 // of the threshold
	Beta             float64 // probability of failure, in (0, 1)
	Resolution       int     // R > 1
	MaxCalls         float64 // 0 is 1e8
}

// Plan returns the parameters of a run. Calls has e^{ε₀} where the theorem has
// e^{ε₀/2}, which its part (b) needs; Lower is the quantile proved for it.
func (s ThresholdSearch) Plan() (SparsePlan, error) {
	var p SparsePlan
	if err := checkFields(fieldRange{"percentile", s.Percentile, 0, 1},
		fieldRange{"candidate-epsilon", s.CandidateEpsilon, 0, 500}, fieldRange{"slack", s.Slack, 0, 1},
		fieldRange{"epsilon", s.Epsilon, 0, math.Inf(1)}, fieldRange{"delta", s.Delta, 0, 1},
		fieldRange{"beta", s.Beta, 0, 1}, fieldRange{"resolution", float64(s.Resolution), 1, maxResolution + 1}); err != nil {
		return p, err
	}
	r := float64(s.Resolution)
	p.Sensitivity = s.CandidateEpsilon + s.Slack
	p.offsets(s.Slack, s.CandidateEpsilon, s.Delta/(2*r))
	k := 6 * p.Sensitivity / s.Epsilon
	p.Margin = k*xmath.Log(1/s.Beta) + s.Slack/2
	grow := 3 / s.Percentile * math.Pow(s.Beta, -2*k) * math.Pow(r+1, k)
	p.PaperCalls = math.Ceil(grow * p.PaperOffset * math.Exp(s.Slack/2))
	p.Calls = math.Ceil(grow * p.Offset * math.Exp(s.Slack))
	p.ThresholdScale, p.QueryScale = 2*p.Sensitivity/s.Epsilon, 4*p.Sensitivity/s.Epsilon
	share := math.Pow(s.Beta*s.Beta/(r+1), k) * s.Percentile / 3
	p.PaperLower, p.Lower = share*math.Exp(-s.Slack/2), share*math.Exp(-s.Slack)
	return p, nil
}

// Run draws Calls scores and returns the threshold, 0 when no step of the grid
// passes. Scores outside [0, 1] are moved to its ends, NaN to 0. Its noise is
// exact, as in [SparseVector.Run].
func (s ThresholdSearch) Run(ctx context.Context, src rand.Source, score func(ctx context.Context, rng *rand.Rand) (float64, error)) (float64, error) {
	p, err := s.Plan()
	if err != nil {
		return 0, err
	}
	if err := checkCalls(p.Calls, s.MaxCalls); err != nil {
		return 0, err
	}
	next := generators(src)
	noise := next()
	return s.run(ctx, p, noise, func() (float64, error) { return score(ctx, next()) })
}

func (s ThresholdSearch) run(ctx context.Context, p SparsePlan, noise *rand.Rand, score func() (float64, error)) (float64, error) {
	r := s.Resolution
	at := func(i int) float64 { return 1 - float64(i)/float64(r) }
	// passed[i]: scores whose first step at or below them is i.
	passed := make([]float64, r+1)
	for range int64(p.Calls) {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrRun, err)
		}
		q, err := score()
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrRun, err)
		}
		if !(q > 0) {
			q = 0
		}
		i := max(0, min(r, int(math.Ceil((1-min(1, q))*float64(r)))))
		for i > 0 && q >= at(i-1) {
			i--
		}
		for q < at(i) {
			i++
		}
		passed[i]++
	}
	a, b, err := widened(p.Sensitivity, p.ThresholdScale, p.QueryScale)
	if err != nil {
		return 0, err
	}
	level := noisy(noise, xmath.Log(p.Calls*s.Percentile+p.Offset)-p.Margin, a)
	count := passed[0]
	i, err := firstQuery(ctx, r, level, func(i int) (random.Sum, error) {
		count += passed[i+1]
		return noisy(noise, xmath.Log(count+p.Offset), b), nil
	})
	if err != nil || i < 0 {
		return 0, err
	}
	return at(i + 1), nil
}
