package transform

import (
	"math"
	"testing"
)

// Whatever the frequency, a line's bound of |M| is never below the floor that Mixed names before a
// line is made, and comes close to it: a question that needs less than the floor cannot be served.
func TestFloorIsThatOfLines(t *testing.T) {
	for _, c := range []struct{ m, rate float64 }{{0.25, 0.02}, {0.2, 0.05}, {2, 0.5}, {1, 1e-3}} {
		for _, reversed := range []bool{false, true} {
			m := NewSampledLaplace(item(c.m), 0, c.rate, 0)
			if reversed {
				m = m.reversed()
			}
			for _, theta := range []float64{0.5, 3, 30} {
				whole := NewLaplace(c.m, 0)
				line, err := whole.Line(t.Context(), theta, 1e3, 1e-6, 0)
				if err != nil {
					t.Fatal(err)
				}
				if floor, at := whole.Floor(theta), line.Decay(1e12); !(at >= floor-1e-9 && at <= floor+1e-3) {
					t.Errorf("Laplace %g, θ = %g: log |M| is bounded by %v far out, the floor is %v", c.m, theta, at, floor)
				}
				l, err := m.Line(t.Context(), theta, 1e3, 1e-6, 0)
				if err != nil {
					t.Fatal(err)
				}
				floor, at := m.Floor(theta), l.Decay(1e12)
				if !(at >= floor-1e-9 && at <= floor+1e-3) || math.IsInf(floor, 0) {
					t.Errorf("%+v, reversed %v, θ = %g: log |M| is bounded by %v far out, the floor is %v", c, reversed, theta, at, floor)
				}
			}
		}
	}
}
