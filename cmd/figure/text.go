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

// A span is a part of a line that is raised, or is not.
type span struct {
	text string
	up   bool
}

func spans(line string) (out []span) {
	for _, r := range line {
		i := slices.Index(raised, r)
		up := i >= 0
		if up {
			r = []rune(low)[i]
		}
		if n := len(out); n == 0 || out[n-1].up != up {
			out = append(out, span{up: up})
		}
		out[len(out)-1].text += string(r)
	}
	return out
}

// face is the font of a span.
func (h powers) face(s span, f font.Font) font.Face {
	if s.up {
		return h.Fonts.Lookup(f, 0.72*f.Size)
	}
	return h.Fonts.Lookup(f, f.Size)
}

func (h powers) width(line string, f font.Font) (w vg.Length) {
	for _, s := range spans(line) {
		face := h.face(s, f)
		w += face.Width(s.text)
	}
	return w
}

// Box implements text.Handler.
func (h powers) Box(line string, f font.Font) (width, height, depth vg.Length) {
	_, height, depth = h.Plain.Box(line, f)
	return h.width(line, f), height, depth
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
		x := pt.X + vg.Length(sty.XAlign)*h.width(line, sty.Font)
		y := pt.Y + vg.Length(len(lines)-i)*sty.Font.Size
		for _, s := range spans(line) {
			face, up := h.face(s, sty.Font), vg.Length(0)
			if s.up {
				up = 0.36 * sty.Font.Size
			}
			c.FillString(face, vg.Point{X: x, Y: y + up}, s.text)
			x += face.Width(s.text)
		}
	}
}
