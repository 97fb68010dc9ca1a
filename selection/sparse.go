// What the searches share: the limit of calls, ranges of fields, exact noise on a
// statistic, generators.

package selection

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// ErrTooManyCalls is wrapped by the error of an algorithm whose guarantee needs
// more calls of the candidate mechanism than allowed.
var ErrTooManyCalls = errors.New("selection: more calls needed than allowed")

// defaultMaxCalls is the number of calls beyond which the sampled algorithms
// refuse to run, unless their MaxCalls says otherwise.
const defaultMaxCalls = 1e8

func checkCalls(calls, limit float64) error {
	if limit == 0 {
		limit = defaultMaxCalls
	}
	if limit = min(limit, 1e15); !(calls <= limit) {
		return fmt.Errorf("%w: %.4g calls, the limit is %.4g", ErrTooManyCalls, calls, limit)
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

// generators returns a function that hands out independent generators, all from src;
// nil is the operating system's randomness.
func generators(src rand.Source) func() *rand.Rand {
	master := random.Source(src)
	return func() *rand.Rand { return rand.New(random.Split(master)) }
}
