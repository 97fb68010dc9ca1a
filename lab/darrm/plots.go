package main

// The paper's figures: panels of curves over the number of votes.

import (
	"fmt"
	"os"
	"path/filepath"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
)

// methods are what the curves are called.
var methods = map[string]figure.Method{
	"optimal": figure.Optimal, "double": figure.Double, "subsampling": figure.Subsampling, "subsampling of M": figure.Subsampling,
	"paper's constant": figure.Constant,
}

type panel struct {
	title  string
	curves []curve
}

// noiseAndError draws, for each panel, γ over the votes and below it the error
// over a common vote probability.
// Errors are drawn on a logarithmic scale from least on, unless that is 0.
func (e *experiment) noiseAndError(file string, panels []panel, least float64) {
	rows := make([][]figure.Picture, 2)
	var numbers []figure.Band
	for i, pn := range panels {
		noise := figure.Picture{Title: pn.title, X: figure.Axis{Label: "votes for 1"}, Y: figure.Axis{Label: "γ", Max: 1.03}}
		errs := figure.Picture{LegendUp: true, X: figure.Axis{Label: "common vote probability p"}, Y: figure.Axis{Label: "error", Max: 0.52}}
		if least > 0 { // above 1 is room for the legend
			errs.Y = figure.Axis{Label: "error", Log: true, Min: least, Max: 1e5}
		}
		for _, c := range pn.curves {
			a := figure.Band{Method: methods[c.name]}
			b, drawn := a, a
			for l, v := range c.gamma {
				a.Add(float64(l), v)
			}
			for s := 0; s <= 100; s++ {
				x := float64(s) / 100
				v := try.Must(darrm.Error(c.gamma, same(x, len(c.gamma)-1)))
				b.Add(x, v)
				drawn.Add(x, max(v, least))
			}
			// The last panel has the smallest errors, and room for the legend.
			if i == len(panels)-1 {
				drawn.Name = c.name
			}
			noise.Bands, errs.Bands = append(noise.Bands, a), append(errs.Bands, drawn)
			a.Name, b.Name = pn.title+", "+c.name+", γ", pn.title+", "+c.name+", error"
			numbers = append(numbers, a, b)
		}
		rows[0], rows[1] = append(rows[0], noise), append(rows[1], errs)
	}
	e.save(file, figure.Size{Width: 2.6 * vg.Inch, Height: 2.8 * vg.Inch}, rows, "votes for 1, or p", "γ, or error", numbers)
}

// gnmaxPlot draws σ² over the order for the two budgets of Table 4.
func (e *experiment) gnmaxPlot(file string) {
	pic := figure.Picture{LegendUp: true, X: figure.Axis{Label: "Rényi order λ"}, Y: figure.Axis{Label: "σ²", Max: 4000}}
	for i, eps := range []float64{0.2676, 0.2556} {
		l := -xmath.Log(0.0003)
		b := figure.Band{Name: []string{"MNIST", "Fashion-MNIST"}[i] + fmt.Sprintf(" (%g, 0.0003)", eps), Method: figure.GNMax.Shade(i, 2)}
		for x := l/eps + 1.5; x <= 500; x += 0.5 {
			if s := x / (eps - l/(x-1)); s < 4000 {
				b.Add(x, s)
			}
		}
		pic.Bands = append(pic.Bands, b)
	}
	e.save(file, figure.Size{Width: 6 * vg.Inch, Height: 3.6 * vg.Inch}, [][]figure.Picture{{pic}}, "order", "variance", pic.Bands)
}

// save writes pictures and beside them the numbers that they show.
func (e *experiment) save(file string, size figure.Size, rows [][]figure.Picture, x, y string, numbers []figure.Band) {
	plots.Save(filepath.Join(e.dir, file+".png"), size, rows...)
	try.Check(os.WriteFile(filepath.Join(e.dir, file+".csv"), plots.Numbers(x, y, 6, numbers), 0o644))
}
