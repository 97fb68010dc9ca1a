// Package figure draws what both the command and the experiments show.
package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Law returns a plot of the output law of a randomizer for each of its labels: a
// row for each, with discs whose area is the probability of an output, and a
// cross at the label itself. Labels ascend; row returns the probabilities of the
// outputs for label i.
func Law(labels, outputs []float64, row func(i int) []float64) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "output (disc area: probability; +: the label)", "label"
	// The largest disc nearly touches the row above.
	top := 0.0
	for i := range labels {
		top = max(top, slices.Max(row(i)))
	}
	largest := min(12*vg.Millimeter, 85*vg.Millimeter/vg.Length(len(labels)))
	if len(labels) <= 12 {
		var ticks plot.ConstantTicks
		for _, y := range labels {
			ticks = append(ticks, plot.Tick{Value: y, Label: fmt.Sprintf("%.6g", y)})
		}
		p.Y.Tick.Marker = ticks
	}
	for i, y := range labels {
		probs := row(i)
		pts := make(plotter.XYs, len(outputs))
		for j, out := range outputs {
			pts[j] = plotter.XY{X: out, Y: y}
		}
		discs, err := plotter.NewScatter(pts)
		if err != nil {
			return nil, err
		}
		discs.GlyphStyleFunc = func(j int) draw.GlyphStyle {
			radius := max(largest/2*vg.Length(math.Sqrt(probs[j]/top)), 0.1*vg.Millimeter)
			return draw.GlyphStyle{Shape: draw.CircleGlyph{}, Radius: radius, Color: color.RGBA{31, 90, 160, 200}}
		}
		self, err := plotter.NewScatter(plotter.XYs{{X: y, Y: y}})
		if err != nil {
			return nil, err
		}
		self.GlyphStyle = draw.GlyphStyle{Shape: draw.PlusGlyph{}, Radius: min(vg.Millimeter, largest/2), Color: color.RGBA{200, 60, 20, 255}}
		p.Add(discs, self)
	}
	span := labels[len(labels)-1] - labels[0]
	if span == 0 {
		span = 1
	}
	margin := span/float64(2*len(labels)) + span/20
	p.Y.Min, p.Y.Max = labels[0]-margin, labels[len(labels)-1]+margin
	reach := (p.X.Max - p.X.Min) / 40
	p.X.Min, p.X.Max = p.X.Min-reach, p.X.Max+reach
	return p, nil
}
