// A quantity over a plane: its cells, the scale of its colours, and the levels of its contours.

package figure

import (
	"image/color"
	"math"
	"slices"
	"sort"
	"strconv"

	"gonum.org/v1/plot"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Field is a quantity at the crossings of a grid. Each value has a cell, which reaches half the way to
// its neighbours; between the places of the values nothing is claimed.
//
// Invariants: X and Y ascend strictly, and have positive values only where their axis is logarithmic.
type Field struct {
	Label  string
	X, Y   []float64
	Values [][]float64 // at X[i] and Y[k]; NaN where there is none, +Inf where it is infinite
	Log    bool        // the scale of colours and of interpolation
	Bound  Bound       // what the values are
	Levels []float64   // of contours, ascending; nil: round numbers
}

// ends returns the least and the largest finite value on the scale, and false if there is none.
func (f *Field) ends() (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, column := range f.Values {
		for _, v := range column {
			if f.finite(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return lo, hi, lo <= hi
}

// finite reports whether a value has a place on the scale.
func (f *Field) finite(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (!f.Log || v > 0)
}

// axis is the scale of the colours. Values that are all the same have a scale around them.
func (f *Field) axis() Axis {
	lo, hi, ok := f.ends()
	switch {
	case !ok:
		lo, hi = 1, 2
	case lo == hi && f.Log:
		lo, hi = lo/2, hi*2
	case lo == hi:
		room := max(math.Abs(lo)/2, 1e-300)
		lo, hi = lo-room, hi+room
	}
	return Axis{Label: f.Label, Min: lo, Max: hi, Log: f.Log}
}

// levels are those of the contours, with their labels.
func (f *Field) levels() (levels []plot.Tick) {
	a := f.axis()
	if f.Levels != nil {
		for _, v := range f.Levels {
			levels = append(levels, plot.Tick{Value: v, Label: decimal.Short(v)})
		}
		return levels
	}
	if a.Log {
		return roundLevels(a.Min, a.Max)
	}
	for _, t := range a.Marker().Ticks(a.Min, a.Max) {
		if t.Label != "" && t.Value > a.Min && t.Value < a.Max {
			levels = append(levels, t)
		}
	}
	return levels
}

// ticks are what the scale of the colours has beside it: the levels, or round values where none is on it;
// of those that are nearer to each other than a share of the scale, as high as a label, the largest.
func (f *Field) ticks(apart float64) (ticks []plot.Tick) {
	a := f.axis()
	for _, list := range [][]plot.Tick{f.levels(), a.Marker().Ticks(a.Min, a.Max)} {
		last := math.Inf(1)
		for _, t := range slices.Backward(list) {
			if t.Label != "" && t.Value >= a.Min && t.Value <= a.Max && a.place(t.Value) <= last-apart {
				ticks, last = append(ticks, t), a.place(t.Value)
			}
		}
		if len(ticks) > 0 {
			break
		}
	}
	return ticks
}

// mostLevels is how many contours of round values there are at most on a logarithmic scale.
const mostLevels = 12

// roundLevels are 1, 2 and 5 times powers of ten between two positive numbers, or powers of ten alone, or
// every so many of those, for at most mostLevels.
func roundLevels(lo, hi float64) (levels []plot.Tick) {
	from, to := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	for every := 0; levels == nil || len(levels) > mostLevels; every++ {
		levels = []plot.Tick{}
		for e := from; e <= to; e++ {
			for _, m := range []int{1, 2, 5} {
				v, err := strconv.ParseFloat(strconv.Itoa(m)+"e"+strconv.Itoa(e), 64)
				if err != nil || !(v > lo && v < hi) || every > 0 && (m > 1 || e%every != 0) {
					continue
				}
				label := strconv.FormatFloat(v, 'g', 6, 64)
				if e < -3 || e > 5 {
					label = scientific(v)
				}
				levels = append(levels, plot.Tick{Value: v, Label: label})
			}
		}
	}
	return levels
}

// ramp is the scale of colours from the least value to the largest: of one hue, each darker than the one
// before, so that it is read in grey and by colour-blind eyes. Sky and blue are those of the Palette.
var ramp = []color.RGBA{{240, 247, 252, 255}, {163, 211, 240, 255}, Palette[6], {38, 147, 207, 255}, Palette[0], {0, 72, 122, 255}, {0, 33, 64, 255}}

// endless is the colour of what is infinite.
var endless = brown

// Shade is the colour of the share t, from 0 to 1, of the scale.
func Shade(t float64) color.RGBA {
	t = min(max(t, 0), 1) * float64(len(ramp)-1)
	i := min(int(t), len(ramp)-2)
	a, b, t := ramp[i], ramp[i+1], t-float64(i)
	mix := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + t*(float64(y)-float64(x)))) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// shade is the colour of a value, and false where there is none.
func (f *Field) shade(scale *Axis, v float64) (color.RGBA, bool) {
	switch {
	case math.IsInf(v, 1):
		return endless, true
	case !f.finite(v):
		return color.RGBA{}, false
	}
	return Shade(scale.place(v)), true
}

// edges returns the ends of the cells around places on an axis: in the middle between two of them, and
// as far outside of the first and the last.
func edges(at []float64, log bool) []float64 {
	to, from := func(x float64) float64 { return x }, func(x float64) float64 { return x }
	if log {
		to, from = xmath.Log, math.Exp
	}
	n := len(at)
	out := make([]float64, n+1)
	for i := 1; i < n; i++ {
		out[i] = from((to(at[i-1]) + to(at[i])) / 2)
	}
	switch {
	case n > 1:
		out[0], out[n] = from(1.5*to(at[0])-0.5*to(at[1])), from(1.5*to(at[n-1])-0.5*to(at[n-2]))
	case log:
		out[0], out[1] = at[0]/2, at[0]*2
	default:
		room := max(math.Abs(at[0])/2, 1e-300)
		out[0], out[1] = at[0]-room, at[0]+room
	}
	return out
}

// cellAt returns the cell in which a place is, given the edges.
func cellAt(edges []float64, x float64) int {
	return min(max(sort.SearchFloat64s(edges, x)-1, 0), len(edges)-2)
}
