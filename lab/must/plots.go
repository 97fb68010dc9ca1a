package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
)

// A style is the look of one scheme, the same in all figures. The colours are those
// that all pictures share; dashes differ too.
type style struct {
	color  color.RGBA
	dashes []vg.Length
}

var styles = map[string]style{
	"no noise": {color.RGBA{R: 150, G: 150, B: 150, A: 255}, nil},
	"Poisson":  of(figure.Poisson),
	"WOR":      of(figure.WithoutReplacement),
	"WR":       of(figure.WithReplacement),
	"MUST.OW":  of(figure.MustOW),
	"MUST.WW":  of(figure.MustWW),
}

func of(m figure.Method) style { return style{m.Colour, m.Line().Dashes} }

func (s style) line() draw.LineStyle {
	return draw.LineStyle{Color: s.color, Width: vg.Points(1.6), Dashes: s.dashes}
}

func (s style) pale() color.Color {
	return color.NRGBA{R: s.color.R, G: s.color.G, B: s.color.B, A: 60}
}

// even puts five or so ticks at round numbers.
type even struct{}

func (even) Ticks(lo, hi float64) (ts []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/2)))
	for _, f := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(f*step) <= 6 {
			step *= f
			break
		}
	}
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+1e-9*step; i++ {
		v := i * step
		if v == 0 {
			v = 0 // not −0
		}
		ts = append(ts, plot.Tick{Value: v, Label: fmt.Sprintf("%.6g", v)})
	}
	return ts
}

// A chart is a plot that remembers its numbers, which are written beside the picture.
type chart struct {
	*plot.Plot
	title string
	lines []numbers
}

// numbers is a curve of a chart; low and high are nil, or a band or bars about it.
type numbers struct {
	name      string
	xy        plotter.XYs
	low, high []float64
}

func panel(title, x, y string) *chart {
	p := plots.New(title, x, y)
	p.Title.Padding = vg.Points(4)
	p.X.Tick.Marker, p.Y.Tick.Marker = even{}, even{}
	return &chart{Plot: p, title: title}
}

func logX(p *chart) { p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, figure.Decades{} }
func logY(p *chart) { p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, figure.Decades{} }

// line draws a curve. One without a name is a guide and has no numbers.
func (p *chart) line(name string, s draw.LineStyle, xy plotter.XYs) {
	p.Add(&plotter.Line{XYs: xy, LineStyle: s})
	if name != "" {
		p.lines = append(p.lines, numbers{name: name, xy: xy})
	}
}

// band fills what is between two curves.
func (p *chart) band(c color.Color, lower, upper plotter.XYs) {
	ring := append(plotter.XYs{}, lower...)
	for i := range upper {
		ring = append(ring, upper[len(upper)-1-i])
	}
	b := try.Must(plotter.NewPolygon(ring))
	b.Color, b.LineStyle.Width = c, 0
	p.Add(b)
}

// bars draws mean ± error at x.
func (p *chart) bars(name string, s style, x, mean, se []float64) {
	at := plots.XYs(x, mean)
	var errs plotter.YErrors
	for i := range x {
		errs = append(errs, struct{ Low, High float64 }{se[i], se[i]})
	}
	bars := plots.ErrorBars(at, errs)
	bars.LineStyle.Color, bars.LineStyle.Width = s.color, vg.Points(1)
	p.Add(bars)
	p.Add(&plotter.Scatter{XYs: at, GlyphStyle: draw.GlyphStyle{Color: s.color, Radius: vg.Points(2.2), Shape: draw.CircleGlyph{}}})
	p.Add(&plotter.Line{XYs: at, LineStyle: s.line()})
	n := numbers{name: name, xy: at}
	for i, m := range mean {
		n.low, n.high = append(n.low, m-se[i]), append(n.high, m+se[i])
	}
	p.lines = append(p.lines, n)
}

// An entry is a line of the legend, which stands above the panels, off the
// curves.
type entry struct {
	name  string
	thumb plot.Thumbnailer
}

func schemeEntries(names ...string) (es []entry) {
	for _, n := range names {
		es = append(es, entry{n, &plotter.Line{LineStyle: styles[n].line()}})
	}
	return es
}

// figure draws rows of panels below one legend, at a width that a page shows
// without scaling down much. The numbers go into a file beside it.
func (r *report) figure(name string, legend []entry, rows [][]*chart, height vg.Length) {
	if r.dir == "" {
		return
	}
	writeNumbers(filepath.Join(r.dir, name+".csv"), rows)
	const strip = 18
	width := 18 * vg.Centimeter
	img := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(figure.DPI))
	all := draw.New(img)
	top := draw.Crop(all, 0, 0, height-strip, 0)
	// Entries one after the other, spread evenly over the width.
	const thumb = 24
	var ls []plot.Legend
	var widths []vg.Length
	space := width - vg.Points(50)
	for _, e := range legend {
		l := plot.NewLegend()
		l.Top, l.Left, l.ThumbnailWidth, l.YOffs = true, true, vg.Points(thumb), -2
		l.Add(" "+e.name, e.thumb)
		w := l.TextStyle.Width(" "+e.name) + thumb
		ls, widths, space = append(ls, l), append(widths, w), space-w
	}
	at := vg.Points(40)
	for i, l := range ls {
		l.Draw(draw.Crop(top, at, 0, 0, 0))
		at += widths[i] + min(40, space/vg.Length(len(ls)))
	}
	// Titles stand at the same height above all panels of a row, which they would
	// not if each panel placed its own.
	titles := make([][]string, len(rows))
	for i, row := range rows {
		for _, p := range row {
			titles[i] = append(titles[i], p.Title.Text)
			p.Title.Text = ""
		}
	}
	tiles := draw.Tiles{Rows: len(rows), Cols: len(rows[0]), PadX: vg.Points(14), PadY: vg.Points(24), PadTop: 18, PadBottom: 4, PadLeft: 4, PadRight: 14}
	body := draw.Crop(all, 0, 0, 0, -strip)
	panels := make([][]*plot.Plot, len(rows))
	for i, row := range rows {
		for _, c := range row {
			panels[i] = append(panels[i], c.Plot)
		}
	}
	for i, cs := range plot.Align(panels, tiles, body) {
		height := vg.Length(0)
		for _, c := range cs {
			height = max(height, c.Max.Y)
		}
		for j, c := range cs {
			p := rows[i][j]
			p.Draw(c)
			area := p.DataCanvas(c)
			style := p.Title.TextStyle
			style.XAlign, style.YAlign = text.XCenter, text.YBottom
			c.FillText(style, vg.Point{X: (area.Min.X + area.Max.X) / 2, Y: height + 3}, titles[i][j])
		}
	}
	plots.WritePNG(img, filepath.Join(r.dir, name+".png"))
}

// writeNumbers writes the curves of all charts as rows: panel, curve, x, y, and the ends of
// a bar.
func writeNumbers(path string, rows [][]*chart) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"panel", "curve", "x", "y", "low", "high"})
	f := func(x float64) string { return strconv.FormatFloat(x, 'g', 8, 64) }
	for _, row := range rows {
		for _, c := range row {
			for _, l := range c.lines {
				for i, p := range l.xy {
					low, high := "", ""
					if l.low != nil {
						low, high = f(l.low[i]), f(l.high[i])
					}
					w.Write([]string{c.title, l.name, f(p.X), f(p.Y), low, high})
				}
			}
		}
	}
	w.Flush()
	try.Check(w.Error())
	try.Check(os.WriteFile(path, b.Bytes(), 0o644))
}
