package transform

import (
	"math"
	"testing"
)

// TestColumnsOfSums: columns of mixtures that give everything away with some probability, and of unions of them, are
// made by grids, and agree with single values within the errors of both. Without them a column of 20,000 frequencies took
// the product of nodes and frequencies, though Terms counted a grid.
func TestColumnsOfSums(t *testing.T) {
	away := NewGivenAway(poisson(0.01, 0.4), 1e-6)
	for name, tr := range map[string]Transform{
		"given away": away, "both given away": NewBothGivenAway(poisson(0.02, 0.5), 1e-4),
		"union": NewUnion([]float64{0.25, 0.75}, []Transform{away, poisson(0.3, 0.7)}),
	} {
		const h, n = 0.125, 4000
		l, err := tr.Line(t.Context(), 2, h*(n-1), 1e-12, 0)
		if err != nil {
			t.Fatal(err)
		}
		re, im, wrong := make([]float64, n), make([]float64, n), make([]float64, n)
		if c, ok := l.(Columner); !ok || !c.Column(h, re, im, wrong) {
			t.Errorf("%s: no column of %d frequencies", name, n)
			continue
		}
		known := 0
		for k := 0; k < n; k += 37 {
			a, b, e := l.LogM(float64(k) * h)
			if math.IsInf(e, 1) || math.IsInf(wrong[k], 1) {
				continue
			}
			known++
			turns := math.Remainder(b-im[k], 2*math.Pi)
			if d := math.Hypot(a-re[k], turns); !(d <= e+wrong[k]) {
				t.Errorf("%s at %v: (%v, %v), alone (%v, %v): %v apart, errors %v and %v", name, float64(k)*h, re[k], im[k], a, b, d, e, wrong[k])
			}
		}
		if known < 20 {
			t.Errorf("%s: only %d values are known", name, known)
		}
	}
}
