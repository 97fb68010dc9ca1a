package main

import (
	"math"
	"testing"

	"gonum.org/v1/plot"
)

// TestLegend: the legend goes where no curve runs.
func TestLegend(t *testing.T) {
	line := func(from, to float64) band {
		b := band{name: "a plan (add-remove)"}
		for i := range 11 {
			x := float64(i) / 10
			b.x, b.proved = append(b.x, x), append(b.proved, from+(to-from)*x)
		}
		return b
	}
	for _, c := range []struct {
		name      string
		bands     []band
		left, top bool
	}{
		{"the corner it likes", []band{line(0.1, 0.2)}, false, true},
		{"a curve that rises", []band{line(0, 1)}, true, true},
		{"a curve along the top", []band{line(0.98, 0.98)}, false, false},
		{"curves along the top and on the right", []band{line(0.98, 0.98), {x: []float64{0.9, 0.9}, proved: []float64{0, 1}}}, true, false},
	} {
		pic := picture{xMax: 1, yMax: 1, legendUp: true, bands: c.bands}
		var l plot.Legend
		pic.placeLegend(&l)
		if left := l.XOffs < 20; left != c.left || (l.YOffs > -10) != c.top {
			t.Errorf("%s: left %v, %v below the top", c.name, l.XOffs, -l.YOffs)
		}
	}
}

// TestBandLabel: a curve that cannot be seen says where it is.
func TestBandLabel(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		ys   []float64
		want string
	}{
		{[]float64{1, 2}, "plan"},
		{[]float64{1, inf}, "plan: y = ∞ from 7 runs"},
		{[]float64{inf, inf}, "plan: y = ∞"},
		{[]float64{0, 1e-13}, "plan: below 1e-12"},
		{[]float64{0, 1e-3}, "plan"},
	} {
		pic := picture{x: "runs", y: "y", logY: true, yMin: 1e-12, yMax: 1}
		if got := (band{name: "plan", x: []float64{3, 7}, proved: c.ys}).label(pic); got != c.want {
			t.Errorf("%v: %q, want %q", c.ys, got, c.want)
		}
	}
}
