// An axis.

package figure

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/dpaccountant/accountant/internal/xmath"
	"gonum.org/v1/plot"
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
