package main

// The paper's figures: panels of curves over the number of votes.

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/dpaccountant/accountant/darrm"
)

type panel struct {
	title  string
	curves []curve
}

// noiseAndError draws, for each panel, γ over the votes and below it the error
// over a common vote probability.
func (e *experiment) noiseAndError(file string, panels []panel) {
	if e.err != nil {
		return
	}
	rows := make([][]*plot.Plot, 2)
	for i, pn := range panels {
		noise, errs := plot.New(), plot.New()
		noise.Title.Text, noise.X.Label.Text, noise.Y.Label.Text = pn.title, "votes for 1", "γ"
		errs.X.Label.Text, errs.Y.Label.Text = "common vote probability p", "error"
		for j, c := range pn.curves {
			k := len(c.gamma) - 1
			var a, b plotter.XYs
			for l, v := range c.gamma {
				a = append(a, plotter.XY{X: float64(l), Y: v})
			}
			for s := 0; s <= 100; s++ {
				x := float64(s) / 100
				v, err := darrm.Error(c.gamma, same(x, k))
				if err != nil {
					e.err = err
					return
				}
				b = append(b, plotter.XY{X: x, Y: v})
			}
			for _, t := range []struct {
				p  *plot.Plot
				xy plotter.XYs
			}{{noise, a}, {errs, b}} {
				line, err := plotter.NewLine(t.xy)
				if err != nil {
					e.err = err
					return
				}
				line.Color, line.Dashes, line.Width = lineColor(j), plotutil.Dashes(j), vg.Points(1.4)
				t.p.Add(line)
				// The last panel has the smallest errors, and room for the legend.
				if i == len(panels)-1 && t.p == errs {
					t.p.Legend.Add(c.name, line)
				}
			}
		}
		noise.Y.Min, noise.Y.Max, errs.Y.Min = 0, 1.03, 0
		errs.Y.Max = 0.52
		errs.Legend.Top = true
		if i > 0 {
			noise.Y.Label.Text, errs.Y.Label.Text = "", ""
		}
		rows[0], rows[1] = append(rows[0], noise), append(rows[1], errs)
	}
	width := vg.Length(len(panels)) * 2.6 * vg.Inch
	img := vgimg.New(width, 5*vg.Inch)
	dc := draw.New(img)
	tiles := draw.Tiles{Rows: 2, Cols: len(panels), PadX: vg.Points(8), PadY: vg.Points(8), PadTop: 4, PadBottom: 4, PadLeft: 4, PadRight: 8}
	for r, cs := range plot.Align(rows, tiles, dc) {
		for i, c := range cs {
			rows[r][i].Draw(c)
		}
	}
	e.save(file, img)
}

func lineColor(i int) color.Color {
	return []color.Color{
		color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255}, color.RGBA{120, 120, 120, 255},
	}[i%4]
}

// gnmaxPlot draws σ² over the order for the two budgets of Table 4.
func (e *experiment) gnmaxPlot(file string) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "Rényi order λ", "σ²"
	for i, eps := range []float64{0.2676, 0.2556} {
		l := -math.Log(0.0003)
		var xy plotter.XYs
		for x := l/eps + 1.5; x <= 500; x += 0.5 {
			if s := x / (eps - l/(x-1)); s < 4000 {
				xy = append(xy, plotter.XY{X: x, Y: s})
			}
		}
		line, err := plotter.NewLine(xy)
		if err != nil {
			e.err = err
			return
		}
		line.Color, line.Dashes, line.Width = lineColor(i), plotutil.Dashes(i), vg.Points(1.4)
		p.Add(line)
		p.Legend.Add([]string{"MNIST", "Fashion-MNIST"}[i]+fmt.Sprintf(" (%g, 0.0003)", eps), line)
	}
	p.Legend.Top = true
	p.Y.Min = 0
	img := vgimg.New(6*vg.Inch, 3.6*vg.Inch)
	p.Draw(draw.New(img))
	e.save(file, img)
}

func (e *experiment) save(file string, img *vgimg.Canvas) {
	if e.err != nil {
		return
	}
	var buf bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(&buf); err != nil {
		e.err = err
		return
	}
	e.err = os.WriteFile(filepath.Join(e.dir, file), buf.Bytes(), 0o644)
	e.printf("![%s](%s)\n\n", file, file)
}
