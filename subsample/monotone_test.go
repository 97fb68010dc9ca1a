package subsample

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// Check 24: δ of k runs grows with k and falls with ε and σ; at ε(δ) it is δ.
func TestCompositionIsMonotone(t *testing.T) {
	_, wr, _, _, _ := paperSetting()
	less := map[[2]int]float64{}
	for _, sigma := range []float64{4, 5} {
		c, _ := newComposers(ok(wr.Apply(gaussian(sigma), profiles.Substitute)).Directions[0].Upper, 4e-3, 4)
		before := map[int]float64{}
		for _, k := range []int{1, 10, 100, 1000} {
			f := c.deltaOf(k)
			last := 1.0
			for i, eps := range []float64{0, 0.01, 0.1, 0.3} {
				d := f(eps)
				if !(d < last) || !(d > before[i]) {
					t.Errorf("sigma %v: delta(%v) of %d runs is %v, after %v at a smaller eps and %v with fewer runs", sigma, eps, k, d, last, before[i])
				}
				last, before[i] = d, d
				if was, is := less[[2]int{k, i}]; is && !(d < was) {
					t.Errorf("sigma %v: delta(%v) of %d runs is %v, and %v with sigma 4", sigma, eps, k, d, was)
				}
				less[[2]int{k, i}] = d
			}
			if e := epsilonOf(f, 1e-5); math.Abs(f(e)-1e-5) > 1e-5*1e-8 {
				t.Errorf("sigma %v: delta(eps(1e-5)) of %d runs is %v", sigma, k, f(e))
			}
		}
	}
}
