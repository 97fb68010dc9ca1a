// A field on a page: its cells, contours and scale as SVG, and what it reads in each cell.

package figure

import (
	"bytes"
	"fmt"
	"html"
	"math"

	"gonum.org/v1/plot/plotter"

	"github.com/dpaccountant/accountant/internal/decimal"
)

// scaleRoom is what the scale of the colours takes beside the plane, in pixels.
const scaleRoom = 96

// A pageBox is the plane between the axes, in pixels, as page.js reads it.
type pageBox struct {
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// A fieldCell is a cell in pixels, and what is read there.
type fieldCell struct {
	Box  [4]float64 `json:"box"` // left, top, width, height
	Text string     `json:"text"`
}

// A fieldPage is the field of a picture whose places px turns into pixels.
type fieldPage struct {
	*Picture
	px func(plotter.XY) (x, y float64)
}

// cells are those with a value or without, the rows from the top.
func (p fieldPage) cells() (cells []fieldCell) {
	f := p.Field
	xs, ys := edges(f.X, p.X.Log), edges(f.Y, p.Y.Log)
	for k := len(f.Y) - 1; k >= 0; k-- {
		for i := range f.X {
			left, bottom := p.px(plotter.XY{X: xs[i], Y: ys[k]})
			right, top := p.px(plotter.XY{X: xs[i+1], Y: ys[k+1]})
			cells = append(cells, fieldCell{
				[4]float64{round2(left), round2(top), round2(right - left), round2(bottom - top)},
				fmt.Sprintf("%s %s, %s %s: %s", p.X.Label, numberText(f.X[i], decimal.Near), p.Y.Label, numberText(f.Y[k], decimal.Near), p.value(i, k)),
			})
		}
	}
	return cells
}

// round2 is x to a hundredth of a pixel.
func round2(x float64) float64 { return math.Round(100*x) / 100 }

// value is what a cell reads: an upper bound rounded up, a lower one down.
func (p fieldPage) value(i, k int) string {
	f := p.Field
	v := f.Values[i][k]
	sign := map[Bound]string{NoBound: " = ", UpperBound: " ≤ ", LowerBound: " ≥ "}[f.Bound]
	switch {
	case math.IsNaN(v):
		return "no value"
	case math.IsInf(v, 1):
		sign = " = "
	}
	return f.Label + sign + numberText(v, boundDirection[f.Bound])
}

// boundDirection is how a bound is rounded.
var boundDirection = map[Bound]decimal.Direction{NoBound: decimal.Near, UpperBound: decimal.Up, LowerBound: decimal.Down}

// numberText writes a number with six digits.
func numberText(x float64, dir decimal.Direction) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 0):
		return "∞"
	}
	return decimal.Rounded(x, 6, dir)
}

// svg draws the field into a box, and its scale to the right of it.
func (p fieldPage) svg(w *bytes.Buffer, box pageBox) {
	f := p.Field
	scale := f.axis()
	w.WriteString("<g shape-rendering=\"crispEdges\">\n")
	n := 0
	cells := p.cells()
	for k := len(f.Y) - 1; k >= 0; k-- {
		for i := range f.X {
			c := cells[n].Box
			n++
			if shade, ok := f.shade(&scale, f.Values[i][k]); ok {
				fmt.Fprintf(w, "<rect fill=\"#%02x%02x%02x\" x=\"%v\" y=\"%v\" width=\"%v\" height=\"%v\"/>\n", shade.R, shade.G, shade.B, c[0], c[1], c[2], c[3])
			}
		}
	}
	w.WriteString("</g>\n")
	place := func(q plotter.XY) (x, y float64) { return box.Left + q.X*box.Width, box.Top + (1-q.Y)*box.Height }
	lines := f.contours(&p.X, &p.Y)
	for _, class := range []string{"halo", "contour"} {
		for _, line := range lines {
			fmt.Fprintf(w, "<path class=\"%s\" d=\"", class)
			for i, q := range line.line {
				x, y := place(q)
				fmt.Fprintf(w, "%c%.2f %.2f", "ML"[min(i, 1)], x, y)
			}
			w.WriteString("\"/>\n")
		}
	}
	const wide, tall = 34, 17 // of a label, in pixels
	places, texts := labels(lines, wide/box.Width, tall/box.Height)
	for i, t := range texts {
		x, y := place(places[i])
		width := 7*float64(len([]rune(t))) + 4
		fmt.Fprintf(w, "<rect class=\"paper\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"15\"/><text class=\"level\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">%s</text>\n", x-width/2, y-7.5, width, x, y+4.5, html.EscapeString(t))
	}
	left, top := box.Left+box.Width+16, box.Top+22
	height := box.Height - 22
	const steps = 64
	w.WriteString("<g shape-rendering=\"crispEdges\">\n")
	for i := range steps {
		c := Shade((float64(i) + 0.5) / steps)
		fmt.Fprintf(w, "<rect fill=\"#%02x%02x%02x\" x=\"%.2f\" y=\"%.2f\" width=\"14\" height=\"%.2f\"/>\n", c.R, c.G, c.B, left, top+height*float64(steps-1-i)/steps, height/steps+0.5)
	}
	w.WriteString("</g>\n")
	for _, t := range f.ticks(15 / height) {
		y := top + (1-scale.place(t.Value))*height
		fmt.Fprintf(w, "<path class=\"axis\" d=\"M%.2f %.2fh5\"/><text x=\"%.2f\" y=\"%.2f\">%s</text>\n", left+14, y, left+22, y+4.5, html.EscapeString(t.Label))
	}
	fmt.Fprintf(w, "<text x=\"%.2f\" y=\"%.2f\">%s</text>\n", left, box.Top+10, html.EscapeString(f.Label))
}

// numbers is the table of all values.
func (p fieldPage) numbers(w *bytes.Buffer) {
	f := p.Field
	fmt.Fprint(w, "<table>\n<thead><tr>")
	for _, name := range []string{p.X.Label, p.Y.Label, f.Label} {
		fmt.Fprintf(w, "<th scope=\"col\">%s</th>", html.EscapeString(name))
	}
	fmt.Fprint(w, "</tr></thead>\n<tbody>\n")
	for i, x := range f.X {
		for k, y := range f.Y {
			fmt.Fprintf(w, "<tr><td>%s</td><td>%s</td><td>%s</td></tr>\n", numberText(x, decimal.Near), numberText(y, decimal.Near), numberText(f.Values[i][k], boundDirection[f.Bound]))
		}
	}
	fmt.Fprint(w, "</tbody>\n</table>\n")
}
