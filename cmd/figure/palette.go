// What each method looks like: one colour means one method in all pictures. Methods that are
// compared with each other, a family, have colours, and patterns of dashes, that differ.

package figure

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Palette is the colours of Okabe and Ito, which colour-blind readers can tell apart,
// without the yellow, which is hard to see on white. What is no method, such as one of
// several plans, has them in this order.
var Palette = []color.RGBA{
	{0, 114, 178, 255},   // blue
	{213, 94, 0, 255},    // vermilion
	{0, 158, 115, 255},   // green
	{0, 0, 0, 255},       // black
	{204, 121, 167, 255}, // pink
	{230, 159, 0, 255},   // orange
	{86, 180, 233, 255},  // sky
}

var (
	grey  = color.RGBA{R: 120, G: 120, B: 120, A: 255}
	brown = color.RGBA{R: 122, G: 67, B: 20, A: 255}
	olive = color.RGBA{R: 170, G: 170, B: 60, A: 255}
)

// A Method is something that pictures compare. It has a family, the name by which a legend calls
// it, a colour and a pattern of dashes. The zero Method is none.
type Method struct {
	family, Name string
	Colour       color.RGBA
	pattern      int
}

// The methods that code names, family by family; the others go by their names.
var (
	Certified    = Method{family: "accounting", Name: "Fourier accountant", Colour: Palette[0], pattern: 0} // the interval of the Fourier accountant
	Renyi        = Method{family: "accounting", Name: "RDP, improved conversion", Colour: Palette[1], pattern: 1}
	RenyiClassic = Method{family: "accounting", Name: "RDP, classic conversion", Colour: Palette[5], pattern: 2}

	Optimal     = Method{family: "private majority", Name: "optimal", Colour: Palette[0], pattern: 0}     // DaRRM with the best noise function
	Double      = Method{family: "private majority", Name: "double", Colour: Palette[1], pattern: 1}      // DaRRM with that of 2m−1 sampled votes
	Subsampling = Method{family: "private majority", Name: "subsampling", Colour: Palette[2], pattern: 2} // that of m sampled votes
	Constant    = Method{family: "private majority", Name: "constant", Colour: grey, pattern: 3}          // randomized response on the majority

	LNMax           = Method{family: "teachers", Name: "LNMax", Colour: Palette[6], pattern: 0}            // noisy maximum with Laplace noise
	GNMax           = Method{family: "teachers", Name: "GNMax", Colour: Palette[5], pattern: 1}            // and with Gaussian noise
	Confident       = Method{family: "teachers", Name: "Confident-GNMax", Colour: Palette[4], pattern: 2}  // Gaussian, with a check before each answer
	Check           = Method{family: "teachers", Name: "checks alone", Colour: brown, pattern: 3}          // such a check alone
	DataIndependent = Method{family: "teachers", Name: "data-independent", Colour: Palette[3], pattern: 4} // what holds for all votes

	Poisson            = Method{family: "batches", Name: "poisson", Colour: Palette[3], pattern: 2}
	WithoutReplacement = Method{family: "batches", Name: "without-replacement", Colour: Palette[0], pattern: 0}
	WithReplacement    = Method{family: "batches", Name: "with-replacement", Colour: Palette[5], pattern: 1}
	MustOW             = Method{family: "batches", Name: "must-ow", Colour: Palette[1], pattern: 4}
	MustWW             = Method{family: "batches", Name: "must-ww", Colour: Palette[2], pattern: 3}

	OptimalUnbiased = Method{family: "labels", Name: "optimal-unbiased", Colour: Palette[0], pattern: 0}
	TwoPoint        = Method{family: "labels", Name: "two-point", Colour: Palette[1], pattern: 0}

	Ours          = Method{family: "accountants", Name: "accountant", Colour: Palette[0], pattern: 0}
	DPAccounting  = Method{family: "accountants", Name: "dp_accounting", Colour: Palette[1], pattern: 1}
	PRVAccountant = Method{family: "accountants", Name: "prv_accountant", Colour: Palette[6], pattern: 2}
)

// methods are all of them.
var methods = []Method{
	Certified, Renyi, RenyiClassic,
	Optimal, Double, Subsampling, Constant,
	LNMax, GNMax, Confident, Check, DataIndependent,
	Poisson, WithoutReplacement, WithReplacement, MustOW, MustWW,
	OptimalUnbiased, TwoPoint,
	Ours, DPAccounting, PRVAccountant,
	{"accounting", "zCDP", Palette[2], 3},
	{"accounting", "GDP central limit", Palette[6], 4},
	{"accounting", "advanced composition", Palette[4], 5},
	{"accounting", "basic composition", grey, 6},
	{"accounting", "group privacy of one record's curve", brown, 7},
	{"batches", "must-wo", olive, 5},
	{"batches", "random-allocation", Palette[6], 6},
	{"batches", "shuffle", Palette[4], 7},
	{"batches", "truncated-poisson", grey, 8},
	{"batches", "fixed-order", brown, 9},
	{"labels", "clean labels", Palette[3], 0},
	{"labels", "optimal-by-group", Palette[6], 0},
	{"labels", "laplace", Palette[2], 0},
	{"labels", "staircase", Palette[4], 0},
	{"labels", "debiased-rr", Palette[5], 0},
	{"labels", "randomized-response", grey, 1},
	{"labels", "rr-on-bins", brown, 1},
	{"labels", "rp-with-prior", olive, 1},
}

// patterns are of dashes and gaps: lines that are told apart in grey, too.
var patterns = [][]vg.Length{
	nil,
	{vg.Points(7), vg.Points(2)},
	{vg.Points(2), vg.Points(2)},
	{vg.Points(5), vg.Points(2), vg.Points(1.5), vg.Points(2)},
	{vg.Points(11), vg.Points(3)},
	{vg.Points(1), vg.Points(3)},
	{vg.Points(9), vg.Points(2), vg.Points(1.5), vg.Points(2), vg.Points(1.5), vg.Points(2)},
	{vg.Points(4), vg.Points(4)},
	{vg.Points(9), vg.Points(2), vg.Points(3), vg.Points(2)},
	{vg.Points(15), vg.Points(2), vg.Points(2), vg.Points(2)},
}

// Named returns the method of a family that goes by a name, or none.
func Named(family, name string) Method {
	for _, m := range methods {
		if m.family == family && m.Name == name {
			return m
		}
	}
	return Method{}
}

// Line is the line of a method.
func (m Method) Line() draw.LineStyle {
	return draw.LineStyle{Color: m.Colour, Width: vg.Points(1.6), Dashes: patterns[m.pattern%len(patterns)]}
}

// Dashed returns a method with another pattern of dashes; 0 is a line without a gap.
func (m Method) Dashed(pattern int) Method {
	m.pattern = pattern
	return m
}

// Shade returns the look of line i of n that show the method with other parameters: all in its colour, from dark to light,
// with dashes that differ.
func (m Method) Shade(i, n int) Method {
	light := float64(i)/float64(max(n-1, 1))*0.85 - 0.4
	mix := func(v uint8) uint8 {
		if light < 0 {
			return uint8(float64(v) * (1 + light))
		}
		return uint8(float64(v) + (255-float64(v))*light)
	}
	c := m.Colour
	m.Colour = color.RGBA{R: mix(c.R), G: mix(c.G), B: mix(c.B), A: 255}
	return m.Dashed(i)
}

// Plain returns the look of line i of a picture that compares no methods.
func Plain(i int) Method { return Method{Colour: Palette[i%len(Palette)], pattern: i} }
