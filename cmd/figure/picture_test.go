package figure

import (
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
)

// TestLegend: the legend goes where no curve runs.
func TestLegend(t *testing.T) {
	line := func(from, to float64) Band {
		b := Band{Name: "a plan (add-remove)"}
		for i := range 11 {
			x := float64(i) / 10
			b.Add(x, from+(to-from)*x)
		}
		return b
	}
	for _, c := range []struct {
		name      string
		bands     []Band
		left, top bool
	}{
		{"the corner it likes", []Band{line(0.1, 0.2)}, false, true},
		{"a curve that rises", []Band{line(0, 1)}, true, true},
		{"a curve along the top", []Band{line(0.98, 0.98)}, false, false},
		{"curves along the top and on the right", []Band{line(0.98, 0.98), {X: []float64{0.9, 0.9}, Proved: []float64{0, 1}}}, true, false},
	} {
		pic := Picture{X: Axis{Max: 1}, Y: Axis{Max: 1}, LegendUp: true, Bands: c.bands}
		l := newPlot().Legend
		l.TextStyle.Font.Size = vg.Points(10)
		for _, b := range c.bands {
			if b.Name != "" {
				l.Add(b.Name)
			}
		}
		pic.placeLegend(&l, Size{Width: 17 * vg.Centimeter, Height: 11 * vg.Centimeter})
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
		pic := Picture{X: Axis{Label: "runs"}, Y: Axis{Label: "y", Log: true, Min: 1e-12, Max: 1}}
		if got := pic.Label(&Band{Name: "plan", X: []float64{3, 7}, Proved: c.ys}); got != c.want {
			t.Errorf("%v: %q, want %q", c.ys, got, c.want)
		}
	}
}

// What is for comparison is grey and thin, and has the dashes of its method, so that two of them differ.
func TestMuted(t *testing.T) {
	pic := Picture{Bands: []Band{{Muted: true}, {Muted: true, Method: Renyi}, {Method: Renyi, Wide: true}}}
	s := pic.Styles()
	if s[0].Color != grey || s[1].Color != grey || s[0].Width >= s[2].Width || string(bytesOf(s[0].Dashes)) == string(bytesOf(s[1].Dashes)) ||
		string(bytesOf(s[1].Dashes)) != string(bytesOf(s[2].Dashes)) || s[2].Color != Renyi.Colour {
		t.Errorf("%+v", s)
	}
}
