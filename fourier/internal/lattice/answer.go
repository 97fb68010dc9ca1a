// What the engine answers, and a question on its way.
//
// The intervals assume that the laws they were read from are on their sides of the profiles,
// which package pld proves.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Budget splits the width of an interval by cause, in units of the answer.
type Budget struct{ Discretization, Truncation, Aliasing, RoundOff float64 }

// An Answer is a certified interval of ε(δ) or δ(ε).
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
	return r
}

// A query is one question on its way through the engine: the composition, what may be spent,
// and how accurate an answer is wanted now.
//
// Invariants: relative and absolute are those of the rung that is asked for, never finer than
// those of the question; m belongs to the question.
type query struct {
	*Sum
	m                  *meter.Meter
	relative, absolute float64
	// hasty: give up on transforms that are long, or of which the tilt fails, as laws may be
	// convolved one by one instead.
	// gaveUp: one was given up so.
	hasty, gaveUp bool
}

// smaller is the relative width wanted of an interval in units of its smaller end.
func (r Answer) smaller(relative float64) float64 {
	return relative * min(math.Abs(r.Lower), math.Abs(r.Upper))
}

// Shares of the work of a question, for few runs: a short transform comes first, then laws
// convolved one by one. They steer, and prove nothing.
const (
	fewTransforms = 4e6
	easyWork      = 2e7
)

// leastDelta is below every positive δ that is worth a pass: next to it float64s have no digits.
const leastDelta = 1e-320

// fewCopies is up to how many runs laws are convolved one by one soon: tilts do not suit
// few runs of rare losses, and products of few are cheap. It proves nothing.
const fewCopies = 64

func (s *Sum) few() bool { return s.copies <= fewCopies && len(s.entries) <= fewCopies }

// FarMargin is how far below δ the mass of a run is followed, in logarithm; what
// lies above counts as +∞: a millionth of the width wanted.
func FarMargin(relative float64) float64 { return 14 - xmath.Log(min(1, relative)) }

// nearMargin is how far it must be followed: what is left then takes about a tenth
// of the width wanted. Where tails fall more slowly than any exponential, the far
// end has all the mass under a tilt: no tilt then brings the mass to ε, and
// round-off is relative to all of it (docs/accuracy.md §6).
func nearMargin(relative float64) float64 { return 3 - xmath.Log(min(1, relative)) }
