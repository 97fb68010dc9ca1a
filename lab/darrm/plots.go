package main

// The paper's figures: panels of curves over the number of votes.

import (
	"fmt"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

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
	rows := make([][]*plot.Plot, 2)
	var numbers []plots.Curve
	for i, pn := range panels {
		noise, errs := plots.New(pn.title, "votes for 1", "γ"), plots.New("", "common vote probability p", "error")
		for _, c := range pn.curves {
			k := len(c.gamma) - 1
			var a, b, drawn plotter.XYs
			for l, v := range c.gamma {
				a = append(a, plotter.XY{X: float64(l), Y: v})
			}
			for s := 0; s <= 100; s++ {
				x := float64(s) / 100
				v := try.Must(darrm.Error(c.gamma, same(x, k)))
				b, drawn = append(b, plotter.XY{X: x, Y: v}), append(drawn, plotter.XY{X: x, Y: max(v, least)})
			}
			numbers = append(numbers, plots.Curve{Name: pn.title + ", " + c.name + ", γ", XY: a}, plots.Curve{Name: pn.title + ", " + c.name + ", error", XY: b})
			for _, t := range []struct {
				p  *plot.Plot
				xy plotter.XYs
			}{{noise, a}, {errs, drawn}} {
				line := try.Must(plotter.NewLine(t.xy))
				line.LineStyle = methods[c.name].Line()
				t.p.Add(line)
				// The last panel has the smallest errors, and room for the legend.
				if i == len(panels)-1 && t.p == errs {
					t.p.Legend.Add(c.name, line)
				}
			}
		}
		noise.Y.Min, noise.Y.Max, errs.Y.Min = 0, 1.03, 0
		errs.Y.Max = 0.52
		if least > 0 {
			// Above 1 is room for the legend.
			errs.Y.Min, errs.Y.Max, errs.Y.Scale, errs.Y.Tick.Marker = least, 1e5, plot.LogScale{}, plot.TickerFunc(func(lo, _ float64) []plot.Tick {
				return figure.Decades{}.Ticks(lo, 1)
			})
		}
		errs.Legend.Top, errs.Legend.Padding, errs.Legend.ThumbnailWidth = true, vg.Points(3), vg.Points(30)
		if i > 0 {
			noise.Y.Label.Text, errs.Y.Label.Text = "", ""
		}
		rows[0], rows[1] = append(rows[0], noise), append(rows[1], errs)
	}
	width := vg.Length(len(panels)) * 2.6 * vg.Inch
	img := vgimg.NewWith(vgimg.UseWH(width, 5*vg.Inch), vgimg.UseDPI(figure.DPI))
	dc := draw.New(img)
	tiles := draw.Tiles{Rows: 2, Cols: len(panels), PadX: vg.Points(8), PadY: vg.Points(8), PadTop: 4, PadBottom: 4, PadLeft: 4, PadRight: 8}
	for r, cs := range plot.Align(rows, tiles, dc) {
		for i, c := range cs {
			rows[r][i].Draw(c)
		}
	}
	e.save(file, img, "votes for 1, or p", "γ, or error", numbers)
}

// gnmaxPlot draws σ² over the order for the two budgets of Table 4.
func (e *experiment) gnmaxPlot(file string) {
	p := plots.New("", "Rényi order λ", "σ²")
	var numbers []plots.Curve
	for i, eps := range []float64{0.2676, 0.2556} {
		l := -xmath.Log(0.0003)
		var xy plotter.XYs
		for x := l/eps + 1.5; x <= 500; x += 0.5 {
			if s := x / (eps - l/(x-1)); s < 4000 {
				xy = append(xy, plotter.XY{X: x, Y: s})
			}
		}
		line := try.Must(plotter.NewLine(xy))
		line.LineStyle = plots.Shade(figure.GNMax, i, 2)
		p.Add(line)
		name := []string{"MNIST", "Fashion-MNIST"}[i] + fmt.Sprintf(" (%g, 0.0003)", eps)
		p.Legend.Add(name, line)
		numbers = append(numbers, plots.Curve{Name: name, XY: xy})
	}
	p.Legend.Top, p.Legend.Padding, p.Legend.ThumbnailWidth = true, vg.Points(3), vg.Points(30)
	p.Y.Min = 0
	img := vgimg.NewWith(vgimg.UseWH(6*vg.Inch, 3.6*vg.Inch), vgimg.UseDPI(figure.DPI))
	p.Draw(draw.Crop(draw.New(img), 4, -8, 4, -4))
	e.save(file, img, "order", "variance", numbers)
}

// save writes a picture and beside it the numbers that it shows.
func (e *experiment) save(file string, img *vgimg.Canvas, x, y string, numbers []plots.Curve) {
	plots.WritePNG(img, filepath.Join(e.dir, file+".png"))
	try.Check(os.WriteFile(filepath.Join(e.dir, file+".csv"), plots.Numbers(x, y, 6, numbers), 0o644))
}
