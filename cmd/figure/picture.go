// Package figure draws what the command and the experiments show: one description of a
// picture, and ways to write it as SVG, PNG and PDF. It computes nothing: what a line claims between its points
// is what its Joint says.
package figure

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Picture is a set of curves over common axes.
type Picture struct {
	Title                string
	X, Y                 Axis
	LegendLeft, LegendUp bool // where the legend goes if there is room
	Bands                []Band
}

// A Band is a certified curve: a line at its proved end, and the area to the other
// end. Where Lower is nil there is only the line.
type Band struct {
	Name            string
	X, Lower, Upper []float64
	Proved          []float64 // Lower or Upper
	Between         Joint     // of the proved ends
	Method          Method    // none: the next colour of the Palette
	Dashes          []vg.Length
	Muted           bool      // thin and grey: for comparison
	Dots            bool      // marks at the points
	Area            []float64 // discs of these areas at the points, and no line
	Crosses         bool      // marks that are crosses, and no line
}

// Styles returns the line of each band.
func (pic *Picture) Styles() []draw.LineStyle {
	out := make([]draw.LineStyle, len(pic.Bands))
	next := 0
	for i, b := range pic.Bands {
		switch {
		case b.Muted:
			out[i] = draw.LineStyle{Color: grey, Width: vg.Points(1.2), Dashes: patterns[7]}
		case b.Method != Method{}:
			out[i] = b.Method.Line()
		default:
			out[i] = Line(next)
			next++
		}
		if b.Dashes != nil {
			out[i].Dashes = b.Dashes
		}
	}
	return out
}

// fit returns a picture whose axes have ends.
func (pic *Picture) fit() Picture {
	out := *pic
	var xs, ys []float64
	for _, b := range pic.Bands {
		xs, ys = append(xs, b.X...), slices.Concat(ys, b.Proved, b.Lower, b.Upper)
	}
	out.X.fit(xs)
	out.Y.fit(ys)
	return out
}

// LogWhereNeeded makes the axis of values logarithmic where a line would lie in the lowest twentieth of a
// linear one from end to end.
func (pic *Picture) LogWhereNeeded() {
	least, most, lowest := math.Inf(1), 0.0, math.Inf(1)
	for _, b := range pic.Bands {
		top := 0.0
		for _, v := range b.Proved {
			if v > 0 && !math.IsInf(v, 1) {
				top, lowest = max(top, v), min(lowest, v)
			}
		}
		if top > 0 {
			least, most = min(least, top), max(most, top)
		}
	}
	if most > 20*least {
		pic.Y.Log, pic.Y.Min, pic.Y.Max = true, lowest/1.2, 1.2*most
	}
}

// longNumber is a number with more than six digits behind its point.
var longNumber = regexp.MustCompile(`\d+\.\d{7,}(e[-+]?\d+)?`)

// legible rounds the long numbers of a text to six digits: a picture is read, not computed with.
func legible(text string) string {
	return longNumber.ReplaceAllStringFunc(text, func(number string) string {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return number
		}
		return decimal.Rounded(v, 6, decimal.Near)
	})
}

// line returns the corners of a line of the picture, cut off at the ends of the axes.
func (pic *Picture) line(xs, ys []float64, between Joint) plotter.XYs {
	var xy plotter.XYs
	for _, corner := range between.Corners(xs, ys, pic.Y.Log, pic.Y.Min) {
		x, y := corner.X, corner.Y
		if math.Abs(x-pic.X.Max) < 1e-9*(pic.X.Max-pic.X.Min) {
			x = pic.X.Max
		}
		if math.IsNaN(y) || math.IsInf(y, 0) || !(x >= pic.X.Min && x <= pic.X.Max) {
			continue
		}
		if pic.Y.Log && y < pic.Y.Min {
			// The line ends where it crosses the lower end of the axis.
			if n := len(xy); n > 0 {
				last := xy[n-1]
				if y > 0 {
					x = last.X + (x-last.X)*xmath.Log(last.Y/pic.Y.Min)/xmath.Log(last.Y/y)
				}
				xy = append(xy, plotter.XY{X: x, Y: pic.Y.Min})
			}
			break
		}
		xy = append(xy, plotter.XY{X: x, Y: min(max(y, pic.Y.Min), pic.Y.Max)})
	}
	return xy
}

// Drawn returns the corners of the line of a band.
func (pic *Picture) Drawn(b *Band) plotter.XYs { return pic.line(b.X, b.Proved, b.Between) }

// ring returns the corners of the area between the two ends of a band. What the other end
// is between the points is not proved, but where it is that of a curve that only grows, or
// only falls.
func (pic *Picture) ring(b *Band) plotter.XYs {
	if b.Lower == nil || len(b.Proved) == 0 {
		return nil
	}
	other := Straight
	if b.Between == ToRight {
		other = ToLeft
	}
	up, low := b.Between, other
	if &b.Proved[0] == &b.Lower[0] {
		up, low = low, up
	}
	ring := pic.line(b.X, b.Upper, up)
	under := pic.line(b.X, b.Lower, low)
	slices.Reverse(under)
	return append(ring, under...)
}

// Label is the name of a band in the legend, which says where the curve is when
// it cannot be seen.
func (pic *Picture) Label(b *Band) string {
	first := slices.Index(b.Proved, math.Inf(1))
	switch {
	case b.Name == "" || len(b.Proved) == 0:
		return b.Name
	case first >= 0 && !slices.ContainsFunc(b.Proved, func(y float64) bool { return !math.IsInf(y, 1) }):
		return fmt.Sprintf("%s: %s = ∞", b.Name, pic.Y.Label)
	case first >= 0:
		return fmt.Sprintf("%s: %s = ∞ from %s %s", b.Name, pic.Y.Label, decimal.Rounded(b.X[first], 4, decimal.Down), pic.X.Label)
	case pic.Y.Log && !slices.ContainsFunc(b.Proved, func(y float64) bool { return !(y < pic.Y.Min) }):
		return fmt.Sprintf("%s: below %s", b.Name, decimal.Rounded(pic.Y.Min, 4, decimal.Up))
	}
	return b.Name
}
