// Package figure draws what the command and the experiments show, as SVG, PNG and PDF of one
// description. It computes nothing: the Joint of a line says what it claims between its points.
package figure

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
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
	Errors          []float64 // of the proved ends, drawn as bars; nil for none
	Between         Joint     // of the proved ends
	Method          Method    // none: the next colour of the Palette
	Muted           bool      // thin and grey, with the dashes of its method if it has some: for comparison
	Wide            bool      // seen under another line
	Dots            bool      // marks at the points
	Area            []float64 // discs of these areas at the points, and no line
	Crosses         bool      // marks that are crosses, and no line
}

// Add adds a point to the line of a band.
func (b *Band) Add(x, y float64) { b.X, b.Proved = append(b.X, x), append(b.Proved, y) }

// Styles returns the line of each band.
func (pic *Picture) Styles() []draw.LineStyle {
	out := make([]draw.LineStyle, len(pic.Bands))
	next := 0
	for i, b := range pic.Bands {
		switch {
		case b.Muted:
			out[i] = Method{Colour: grey, pattern: cmp.Or(b.Method.pattern, 7)}.Line()
			out[i].Width = vg.Points(1.2)
		case b.Method != Method{}:
			out[i] = b.Method.Line()
		default:
			out[i] = Plain(next).Line()
			next++
		}
		if b.Wide {
			out[i].Width = vg.Points(2.6)
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
		for k, e := range b.Errors {
			ys = append(ys, b.Proved[k]-e, b.Proved[k]+e)
		}
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

// Lines that are bounds between their points, too.
//
// δ(ε) is the largest P(S) − e^ε·Q(S) over the events S, so that it falls and is convex in
// e^ε: between two upper bounds the chord c(ε) = A − B·e^ε, with B ≥ 0, is one. On an axis
// of ε that chord is no straight line; but c is concave in ε, and so is log c, as a
// logarithm of what is concave and positive. Hence the two tangents of c at its ends, or
// those of log c where the axis is logarithmic, lie above c, and above δ. What only grows
// (ε in the number of runs, power in the false-positive rate) is bounded by steps.

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

// Where the legend hides no curve.

// placeLegend looks for a place at the left or the right side of a picture of a size where
// no curve runs, from where the picture would like it; where every place is taken, for the
// one that hides least.
func (pic *Picture) placeLegend(l *plot.Legend, size Size) {
	// In points: about the size of the plane between the axes.
	const margin = 8.0
	plane, height := max(size.Width.Points()-72, 72), max(size.Height.Points()-82, 50)
	box := l.Rectangle(draw.Canvas{}).Size()
	w, h := min((box.X.Points()+2.5*margin)/plane, 1), min((box.Y.Points()+2*margin)/height, 1)
	best, least, bestLeft := 0.0, math.MaxInt, pic.LegendLeft
	marks := pic.marks()
	for i := range 82 {
		down, left := (1-h)*float64(i/2)/40, pic.LegendLeft == (i%2 == 0) // of the upper edge
		if !pic.LegendUp {
			down = 1 - h - down
		}
		hits := 0
		for _, m := range marks {
			if !left {
				m.X = 1 - m.X
			}
			if m.X < w && m.Y < 1-down && m.Y > 1-down-h {
				hits++
			}
		}
		if hits < least {
			best, bestLeft, least = down, left, hits
		}
	}
	// The text is always to the right of its line.
	l.Top, l.Left = true, true
	l.YOffs = vg.Points(-margin - best*height)
	l.XOffs = vg.Points(margin)
	if !bestLeft {
		l.XOffs = vg.Points(max(margin, (1-w)*plane+2*margin))
	}
}

// marks are points along all curves, the axes running from 0 to 1.
func (pic *Picture) marks() (marks plotter.XYs) {
	for _, b := range pic.Bands {
		for _, ys := range [][]float64{b.Proved, b.Lower, b.Upper} {
			line := pic.line(b.X, ys, Straight)
			for i, to := range line {
				from := line[max(i-1, 0)]
				if b.Area != nil || b.Crosses {
					from = to
				}
				for k := range 20 {
					t := float64(k+1) / 20
					x, y := pic.X.place(from.X), pic.Y.place(from.Y)
					marks = append(marks, plotter.XY{X: x + t*(pic.X.place(to.X)-x), Y: y + t*(pic.Y.place(to.Y)-y)})
				}
			}
		}
	}
	return marks
}
