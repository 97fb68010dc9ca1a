// An axis, and what a line is proved to be.

package figure

import (
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

// A Bound is what a line is: no line of points that are no bounds is called one.
type Bound int

// The kinds of lines. The zero Bound claims nothing.
const (
	NoBound Bound = iota
	UpperBound
	LowerBound
)

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

// place returns where a value is on the axis, from 0 to 1.
func (a *Axis) place(v float64) float64 {
	lo, hi := a.Min, a.Max
	if a.Log {
		v, lo, hi = xmath.Log(v), xmath.Log(lo), xmath.Log(hi)
	}
	return (v - lo) / (hi - lo)
}
