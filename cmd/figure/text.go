// Text of pictures. The fonts that pictures are drawn with lack raised zeros and minus
// signs, so that powers such as 10⁻⁵ are drawn as small digits above the line.

package figure

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// raised are the superscripts of 0 to 9 and of a minus sign.
var raised = []rune("⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

// low are what they raise.
const low = "0123456789−"

// New returns an empty plot whose text may hold powers.
func New() *plot.Plot {
	p := plot.New()
	h := powers{text.Plain{Fonts: font.DefaultCache}}
	p.TextHandler = h
	for _, s := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		s.Handler = h
	}
	return p
}

// powers is plain text whose superscripts are drawn as raised digits.
type powers struct{ text.Plain }

// A span is a part of a line: its font, and how far it is raised.
type span struct {
	text string
	face font.Face
	up   vg.Length
}

// spans returns the parts of a line, and how wide they are together.
func (h powers) spans(line string, f font.Font) (out []span, width vg.Length) {
	for _, r := range line {
		s := span{string(r), h.Fonts.Lookup(f, f.Size), 0}
		if i := slices.Index(raised, r); i >= 0 {
			s = span{string([]rune(low)[i]), h.Fonts.Lookup(f, 0.72*f.Size), 0.36 * f.Size}
		}
		if n := len(out); n > 0 && out[n-1].up == s.up {
			out[n-1].text += s.text
		} else {
			out = append(out, s)
		}
	}
	for _, s := range out {
		width += s.face.Width(s.text)
	}
	return out, width
}

// Box implements text.Handler.
func (h powers) Box(line string, f font.Font) (width, height, depth vg.Length) {
	_, height, depth = h.Plain.Box(line, f)
	_, width = h.spans(line, f)
	return width, height, depth
}

// Draw implements text.Handler. It places lines where text.Plain does.
func (h powers) Draw(c vg.Canvas, txt string, sty text.Style, pt vg.Point) {
	txt = strings.TrimRight(txt, "\n")
	if txt == "" {
		return
	}
	c.SetColor(sty.Color)
	if sty.Rotation != 0 {
		c.Push()
		defer c.Pop()
		c.Rotate(sty.Rotation)
	}
	sin, cos := math.Sincos(sty.Rotation)
	pt.X, pt.Y = pt.Y*vg.Length(sin)+pt.X*vg.Length(cos), pt.Y*vg.Length(cos)-pt.X*vg.Length(sin)
	lines := h.Lines(txt)
	pt.Y += sty.Height(txt)*vg.Length(sty.YAlign) - h.Extents(sty.Font).Ascent
	for i, line := range lines {
		parts, width := h.spans(line, sty.Font)
		x := pt.X + vg.Length(sty.XAlign)*width
		y := pt.Y + vg.Length(len(lines)-i)*sty.Font.Size
		for _, s := range parts {
			c.FillString(s.face, vg.Point{X: x, Y: y + s.up}, s.text)
			x += s.face.Width(s.text)
		}
	}
}
