// A picture by gonum.

package figure

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// glyphs are marks at points, one for each line of a picture.
var glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}}

// Plot returns the picture as a plot that suits a size.
func (pic *Picture) Plot(size Size) (*plot.Plot, error) {
	fitted := pic.fit()
	pic = &fitted
	p := New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = pic.Title, pic.X.Label, pic.Y.Label
	p.Title.TextStyle.Font.Size = vg.Points(13)
	p.Title.Padding = vg.Points(8)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font.Size = vg.Points(12)
		a.Tick.Label.Font.Size = vg.Points(10)
		a.Padding = 0
	}
	// What is long is written smaller before it is cut, or makes the plane small.
	shrink(&p.Title.TextStyle, pic.Title, size.Width-4*margin)
	shrink(&p.X.Label.TextStyle, pic.X.Label, 0.8*size.Width)
	shrink(&p.Y.Label.TextStyle, pic.Y.Label, size.Height-vg.Points(85))
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	p.Legend.TextStyle.Font.Size = vg.Points(10)
	p.Legend.Padding, p.Legend.ThumbnailWidth = vg.Points(3), vg.Points(26)
	pic.placeLegend(&p.Legend, size)
	for i, style := range pic.Styles() {
		if err := pic.draw(p, i, style, size); err != nil {
			return nil, err
		}
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = pic.X.Min, pic.X.Max, pic.Y.Min, pic.Y.Max
	p.X.Tick.Marker, p.Y.Tick.Marker = pic.X.Marker(), pic.Y.Marker()
	if pic.X.Log {
		p.X.Scale = plot.LogScale{}
	}
	if pic.Y.Log {
		p.Y.Scale = plot.LogScale{}
	}
	return p, nil
}

// shrink makes the letters of a text smaller where it is longer than there is room.
func shrink(s *text.Style, t string, room vg.Length) {
	if w := s.Width(t); w > room {
		s.Font.Size = max(vg.Points(7), s.Font.Size*room/w)
	}
}

// draw adds band i.
func (pic *Picture) draw(p *plot.Plot, i int, style draw.LineStyle, size Size) error {
	b := &pic.Bands[i]
	xy := pic.Drawn(b)
	if b.Area != nil || b.Crosses {
		return pic.drawMarks(p, b, xy, style, size)
	}
	if ring := pic.ring(b); ring != nil {
		area, err := plotter.NewPolygon(ring)
		if err != nil {
			return err
		}
		area.Color, area.LineStyle.Width = faint(style.Color, 90), 0
		p.Add(area)
	}
	shown := xy
	if len(xy) == 0 {
		shown = plotter.XYs{{X: pic.X.Min, Y: pic.Y.Min}} // for the legend alone
	}
	line, err := plotter.NewLine(shown)
	if err != nil {
		return err
	}
	line.LineStyle = style
	thumbnails := []plot.Thumbnailer{line}
	if len(xy) > 0 {
		p.Add(line)
	}
	if b.Dots || len(xy) == 1 {
		dots := plotter.XYs{}
		for k := range b.X {
			dots = append(dots, pic.line(b.X[k:k+1], b.Proved[k:k+1], Straight)...)
		}
		scatter, err := plotter.NewScatter(dots)
		if err != nil {
			return err
		}
		scatter.GlyphStyle = draw.GlyphStyle{Color: style.Color, Radius: vg.Points(2.5), Shape: glyphs[i%len(glyphs)]}
		if pic.Y.Names != nil {
			scatter.Shape, scatter.Radius = draw.CircleGlyph{}, vg.Points(3.2)
		}
		if len(dots) > 60 {
			scatter.Radius = vg.Points(1)
		}
		p.Add(scatter)
		thumbnails = append(thumbnails, scatter)
	}
	if b.Name != "" {
		p.Legend.Add(pic.Label(b), thumbnails...)
	}
	return nil
}

// drawMarks adds a band that is no line: discs or crosses at its points.
func (pic *Picture) drawMarks(p *plot.Plot, b *Band, xy plotter.XYs, style draw.LineStyle, size Size) error {
	if len(xy) == 0 {
		return nil
	}
	marks, err := plotter.NewScatter(xy)
	if err != nil {
		return err
	}
	marks.GlyphStyle = draw.GlyphStyle{Color: style.Color, Radius: vg.Millimeter, Shape: draw.CrossGlyph{}}
	if b.Area != nil {
		marks.Color, marks.Shape = faint(style.Color, 200), draw.CircleGlyph{}
		radius := pic.discs(b, size.Width.Points(), size.Height.Points())
		marks.GlyphStyleFunc = func(k int) draw.GlyphStyle {
			return draw.GlyphStyle{Color: marks.Color, Radius: vg.Points(radius[k]), Shape: marks.Shape}
		}
	}
	p.Add(marks)
	if b.Name != "" {
		p.Legend.Add(pic.Label(b), marks)
	}
	return nil
}

// faint returns a colour with another opacity, of 255.
func faint(of color.Color, opacity uint8) color.Color {
	c := color.NRGBAModel.Convert(of).(color.NRGBA)
	c.A = opacity
	return c
}

// discs returns the radii of a band's discs, in the unit of the picture's size. The largest
// nearly touches its neighbours above and below.
func (pic *Picture) discs(b *Band, width, height float64) []float64 {
	ys := slices.Clone(b.Proved)
	slices.Sort(ys)
	rows := len(slices.Compact(ys))
	largest := min(width/15, 0.75*height/float64(max(rows, 1))) / 2
	top := slices.Max(b.Area)
	out := make([]float64, len(b.Area))
	for k, a := range b.Area {
		out[k] = max(largest*math.Sqrt(a/top), width/2000)
	}
	return out
}
