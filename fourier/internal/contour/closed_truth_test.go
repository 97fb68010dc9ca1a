package contour

import (
	"context"
	"fmt"
	"math"
	"testing"
)

func newComposition(t testing.TB, factors ...Factor) *Composition {
	t.Helper()
	c, err := New(factors...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The closed form of one Gaussian of mean difference μ√T is the truth of T of them.
func TestGaussianEpsilonContainsTheClosedForm(t *testing.T) {
	for _, g := range []struct{ mu, count float64 }{
		{0.1, 100}, {1, 1}, {1, 10}, {3, 4}, {1e-3, 1e6}, {1e-3, 1e9}, {1e-4, 1e12}, {1e-8, 1e12}, {0.5, 1e4},
	} {
		for _, logDelta := range []float64{math.Log(0.3), math.Log(1e-5), math.Log(1e-10), math.Log(1e-30), math.Log(1e-300), math.Log(0.7), math.Log1p(-1e-6)} {
			t.Run(fmt.Sprintf("mu=%v/T=%v/logDelta=%.4g", g.mu, g.count, logDelta), func(t *testing.T) {
				x := gauss{mu: g.mu}
				c := newComposition(t, Factor{x, int64(g.count)})
				a, err := c.Epsilon(context.Background(), logDelta, Options{Relative: 1e-9})
				if err != nil {
					t.Errorf("%v: %+v", err, a)
				}
				t.Logf("%.15g %.15g width %.2g θ=%.3g λ=%.3g N=%d tables=%d work=%d | %.1e %.1e %.1e %.1e", a.Lower, a.Upper, a.Upper-a.Lower, a.Theta, a.Lambda, a.Frequencies, a.Tables, a.Work, a.Aliasing, a.Truncation, a.Quadrature, a.Rounding)
				// δ at the ends is on the two sides of δ, but for what the reference loses.
				slack := 1e-13 * (1 + math.Abs(logDelta))
				if lo := x.logDelta(a.Lower, g.count); lo < logDelta-slack {
					t.Errorf("log δ(%v) = %v is below %v", a.Lower, lo, logDelta)
				}
				if hi := x.logDelta(a.Upper, g.count); hi > logDelta+slack {
					t.Errorf("log δ(%v) = %v is above %v", a.Upper, hi, logDelta)
				}
			})
		}
	}
}
