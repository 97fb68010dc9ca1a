// The runs, of which the m best are published.

package selection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
)

// Top runs the trial K times, K drawn from the law, and returns the m outcomes of the
// highest scores, best first; fewer where there are fewer runs. Price: [Price]. src as in
// [WithSource]; errors as those of [Best].
func Top[T any](ctx context.Context, l Law, m int, src rand.Source, trial Trial[T]) ([]Result[T], error) {
	if _, _, err := check(l, m); err != nil {
		return nil, err
	}
	if mean := l.Mean(); mean > maxTopMean {
		return nil, fault.New("law", "%v has a mean of %.4g runs, which is not in [0, %g]", l, mean, float64(maxTopMean))
	}
	master := random.Source(src)
	runs := l.Sample(rand.New(random.Split(master)))
	var best []Result[T]
	for range runs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRun, err)
		}
		payload, score, err := trial(ctx, rand.New(random.Split(master)))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRun, err)
		}
		if math.IsNaN(score) {
			score = math.Inf(-1)
		}
		// Equal scores keep the order of the runs, which is that of a uniform key.
		i := len(best)
		for i > 0 && best[i-1].Score < score {
			i--
		}
		if i < m {
			best = slices.Insert(best, i, Result[T]{Found: true, Payload: payload, Score: score})
			best = best[:min(m, len(best))]
		}
	}
	return best, nil
}

const maxTopMean = 1e7
