package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"strconv"
	"strings"

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

// savePicture writes a plot, whole or not at all, in the format of the file's
// ending, with a margin around it.
func savePicture(p *plot.Plot, width, height vg.Length, path string) error {
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
	legendLeft, legendUp bool
	bands                []band
}

// A band is a certified curve: a line at its proved end, and the area to the other
// end. Where lower is nil there is only the line.
type band struct {
	name            string
	x, lower, upper []float64
	proved          []float64 // lower or upper
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
	if pic.logY && pic.legendUp && pic.inTheWay() {
		pic.legendUp, pic.legendLeft = false, true
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	p.Legend.Top, p.Legend.Left = pic.legendUp, pic.legendLeft
	p.Legend.TextStyle.Font.Size = vg.Points(10)
	p.Legend.Padding, p.Legend.ThumbnailWidth = vg.Points(3), vg.Points(26)
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(-8), vg.Points(8)
	if pic.legendLeft {
		p.Legend.XOffs = vg.Points(8)
	}
	if pic.legendUp {
		p.Legend.YOffs = vg.Points(-8)
	}
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
	p.X.Tick.Marker, p.Y.Tick.Marker = round{}, round{}
	if pic.logX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, decades{}
	}
	if pic.logY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, decades{}
	}
	return savePicture(p, 17*vg.Centimeter, 11*vg.Centimeter, path)
}

// inTheWay reports whether a curve that falls runs through the upper right corner.
func (pic picture) inTheWay() bool {
	for _, b := range pic.bands {
		for i, x := range b.x {
			if x >= pic.xMin+0.6*(pic.xMax-pic.xMin) {
				if math.Log(b.proved[i]/pic.yMin) > 0.75*math.Log(pic.yMax/pic.yMin) {
					return true
				}
				break
			}
		}
	}
	return false
}

// draw adds one band, cut off at the ends of the axes.
func (pic picture) draw(p *plot.Plot, b band, c color.NRGBA) error {
	put := func(xs, ys []float64) plotter.XYs {
		var xy plotter.XYs
		for i, x := range xs {
			y := ys[i]
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
		ring := put(b.x, b.upper)
		under := put(b.x, b.lower)
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
	xy := put(b.x, b.proved)
	if len(xy) == 0 {
		return nil // nowhere within the axes
	}
	line, err := plotter.NewLine(xy)
	if err != nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: c, Width: vg.Points(1.6), Dashes: b.dashes}
	if b.muted {
		line.Width = vg.Points(1.2)
	}
	p.Add(line)
	if b.name != "" {
		p.Legend.Add(b.name, line)
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
type round struct{}

// Ticks implements plot.Ticker.
func (round) Ticks(lo, hi float64) []plot.Tick {
	span := hi - lo
	step := math.Pow(10, math.Floor(math.Log10(span/6)))
	for _, k := range []float64{1, 2, 5, 10} {
		if k*step*7 >= span {
			step *= k
			break
		}
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
