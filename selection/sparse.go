// What the searches share: the limit of calls, ranges of fields, exact noise on a
// statistic, generators.

package selection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// defaultMaxCalls is the number of calls beyond which the sampled algorithms
// refuse to run, unless their MaxCalls says otherwise.
const defaultMaxCalls = 1e8

// checkCalls returns an error if a guarantee needs more calls of the candidate mechanism than allowed.
func checkCalls(calls, limit float64) error {
	if limit == 0 {
		limit = defaultMaxCalls
	}
	if limit = min(limit, 1e15); !(calls <= limit) {
		return fault.New("max-calls", "%.4g is below %.4g, the number of calls that the guarantee needs", limit, calls)
	}
	return nil
}

type fieldRange struct {
	name         string
	value        float64
	above, below float64 // exclusive
}

func checkFields(fields ...fieldRange) error {
	for _, f := range fields {
		if !(f.value > f.above && f.value < f.below) {
			return fault.New(f.name, "%v is not in (%g, %g)", f.value, f.above, f.below)
		}
	}
	return nil
}

// rounding is how much more than in real arithmetic a statistic of this file can differ
// between neighbours: it is a difference of at most two logarithms of size 745 or less,
// of numbers with a relative error of 2^−52 or less, which two roundings of 2^−52·745 each
// and one of the difference leave within 5e-13.
const rounding = 1e-12

// widened returns the scales of a theorem for a statistic of the given sensitivity, as
// much larger as rounding makes that, and refuses noise beyond what a float64 can scale.
func widened(sensitivity, a, b float64) (threshold, query float64, err error) {
	if a == 0 && b == 0 {
		return 0, 0, nil
	}
	by := 1 + rounding/sensitivity
	threshold, query = xmath.RoundUp(a*by, 8), xmath.RoundUp(b*by, 8)
	if worst := max(threshold, query); !(worst < 1e300) {
		err = fault.New("epsilon", "is too small, the noise would have scale %v, which is not in [0, 1e300)", worst)
	}
	return threshold, query, err
}

// noisy returns value plus exact Laplace noise. Only outcomes of comparisons are ever
// released, and those are the real numbers'.
func noisy(src rand.Source, value, scale float64) random.Sum {
	return random.Noisy(value, scale, random.Laplace(src))
}

func firstQuery(ctx context.Context, n int, level random.Sum, query func(i int) (random.Sum, error)) (int, error) {
	for i := range n {
		if err := ctx.Err(); err != nil {
			return -1, fmt.Errorf("%w: %w", ErrRun, err)
		}
		v, err := query(i)
		if err != nil {
			return -1, fmt.Errorf("%w: %w", ErrRun, err)
		}
		if !v.Less(level) {
			return i, nil
		}
	}
	return -1, nil
}

// Vector: sparse vector where probabilities are known exactly. It assumes that they are
// those of pure mechanisms, and returns an index.

func logit(p float64) float64 { return xmath.Log(p) - math.Log1p(-p) }

// SparseVector finds, in a stream of ε-DP mechanisms with thresholds, the first
// one that reaches its threshold with a large enough probability, where those
// probabilities can be computed exactly: Algorithm 3 of Liu and Talwar (STOC
// 2019). It costs Epsilon (pure) in all, Theorem 4.1, whatever the length of the
// stream; the logit of the probability has sensitivity 2·CandidateEpsilon. Any
// neighbouring relation.
type SparseVector struct {
	Percentile       float64 // the probability to reach, in (0, 1)
	CandidateEpsilon float64 // of each mechanism in the stream
	Epsilon          float64 // of the answer
}

func (s SparseVector) check() error {
	return checkFields(fieldRange{name: "percentile", value: s.Percentile, above: 0, below: 1},
		fieldRange{name: "candidate-epsilon", value: s.CandidateEpsilon, above: 0, below: math.Inf(1)},
		fieldRange{name: "epsilon", value: s.Epsilon, above: 0, below: math.Inf(1)})
}

// Scales returns the scales of the Laplace noise on the threshold and on every
// query, 4ε₁/ε₃ and 8ε₁/ε₃.
func (s SparseVector) scales() (threshold, query float64) {
	return 4 * s.CandidateEpsilon / s.Epsilon, 8 * s.CandidateEpsilon / s.Epsilon
}

// Run asks for the probabilities of queries 0, 1, … and returns the index of the
// first one that passes, or −1 when n queries have not. The index, and so the
// answer "not yet" to every earlier query, may be released. The noise is exact: the index
// has the law of Theorem 4.1 for noise a little above [SparseVector.Scales], which makes
// up for the rounding of the logits. That the percentiles are the true ones is assumed.
func (s SparseVector) Run(ctx context.Context, src rand.Source, n int, percentile func(ctx context.Context, query int) (float64, error)) (int, error) {
	if err := s.check(); err != nil {
		return -1, err
	}
	return s.run(ctx, generators(src)(), n, percentile)
}

// run compares ξ + logit p with ν + logit p*.
func (s SparseVector) run(ctx context.Context, rng *rand.Rand, n int, percentile func(ctx context.Context, query int) (float64, error)) (int, error) {
	a, b := s.scales()
	a, b, err := widened(2*s.CandidateEpsilon, a, b)
	if err != nil {
		return -1, err
	}
	return firstQuery(ctx, n, noisy(rng, logit(s.Percentile), a), func(i int) (random.Sum, error) {
		p, err := percentile(ctx, i)
		if err == nil && !(p >= 0 && p <= 1) {
			err = fault.New("percentile", "%v is not in [0, 1]", p)
		}
		return noisy(rng, logit(p), b), err
	})
}

const maxResolution = 1_000_000

// Sampled: sparse vector where probabilities are estimated by running each mechanism
// many times. It assumes pure candidates; Plan returns what a run takes.

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
	if err := checkFields(fieldRange{name: "percentile", value: s.Percentile, above: 0, below: 1},
		fieldRange{name: "candidate-epsilon", value: s.CandidateEpsilon, above: 0, below: 500}, fieldRange{name: "slack", value: s.Slack, above: 0, below: 1},
		fieldRange{name: "epsilon", value: s.Epsilon, above: 0, below: math.Inf(1)}, fieldRange{name: "delta", value: s.Delta, above: 0, below: 1},
		fieldRange{name: "beta", value: s.Beta, above: 0, below: 1}, fieldRange{name: "queries", value: float64(s.Queries), above: 1, below: 1e15}); err != nil {
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

// ThresholdSearch: the threshold that a mechanism with scores in [0, 1] reaches often
// enough, from one batch of runs. It assumes a pure candidate.

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
	if err := checkFields(fieldRange{name: "percentile", value: s.Percentile, above: 0, below: 1},
		fieldRange{name: "candidate-epsilon", value: s.CandidateEpsilon, above: 0, below: 500}, fieldRange{name: "slack", value: s.Slack, above: 0, below: 1},
		fieldRange{name: "epsilon", value: s.Epsilon, above: 0, below: math.Inf(1)}, fieldRange{name: "delta", value: s.Delta, above: 0, below: 1},
		fieldRange{name: "beta", value: s.Beta, above: 0, below: 1}, fieldRange{name: "resolution", value: float64(s.Resolution), above: 1, below: maxResolution + 1}); err != nil {
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
