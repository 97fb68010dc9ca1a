// A picture by gonum.

package figure

import (
	"cmp"
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
func (pic *Picture) Plot(size Size) *plot.Plot {
	fitted := pic.fit()
	pic = &fitted
	p := newPlot()
	pic.Title = legible(pic.Title)
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
	for i, style := range pic.Styles() {
		pic.draw(p, i, style, size)
	}
	pic.placeLegend(&p.Legend, size)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = pic.X.Min, pic.X.Max, pic.Y.Min, pic.Y.Max
	p.X.Tick.Marker, p.Y.Tick.Marker = pic.X.Marker(), pic.Y.Marker()
	if pic.X.Log {
		p.X.Scale = plot.LogScale{}
	}
	if pic.Y.Log {
		p.Y.Scale = plot.LogScale{}
	}
	return p
}

// shrink makes the letters of a text smaller where it is longer than there is room.
func shrink(s *text.Style, t string, room vg.Length) {
	if w := s.Width(t); w > room {
		s.Font.Size = max(vg.Points(7), s.Font.Size*room/w)
	}
}

// draw adds band i.
func (pic *Picture) draw(p *plot.Plot, i int, style draw.LineStyle, size Size) {
	b := &pic.Bands[i]
	xy := pic.Drawn(b)
	var entry []plot.Thumbnailer
	add := func(s *plotter.Scatter) {
		p.Add(s)
		entry = append(entry, s)
	}
	switch marks := (draw.GlyphStyle{Color: style.Color, Radius: vg.Millimeter, Shape: draw.CrossGlyph{}}); {
	case (b.Area != nil || b.Crosses) && len(xy) == 0:
		return
	case b.Area != nil:
		marks.Color, marks.Shape = faint(style.Color, 200), draw.CircleGlyph{}
		radius := b.discs(size.Width, size.Height)
		add(&plotter.Scatter{XYs: xy, GlyphStyle: marks, GlyphStyleFunc: func(k int) draw.GlyphStyle {
			return draw.GlyphStyle{Color: marks.Color, Radius: radius[k], Shape: marks.Shape}
		}})
	case b.Crosses:
		add(&plotter.Scatter{XYs: xy, GlyphStyle: marks})
	default:
		if ring := pic.ring(b); len(ring) >= 3 {
			p.Add(&plotter.Polygon{XYs: []plotter.XYs{ring}, Color: faint(style.Color, 90)})
		}
		line := &plotter.Line{XYs: xy, LineStyle: style}
		entry = append(entry, line)
		if len(xy) > 0 { // otherwise it is for the legend alone
			p.Add(line)
		}
		if b.Errors != nil {
			p.Add(pic.errorBars(b, style.Color))
		}
		if b.Dots || len(xy) == 1 {
			var dots plotter.XYs
			for k := range b.X {
				dots = append(dots, pic.line(b.X[k:k+1], b.Proved[k:k+1], Straight)...)
			}
			marks.Radius, marks.Shape = vg.Points(2.5), glyphs[i%len(glyphs)]
			if pic.Y.Names != nil {
				marks.Radius, marks.Shape = vg.Points(3.2), draw.CircleGlyph{}
			}
			if len(dots) > 60 {
				marks.Radius = vg.Points(1)
			}
			add(&plotter.Scatter{XYs: dots, GlyphStyle: marks})
		}
	}
	if b.Name != "" {
		p.Legend.Add(legible(pic.Label(b)), entry...)
	}
}

// errorBars returns the bars of a band's errors, cut off at the ends of the axis.
func (pic *Picture) errorBars(b *Band, c color.Color) *plotter.YErrorBars {
	bars := &plotter.YErrorBars{LineStyle: draw.LineStyle{Color: c, Width: vg.Points(1)}, CapWidth: vg.Points(5)}
	for k, e := range b.Errors {
		if y := b.Proved[k]; y >= pic.Y.Min && y <= pic.Y.Max {
			bars.XYs = append(bars.XYs, plotter.XY{X: b.X[k], Y: y})
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{min(e, y-pic.Y.Min), min(e, pic.Y.Max-y)})
		}
	}
	return bars
}

// faint returns a colour with another opacity, of 255.
func faint(of color.Color, opacity uint8) color.Color {
	c := color.NRGBAModel.Convert(of).(color.NRGBA)
	c.A = opacity
	return c
}

// discs returns the radii of a band's discs in a picture of a size. The largest nearly touches
// its neighbours above and below.
func (b *Band) discs(width, height vg.Length) []vg.Length {
	rows := slices.Compact(slices.Sorted(slices.Values(b.Proved)))
	largest, top := min(width/15, 0.75*height/vg.Length(len(rows)))/2, slices.Max(b.Area)
	out := make([]vg.Length, len(b.Area))
	for k, a := range b.Area {
		out[k] = max(largest*vg.Length(math.Sqrt(a/top)), width/2000)
	}
	return out
}

// The picture of a list of intervals and bounds: a row for each.

// A Row is an interval by its name, or an upper bound where Lower is NaN. An Estimate is
// neither.
type Row struct {
	Name         string
	Lower, Upper float64
	Estimate     bool
	Method       Method
}

// Rows returns the picture of rows, the first at the top. What is infinite or missing has
// its name and no mark. The axis is logarithmic if the values are far apart.
func Rows(title, axis string, rows []Row) Picture {
	pic := Picture{Title: title, X: Axis{Label: axis}, Y: Axis{Min: -0.6, Max: float64(len(rows)) - 0.4, Names: make([]string, len(rows))}}
	least, most := math.Inf(1), 0.0
	for i, r := range rows {
		y := float64(len(rows) - 1 - i)
		b := Band{Method: cmp.Or(r.Method, Certified), Dots: true, Between: Straight}
		name := r.Name
		for _, v := range []float64{r.Lower, r.Upper} {
			if math.IsInf(v, 1) {
				name += ": ∞"
				break
			}
			if math.IsNaN(v) {
				continue
			}
			b.Add(v, y)
			most = max(most, v)
			if v > 0 {
				least = min(least, v)
			}
		}
		if r.Estimate {
			name += " (no bound)"
		}
		pic.Y.Names[int(y)] = name
		pic.Bands = append(pic.Bands, b)
	}
	switch {
	case most > 20*least:
		pic.X.Log, pic.X.Min, pic.X.Max = true, least/1.5, most*1.5
		for i := range pic.Bands { // nothing on a logarithmic axis is 0
			for k, v := range pic.Bands[i].X {
				pic.Bands[i].X[k] = max(v, pic.X.Min)
			}
		}
	case most > 0:
		pic.X.Max = 1.08 * most
	}
	return pic
}

// The picture of the output laws of a randomizer of labels.

// Law returns the picture of the output law of a randomizer for each of its labels: a
// row for each, with discs whose area is the probability of an output, and a
// cross at the label itself. Labels ascend; row returns the probabilities of the
// outputs for label i.
func Law(labels, outputs []float64, row func(i int) []float64) Picture {
	discs := Band{Method: OptimalUnbiased}
	for i, y := range labels {
		for j, p := range row(i) {
			discs.X, discs.Proved, discs.Area = append(discs.X, outputs[j]), append(discs.Proved, y), append(discs.Area, p)
		}
	}
	self := Band{Method: TwoPoint, X: labels, Proved: labels, Crosses: true}
	pic := Picture{
		X: Axis{Label: "output (area of a disc: its probability; ×: the label)"}, Y: Axis{Label: "label"},
		Bands: []Band{discs, self},
	}
	span := cmp.Or(labels[len(labels)-1]-labels[0], 1)
	room := span/float64(2*len(labels)) + span/20
	pic.Y.Min, pic.Y.Max = labels[0]-room, labels[len(labels)-1]+room
	if len(labels) <= 12 {
		pic.Y.At = labels
	}
	lo, hi := min(slices.Min(outputs), labels[0]), max(slices.Max(outputs), labels[len(labels)-1])
	reach := max((hi-lo)/30, span/20)
	pic.X.Min, pic.X.Max = lo-reach, hi+reach
	return pic
}
