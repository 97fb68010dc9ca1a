package main

// Figures: losses, biases, the regression and the law of a randomizer.

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/labeldp"
)

// style is the look of a method; a clipped or discrete one has the colour of what it is
// made of, and one that is biased has dashes.
func style(name string) figure.Method {
	m := figure.Named("labels", strings.TrimPrefix(strings.TrimPrefix(name, "clipped-"), "discrete-"))
	if strings.HasPrefix(name, "clipped") {
		return m.Dashed(1)
	}
	return m
}

// bands returns the curves of methods. Where the axis is logarithmic they have no points that are not above zero.
func bands(log bool, xs []float64, names []string, curves [][]float64) (out []figure.Band) {
	for i, name := range names {
		b := figure.Band{Name: name, Method: style(name), Wide: strings.HasPrefix(name, "optimal") || name == "clean labels"}
		for j, y := range curves[i] {
			if !log || y > 0 {
				b.Add(xs[j], y)
			}
		}
		if b.X != nil {
			out = append(out, b)
		}
	}
	return out
}

func drawLosses(name string, eps []float64, order []string, curves map[string][]float64, path string) {
	shown := slices.DeleteFunc(slices.Clone(order), func(m string) bool { return strings.Contains(m, "discrete") }) // on top of the continuous ones
	saveCurves(figure.Picture{
		Title: "Noisy label loss, prior: " + name, X: figure.Axis{Label: "ε", Log: true, At: []float64{0.1, 0.2, 0.5, 1, 2, 4, 8}}, Y: figure.Axis{Label: "half-loss", Log: true},
		Bands: bands(true, eps, shown, of(curves, shown)),
	}, path, "epsilon", eps, order, of(curves, order))
}

func drawBias(labels []float64, names []string, curves [][]float64, path string) {
	saveCurves(figure.Picture{
		Title: "Bias per label, prior: weeks, ε = 2", X: figure.Axis{Label: "label"}, Y: figure.Axis{Label: "E[ŷ] − y"}, LegendUp: true,
		Bands: bands(false, labels, names, curves),
	}, path, "label", labels, names, curves)
}

func drawRegression(truth []float64, curves map[string][]float64, path string) {
	xs := make([]float64, len(truth))
	for i := range xs {
		xs[i] = float64(i) / float64(len(xs)-1)
	}
	curves["clean labels"] = truth
	names := []string{"clean labels", "optimal-unbiased", "two-point", "laplace", "debiased-rr", "clipped-laplace", "randomized-response", "rr-on-bins", "rp-with-prior"}
	saveCurves(figure.Picture{
		Title: "Predictors fitted to noisy labels, ε = 1", X: figure.Axis{Label: "x"}, Y: figure.Axis{Label: "prediction"}, LegendUp: true, LegendLeft: true,
		Bands: bands(false, xs, names, of(curves, names)),
	}, path, "x", xs, names, of(curves, names))
}

// drawLaw draws the output law of each label.
func drawLaw(r labeldp.Randomizer, path string) {
	pic := figure.Law(r.Labels(), r.Outputs(), r.Row)
	pic.Title = fmt.Sprintf("Output law per label, ε = %v", r.Epsilon())
	pic.X.Label = "output (area of a disc: its probability; ×: the label, which is the mean)"
	var names []string
	var rows [][]float64
	for i, y := range r.Labels() {
		names, rows = append(names, fmt.Sprintf("P(·|%v)", y)), append(rows, r.Row(i))
	}
	saveCurves(pic, path, "output", r.Outputs(), names, rows)
}

// of returns the curves of names.
func of(curves map[string][]float64, names []string) (out [][]float64) {
	for _, name := range names {
		out = append(out, curves[name])
	}
	return out
}

// saveCurves saves a picture and, as CSV beside it, what it shows: x and a column for each curve.
func saveCurves(pic figure.Picture, path, x string, xs []float64, names []string, curves [][]float64) {
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
	save(pic, path)
}

func save(pic figure.Picture, path string) {
	plots.Save(path, figure.Size{Width: 18 * vg.Centimeter, Height: 11 * vg.Centimeter}, []figure.Picture{pic})
}

// drawExcess draws the excess test loss of methods with error bars.
// What is not above zero has no place on a logarithmic axis and is left out.
func drawExcess(eps []float64, names []string, curves, bars map[string][]float64, path string) {
	pic := figure.Picture{
		Title: "Excess test MSE, delays of flights", LegendUp: true,
		X: figure.Axis{Label: "ε", Log: true, At: []float64{0.5, 1, 2, 4, 8}, Min: 0.4, Max: 30}, Y: figure.Axis{Label: "MSE above that of clean labels", Log: true}, // room for the legend
		Bands: bands(true, eps, names, of(curves, names)),
	}
	for i := range pic.Bands {
		b := &pic.Bands[i]
		for j, y := range curves[b.Name] {
			if y > 0 {
				b.Errors = append(b.Errors, bars[b.Name][j])
			}
		}
	}
	save(pic, path)
}

// drawQuantiles draws the distribution functions of labels.
func drawQuantiles(qs []float64, names []string, curves [][]float64, path string) {
	pic := figure.Picture{Title: "Noisy labels, ε = 4", X: figure.Axis{Label: "minutes", Min: -150, Max: 350}, Y: figure.Axis{Label: "share of the labels below, %"}}
	for i, m := range names {
		if m != "debiased-rr" { // beyond the picture
			pic.Bands = append(pic.Bands, figure.Band{Name: m, Method: style(m), X: curves[i], Proved: qs})
		}
	}
	saveCurves(pic, path, "percent", qs, names, curves)
}

// drawSteps draws the excess test loss against steps.
func drawSteps(steps []float64, names []string, curves [][]float64, path string) {
	saveCurves(figure.Picture{
		Title: "Stochastic gradients, delays of flights, ε = 2", X: figure.Axis{Label: "steps", Log: true, Min: 250, Max: 3e5}, Y: figure.Axis{Label: "MSE above that of clean labels", Log: true},
		Bands: bands(true, steps, names, curves),
	}, path, "steps", steps, names, curves)
}
