package choice

import (
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// TestRefusals: what is refused, with the field that is named.
func TestRefusals(t *testing.T) {
	second := func(_ any, err error) error { return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(NewExponential(0)), "exponential: epsilon: 0 is not in [1e-09, 100]"},
		{second(NewExponential(-1)), "exponential: epsilon: -1 is not in"},
		{second(NewExponential(101)), "exponential: epsilon: 101 is not in"},
		{second(NewExponential(math.NaN())), "exponential: epsilon: NaN is not in"},
		{second(NewPermuteAndFlip(math.Inf(1))), "permute-and-flip: epsilon: +Inf is not in"},
		{second(NewNoisyMax("gaussian", 1)), `noisy-max: noise: "gaussian" is not one of gumbel, exponential, laplace`},
		{second(NewNoisyMax("", 1)), "noisy-max: noise: "},
		{second(NewNoisyMax("gumbel", 0)), "noisy-max: epsilon: 0 is not in"},
		{second(NewThreshold("exponential", 1, 5, 1)), `threshold: noise: "exponential" is not one of gaussian, laplace, discrete-laplace`},
		{second(NewThreshold("gaussian", 0, 5, 1)), "threshold: standard-deviation: 0 is not in [1e-06, 1e+12]"},
		{second(NewThreshold("laplace", math.NaN(), 5, 1)), "threshold: scale: NaN is not in [1e-06, 1e+12]"},
		{second(NewThreshold("gaussian", 1e13, 5, 1)), "threshold: standard-deviation: 1e+13 is not in"},
		{second(NewThreshold("gaussian", 1, 1, 1)), "threshold: threshold: 1 is not in (1, 1e+15]"},
		{second(NewThreshold("gaussian", 1, math.Inf(-1), 1)), "threshold: threshold: -Inf is not in (1, 1e+15]"},
		{second(NewThreshold("gaussian", 1, math.Inf(1), 1)), "threshold: threshold: +Inf is not in"},
		{second(NewThreshold("gaussian", 1, math.NaN(), 1)), "threshold: threshold: NaN is not in"},
		{second(NewThreshold("gaussian", 1, 5, 0)), "threshold: partitions: 0 is not an integer in [1, 1000000]"},
		{second(NewThreshold("gaussian", 1, 5, 1_000_001)), "threshold: partitions: 1000001 is not an integer in [1, 1000000]"},
		{second(NewThreshold("laplace", 1, 5, 2)), "threshold: partitions: 2 is not 1, for laplace noise"},
		{second(NewThreshold("discrete-laplace", 1, 5, 2)), "threshold: partitions: 2 is not 1, for discrete-laplace noise"},
		{second(NewSelectPartitions(0, 1e-5, 1)), "select-partitions: epsilon: 0 is not in [1e-09, 100]"},
		{second(NewSelectPartitions(1, 0, 1)), "select-partitions: delta: 0 is not in [1e-290, 1)"},
		{second(NewSelectPartitions(1, 1, 1)), "select-partitions: delta: 1 is not in [1e-290, 1)"},
		{second(NewSelectPartitions(1, math.NaN(), 1)), "select-partitions: delta: NaN is not in"},
		{second(NewSelectPartitions(1, 1e-5, 0)), "select-partitions: partitions: 0 is not an integer in [1, 1000000]"},
		{second(must(NewSelectPartitions(1, 1e-5, 2)).Pair(profiles.AddRemove)), "select-partitions: partitions: 2 is not 1; nothing is proved of more on a sample"},
		{second(NewSelectPartitions(1e-4, 1e-100, 1)), "select-partitions: epsilon: 0.0001 is too small for δ = 1e-100: keys of up to "},
		{second(must(NewThreshold("gaussian", 1, 5, 1)).Pair(profiles.Substitute)), "threshold: neighbors: substitute is not add-remove"},
		{second(must(NewThreshold("gaussian", 1, 5, 1)).Pair(profiles.ZeroOut)), "threshold: neighbors: zero-out is not add-remove"},
		{second(must(NewSelectPartitions(1, 1e-5, 1)).Pair(profiles.Substitute)), "select-partitions: neighbors: substitute is not add-remove"},
		{second(Candidates{nil, 1, false}.Exponential(1, nil)), "scores: "},
		{second(Candidates{[]float64{1, math.NaN()}, 1, false}.Exponential(1, nil)), "scores[1]: NaN is not a finite number"},
		{second(Candidates{[]float64{math.Inf(1)}, 1, false}.PermuteAndFlip(1, nil)), "scores[0]: +Inf is not a finite number"},
		{second(Candidates{[]float64{1}, 0, false}.NoisyMax("laplace", 1, nil)), "sensitivity: 0 is not in"},
		{second(Candidates{[]float64{1}, math.NaN(), false}.Exponential(1, nil)), "sensitivity: NaN is not in"},
		{second(Candidates{[]float64{1}, 1, false}.Exponential(0, nil)), "epsilon: 0 is not in"},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), c.want) || strings.Contains(c.err.Error(), "\n") {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
}
