// What each method looks like: one colour means one method in all pictures that draw by
// methods.

package figure

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Method is something that pictures compare.
type Method int

// The methods.
const (
	Optimal         Method = iota // DaRRM with the best noise function
	Double                        // DaRRM with that of 2m−1 sampled votes
	Subsampling                   // that of m sampled votes
	Constant                      // randomized response on the majority
	LNMax                         // noisy maximum with Laplace noise
	GNMax                         // and with Gaussian noise
	Confident                     // Gaussian, with a check before each answer
	Check                         // such a check alone
	DataIndependent               // what holds for all votes
	methods
)

var grey = color.RGBA{120, 120, 120, 255}

// colours has a colour for each method, and none twice.
var colours = [methods]color.RGBA{
	Optimal: Palette[0], Double: Palette[1], Subsampling: Palette[2], Constant: grey,
	LNMax: Palette[6], GNMax: Palette[5], Confident: Palette[4], Check: {122, 67, 20, 255}, DataIndependent: Palette[3],
}

// patterns are of dashes and gaps: lines that are told apart in grey, too.
var patterns = [][]vg.Length{
	nil,
	{vg.Points(7), vg.Points(2)},
	{vg.Points(2), vg.Points(2)},
	{vg.Points(5), vg.Points(2), vg.Points(1.5), vg.Points(2)},
	{vg.Points(11), vg.Points(3)},
	{vg.Points(1), vg.Points(3)},
}

// Style is the line of a method, the i-th of a picture.
func (m Method) Style(i int) draw.LineStyle {
	return draw.LineStyle{Color: colours[m], Width: vg.Points(1.6), Dashes: patterns[i%len(patterns)]}
}

// Shade is line i of n that show the same method with other parameters: all in its colour,
// from dark to light.
func (m Method) Shade(i, n int) draw.LineStyle {
	s := m.Style(i)
	light := 0.0
	if n > 1 {
		light = float64(i)/float64(n-1)*0.85 - 0.4
	}
	c := colours[m]
	mix := func(v uint8) uint8 {
		if light < 0 {
			return uint8(float64(v) * (1 + light))
		}
		return uint8(float64(v) + (255-float64(v))*light)
	}
	s.Color = color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255}
	return s
}

// ordered are the steps of a scale from dark to light (viridis, without its yellow).
var ordered = []color.RGBA{{68, 1, 84, 255}, {59, 82, 139, 255}, {33, 145, 140, 255}, {94, 201, 98, 255}, {180, 222, 44, 255}}

// Ordered is the colour of entry i, at most five, of what has an order and is no method.
func Ordered(i int) color.RGBA { return ordered[i%len(ordered)] }
