package labeldp

import (
	"math/big"
	"testing"

	"github.com/dpaccountant/accountant/internal/random/randomtest"
)

// TestEveryOutputForEveryLabel: additive noise gives every label the same outputs, the multiples of one grid, and a
// staircase row gives each label a positive whole weight for each output: random words lead to each of them.
func TestEveryOutputForEveryLabel(t *testing.T) {
	ys := []float64{0, 0.1, 1. / 3, 3}
	lap := must(NewAdditive(ys, 1, Noise{}))
	g := grid(3)
	for _, y := range ys {
		for k := range 100 {
			want := 5 + float64(k)*g
			got := must(lap.Sample(y, &randomtest.Script{Words: randomtest.Laplace(randomtest.Between(y, want, 3))}))
			// The scale is rounded up by a bit or two of 53, which moves 5 by less than the grid's 2^−38.
			if got != want {
				t.Fatalf("laplace of %v: %v, want %v", y, got, want)
			}
		}
	}
	dl := must(NewAdditive([]float64{0, 1, 2, 3}, 1, Noise{Discrete: true, Step: 1}))
	for _, y := range []float64{0, 1, 2, 3} {
		for out := -20; out <= 20; out++ {
			z := out - int(y)
			at := float64(max(z, -z)) + 0.5
			coin := uint64(1) << 63 // Coin(½) is true below ½: negative
			if z < 0 {
				coin = 0
			}
			words := append(randomtest.Exponential(new(big.Float).Quo(big.NewFloat(at), big.NewFloat(3))), coin)
			if got := must(dl.Sample(y, &randomtest.Script{Words: words})); got != float64(out) {
				t.Fatalf("discrete laplace of %v: %v, want %d", y, got, out)
			}
		}
	}
	r, _ := optimal(t, prior("C"), 1)
	for i := range r.Labels() {
		for j, w := range r.(*randomizer).draw.weights(i) {
			if w.Sign() <= 0 {
				t.Errorf("label %d: output %d is impossible", i, j)
			}
		}
	}
}

// weights returns the integer weights of label i over all outputs.
func (s *sampler) weights(i int) []*big.Int {
	out := make([]*big.Int, len(s.cum[i]))
	last := uint64(0)
	for j, c := range s.cum[i] {
		out[j] = new(big.Int).SetUint64(c - last)
		last = c
	}
	return out
}
