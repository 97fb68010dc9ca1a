// Lines that are bounds between their points, too.
//
// δ(ε) is the largest P(S) − e^ε·Q(S) over the events S, so that it falls and is convex in
// e^ε: between two upper bounds the chord c(ε) = A − B·e^ε, with B ≥ 0, is one. On an axis
// of ε that chord is no straight line; but c is concave in ε, and so is log c, as a
// logarithm of what is concave and positive. Hence the two tangents of c at its ends, or
// those of log c where the axis is logarithmic, lie above c, and above δ. What only grows
// (ε in the number of runs, power in the false-positive rate) is bounded by steps.

package figure

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"gonum.org/v1/plot/plotter"
)

// A Joint is what is known of a curve between two points of it, and so how a line
// that is never on the wrong side goes from one to the next.
type Joint int

const (
	// Straight lines are no bounds between the points.
	Straight Joint = iota
	// Convex is for δ against ε: two tangents of the chord in e^ε.
	Convex
	// ToRight: the bound at the right point holds from the left one on. That is so
	// for an upper bound of what grows, and for a lower bound of what falls.
	ToRight
	// ToLeft: the bound at the left point holds up to the right one.
	ToLeft
)

// outward is by what share the corner of two tangents is raised. Heights are at most 745 in
// size, with errors of a few 2⁻⁵² of that when they are added and exponentiated: below
// 1e-12.
const outward = 1e-9

// Corners returns the corners of the line through points of a curve; logarithmic values
// below floor are not shown.
func (j Joint) Corners(xs, ys []float64, logY bool, floor float64) plotter.XYs {
	var line plotter.XYs
	for i := range ys {
		if i > 0 {
			switch a, b := (plotter.XY{X: xs[i-1], Y: ys[i-1]}), (plotter.XY{X: xs[i], Y: ys[i]}); j {
			case Convex:
				line = append(line, Tangents(a, b, logY, floor)...)
			case ToRight:
				line = append(line, plotter.XY{X: a.X, Y: b.Y})
			case ToLeft:
				line = append(line, plotter.XY{X: b.X, Y: a.Y})
			}
		}
		line = append(line, plotter.XY{X: xs[i], Y: ys[i]})
	}
	return line
}

// Tangents returns the corners between two points of two tangents of their chord in
// e^x, and where the chord leaves a logarithmic picture.
func Tangents(a, b plotter.XY, logY bool, floor float64) plotter.XYs {
	h := b.X - a.X
	drop := a.Y - b.Y
	if !(h > 0 && drop > 0) || logY && a.Y <= floor {
		return nil
	}
	// The chord at b.X − s is b.Y + drop·(1 − e^−s)/(1 − e^−h).
	scale := -math.Expm1(-h)
	end := b
	if logY && b.Y < floor {
		share := (floor - b.Y) / drop
		end = plotter.XY{X: b.X + math.Log1p(-share*scale), Y: floor}
	}
	height := func(y float64) float64 { return y }
	slope := func(p plotter.XY) float64 { return -drop * math.Exp(p.X-b.X) / scale }
	if logY {
		height = xmath.Log
		linear := slope
		slope = func(p plotter.XY) float64 { return linear(p) / p.Y }
	}
	first, last := slope(a), slope(end)
	var corners plotter.XYs
	if width := end.X - a.X; first-last > 0 && width > 0 {
		t := (height(end.Y) - height(a.Y) - last*width) / (first - last)
		t = min(max(t, 0), width)
		y := height(a.Y) + first*t
		if logY {
			y = math.Exp(y)
		}
		corners = append(corners, plotter.XY{X: a.X + t, Y: min(max(y, end.Y)*(1+outward), a.Y)})
	}
	if end != b {
		corners = append(corners, end)
	}
	return corners
}
