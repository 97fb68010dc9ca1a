// Plots of gonum as files.

package figure

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	"image/color"
	"io"
	"log"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Formats are the endings of files that pictures are written to.
var Formats = []string{"svg", "png", "pdf"}

// Format returns the format of a file by its ending, none if it is no picture's.
func Format(path string) string {
	if ext := strings.ToLower(filepath.Ext(path)); ext != "" && slices.Contains(Formats, ext[1:]) {
		return ext[1:]
	}
	return ""
}

// DPI is the resolution of a PNG if no other is asked for: two dots for each pixel of a page.
const DPI = 192

// A Size is how large a picture is on paper. DPI is for PNG; 0 stands for the constant.
type Size struct {
	Width, Height vg.Length
	DPI           int
}

// margin is around a picture.
const margin = 3 * vg.Millimeter

// fonts follow the font of a picture for readers that do not have it; the first ones are as
// wide.
const fonts = ", 'Times New Roman', Times, serif"

// Tiles returns rows of pictures, each of one size, in a format, svg, png or pdf. Text in an SVG
// is as wide as it was planned, in whatever font a reader shows it.
func Tiles(format string, size Size, rows ...[]Picture) ([]byte, error) {
	width, height := vg.Length(0), size.Height*vg.Length(len(rows))
	var titles []string
	for _, row := range rows {
		width = max(width, size.Width*vg.Length(len(row)))
		for _, pic := range row {
			titles = append(titles, legible(pic.Title))
		}
	}
	var canvas vg.CanvasWriterTo
	svg := &measuring{}
	switch format {
	case "svg":
		svg.Canvas = vgsvg.New(width, height)
		canvas = svg
	case "png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(cmp.Or(size.DPI, DPI)))}
	case "pdf":
		timeless()
		canvas = vgpdf.New(width, height)
	default:
		return nil, fmt.Errorf("%q is not svg, png or pdf", format)
	}
	if err := drawOn(canvas, draw.NewCanvas(canvas, width, height), size, rows); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	if format == "svg" {
		return svg.finish(b.Bytes(), strings.Join(titles, "; ")), nil
	}
	return b.Bytes(), nil
}

// drawOn draws pictures, with a margin around each. A PDF's fonts go through files in the folder for temporary ones, and
// where that is full the canvas panics: that is an error here.
func drawOn(canvas vg.CanvasWriterTo, c draw.Canvas, size Size, rows [][]Picture) (err error) {
	if _, ok := canvas.(*vgpdf.Canvas); ok {
		defer log.SetOutput(log.Writer())
		log.SetOutput(io.Discard) // it prints the same
		defer func() {
			caught := recover()
			if text, ok := caught.(string); ok && strings.HasPrefix(text, "vgpdf: ") {
				err = errors.New(strings.TrimPrefix(text, "vgpdf: "))
			} else if caught != nil {
				panic(caught)
			}
		}()
	}
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	for i, row := range rows {
		above, below := size.Height*vg.Length(i), size.Height*vg.Length(len(rows)-1-i)
		for j := range row {
			left := size.Width * vg.Length(j)
			tile := draw.Crop(c, margin+left, left+size.Width-c.Max.X-2*margin, margin+below, -margin-above)
			drawLabelled(row[j].Plot(size), tile)
		}
	}
	return nil
}

// drawLabelled draws a plot with the labels of its axes in the middle of them. Gonum leaves
// room for a label as if it were at the mean of the axis' ends, which on a logarithmic one is
// near the upper end, and makes the plane small.
func drawLabelled(p *plot.Plot, c draw.Canvas) {
	x, y := p.X.Label, p.Y.Label
	defer func() { p.X.Label, p.Y.Label = x, y }()
	p.X.Label.Text, p.Y.Label.Text = "", ""
	var left, below vg.Length
	if y.Text != "" {
		left = y.TextStyle.Height(y.Text) + y.Padding + vg.Points(2)
	}
	if x.Text != "" {
		below = x.TextStyle.Height(x.Text) + x.Padding + vg.Points(2)
	}
	inner := draw.Crop(c, left, 0, below, 0)
	p.Draw(inner)
	plane := p.DataCanvas(inner)
	middle := plane.Center()
	c.FillText(x.TextStyle, vg.Point{X: middle.X, Y: c.Min.Y + x.TextStyle.FontExtents().Descent}, x.Text)
	upright := y.TextStyle
	upright.Rotation += math.Pi / 2
	c.FillText(upright, vg.Point{X: c.Min.X + y.TextStyle.Height(y.Text) - y.TextStyle.FontExtents().Descent, Y: middle.Y}, y.Text)
}

// measuring is an SVG that knows how wide each text is.
type measuring struct {
	*vgsvg.Canvas
	widths []vg.Length
}

// FillString implements vg.Canvas.
func (m *measuring) FillString(f font.Face, at vg.Point, text string) {
	m.widths = append(m.widths, f.Width(text))
	m.Canvas.FillString(f, at, text)
}

// finish names other fonts, the widths of texts, and the picture for those who hear it.
func (m *measuring) finish(data []byte, title string) []byte {
	const family, element = "font-family:Liberation Serif", "<text "
	var out bytes.Buffer
	head, rest, _ := bytes.Cut(data, []byte("<g "))
	out.Write(head)
	if title != "" {
		fmt.Fprintf(&out, "<title>%s</title>\n", html.EscapeString(title))
	}
	out.WriteString("<g ")
	for i, part := range bytes.Split(rest, []byte(element)) {
		if i > 0 {
			out.WriteString(element)
			if w := m.widths[i-1].Points(); w > 0 {
				fmt.Fprintf(&out, `textLength="%.5g" lengthAdjust="spacingAndGlyphs" `, w)
			}
		}
		out.Write(part)
	}
	return bytes.ReplaceAll(out.Bytes(), []byte(family), []byte(family+fonts))
}

// timeless makes PDFs the same bytes on every day: one has the date when it was made,
// which is now unless it is given, and lists of its parts in any order unless they are
// sorted.
var timeless = sync.OnceFunc(func() {
	date := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) // zero is no date
	fpdf.SetDefaultCreationDate(date)
	fpdf.SetDefaultModificationDate(date)
	fpdf.SetDefaultCatalogSort(true)
})
