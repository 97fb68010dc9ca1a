package transform

import (
	"math"
	"testing"
)

// TestGrownErrorsAreFinite: a loss that is off by d moves e^{(θ+1)L} by up to e^{(θ+1)d} − 1 of itself, which is no more
// than θ + 1 times what d counts for. From (θ+1)d = 1 on nothing is known.
func TestGrownErrorsAreFinite(t *testing.T) {
	for _, theta := range []float64{-0.5, 0, 0.7, 3, 200} {
		for _, x := range []float64{1e-12, 1e-3, 0.3, 0.9, 0.999} {
			d := x / (theta + 1)
			if got, want := (theta+1)*grown(d, theta), math.Expm1(x); got < want*(1-1e-12) {
				t.Errorf("θ = %v: a loss off by %v counts for %v, moves a term by %v", theta, d, got, want)
			}
		}
		if got := grown(1.0000001/(theta+1), theta); !math.IsInf(got, 1) {
			t.Errorf("θ = %v: %v", theta, got)
		}
	}
}
