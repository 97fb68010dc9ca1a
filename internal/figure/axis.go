// An axis, and what a line is proved to be.

package figure

import (
	"math"

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
	switch {
	case a.Names != nil:
		return names(a.Names)
	case a.At != nil:
		return places(a.At)
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

// at returns the value at a place from 0 to 1, the reverse of place.
func (a *Axis) at(t float64) float64 {
	if a.Log {
		return math.Exp(xmath.Log(a.Min) + t*(xmath.Log(a.Max)-xmath.Log(a.Min)))
	}
	return a.Min + t*(a.Max-a.Min)
}
