// The calls of an adaptive search. It assumes ε-DP trials and publishes nothing else than
// what it returns.

package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// ErrSpent is the error of a call after the last outcome that is paid for.
var ErrSpent = errors.New("selection: all outcomes that are paid for have been published")

// An AdaptiveSearch publishes up to a number of outcomes. Its zero value is spent.
type AdaptiveSearch[T any] struct {
	left int
	next func() *rand.Rand
}

// NewAdaptiveSearch returns a search of so many outcomes; src as in [Options]. Its cost
// is [AdaptiveCost] with the same number of hits.
func NewAdaptiveSearch[T any](hits int, src rand.Source) (*AdaptiveSearch[T], error) {
	if err := checkHits(hits); err != nil {
		return nil, err
	}
	return &AdaptiveSearch[T]{hits, generators(src)}, nil
}

func checkHits(hits int) error {
	if hits < 1 || hits > maxHits {
		return fault.New("hits", "%d is not in [1, %d]", hits, maxHits)
	}
	return nil
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
	payload, score, err := trial(ctx, s.next())
	if err != nil {
		return fail(err)
	}
	if !(score >= threshold) {
		return Result[T]{}, nil
	}
	s.left--
	return Result[T]{Found: true, Payload: payload, Score: score}, nil
}

// Target charging: what a search costs until so many outcomes were published. It assumes
// ε-DP calls, chosen adaptively; it returns ε rounded up.
//
// Theorem. With q = 1/(e^ε + 1) and any n, the search is (ε', δ_n(ε') + Pr[Bin(n, q) < hits])-DP,
// δ_n the profile of n randomised responses at ε.
//
// Proof. Let Z_b be what a call publishes on data set b, and a, b the probabilities that it
// publishes no outcome, a ≥ b. With probability p = (e^ε b − a)/(e^ε − 1), the same on both data
// sets, it publishes none whatever the data; the rest are two laws B_b. They are ε-close,
// with equality at "none"; so if B_1 has none with probability β, 1 − β ≤ e^ε(1 − e^ε β), hence
// β ≤ 1/(e^ε + 1), and either publishes an outcome with probability at least q. Let N be the
// number of draws from B_b. Up to the n-th they are an adaptive composition of n ε-close pairs,
// and N > n needs fewer than hits outcomes among n. (The idea is theirs; they
// bound the tail by a Chernoff bound.)

const (
	maxEpsilon = 20
	maxHits    = 10000
	most       = 1 << 21 // charged calls
)

// AdaptiveCost returns an ε at which a search of so many outcomes, hits in [1, 10000], is
// (ε, delta)-DP when each call is epsilon-DP, epsilon in (0, 20], and the number of calls that
// it charges for: the least over some numbers. Any number of calls may be made. Any
// neighbouring relation that the calls' guarantee has in both directions.
func AdaptiveCost(epsilon float64, hits int, delta float64) (eps float64, charged int, err error) {
	if !(epsilon > 0 && epsilon <= maxEpsilon) {
		return 0, 0, fault.New("epsilon", "%v is not in (0, %v]", epsilon, float64(maxEpsilon))
	}
	if err := checkHits(hits); err != nil {
		return 0, 0, err
	}
	if !(delta > 0 && delta < 1) {
		return 0, 0, fault.New("delta", "%v is not in (0, 1)", delta)
	}
	q := 1 / (math.Exp(epsilon) + 1)
	// The first n whose tail is at most a number, by doubling and bisection.
	first := func(tail float64) int {
		lo, hi := 0, hits
		for binomialTail(hi, hits, q) > tail {
			if lo, hi = hi, 2*hi; hi > most {
				return most
			}
		}
		return lo + sort.Search(hi-lo, func(n int) bool { return n > 0 && binomialTail(lo+n, hits, q) <= tail })
	}
	eps = math.Inf(1)
	for _, share := range []float64{1, 0.99, 0.9, 0.7, 0.5, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4} {
		n := first(share * delta)
		if n >= most {
			return 0, 0, fault.New("epsilon", "%v is too large: more than %d calls would be charged", epsilon, most)
		}
		left := delta - binomialTail(n, hits, q)
		e, err := composed(n, epsilon, left)
		if err != nil {
			return 0, 0, err
		}
		if e < eps {
			eps, charged = e, n
		}
	}
	return eps, charged, nil
}

// binomialTail returns Pr[Bin(n, q) < k], rounded up.
func binomialTail(n, k int, q float64) float64 {
	_, up := xmath.BinomialTail(int64(n-k+1), int64(n), 1-q, q)
	return up
}

// composed returns the ε of n randomised responses at eps, at delta, rounded up; n·eps where
// delta leaves nothing.
func composed(n int, eps, delta float64) (float64, error) {
	m, err := profiles.NewPure(eps)
	if err != nil {
		return 0, err
	}
	pair, err := m.Pair(profiles.AddRemove)
	if err != nil {
		return 0, err
	}
	sum := fourier.New(fourier.Options{Relative: 1e-8})
	if err := sum.Add(pair, int64(n)); err != nil {
		return 0, err
	}
	r, err := sum.Epsilon(context.Background(), max(0, delta))
	return max(0, r.Upper), err
}
