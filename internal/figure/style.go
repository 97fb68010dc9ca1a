// Colours, sizes and fonts that all pictures share.

package figure

import (
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Palette is the colours of Okabe and Ito, which colour-blind readers can tell apart,
// without the yellow, which is hard to see on white.
var Palette = []color.RGBA{
	{0, 114, 178, 255}, // blue
	{213, 94, 0, 255},  // vermilion
	{0, 158, 115, 255}, // green
	{0, 0, 0, 255},     // black
	{204, 121, 167, 255},
	{230, 159, 0, 255},
	{86, 180, 233, 255},
}

// dashes go with the colours, so that lines can be told apart in grey, too.
var dashes = [][]vg.Length{
	nil,
	{vg.Points(7), vg.Points(2)},
	{vg.Points(2), vg.Points(2)},
	{vg.Points(5), vg.Points(2), vg.Points(1.5), vg.Points(2)},
}

// Line returns the style of line i of a picture.
func Line(i int) draw.LineStyle {
	return draw.LineStyle{Color: Palette[i%len(Palette)], Width: vg.Points(1.6), Dashes: dashes[i%len(dashes)]}
}

// Decades are ticks at powers of ten with labels such as 10⁴ and 1e-5, at most about seven of
// them. They are for logarithmic axes.
type Decades struct{}

// Ticks returns the ticks between lo and hi. An axis that is not positive has none.
func (Decades) Ticks(lo, hi float64) (ts []plot.Tick) {
	if !(lo > 0 && hi < math.Inf(1)) {
		return nil
	}
	from, to := int(math.Ceil(math.Log10(lo)-1e-9)), int(math.Floor(math.Log10(hi)+1e-9))
	every := max(1, (to-from+6)/7)
	for e := from; e <= to; e++ {
		label := ""
		if e%every == 0 {
			label = PowerOfTen(e)
		}
		ts = append(ts, plot.Tick{Value: math.Pow(10, float64(e)), Label: label})
	}
	return ts
}

// PowerOfTen writes 10ᵉ, and what lies between 0.01 and 1000 as the number. Powers below
// that are written as 1e-5: the fonts of pictures have no superscript minus.
func PowerOfTen(e int) string {
	switch {
	case -2 <= e && e <= 3:
		return strconv.FormatFloat(math.Pow(10, float64(e)), 'g', -1, 64)
	case e < 0:
		return "1e" + strconv.Itoa(e)
	}
	return "10" + strings.Map(func(r rune) rune { return []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[r-'0'] }, strconv.Itoa(e))
}
