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
	grey  = color.RGBA{120, 120, 120, 255}
	brown = color.RGBA{122, 67, 20, 255}
	olive = color.RGBA{170, 170, 60, 255}
)

// A Method is something that pictures compare. The zero Method is none.
type Method int

// The methods that code names, family by family; the others go by the names of their looks.
const (
	noMethod Method = iota

	Certified // the interval of the Fourier accountant
	Renyi
	RenyiClassic

	Optimal     // DaRRM with the best noise function
	Double      // DaRRM with that of 2m−1 sampled votes
	Subsampling // that of m sampled votes
	Constant    // randomized response on the majority

	LNMax           // noisy maximum with Laplace noise
	GNMax           // and with Gaussian noise
	Confident       // Gaussian, with a check before each answer
	Check           // such a check alone
	DataIndependent // what holds for all votes

	Poisson
	WithoutReplacement
	WithReplacement
	MustOW
	MustWW

	OptimalUnbiased
	TwoPoint

	Contour // engines
	Lattice
	ContourAgain // the contour engine, asked again after one more step
)

// A look is how a method is drawn: its family, the name by which a legend
// calls it, its colour and its pattern of dashes.
type look struct {
	family, name string
	colour       color.RGBA
	pattern      int
}

// looks has a row for each method.
var looks = []look{
	Certified:          {"accounting", "Fourier accountant", Palette[0], 0},
	Renyi:              {"accounting", "RDP, improved conversion", Palette[1], 1},
	RenyiClassic:       {"accounting", "RDP, classic conversion", Palette[5], 2},
	Optimal:            {"private majority", "optimal", Palette[0], 0},
	Double:             {"private majority", "double", Palette[1], 1},
	Subsampling:        {"private majority", "subsampling", Palette[2], 2},
	Constant:           {"private majority", "constant", grey, 3},
	LNMax:              {"teachers", "LNMax", Palette[6], 0},
	GNMax:              {"teachers", "GNMax", Palette[5], 1},
	Confident:          {"teachers", "Confident-GNMax", Palette[4], 2},
	Check:              {"teachers", "checks alone", brown, 3},
	DataIndependent:    {"teachers", "data-independent", Palette[3], 4},
	Poisson:            {"batches", "poisson", Palette[3], 2},
	WithoutReplacement: {"batches", "without-replacement", Palette[0], 0},
	WithReplacement:    {"batches", "with-replacement", Palette[5], 1},
	MustOW:             {"batches", "must-ow", Palette[1], 4},
	MustWW:             {"batches", "must-ww", Palette[2], 3},
	OptimalUnbiased:    {"labels", "optimal-unbiased", Palette[0], 0},
	TwoPoint:           {"labels", "two-point", Palette[1], 0},
	Contour:            {"engines", "contour engine", Palette[0], 0},
	Lattice:            {"engines", "lattice engine", Palette[1], 1},
	ContourAgain:       {"engines", "one more, after an answer", Palette[6], 2},

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

const lineWidth = 1.6

// Named returns the method of a family that goes by a name, or none.
func Named(family, name string) Method {
	for m, l := range looks {
		if l.family == family && l.name == name {
			return Method(m)
		}
	}
	return noMethod
}

// Colour is the colour of a method.
func (m Method) Colour() color.RGBA { return looks[m].colour }

// Line is the line of a method, with its own dashes.
func (m Method) Line() draw.LineStyle { return m.Style(looks[m].pattern) }

// Style is the line of a method, the i-th of a picture.
func (m Method) Style(i int) draw.LineStyle {
	return draw.LineStyle{Color: looks[m].colour, Width: vg.Points(lineWidth), Dashes: patterns[i%len(patterns)]}
}

// Line returns the style of line i of a picture that compares no methods.
func Line(i int) draw.LineStyle {
	return draw.LineStyle{Color: Palette[i%len(Palette)], Width: vg.Points(lineWidth), Dashes: patterns[i%len(patterns)]}
}

// Name is what a method is called in legends.
func (m Method) Name() string { return looks[m].name }
