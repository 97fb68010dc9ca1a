package mu

import (
	"math"
	"testing"
)

// A value of δ that is hardly known does no harm: δ is convex, and below the chord of those beside it.
func TestLooseValue(t *testing.T) {
	find := func(loose bool) Answer {
		out, err := Find(1e-6, 12, math.Inf(1), func(epsilons []float64) (points []Point, err error) {
			for _, e := range epsilons {
				d := gaussianDelta(1.5, e)
				points = append(points, Point{e, d, d * (1 + 1e-9)})
				if loose && math.Abs(e-3) < 0.5 {
					points[len(points)-1].Upper = 1
				}
			}
			return points, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if exact, got := find(false), find(true); !(exact.Upper < 1.51 && got.Upper >= exact.Lower && got.Upper < 1.6) {
		t.Errorf("with loose values %+v, without %+v", got, exact)
	}
}
