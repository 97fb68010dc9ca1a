// The calls of an adaptive search. It assumes ε-DP trials and publishes nothing else than
// what it returns.

package adaptive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/selection"
)

// ErrSpent is the error of a call after the last outcome that is paid for.
var ErrSpent = errors.New("adaptive: all outcomes that are paid for have been published")

// A Search publishes up to a number of outcomes. Its zero value is spent.
type Search[T any] struct {
	left   int
	master rand.Source
}

// NewSearch returns a search of so many outcomes; src as in [selection.WithSource]. Its cost
// is that of Cost with the same number of hits.
func NewSearch[T any](hits int, src rand.Source) (*Search[T], error) {
	if hits < 1 || hits > maxHits {
		return nil, fault.New("hits", "%d is not in [1, %d]", hits, maxHits)
	}
	return &Search[T]{hits, random.Source(src)}, nil
}

// Left returns how many outcomes may still be published.
func (s *Search[T]) Left() int { return s.left }

// Try runs the trial once: its outcome, if the score is at least threshold. Trial and
// threshold may depend on everything that was published. A call that fails publishes
// nothing, and neither may its error be; the search is over then.
func (s *Search[T]) Try(ctx context.Context, threshold float64, trial selection.Trial[T]) (selection.Result[T], error) {
	if s.left == 0 {
		return selection.Result[T]{}, ErrSpent
	}
	if math.IsNaN(threshold) {
		return selection.Result[T]{}, fault.New("threshold", "is NaN")
	}
	fail := func(err error) (selection.Result[T], error) {
		s.left = 0
		return selection.Result[T]{}, fmt.Errorf("%w: %w", selection.ErrRun, err)
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	payload, score, err := trial(ctx, rand.New(random.Split(s.master)))
	if err != nil {
		return fail(err)
	}
	if !(score >= threshold) {
		return selection.Result[T]{}, nil
	}
	s.left--
	return selection.Result[T]{Found: true, Payload: payload, Score: score}, nil
}
