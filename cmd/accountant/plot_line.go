package main

import (
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/dpaccountant/accountant/service"
)

// A joint is what is known of a curve between two points of it, and so how a line
// that is never on the wrong side goes from one to the next.
type joint int

const (
	// straight: the line is no bound between the points.
	straight joint = iota
	// convex: δ against ε, which falls and is convex in e^ε. The chord in e^ε of
	// two upper bounds is one too. It is concave in ε, as its logarithm is, so that
	// two tangents of it are above it.
	convex
	// toRight: the bound at the right point holds from the left one on. That is so
	// for an upper bound of what grows, and for a lower bound of what falls.
	toRight
	// toLeft: the bound at the left point holds up to the right one.
	toLeft
)

// line returns the corners of the line through points of a curve; logarithmic
// values below floor are not shown.
func (j joint) line(xs, ys []float64, logY bool, floor float64) plotter.XYs {
	var line plotter.XYs
	for i := range xs {
		if i > 0 {
			switch a, b := (plotter.XY{X: xs[i-1], Y: ys[i-1]}), (plotter.XY{X: xs[i], Y: ys[i]}); j {
			case convex:
				line = append(line, tangents(a, b, logY, floor)...)
			case toRight:
				line = append(line, plotter.XY{X: a.X, Y: b.Y})
			case toLeft:
				line = append(line, plotter.XY{X: b.X, Y: a.Y})
			}
		}
		line = append(line, plotter.XY{X: xs[i], Y: ys[i]})
	}
	return line
}

// tangents returns the corners between two points of two tangents of their chord in
// e^x, and where the chord leaves a logarithmic picture.
func tangents(a, b plotter.XY, logY bool, floor float64) plotter.XYs {
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
		height = math.Log
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
		corners = append(corners, plotter.XY{X: a.X + t, Y: min(max(y, end.Y), a.Y)})
	}
	if end != b {
		corners = append(corners, end)
	}
	return corners
}

// finer returns the points of a curve with others between them, up to four times as
// many in all, found by ask where middle returns a place between two of them.
func finer(points []service.CurvePoint, middle func(a, b service.CurvePoint) (x float64, wanted bool), ask func([]float64) ([]service.CurvePoint, error)) ([]service.CurvePoint, error) {
	for most := 4 * len(points); len(points) < most; {
		var at []float64
		for i := 1; i < len(points) && len(points)+len(at) < most; i++ {
			if x, wanted := middle(points[i-1], points[i]); wanted && x > float64(points[i-1].X) && x < float64(points[i].X) {
				at = append(at, x)
			}
		}
		if len(at) == 0 {
			break
		}
		more, err := ask(at)
		if err != nil {
			return nil, err
		}
		points = append(slices.Clip(points), more...)
		slices.SortFunc(points, func(a, b service.CurvePoint) int {
			if a.X < b.X {
				return -1
			}
			return 1
		})
	}
	return points, nil
}

// lineStep is how far a line may be from the curve that it bounds, as a share of the
// picture: about a pixel.
const lineStep = 1.0 / 400
