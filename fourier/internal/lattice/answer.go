// What the engine answers, and a question on its way.
//
// The intervals assume that the laws they were read from are on their sides of the profiles,
// which package pld proves.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
)

// A Budget splits the width of an interval by cause, in units of the answer.
type Budget struct{ Discretization, Truncation, Aliasing, RoundOff float64 }

// within returns the budget, scaled down where its parts are more than the width together: next to a sum that is hardly certain
// errors are far larger than what is known from elsewhere.
func (b Budget) within(width float64) Budget {
	if math.IsInf(width, 1) {
		return b
	}
	sum := 0.0
	parts := []*float64{&b.Discretization, &b.Truncation, &b.Aliasing, &b.RoundOff}
	for _, x := range parts {
		if !(*x < width) {
			*x = width
		}
		sum += *x
	}
	if sum > width {
		for _, x := range parts {
			*x *= width / sum
		}
	}
	return b
}

// An Answer is a certified interval of ε(δ) or δ(ε), or of log δ(ε) on its way.
//
// Invariants: Lower and Upper are proved, whatever else is known. Estimate is NaN before the
// first estimate, and may lie outside. A Warning says why the interval is wider than
// asked; without one it is not.
type Answer struct {
	Lower, Estimate, Upper float64
	Budget                 Budget
	Points                 int     // length of the transforms
	Step                   float64 // of the lattice
	Warnings               []string
}

// width is Upper − Lower.
func (r Answer) width() float64 { return r.Upper - r.Lower }

// short returns the answer with a warning of why it is no narrower.
func (r Answer) short(why error) Answer {
	if math.IsNaN(r.Estimate) {
		r.Estimate = r.Upper
	}
	r.Warnings = append(r.Warnings, meter.Warning(why, r.width()))
	return r
}

// intersect keeps what both intervals prove, and the estimate and budget of the
// narrower one: a pass that ran out of work says less than those before it.
func intersect(old, r Answer) Answer {
	if !math.IsNaN(old.Estimate) && old.width() < r.width() {
		old, r = r, old
	}
	r.Lower, r.Upper = max(old.Lower, r.Lower), min(old.Upper, r.Upper)
	r.Budget = r.Budget.within(r.width())
	return r
}
