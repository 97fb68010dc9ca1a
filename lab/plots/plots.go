// Package plots has what only the experiments draw: shades of one method, and plots and the
// numbers that they show as files.
package plots

import (
	"bytes"
	"encoding/csv"
	"flag"
	"image/color"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/try"
)

// New returns a plot with its title and the names of its axes.
func New(title, x, y string) *plot.Plot {
	p := figure.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	return p
}

// Shade is line i of n that show the same method with other parameters: all in its colour,
// from dark to light.
func Shade(m figure.Method, i, n int) draw.LineStyle {
	s := m.Style(i)
	light := float64(i)/float64(max(n-1, 1))*0.85 - 0.4
	mix := func(v uint8) uint8 {
		if light < 0 {
			return uint8(float64(v) * (1 + light))
		}
		return uint8(float64(v) + (255-float64(v))*light)
	}
	c := m.Colour
	s.Color = color.RGBA{R: mix(c.R), G: mix(c.G), B: mix(c.B), A: 255}
	return s
}

// Save writes a plot to a file in the format of its extension.
func Save(p *plot.Plot, width, height vg.Length, path string) {
	data := try.Must(figure.Write(p, figure.Size{Width: width, Height: height}, strings.TrimPrefix(filepath.Ext(path), ".")))
	try.Check(os.WriteFile(path, data, 0o644))
}

// XYs returns the points of numbers.
func XYs(xs, ys []float64) plotter.XYs {
	out := make(plotter.XYs, len(xs))
	for i, x := range xs {
		out[i] = plotter.XY{X: x, Y: ys[i]}
	}
	return out
}

// ErrorBars returns bars about points.
func ErrorBars(at plotter.XYs, errs plotter.YErrors) *plotter.YErrorBars {
	return try.Must(plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{at, errs}))
}

// WritePNG writes a picture to a file.
func WritePNG(img *vgimg.Canvas, path string) {
	var b bytes.Buffer
	try.Must(vgimg.PngCanvas{Canvas: img}.WriteTo(&b))
	try.Check(os.WriteFile(path, b.Bytes(), 0o644))
}

// A Curve is a line of a picture by its name.
type Curve struct {
	Name string
	XY   plotter.XYs
}

// Numbers returns the points of curves as a table of comma-separated values: of each its
// curve, and x and y under their names, with so many digits.
func Numbers(x, y string, digits int, curves []Curve) []byte {
	rows := [][]string{{"curve", x, y}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', digits, 64) }
	for _, c := range curves {
		for _, at := range c.XY {
			rows = append(rows, []string{c.Name, number(at.X), number(at.Y)})
		}
	}
	var b bytes.Buffer
	try.Check(csv.NewWriter(&b).WriteAll(rows))
	return b.Bytes()
}

// OutFlag adds the flag -out, the folder that a program writes its pages and pictures into, and returns what
// returns that folder once flags are parsed. Without the flag it is a new temporary folder, whose name is
// printed: tracked, the folder whose pages are kept, is overwritten only where the flag names it.
func OutFlag(tracked string) func() string {
	out := flag.String("out", "", "`folder` to write into, such as "+tracked+" (default: a new temporary one)")
	return func() string {
		if *out == "" {
			folder, err := os.MkdirTemp("", filepath.Base(os.Args[0])+"-")
			if err != nil {
				log.Fatal(err)
			}
			log.Printf("written into %s; -out %s writes the pages that are kept", folder, tracked)
			*out = folder
		}
		return *out
	}
}
