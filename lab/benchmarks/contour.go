package main

// The picture of the integrand that docs/theory/contour.md shows.

import (
	"image/color"
	"math"
	"math/cmplx"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
)

// The picture of docs/theory/contour.md: Gaussian runs whose losses together are N(μ²/2, μ²),
// so that all of it is in closed form.
const (
	mu      = 2.0
	epsilon = 10.0
)

// exact is δ(ε) of that loss.
func exact() float64 {
	upper := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	return upper(epsilon/mu-mu/2) - math.Exp(epsilon)*upper(epsilon/mu+mu/2)
}

// weight is the integrand of formula (1) at θ + it, the line at which δ is read.
func weight(theta, t float64) float64 {
	z := complex(theta, t)
	return real(cmplx.Exp(z*(z+1)*mu*mu/2-z*epsilon) / (z * (z + 1)))
}

// best is the θ at which the integrand at t = 0 is smallest.
func best() float64 {
	theta := 0.01
	for x := theta; x < 50; x += 0.001 {
		if weight(x, 0) < weight(theta, 0) {
			theta = x
		}
	}
	return theta
}

// terms are the summands of (1) at t = 0, h, 2h, … as multiples of δ; both signs of t
// are one term.
func terms(theta, step, until float64) (pts plotter.XYs, sum float64) {
	for i := 0; float64(i)*step <= until; i++ {
		v := step / math.Pi * weight(theta, float64(i)*step) / exact()
		if i == 0 {
			v /= 2
		}
		pts = append(pts, plotter.XY{X: float64(i) * step, Y: v})
		sum += v
	}
	return pts, sum
}

// contourPicture draws why the line of integration matters: the loss and what is paid
// for it, the terms of the sum on the best line, and those on a wrong one.
func contourPicture(dir string) {
	law := plots.New("what is asked", "privacy loss L of all steps", "density;  (1 − exp(ε−L))₊")
	density := func(l float64) float64 {
		x := (l - mu*mu/2) / mu
		return math.Exp(-x*x/2) / (mu * math.Sqrt(2*math.Pi))
	}
	payoff := func(l float64) float64 { return max(0, 1-math.Exp(epsilon-l)) }
	for i, f := range []func(float64) float64{density, payoff} {
		line := plotter.NewFunction(f)
		line.LineStyle, line.Samples = figure.Line(i), 400
		law.Add(line)
		law.Legend.Add([]string{"density of L", "share of it in δ"}[i], line)
	}
	law.X.Min, law.X.Max, law.Y.Min, law.Y.Max = -6, 16, 0, 1
	law.Legend.Top, law.Legend.Left = true, true

	const step, until = 0.25, 3
	panels := []*plot.Plot{law}
	for i, theta := range []float64{best(), best() / 4} {
		p := plots.New([]string{"terms of the sum on the best line", "terms on a line too far left"}[i], "frequency t", "term / δ")
		pts, _ := terms(theta, step, until)
		p.Add(plotter.NewGrid())
		for _, pt := range pts {
			l, dot := try.Must2(plotter.NewLinePoints(plotter.XYs{{X: pt.X, Y: 0}, pt}))
			l.Color, l.Width = figure.Palette[2-i], vg.Points(2)
			dot.GlyphStyle = draw.GlyphStyle{Color: l.Color, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
			p.Add(l, dot)
		}
		p.X.Min, p.X.Max = -0.1, until
		panels = append(panels, p)
	}
	canvas := vgimg.NewWith(vgimg.UseWH(30*vg.Centimeter, 9*vg.Centimeter), vgimg.UseDPI(figure.DPI), vgimg.UseBackgroundColor(color.White))
	tiles := draw.Tiles{Rows: 1, Cols: 3, PadX: vg.Centimeter, PadTop: vg.Millimeter, PadBottom: vg.Millimeter, PadRight: 3 * vg.Millimeter, PadLeft: vg.Millimeter}
	for i, c := range plot.Align([][]*plot.Plot{panels}, tiles, draw.New(canvas))[0] {
		panels[i].Draw(c)
	}
	plots.WritePNG(canvas, filepath.Join(dir, "contour.png"))
}
