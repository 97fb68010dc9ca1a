// The calls of an adaptive search. It assumes ε-DP trials and publishes nothing else than
// what it returns.

package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
)

// ErrSpent is the error of a call after the last outcome that is paid for.
var ErrSpent = errors.New("selection: all outcomes that are paid for have been published")

// An AdaptiveSearch publishes up to a number of outcomes. Its zero value is spent.
type AdaptiveSearch[T any] struct {
	left   int
	master rand.Source
}

// NewAdaptiveSearch returns a search of so many outcomes; src as in [WithSource]. Its cost
// is that of AdaptiveCost with the same number of hits.
func NewAdaptiveSearch[T any](hits int, src rand.Source) (*AdaptiveSearch[T], error) {
	if hits < 1 || hits > maxHits {
		return nil, fault.New("hits", "%d is not in [1, %d]", hits, maxHits)
	}
	return &AdaptiveSearch[T]{hits, random.Source(src)}, nil
}

// Left returns how many outcomes may still be published.
func (s *AdaptiveSearch[T]) Left() int { return s.left }

// Try runs the trial once: its outcome, if the score is at least threshold. Trial and
// threshold may depend on everything that was published. A call that fails publishes
// nothing, and neither may its error be; the search is over then.
func (s *AdaptiveSearch[T]) Try(ctx context.Context, threshold float64, trial Trial[T]) (Result[T], error) {
	if s.left == 0 {
		return Result[T]{}, ErrSpent
	}
	if math.IsNaN(threshold) {
		return Result[T]{}, fault.New("threshold", "is NaN")
	}
	fail := func(err error) (Result[T], error) {
		s.left = 0
		return Result[T]{}, fmt.Errorf("%w: %w", ErrRun, err)
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	payload, score, err := trial(ctx, rand.New(random.Split(s.master)))
	if err != nil {
		return fail(err)
	}
	if !(score >= threshold) {
		return Result[T]{}, nil
	}
	s.left--
	return Result[T]{Found: true, Payload: payload, Score: score}, nil
}
