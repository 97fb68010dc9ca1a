package main

// Figures: losses, biases, the regression and the law of a randomizer.

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/internal/figure"
	"github.com/dpaccountant/accountant/labeldp"
)

// palette is Okabe and Ito's, legible to the colour-blind.
var palette = []color.RGBA{
	{0, 0, 0, 255}, {230, 159, 0, 255}, {86, 180, 233, 255}, {0, 158, 115, 255},
	{0, 114, 178, 255}, {213, 94, 0, 255}, {204, 121, 167, 255}, {120, 120, 120, 255},
}

var dashes = []vg.Length{vg.Points(5), vg.Points(3)}

func biased(name string) bool {
	return strings.HasPrefix(name, "clipped") || name == "randomized-response" || name == "rr-on-bins"
}

// line draws one curve in the style of its method.
func line(p *plot.Plot, i int, name string, xs, ys []float64) error {
	pts := make(plotter.XYs, len(xs))
	for j := range xs {
		pts[j] = plotter.XY{X: xs[j], Y: ys[j]}
	}
	l, err := plotter.NewLine(pts)
	if err != nil {
		return err
	}
	l.Color, l.Width = palette[i%len(palette)], vg.Points(1.3)
	if name == "optimal-unbiased" || name == "clean labels" {
		l.Width = vg.Points(2.6)
	}
	if biased(name) {
		l.Dashes = dashes
	}
	p.Add(l)
	p.Legend.Add(name, l)
	return nil
}

func save(p *plot.Plot, width vg.Length, path string) error {
	p.Title.Padding = 2 * vg.Millimeter
	p.Legend.Padding = 0.7 * vg.Millimeter
	p.Legend.YOffs = -1 * vg.Millimeter
	return p.Save(width, 11*vg.Centimeter, path)
}

func drawLosses(name string, eps []float64, order []string, curves map[string][]float64, path string) error {
	p := plot.New()
	p.Title.Text = "Noisy label loss, prior: " + name
	p.X.Label.Text, p.Y.Label.Text = "ε", "half-loss"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = plot.ConstantTicks{{Value: 0.1, Label: "0.1"}, {Value: 0.2, Label: "0.2"}, {Value: 0.5, Label: "0.5"},
		{Value: 1, Label: "1"}, {Value: 2, Label: "2"}, {Value: 4, Label: "4"}, {Value: 8, Label: "8"}}
	var ticks plot.ConstantTicks
	for e := -2; e <= 9; e++ {
		ticks = append(ticks, plot.Tick{Value: math.Pow(10, float64(e)), Label: fmt.Sprintf("1e%d", e)})
	}
	p.Y.Tick.Marker = ticks
	p.Add(plotter.NewGrid())
	lo, hi := math.Inf(1), 0.0
	drawn := 0
	for _, m := range order {
		if strings.Contains(m, "discrete") {
			continue // on top of the continuous ones
		}
		if err := line(p, drawn, m, eps, curves[m]); err != nil {
			return err
		}
		drawn++
		lo, hi = min(lo, slices.Min(curves[m])), max(hi, slices.Max(curves[m]))
	}
	p.Y.Min, p.Y.Max = lo/1.5, hi*1.5
	p.Legend.Top = true
	p.X.Max = 40 // room for the legend
	return save(p, 20*vg.Centimeter, path)
}

func drawBias(labels []float64, names []string, curves [][]float64, path string) error {
	p := plot.New()
	p.Title.Text = "Bias per label, prior: weeks, ε = 2"
	p.X.Label.Text, p.Y.Label.Text = "label", "E[ŷ] − y"
	p.Add(plotter.NewGrid())
	for i, m := range names {
		if err := line(p, i, m, labels, curves[i]); err != nil {
			return err
		}
	}
	p.Legend.Top = true
	return save(p, 18*vg.Centimeter, path)
}

func drawRegression(truth []float64, curves map[string][]float64, path string) error {
	p := plot.New()
	p.Title.Text = "Predictors fitted to noisy labels, ε = 1"
	p.X.Label.Text, p.Y.Label.Text = "x", "prediction"
	p.Add(plotter.NewGrid())
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 5, Label: "5"}, {Value: 10, Label: "10"}, {Value: 15, Label: "15"}, {Value: 20, Label: "20"}}
	xs := make([]float64, len(truth))
	for i := range xs {
		xs[i] = float64(i) / float64(len(xs)-1)
	}
	for i, name := range []string{"clean labels", "optimal-unbiased", "two-point", "laplace", "debiased-rr", "clipped-laplace", "randomized-response", "rr-on-bins"} {
		c := curves[name]
		if name == "clean labels" {
			c = truth
		}
		if err := line(p, i, name, xs, c); err != nil {
			return err
		}
	}
	p.Legend.Top, p.Legend.Left = true, true
	return save(p, 18*vg.Centimeter, path)
}

// drawLaw draws the output law of each label.
func drawLaw(r *labeldp.Randomizer, path string) error {
	p, err := figure.Law(r.Labels(), r.Outputs(), r.Row)
	if err != nil {
		return err
	}
	p.Title.Text = fmt.Sprintf("Output law per label, ε = %v", r.Epsilon())
	p.X.Label.Text = "output (disc area: probability; +: the label, which is the mean)"
	return save(p, 18*vg.Centimeter, path)
}
