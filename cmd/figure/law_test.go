package figure

import (
	"bytes"
	"testing"

	"gonum.org/v1/plot/vg"
)

// Every label and every output lies within the axes, also where there is one
// label only, and the picture can be drawn.
func TestLaw(t *testing.T) {
	for _, labels := range [][]float64{{0, 1, 3}, {2}} {
		outputs := []float64{-4, 0.5, 7}
		pic := Law(labels, outputs, func(int) []float64 { return []float64{0.25, 0.5, 0.25} })
		p := pic.Plot(Size{Width: 10 * vg.Centimeter, Height: 8 * vg.Centimeter})
		if !(p.X.Min < -4 && p.X.Max > 7 && p.Y.Min < labels[0] && p.Y.Max > labels[len(labels)-1]) {
			t.Errorf("labels %v: axes [%v, %v] and [%v, %v]", labels, p.X.Min, p.X.Max, p.Y.Min, p.Y.Max)
		}
		w, err := p.WriterTo(10*vg.Centimeter, 8*vg.Centimeter, "svg")
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := w.WriteTo(&b); err != nil || bytes.Count(b.Bytes(), []byte("<path")) < len(labels)*len(outputs) {
			t.Errorf("labels %v: %d bytes with too few discs, %v", labels, b.Len(), err)
		}
	}
}
