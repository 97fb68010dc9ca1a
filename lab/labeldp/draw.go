package main

// Figures: losses, biases, the regression and the law of a randomizer.

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/labeldp"
)

// style is the look of a method; a clipped or discrete one has the colour of what it is
// made of.
func style(name string) draw.LineStyle {
	m := figure.Named("labels", strings.TrimPrefix(strings.TrimPrefix(name, "clipped-"), "discrete-"))
	s := m.Line()
	if biased(name) {
		s.Dashes = dashes
	}
	return s
}

var dashes = []vg.Length{vg.Points(5), vg.Points(3)}

func biased(name string) bool {
	return strings.HasPrefix(name, "clipped") || slices.Contains([]string{"randomized-response", "rr-on-bins", "rp-with-prior"}, name)
}

// axes returns a plot with a grid and the names of its axes.
func axes(title, x, y string) *plot.Plot {
	p := plots.New(title, x, y)
	p.Add(plotter.NewGrid())
	return p
}

// logarithmic returns axes of logarithms, with marks of x.
func logarithmic(title, x, y string, marks plot.Ticker) *plot.Plot {
	p := axes(title, x, y)
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = marks, figure.Decades{}
	return p
}

// marks puts ticks at numbers.
func marks(numbers ...float64) plot.Ticker { return (&figure.Axis{At: numbers}).Marker() }

// line draws one curve in the style of its method, without points that are not above zero where the axis is logarithmic.
func line(p *plot.Plot, name string, xs, ys []float64) {
	var pts plotter.XYs
	for j := range xs {
		if _, ok := p.Y.Scale.(plot.LogScale); !ok || ys[j] > 0 {
			pts = append(pts, plotter.XY{X: xs[j], Y: ys[j]})
		}
	}
	if pts == nil {
		return
	}
	l := try.Must(plotter.NewLine(pts))
	l.LineStyle = style(name)
	if strings.HasPrefix(name, "optimal") || name == "clean labels" {
		l.Width = vg.Points(2.6)
	}
	p.Add(l)
	p.Legend.Add(name, l)
}

func save(p *plot.Plot, width vg.Length, path string) {
	p.Title.Padding = 2 * vg.Millimeter
	p.Legend.Padding = 0.7 * vg.Millimeter
	p.Legend.YOffs = -1 * vg.Millimeter
	plots.Save(p, width, 11*vg.Centimeter, path)
}

func drawLosses(name string, eps []float64, order []string, curves map[string][]float64, path string) {
	p := logarithmic("Noisy label loss, prior: "+name, "ε", "half-loss", marks(0.1, 0.2, 0.5, 1, 2, 4, 8))
	lo, hi := math.Inf(1), 0.0
	for _, m := range order {
		if strings.Contains(m, "discrete") {
			continue // on top of the continuous ones
		}
		line(p, m, eps, curves[m])
		lo, hi = min(lo, slices.Min(curves[m])), max(hi, slices.Max(curves[m]))
	}
	p.Y.Min, p.Y.Max = lo/1.5, hi*1.5
	p.Legend.Top = true
	p.X.Max = 40 // room for the legend
	saveCurves(p, 20*vg.Centimeter, path, "epsilon", eps, order, of(curves, order))
}

func drawBias(labels []float64, names []string, curves [][]float64, path string) {
	p := axes("Bias per label, prior: weeks, ε = 2", "label", "E[ŷ] − y")
	for i, m := range names {
		line(p, m, labels, curves[i])
	}
	p.Legend.Top = true
	saveCurves(p, 18*vg.Centimeter, path, "label", labels, names, curves)
}

func drawRegression(truth []float64, curves map[string][]float64, path string) {
	p := axes("Predictors fitted to noisy labels, ε = 1", "x", "prediction")
	p.Y.Tick.Marker = marks(0, 5, 10, 15, 20)
	xs := make([]float64, len(truth))
	for i := range xs {
		xs[i] = float64(i) / float64(len(xs)-1)
	}
	curves["clean labels"] = truth
	names := []string{"clean labels", "optimal-unbiased", "two-point", "laplace", "debiased-rr", "clipped-laplace", "randomized-response", "rr-on-bins", "rp-with-prior"}
	for _, name := range names {
		line(p, name, xs, curves[name])
	}
	p.Legend.Top, p.Legend.Left = true, true
	saveCurves(p, 18*vg.Centimeter, path, "x", xs, names, of(curves, names))
}

// drawLaw draws the output law of each label.
func drawLaw(r labeldp.Randomizer, path string) {
	pic := figure.Law(r.Labels(), r.Outputs(), r.Row)
	pic.Title = fmt.Sprintf("Output law per label, ε = %v", r.Epsilon())
	pic.X.Label = "output (area of a disc: its probability; ×: the label, which is the mean)"
	p := pic.Plot(figure.Size{Width: 18 * vg.Centimeter, Height: 11 * vg.Centimeter})
	var names []string
	var rows [][]float64
	for i, y := range r.Labels() {
		names, rows = append(names, fmt.Sprintf("P(·|%v)", y)), append(rows, r.Row(i))
	}
	saveCurves(p, 18*vg.Centimeter, path, "output", r.Outputs(), names, rows)
}

// of returns the curves of names.
func of(curves map[string][]float64, names []string) (out [][]float64) {
	for _, name := range names {
		out = append(out, curves[name])
	}
	return out
}

// saveCurves saves a picture and, as CSV beside it, what it shows: x and a column for each curve.
func saveCurves(p *plot.Plot, width vg.Length, path, x string, xs []float64, names []string, curves [][]float64) {
	var b bytes.Buffer
	b.WriteString(x + "," + strings.Join(names, ",") + "\n")
	for i, v := range xs {
		b.WriteString(fmt.Sprintf("%.9g", v))
		for _, c := range curves {
			fmt.Fprintf(&b, ",%.9g", c[i])
		}
		b.WriteString("\n")
	}
	try.Check(os.WriteFile(strings.TrimSuffix(path, ".png")+".csv", b.Bytes(), 0o644))
	save(p, width, path)
}

// drawExcess draws the excess test loss of methods with error bars.
// What is not above zero has no place on a logarithmic axis and is left out.
func drawExcess(eps []float64, names []string, curves, bars map[string][]float64, path string) {
	p := logarithmic("Excess test MSE, delays of flights", "ε", "MSE above that of clean labels", marks(0.5, 1, 2, 4, 8))
	for _, m := range names {
		line(p, m, eps, curves[m])
		var at plotter.XYs
		var errs plotter.YErrors
		for i, y := range curves[m] {
			if y <= 0 {
				continue
			}
			at = append(at, plotter.XY{X: eps[i], Y: y})
			low := min(bars[m][i], 0.9*y) // the rest is below the axis
			errs = append(errs, struct{ Low, High float64 }{low, bars[m][i]})
		}
		if at == nil {
			continue
		}
		b := plots.ErrorBars(at, errs)
		b.Color = style(m).Color
		p.Add(b)
	}
	p.Legend.Top = true
	p.X.Max = 26 // room for the legend
	save(p, 20*vg.Centimeter, path)
}

// drawQuantiles draws the distribution functions of labels.
func drawQuantiles(qs []float64, names []string, curves [][]float64, path string) {
	p := axes("Noisy labels, ε = 4", "minutes", "share of the labels below, %")
	for i, m := range names {
		if m == "debiased-rr" {
			continue // beyond the picture
		}
		line(p, m, curves[i], qs)
	}
	p.X.Min, p.X.Max = -150, 350
	p.Legend.Top = false
	saveCurves(p, 20*vg.Centimeter, path, "percent", qs, names, curves)
}

// drawSteps draws the excess test loss against steps.
func drawSteps(steps []float64, names []string, curves [][]float64, path string) {
	p := logarithmic("Stochastic gradients, delays of flights, ε = 2", "steps", "MSE above that of clean labels", figure.Decades{})
	for i, m := range names {
		line(p, m, steps, curves[i])
	}
	p.X.Max = 3e5 // room for the legend
	p.Legend.Top = true
	saveCurves(p, 20*vg.Centimeter, path, "steps", steps, names, curves)
}
