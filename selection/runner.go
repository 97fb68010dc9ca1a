// The runs: the best outcome, or the first above a threshold. They assume private
// trials, and return nothing about the number of runs.

package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
)

// A Trial runs the candidate mechanism once: it returns an outcome with its
// score. Both together must be private; that is what the price is computed from.
// All randomness must come from rng or from a source independent of the data and
// of other runs. A NaN score ranks below every other.
//
// An error ends the selection and nothing may be released. A run that can fail
// because of the data must turn its failure into an outcome with score −Inf.
type Trial[T any] func(ctx context.Context, rng *rand.Rand) (payload T, score float64, err error)

// A Result is the outcome that a selection releases. It holds nothing about the
// number of runs, which must stay secret.
type Result[T any] struct {
	// Found is false when there is no outcome: no run at all, or none above the
	// threshold.
	Found   bool
	Payload T
	Score   float64
}

// Options of a selection; the zero value is a good default.
type Options struct {
	// Source is where all random numbers of a selection come from, for example a
	// rand.NewChaCha8 with a seed that reproduces it. It must be as secret as the data.
	// Nil is the operating system's randomness.
	Source rand.Source
	// Padding makes the number of runs constant: the largest one that the law
	// allows is carried out, and runs beyond K are ignored. Use it when the time a
	// selection takes can be observed. It needs a law with a largest K.
	Padding bool
}

// ErrRun is wrapped by the error of a selection that a failing run, or the end of
// its context, has stopped. Neither the error nor the moment it came may be
// released.
var ErrRun = errors.New("selection: a run failed, release nothing")

// generators returns a function that hands out independent generators, all from src;
// nil is the operating system's randomness.
func generators(src rand.Source) func() *rand.Rand {
	master := random.Source(src)
	return func() *rand.Rand { return rand.New(random.Split(master)) }
}

// Best runs the trial K times, K drawn from the law, and returns the outcome of
// the highest score; among equals the first. It is Algorithm 2 of Liu and Talwar
// (STOC 2019) for a geometric law, with a censored or conditioned one its
// variants with a hard stop, and Papernot and Steinke's (ICLR 2022) for others.
// Price: [PriceOfBest].
func Best[T any](ctx context.Context, l Law, trial Trial[T], o Options) (Result[T], error) {
	return first(run(ctx, l, 1, math.Inf(-1), false, trial, o))
}

// first is the only one of at most one result.
func first[T any](results []Result[T], err error) (r Result[T], _ error) {
	if len(results) > 0 {
		r = results[0]
	}
	return r, err
}

// FirstAbove runs the trial until the score reaches the threshold, at most K
// times, K drawn from the law, and returns that outcome. The law must be
// geometric: Algorithm 1 of Liu and Talwar (STOC 2019), or conditioned or censored.
// The threshold must not depend on the data. Price: [PriceOfFirstAbove].
func FirstAbove[T any](ctx context.Context, l Law, threshold float64, trial Trial[T], o Options) (Result[T], error) {
	if err := checkFirstAbove(l); err != nil {
		return Result[T]{}, err
	}
	if math.IsNaN(threshold) {
		return Result[T]{}, fault.New("threshold", "is NaN")
	}
	return first(run(ctx, l, 1, threshold, true, trial, o))
}

// run returns the m outcomes of the highest scores, best first, or with early the first that reaches the threshold.
func run[T any](ctx context.Context, l Law, m int, threshold float64, early bool, trial Trial[T], o Options) ([]Result[T], error) {
	next := generators(o.Source) // one for the law and one per run
	limit, bounded := l.MaxRuns()
	if o.Padding && !bounded {
		return nil, fault.New("padding", "law %v has no largest number of runs; use a conditioned law", l)
	}
	coins := next()
	runs := math.MaxInt
	g, geometric := l.(tnb)
	if geometric = geometric && g.eta == 1 && !o.Padding; !geometric {
		if err := checkMean(l); err != nil {
			return nil, err
		}
		runs = l.Sample(coins)
	}
	if !o.Padding {
		limit = runs
	}
	var best []Result[T]
	for i := range limit {
		// A geometric law tosses its coin after each run, so that a tiny γ costs
		// nothing when a threshold is met early; the coins are those of Sample.
		if geometric && i > 0 && random.Coin(coins, g.gamma) {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRun, err)
		}
		payload, score, err := trial(ctx, next())
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRun, err)
		}
		if math.IsNaN(score) {
			score = math.Inf(-1)
		}
		if i >= runs || early && (len(best) > 0 || score < threshold) {
			continue
		}
		// Equal scores keep the order of the runs, which is that of a uniform key.
		at := len(best)
		for at > 0 && best[at-1].Score < score {
			at--
		}
		if at < m {
			best = slices.Insert(best, at, Result[T]{Found: true, Payload: payload, Score: score})
			best = best[:min(m, len(best))]
		}
		if early && !o.Padding {
			break
		}
	}
	return best, nil
}

// maxSampledMean keeps the exact samplers, which toss about 1/γ coins, below a
// few seconds.
const maxSampledMean = 1e7

func checkMean(l Law) error {
	if m := l.Mean(); m > maxSampledMean {
		return fault.New("law", "%v has a mean of %.4g runs, which is not in [0, %g]", l, m, float64(maxSampledMean))
	}
	return nil
}

// A Choice is the outcome of one of several candidates.
type Choice[T any] struct {
	Candidate int
	Payload   T
}

// Mixture returns the trial that draws one of the candidates, uniformly or with
// the given weights, and runs it. The weights must be fixed in advance. Its
// privacy is that of the worst candidate.
func Mixture[T any](weights []float64, candidates ...Trial[T]) (Trial[Choice[T]], error) {
	if len(candidates) == 0 {
		return nil, fault.New("candidates", "is empty, must list at least one")
	}
	if weights == nil {
		return func(ctx context.Context, rng *rand.Rand) (Choice[T], float64, error) {
			return choose(ctx, rng, candidates, rng.IntN(len(candidates)))
		}, nil
	}
	if len(weights) != len(candidates) {
		return nil, fault.New("weights", "has %d entries, must have one for each of %d candidates", len(weights), len(candidates))
	}
	total := 0.0
	sums := make([]float64, len(weights))
	for i, w := range weights {
		if !(w >= 0 && w <= 1e15) {
			return nil, fault.New(fmt.Sprintf("weights[%d]", i), "%v is not in [0, 1e15]", w)
		}
		total += w
		sums[i] = total
	}
	if total == 0 {
		return nil, fault.New("weights", "sum to 0, must have a positive one")
	}
	return func(ctx context.Context, rng *rand.Rand) (Choice[T], float64, error) {
		x := rng.Float64() * total
		i := 0
		for i < len(sums)-1 && x >= sums[i] {
			i++
		}
		return choose(ctx, rng, candidates, i)
	}, nil
}

func choose[T any](ctx context.Context, rng *rand.Rand, candidates []Trial[T], i int) (Choice[T], float64, error) {
	payload, score, err := candidates[i](ctx, rng)
	return Choice[T]{i, payload}, score, err
}
