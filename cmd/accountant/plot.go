package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pictureFormat checks that the file of a flag has the ending of a picture.
func pictureFormat(flag, path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".svg", ".png", ".pdf":
		return nil
	}
	return fmt.Errorf("--%s: %q does not end in .svg, .png or .pdf", flag, path)
}

var (
	pdfOnce sync.Once
	pdfDate = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) // zero is no date
)

// savePicture writes a plot, whole or not at all, in the format of the file's
// ending, with a margin around it.
func savePicture(p *plot.Plot, width, height vg.Length, path string) error {
	// A PDF has the date when it was made, which is now unless it is given, and
	// lists of its parts in any order unless they are sorted.
	pdfOnce.Do(func() {
		fpdf.SetDefaultCreationDate(pdfDate)
		fpdf.SetDefaultModificationDate(pdfDate)
		fpdf.SetDefaultCatalogSort(true)
	})
	w, err := draw.NewFormattedCanvas(width, height, strings.ToLower(filepath.Ext(path))[1:])
	if err != nil {
		return err
	}
	c := draw.New(w)
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	const margin = 3 * vg.Millimeter
	p.Draw(draw.Crop(c, margin, -2*margin, margin, -margin))
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		return err
	}
	return writeFileAtomic(path, b.Bytes())
}

// A picture is a set of curves over common axes.
type picture struct {
	title, x, y          string
	logX, logY           bool
	xMin, xMax           float64
	yMin, yMax           float64 // equal: as the curves need
	legendLeft, legendUp bool    // where the legend goes if there is room
	whole                bool    // x is a whole number
	bands                []band
}

// A band is a certified curve: a line at its proved end, and the area to the other
// end. Where lower is nil there is only the line.
type band struct {
	name            string
	x, lower, upper []float64
	proved          []float64 // lower or upper
	between         joint     // of the proved ends
	dashes          []vg.Length
	muted           bool // thin and grey: for comparison
}

// The colours are told apart by most colour-blind eyes (Okabe and Ito).
var palette = []color.NRGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255},
}

func (pic picture) save(path string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = pic.title, pic.x, pic.y
	p.Title.TextStyle.Font.Size = vg.Points(13)
	p.Title.Padding = vg.Points(8)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font.Size = vg.Points(12)
		a.Tick.Label.Font.Size = vg.Points(10)
		a.Padding = 0
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	p.Legend.TextStyle.Font.Size = vg.Points(10)
	p.Legend.Padding, p.Legend.ThumbnailWidth = vg.Points(3), vg.Points(26)
	pic.placeLegend(&p.Legend)
	colour := 0
	for _, b := range pic.bands {
		c := color.NRGBA{110, 110, 110, 255}
		if !b.muted {
			c = palette[colour%len(palette)]
			colour++
		}
		if err := pic.draw(p, b, c); err != nil {
			return err
		}
	}
	p.X.Min, p.X.Max = pic.xMin, pic.xMax
	if pic.yMin != pic.yMax {
		p.Y.Min, p.Y.Max = pic.yMin, pic.yMax
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = round{pic.whole}, round{}
	if pic.logX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, decades{}
	}
	if pic.logY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, decades{}
	}
	return savePicture(p, 17*vg.Centimeter, 11*vg.Centimeter, path)
}

// placeLegend looks for a place at the left or the right side where no curve runs,
// from where the picture would like it; where every place is taken, for the one
// that hides least.
func (pic picture) placeLegend(l *plot.Legend) {
	// In points: about the size of the plane between the axes, and of the text.
	const plane, height, char, row, margin = 410.0, 230.0, 6.2, 13.0, 8.0
	longest := 0
	for _, b := range pic.bands {
		longest = max(longest, len([]rune(b.label(pic))))
	}
	w := (26 + char*float64(longest) + 3*margin) / plane
	h := (row*float64(len(pic.bands)) + 2*margin) / height
	marks := pic.marks()
	best, least := 0.0, math.MaxInt
	bestLeft := pic.legendLeft
	for i := range 41 {
		down := (1 - h) * float64(i) / 40 // of the upper edge
		if !pic.legendUp {
			down = 1 - h - down
		}
		for _, left := range []bool{pic.legendLeft, !pic.legendLeft} {
			hits := 0
			for _, m := range marks {
				x := m.X
				if !left {
					x = 1 - x
				}
				if x < w && m.Y < 1-down && m.Y > 1-down-h {
					hits++
				}
			}
			if hits < least {
				best, bestLeft, least = down, left, hits
			}
		}
	}
	// The text is always to the right of its line: whoever shows an SVG in a wider
	// font then sees it run towards the margin, not over the line.
	l.Top, l.Left = true, true
	l.YOffs = vg.Points(-margin - best*height)
	l.XOffs = vg.Points(margin)
	if !bestLeft {
		l.XOffs = vg.Points(max(margin, (1-w)*plane+2*margin))
		if pic.logX {
			l.XOffs -= vg.Points(2 * margin) // the axis ends before the plane does
		}
	}
}

// marks are points along all curves, the axes running from 0 to 1.
func (pic picture) marks() plotter.XYs {
	lo, hi := pic.yMin, pic.yMax
	if lo == hi {
		lo, hi = 0, 0
		for _, b := range pic.bands {
			for _, y := range b.proved {
				if !math.IsInf(y, 0) {
					lo, hi = min(lo, y), max(hi, y)
				}
			}
		}
	}
	place := func(v, lo, hi float64, log bool) float64 {
		if log {
			v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
		}
		return (v - lo) / (hi - lo)
	}
	var marks plotter.XYs
	for _, b := range pic.bands {
		for _, ys := range [][]float64{b.proved, b.lower, b.upper} {
			var last plotter.XY
			for i, y := range ys {
				if math.IsNaN(y) || math.IsInf(y, 0) || y <= 0 && pic.logY {
					continue
				}
				m := plotter.XY{X: place(b.x[i], pic.xMin, pic.xMax, pic.logX), Y: place(y, lo, hi, pic.logY)}
				if i == 0 {
					last = m
				}
				for k := 1; k <= 20; k++ {
					t := float64(k) / 20
					marks = append(marks, plotter.XY{X: last.X + t*(m.X-last.X), Y: last.Y + t*(m.Y-last.Y)})
				}
				last = m
			}
		}
	}
	return marks
}

// label is the name of a band in the legend, which says where the curve is when
// it cannot be seen.
func (b band) label(pic picture) string {
	infinite, low := 0, 0
	first := math.NaN()
	for i, y := range b.proved {
		switch {
		case math.IsInf(y, 1):
			if infinite == 0 {
				first = b.x[i]
			}
			infinite++
		case pic.logY && y < pic.yMin:
			low++
		}
	}
	switch n := len(b.proved); {
	case b.name == "" || n == 0:
		return b.name
	case infinite == n:
		return fmt.Sprintf("%s: %s = ∞", b.name, pic.y)
	case infinite > 0:
		return fmt.Sprintf("%s: %s = ∞ from %s %s", b.name, pic.y, short(first), pic.x)
	case low == n:
		return fmt.Sprintf("%s: below %s", b.name, short(pic.yMin))
	}
	return b.name
}

// draw adds one band, cut off at the ends of the axes. It is long because its two edges,
// the area between them and the marks are cut in ways of their own.
func (pic picture) draw(p *plot.Plot, b band, c color.NRGBA) error {
	put := func(xs, ys []float64, between joint) plotter.XYs {
		var xy plotter.XYs
		for _, corner := range between.line(xs, ys, pic.logY, pic.yMin) {
			x, y := corner.X, corner.Y
			if math.Abs(x-pic.xMax) < 1e-9*(pic.xMax-pic.xMin) {
				x = pic.xMax
			}
			if math.IsNaN(y) || math.IsInf(y, 0) || x < pic.xMin || x > pic.xMax {
				continue
			}
			if pic.logY && y < pic.yMin {
				// The line ends where it crosses the lower end of the axis.
				if n := len(xy); n > 0 {
					last := xy[n-1]
					if y > 0 {
						x = last.X + (x-last.X)*math.Log(last.Y/pic.yMin)/math.Log(last.Y/y)
					}
					xy = append(xy, plotter.XY{X: x, Y: pic.yMin})
				}
				break
			}
			if pic.yMin != pic.yMax {
				y = min(max(y, pic.yMin), pic.yMax)
			}
			xy = append(xy, plotter.XY{X: x, Y: y})
		}
		return xy
	}
	if b.lower != nil {
		// What the other end is between the points is not proved, but where it is that
		// of a curve that only grows, or only falls.
		other := straight
		if b.between == toRight {
			other = toLeft
		}
		up, low := b.between, other
		if len(b.proved) > 0 && &b.proved[0] == &b.lower[0] {
			up, low = low, up
		}
		ring := put(b.x, b.upper, up)
		under := put(b.x, b.lower, low)
		for i := len(under) - 1; i >= 0; i-- {
			ring = append(ring, under[i])
		}
		if len(ring) > 2 {
			area, err := plotter.NewPolygon(ring)
			if err != nil {
				return err
			}
			fill := c
			fill.A = 90
			area.Color, area.LineStyle.Width = fill, 0
			p.Add(area)
		}
	}
	xy := put(b.x, b.proved, b.between)
	shown := xy
	if len(xy) == 0 {
		shown = plotter.XYs{{X: pic.xMin, Y: pic.yMin}} // for the legend alone
	}
	line, err := plotter.NewLine(shown)
	if err != nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: c, Width: vg.Points(1.6), Dashes: b.dashes}
	if b.muted {
		line.Width = vg.Points(1.2)
	}
	if len(xy) > 0 {
		p.Add(line)
	}
	if len(xy) == 1 {
		dot, err := plotter.NewScatter(xy)
		if err != nil {
			return err
		}
		dot.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
		p.Add(dot)
	}
	if b.name != "" {
		p.Legend.Add(b.label(pic), line)
	}
	return nil
}

// decades marks powers of ten, at most about eight of them with a number, and 2 to
// 9 between them where there is room.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(lo, hi float64) []plot.Tick {
	first, last := int(math.Floor(math.Log10(lo)+1e-9)), int(math.Ceil(math.Log10(hi)-1e-9))
	step := 1
	for _, step = range []int{1, 2, 3, 5, 10, 20, 50, 100} {
		if last-first <= 8*step {
			break
		}
	}
	var ticks []plot.Tick
	for e := first; e <= last; e++ {
		x := math.Pow(10, float64(e))
		if x >= lo*(1-1e-9) && x <= hi*(1+1e-9) {
			t := plot.Tick{Value: x}
			if e%step == 0 {
				t.Label = short(x)
				if e < -4 || e > 4 {
					t.Label = fmt.Sprintf("1e%d", e)
				}
			}
			if t.Label != "" || step <= 10 {
				ticks = append(ticks, t)
			}
		}
		if step == 1 {
			for m := 2.0; m < 10; m++ {
				if y := m * x; y >= lo && y <= hi {
					ticks = append(ticks, plot.Tick{Value: y})
				}
			}
		}
	}
	return ticks
}

// round marks multiples of a round number, some six of them.
type round struct{ whole bool }

// Ticks implements plot.Ticker.
func (r round) Ticks(lo, hi float64) []plot.Tick {
	span := hi - lo
	step := math.Pow(10, math.Floor(math.Log10(span/6)))
	for _, k := range []float64{1, 2, 5, 10} {
		if k*step*7 >= span {
			step *= k
			break
		}
	}
	if r.whole {
		step = max(step, 1)
	}
	digits := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	var ticks []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+1e-9*span; i++ {
		x := i * step
		label := strconv.FormatFloat(x, 'f', digits, 64)
		if math.Abs(x) >= 1e6 {
			label = strconv.FormatFloat(x, 'g', 4, 64)
		}
		if i == 0 {
			label = "0"
		}
		ticks = append(ticks, plot.Tick{Value: x, Label: label})
	}
	return ticks
}
