package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// A style is the look of one scheme, the same in all figures. The colours are
// those of Okabe and Ito, which colour-blind readers can tell apart; dashes
// differ too.
type style struct {
	color  color.RGBA
	dashes []vg.Length
}

var styles = map[string]style{
	"no noise": {color.RGBA{150, 150, 150, 255}, nil},
	"Poisson":  {color.RGBA{0, 0, 0, 255}, []vg.Length{vg.Points(2), vg.Points(2)}},
	"WOR":      {color.RGBA{0, 114, 178, 255}, nil},
	"WR":       {color.RGBA{230, 159, 0, 255}, []vg.Length{vg.Points(7), vg.Points(2)}},
	"MUST.OW":  {color.RGBA{213, 94, 0, 255}, nil},
	"MUST.WW":  {color.RGBA{0, 158, 115, 255}, []vg.Length{vg.Points(5), vg.Points(2), vg.Points(1.5), vg.Points(2)}},
}

func (s style) line() draw.LineStyle {
	return draw.LineStyle{Color: s.color, Width: vg.Points(1.6), Dashes: s.dashes}
}

func (s style) pale() color.Color { return color.NRGBA{s.color.R, s.color.G, s.color.B, 60} }

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

// decades puts ticks at powers of ten, with a label at every one that fits.
type decades struct{}

func (decades) Ticks(lo, hi float64) (ts []plot.Tick) {
	from, to := math.Floor(math.Log10(lo)), math.Ceil(math.Log10(hi))
	every := max(1, math.Ceil((to-from)/6))
	for e := from; e <= to; e++ {
		if v := math.Pow(10, e); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
			label := ""
			if math.Mod(e, every) == 0 {
				label = fmt.Sprintf("%.0e", v)
				if math.Abs(e) <= 4 {
					label = fmt.Sprintf("%.6g", v)
				}
			}
			ts = append(ts, plot.Tick{Value: v, Label: label})
		}
		for f := 2.; f <= 9 && every == 1; f++ {
			if v := f * math.Pow(10, e); v >= lo && v <= hi {
				ts = append(ts, plot.Tick{Value: v})
			}
		}
	}
	return ts
}

// places puts ticks at given places.
type places []float64

func (d places) Ticks(lo, hi float64) (ts []plot.Tick) {
	for _, v := range d {
		if v >= lo && v <= hi {
			ts = append(ts, plot.Tick{Value: v, Label: fmt.Sprintf("%.6g", v)})
		}
	}
	return ts
}

func panel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(4)
	p.X.Tick.Marker, p.Y.Tick.Marker = even{}, even{}
	return p
}

func logX(p *plot.Plot) { p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, decades{} }
func logY(p *plot.Plot) { p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, decades{} }

// addLine draws a curve.
func addLine(p *plot.Plot, s draw.LineStyle, xy plotter.XYs) {
	p.Add(&plotter.Line{XYs: xy, LineStyle: s})
}

// addBand fills what is between two curves.
func addBand(p *plot.Plot, c color.Color, lower, upper plotter.XYs) error {
	ring := append(plotter.XYs{}, lower...)
	for i := range upper {
		ring = append(ring, upper[len(upper)-1-i])
	}
	b, err := plotter.NewPolygon(ring)
	if err != nil {
		return err
	}
	b.Color, b.LineStyle.Width = c, 0
	p.Add(b)
	return nil
}

// addBars draws mean ± standard error at x.
func addBars(p *plot.Plot, s style, x, mean, se []float64) error {
	var at pointsWithErrors
	for i := range x {
		at.XYs = append(at.XYs, plotter.XY{X: x[i], Y: mean[i]})
		at.YErrors = append(at.YErrors, struct{ Low, High float64 }{se[i], se[i]})
	}
	bars, err := plotter.NewYErrorBars(at)
	if err != nil {
		return err
	}
	bars.LineStyle.Color, bars.LineStyle.Width = s.color, vg.Points(1)
	p.Add(bars)
	p.Add(&plotter.Scatter{XYs: at.XYs, GlyphStyle: draw.GlyphStyle{Color: s.color, Radius: vg.Points(2.2), Shape: draw.CircleGlyph{}}})
	addLine(p, s.line(), at.XYs)
	return nil
}

type pointsWithErrors struct {
	plotter.XYs
	plotter.YErrors
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
// without scaling down much, and shows it on the page with its caption.
func (r *report) figure(file, caption string, legend []entry, rows [][]*plot.Plot, height vg.Length) error {
	r.printf("![%s](%s)\n\n%s\n\n", strings.TrimSuffix(file, ".png"), file, caption)
	if r.dir == "" {
		return nil
	}
	const strip = 18
	width := 18 * vg.Centimeter
	img := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(110))
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
	for i, cs := range plot.Align(rows, tiles, body) {
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
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(&b); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, file), b.Bytes(), 0o644)
}
