// Vector: sparse vector where probabilities are known exactly. It assumes that they are
// those of pure mechanisms, and returns an index.

package selection

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

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
	return checkFields(fieldRange{"percentile", s.Percentile, 0, 1},
		fieldRange{"candidate-epsilon", s.CandidateEpsilon, 0, math.Inf(1)},
		fieldRange{"epsilon", s.Epsilon, 0, math.Inf(1)})
}

// Scales returns the scales of the Laplace noise on the threshold and on every
// query, 4ε₁/ε₃ and 8ε₁/ε₃.
func (s SparseVector) Scales() (threshold, query float64) {
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
	a, b := s.Scales()
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
