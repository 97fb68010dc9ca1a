package main

// The picture of the integrand that docs/theory/contour.md shows.

import (
	"math"
	"math/cmplx"
	"path/filepath"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
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
func terms(theta, step, until float64) (ends figure.Band, sum float64) {
	for i := 0; float64(i)*step <= until; i++ {
		v := step / math.Pi * weight(theta, float64(i)*step) / exact()
		if i == 0 {
			v /= 2
		}
		ends.Add(float64(i)*step, v)
		sum += v
	}
	return ends, sum
}

// contourPicture draws why the line of integration matters: the loss and what is paid
// for it, the terms of the sum on the best line, and those on a wrong one.
func contourPicture(dir string) {
	law := figure.Picture{
		Title: "what is asked", X: figure.Axis{Label: "privacy loss L of all steps", Min: -6, Max: 16}, Y: figure.Axis{Label: "density;  (1 − exp(ε−L))₊", Max: 1}, LegendUp: true, LegendLeft: true,
		Bands: []figure.Band{{Name: "density of L"}, {Name: "share of it in δ"}},
	}
	for l := -6.0; l <= 16; l += 0.05 {
		x := (l - mu*mu/2) / mu
		law.Bands[0].Add(l, math.Exp(-x*x/2)/(mu*math.Sqrt(2*math.Pi)))
		law.Bands[1].Add(l, max(0, 1-math.Exp(epsilon-l)))
	}
	const step, until = 0.25, 3
	panels := []figure.Picture{law}
	for i, theta := range []float64{best(), best() / 4} {
		ends, _ := terms(theta, step, until)
		ends.Method, ends.Crosses = figure.Plain(2-i).Dashed(0), true
		stems := figure.Band{Method: ends.Method}
		for k, t := range ends.X {
			stems.Add(t, 0)
			stems.Add(t, ends.Proved[k])
			stems.Add(t, 0)
		}
		panels = append(panels, figure.Picture{
			Title: []string{"terms of the sum on the best line", "terms on a line too far left"}[i],
			X:     figure.Axis{Label: "frequency t", Min: -0.1, Max: until + 0.1}, Y: figure.Axis{Label: "term / δ"}, Bands: []figure.Band{stems, ends},
		})
	}
	plots.Save(filepath.Join(dir, "contour.png"), figure.Size{Width: 10 * vg.Centimeter, Height: 9 * vg.Centimeter}, panels)
}
