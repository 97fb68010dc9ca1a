package figure

import (
	"math"
	"testing"
)

// TestLegible: titles and legends have rounded numbers, bounds on their proved side; other text is as it was.
func TestLegible(t *testing.T) {
	for text, want := range map[string]string{
		"sampling rate 0.004266666666666667": "sampling rate 0.00426667",
		"ε at δ = 3.3333333333333335e-06":    "ε at δ = 3.33333e-6",
		"σ = 1.224176, 14063 steps":          "σ = 1.224176, 14063 steps",
		"data-20261128123456.yaml":           "data-20261128123456.yaml",
	} {
		if got := legible(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	pic := Picture{X: Axis{Label: "runs"}, Y: Axis{Label: "ε"}}
	b := Band{Name: "plan", X: []float64{0, 0.30508474576271183}, Proved: []float64{1, math.Inf(1)}}
	if got, want := pic.Label(&b), "plan: ε = ∞ from 0.3050 runs"; got != want {
		t.Errorf("the label is %q, want %q", got, want)
	}
}

// TestLogWhereNeeded: a line that would lie on the lower end of a linear axis makes it logarithmic.
func TestLogWhereNeeded(t *testing.T) {
	for _, c := range []struct {
		tops []float64
		log  bool
	}{{[]float64{2.4, 2.6}, false}, {[]float64{2.4, 47}, false}, {[]float64{2.4, 5400}, true}, {[]float64{2.4, math.Inf(1)}, false}, {[]float64{0, 2.4}, false}} {
		var pic Picture
		for _, top := range c.tops {
			pic.Bands = append(pic.Bands, Band{X: []float64{1, 2}, Proved: []float64{top / 2, top}})
		}
		if pic.LogWhereNeeded(); pic.Y.Log != c.log {
			t.Errorf("%v: logarithmic is %v", c.tops, pic.Y.Log)
		}
	}
}
