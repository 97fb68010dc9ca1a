// A field by gonum: its cells, the contours with their labels, and the scale of the colours beside them.

package figure

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of the scale of colours, beside the plane.
const (
	scaleGap   = 12.0 // points from the plane
	scaleWidth = 12.0
	scaleTick  = 4.0
)

// A heat is a field as gonum draws it.
type heat struct {
	*Field
	x, y  Axis // of the picture
	style text.Style
}

// newHeat returns the field of a picture with letters of a style.
func newHeat(pic *Picture, style text.Style) heat {
	style.Font.Size, style.XAlign = vg.Points(9.5), text.XLeft
	return heat{pic.Field, pic.X, pic.Y, style}
}

// room is how far the scale of the colours reaches beyond the plane.
func (h heat) room() vg.Length {
	widest := h.style.Width(h.Label)
	for _, t := range h.ticks(0) {
		widest = max(widest, h.style.Width(t.Label)+vg.Points(scaleWidth+scaleTick+3))
	}
	return widest + vg.Points(scaleGap)
}

// GlyphBoxes implements plot.GlyphBoxer: it makes room for the scale.
func (h heat) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: h.room()}}}}
}

// Plot implements plot.Plotter.
func (h heat) Plot(c draw.Canvas, _ *plot.Plot) {
	at := func(x, y float64) vg.Point {
		return vg.Point{X: c.X(x), Y: c.Y(y)}
	}
	scale := h.axis()
	xs, ys := edges(h.X, h.x.Log), edges(h.Y, h.y.Log)
	for i := range h.X {
		for k := range h.Y {
			shade, ok := h.shade(&scale, h.Values[i][k])
			if !ok {
				continue
			}
			a, b := at(h.x.place(xs[i]), h.y.place(ys[k])), at(h.x.place(xs[i+1]), h.y.place(ys[k+1]))
			// A little over the next cells, which are drawn later: no seams.
			if i+1 < len(h.X) {
				b.X += vg.Points(0.4)
			}
			if k+1 < len(h.Y) {
				b.Y += vg.Points(0.4)
			}
			c.FillPolygon(shade, []vg.Point{a, {X: b.X, Y: a.Y}, b, {X: a.X, Y: b.Y}})
		}
	}
	lines := h.contours(&h.x, &h.y)
	for _, pass := range []draw.LineStyle{{Color: color.White, Width: vg.Points(2.6)}, {Color: color.Black, Width: vg.Points(1)}} {
		for _, line := range lines {
			var points []vg.Point
			for _, p := range line.line {
				points = append(points, at(p.X, p.Y))
			}
			c.StrokeLines(pass, points)
		}
	}
	box := h.style.Rectangle("0.00").Size()
	places, texts := labels(lines, float64(box.X/c.Size().X), float64(box.Y/c.Size().Y))
	style := h.style
	style.XAlign, style.YAlign = text.XCenter, text.YCenter
	for i, t := range texts {
		p := at(places[i].X, places[i].Y)
		w, tall := style.Width(t)/2+vg.Points(2), style.Height(t)/2+vg.Points(0.5)
		c.FillPolygon(color.White, []vg.Point{{X: p.X - w, Y: p.Y - tall}, {X: p.X + w, Y: p.Y - tall}, {X: p.X + w, Y: p.Y + tall}, {X: p.X - w, Y: p.Y + tall}})
		c.FillText(style, p, t)
	}
	h.scale(c, &scale)
}

// scale draws the scale of the colours to the right of the plane.
func (h heat) scale(c draw.Canvas, a *Axis) {
	const steps = 128
	left := c.Max.X + vg.Points(scaleGap)
	right := left + vg.Points(scaleWidth)
	low, high := c.Min.Y, c.Max.Y-2*h.style.Height(h.Label)
	y := func(t float64) vg.Length { return low + vg.Length(t)*(high-low) }
	for i := range steps {
		from, to := y(float64(i)/steps), y(float64(i+1)/steps)
		if i+1 < steps {
			to += vg.Points(0.4)
		}
		c.FillPolygon(Shade((float64(i)+0.5)/steps), []vg.Point{{X: left, Y: from}, {X: right, Y: from}, {X: right, Y: to}, {X: left, Y: to}})
	}
	line := draw.LineStyle{Color: color.Black, Width: vg.Points(0.5)}
	c.StrokeLines(line, []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}, {X: left, Y: low}})
	style := h.style
	style.YAlign = text.YCenter
	for _, t := range h.ticks(float64(style.Height(h.Label) / (high - low))) {
		at := y(a.place(t.Value))
		c.StrokeLine2(line, right, at, right+vg.Points(scaleTick), at)
		c.FillText(style, vg.Point{X: right + vg.Points(scaleTick+3), Y: at}, t.Label)
	}
	style.YAlign = text.YTop
	c.FillText(style, vg.Point{X: left, Y: c.Max.Y}, h.Label)
}
