// An axis.

package figure

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// An Axis goes from Min to Max. Where the two are equal, as the curves need.
type Axis struct {
	Label    string
	Min, Max float64
	Log      bool      // then Min is positive
	Whole    bool      // what it counts is whole
	Names    []string  // of 0, 1, 2 …, in the place of numbers
	At       []float64 // the places to mark, if they are known
}

// Marker returns the ticks of an axis.
func (a *Axis) Marker() plot.Ticker {
	var known plot.ConstantTicks
	for i, name := range a.Names {
		known = append(known, plot.Tick{Value: float64(i), Label: name})
	}
	for _, v := range a.At {
		known = append(known, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 6, 64)})
	}
	switch {
	case known != nil:
		return known
	case a.Log:
		return Decades{}
	}
	return Round{a.Whole}
}

// fit gives an axis without ends those that values need.
func (a *Axis) fit(values []float64) {
	values = slices.DeleteFunc(values, func(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) || a.Log && v <= 0 })
	switch {
	case a.Min != a.Max:
	case a.Log && len(values) == 0:
		a.Min, a.Max = 0.1, 10
	case len(values) == 0:
		a.Min, a.Max = 0, 1
	case a.Log:
		a.Min, a.Max = slices.Min(values)/1.2, slices.Max(values)*1.2
	default:
		a.Min, a.Max = slices.Min(values), slices.Max(values)
		room := cmp.Or((a.Max-a.Min)/20, math.Abs(a.Max)/20, 1e-300)
		switch {
		case a.Whole && a.Min < a.Max:
			return
		case a.Whole:
			room = 1
		case a.Min != 0:
			a.Min -= room
		}
		a.Max += room
	}
}

// place returns where a value is on the axis, from 0 to 1.
func (a *Axis) place(v float64) float64 {
	lo, hi := a.Min, a.Max
	if a.Log {
		v, lo, hi = xmath.Log(v), xmath.Log(lo), xmath.Log(hi)
	}
	return (v - lo) / (hi - lo)
}

// Places on axes that are marked, and what is written there.

// Decades are ticks of logarithmic axes: powers of ten, at most about eight of them with a
// label, and 2 to 9 between them where there is room. An axis between 0.01 and 1000 has
// the numbers as labels, any other 10ⁿ; one with fewer than two powers of ten has labels
// at 2 and 5, too.
type Decades struct{}

// Ticks returns the ticks between lo and hi. An axis that is not positive has none.
func (Decades) Ticks(lo, hi float64) (ts []plot.Tick) {
	if !(lo > 0 && lo < hi && hi < math.Inf(1)) {
		return nil
	}
	first, last := int(math.Ceil(math.Log10(lo)-1e-9)), int(math.Floor(math.Log10(hi)+1e-9))
	powers, plain, every := last-first+1, first >= -2 && last <= 3, 1
	for _, every = range []int{1, 2, 3, 5, 10, 20, 50, 100} {
		if powers <= 8*every+1 {
			break
		}
	}
	for e := first - 1; e <= last; e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, float64(e))
			if v == 0 || v < lo*(1-1e-9) || v > hi*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: v}
			switch {
			case m == 1 && e%every == 0 && plain, powers < 2 && (m == 1 || m == 2 || m == 5):
				t.Label = strconv.FormatFloat(v, 'g', 6, 64)
			case m == 1 && e%every == 0:
				t.Label = PowerOfTen(e)
			case m > 1 && every > 1, m == 1 && every > 10:
				continue
			}
			ts = append(ts, t)
		}
	}
	return ts
}

// PowerOfTen writes 10ᵉ with a raised exponent: 10⁻⁵, but 1 and 10 as they are.
func PowerOfTen(e int) string {
	switch e {
	case 0:
		return "1"
	case 1:
		return "10"
	}
	return "10" + strings.Map(func(r rune) rune { return raised[strings.IndexRune("0123456789-", r)] }, strconv.Itoa(e))
}

// Round are ticks of linear axes: multiples of a round number, some six of them. Whole says
// that the axis counts.
type Round struct{ Whole bool }

// Ticks implements plot.Ticker.
func (r Round) Ticks(lo, hi float64) []plot.Tick {
	span := hi - lo
	if !(span > 0 && span < math.Inf(1)) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10(span/6)))
	for _, k := range []float64{1, 2, 5, 10} {
		if k*step*7 >= span {
			step *= k
			break
		}
	}
	if r.Whole {
		step = max(step, 1)
	}
	digits := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	var ticks []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+1e-9*span && len(ticks) < 20; i++ {
		x := i * step
		label := strconv.FormatFloat(x, 'f', min(digits, 12), 64)
		switch {
		case i == 0:
			label = "0"
		case math.Abs(hi) >= 1e6 || math.Abs(lo) >= 1e6 || digits > 5:
			label = scientific(x)
		}
		ticks = append(ticks, plot.Tick{Value: x, Label: label})
	}
	return ticks
}

// scientific writes x as 2·10⁶, with at most five digits.
func scientific(x float64) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', 4, 64), "e")
	mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	e, _ := strconv.Atoi(exponent)
	switch {
	case e == 0:
		return mantissa
	case mantissa == "1":
		return PowerOfTen(e)
	}
	return mantissa + "·" + PowerOfTen(e)
}

// Text of pictures. The fonts that pictures are drawn with lack raised zeros and minus
// signs, so that powers such as 10⁻⁵ are drawn as small digits above the line.

// raised are the superscripts of 0 to 9 and of a minus sign.
var raised = []rune("⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

// low are what they raise.
const low = "0123456789−"

// newPlot returns an empty plot whose text may hold powers.
func newPlot() *plot.Plot {
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
