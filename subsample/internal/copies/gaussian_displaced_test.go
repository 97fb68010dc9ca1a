package copies

import (
	"math"
	"testing"
)

// At ε = 0 the two outputs θ and 2θ are told apart in the middle, whatever the noise and the
// rate; the digits are kept however small θ is.
func TestDisplacedThreshold(t *testing.T) {
	for _, theta := range []float64{1e-15, 1e-6, 0.01, 0.5, 0.9, 1.1, 30, 1e6} {
		for _, rate := range []float64{1e-9, 0.3, 1} {
			d := NewDisplaced(theta, rate)
			if y, dy := d.threshold(0, 0); math.Abs(y-1.5*theta) > dy || theta <= 0.5 && dy > 1e-14*theta /* a few roundings of numbers of this size */ {
				t.Errorf("θ = %v, rate %v: threshold %v ± %v, want %v", theta, rate, y, dy, 1.5*theta)
			}
			// Both ways of solving agree where both apply.
			for _, eps := range []float64{1e-9, 1e-3, 0.2} {
				v, ok := d.near(eps)
				far, _, size := d.root(eps)
				if ok && math.Abs(v-far) > 40e-16*size {
					t.Errorf("θ = %v, rate %v, ε = %v: log v = %v and %v", theta, rate, eps, v, far)
				}
				// The loss at the threshold is ε.
				y, dy := d.threshold(eps, 0)
				loss := math.Log1p(rate*math.Expm1(2*theta*y-2*theta*theta)) - math.Log1p(rate*math.Expm1(theta*y-theta*theta/2))
				if theta < 30 && theta > 1e-3 && math.Abs(loss-eps) > 1e-12*(1+y*y)+2*theta*dy {
					t.Errorf("θ = %v, rate %v, ε = %v: the loss at %v is %v", theta, rate, eps, y, loss)
				}
			}
		}
	}
}
