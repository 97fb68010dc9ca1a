// Pictures and the numbers that they show, as files.

package figure

import (
	"bytes"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// fonts follow the font of a picture for readers that do not have it; the first ones are as
// wide.
const fonts = ", 'Times New Roman', Times, serif"

// Write draws a plot in a format, svg or png.
func Write(w io.Writer, p *plot.Plot, width, height vg.Length, format string) error {
	c, err := p.WriterTo(width, height, format)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	data := b.Bytes()
	if format == "svg" {
		const family = "font-family:Liberation Serif"
		data = bytes.ReplaceAll(data, []byte(family), []byte(family+fonts))
	}
	_, err = w.Write(data)
	return err
}

// Save writes a plot to a file in the format of its extension.
func Save(p *plot.Plot, width, height vg.Length, path string) error {
	var b bytes.Buffer
	if err := Write(&b, p, width, height, strings.TrimPrefix(filepath.Ext(path), ".")); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// A Curve is a line of a picture by its name.
type Curve struct {
	Name string
	XY   plotter.XYs
}

// Numbers returns the points of curves as a table of comma-separated values: of each its
// curve, and x and y under their names, with so many digits.
func Numbers(x, y string, digits int, curves []Curve) ([]byte, error) {
	rows := [][]string{{"curve", x, y}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', digits, 64) }
	for _, c := range curves {
		for _, at := range c.XY {
			rows = append(rows, []string{c.Name, number(at.X), number(at.Y)})
		}
	}
	var b bytes.Buffer
	err := csv.NewWriter(&b).WriteAll(rows)
	return b.Bytes(), err
}
