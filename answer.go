package accountant

// What an answer says, and how those of the two directions, and of a proved pair and an
// attack, become one.

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/parallel"
)

// A Budget splits the width of an interval by its causes, each in units of the
// quantity asked for.
type Budget struct {
	fourier.Budget
	TheoryGap float64 `json:"theory-gap"`
}

// A Range is a certified interval without its story.
type Range struct{ Lower, Estimate, Upper float64 }

// An Interval is a certified answer: the true value lies in [Lower, Upper].
type Interval struct {
	// Estimate is the best guess; no guarantee comes with it. With a theory gap
	// it is that of the proved pair.
	Lower, Estimate, Upper float64
	// Loose says that a limit, or rounding, left the interval so wide, by more than
	// a tenth of its upper end, that Estimate is only its middle and says nothing.
	Loose bool
	// Direction is the direction of the relation that Upper comes from.
	Direction string
	Budget    Budget
	// Gap is set when theory leaves a gap: Lower is an attack's, Upper a
	// theorem's, and each has its own numerical interval. With WithRecursion, Lower
	// may be what an adaptive adversary reaches, above Gap.Attack, which is a pair
	// of data sets with a fixed mechanism.
	Gap      *Gap
	Warnings []string // why the interval is wider than asked, if it is
	// Engine is how Upper was computed. fourier.Contour may have taken laws of steps
	// without a transform, which Budget.Discretization then tells.
	Engine fourier.Engine
	// Points is the length of the transforms of a lattice, Frequencies the number of
	// terms of an integral; 0 if there was none.
	Points, Frequencies int
}

// A Gap holds the two pairs between which the truth lies.
type Gap struct{ Proved, Attack Range }

// worst asks both directions and joins the answers. below reports whether a
// quick bound already shows that a sum's answer is at most a number.
func (a *Accountant) worst(ask func(*fourier.Sum) (fourier.Result, error), below func(*fourier.Sum, float64) bool) (Interval, error) {
	var attacks [2]*fourier.Sum // nil: not asked
	sums := a.asked()
	if a.gap {
		attacks = a.lower
	}
	for d := range a.upper {
		a.upper[d].LimitWork(a.opts.work() / sums)
		a.lower[d].LimitWork(a.opts.work() / sums)
	}
	proved, attack, err := both(ask, a.upper[0], attacks[0])
	if err != nil {
		return Interval{}, err
	}
	direction := 0
	if !a.symmetric {
		u, l := a.upper[1], attacks[1]
		if below(u, proved.Lower) {
			u = nil
		}
		if l != nil && below(l, attack.Lower) {
			l = nil
		}
		p, q, err := both(ask, u, l)
		if err != nil {
			return Interval{}, err
		}
		if u != nil {
			if larger(p, proved) {
				direction = 1
			}
			proved = join(proved, p)
		}
		if l != nil {
			attack = join(attack, q)
		}
	}
	out := Interval{Lower: proved.Lower, Estimate: proved.Estimate, Upper: proved.Upper, Loose: proved.Loose,
		Direction: a.relation.DirectionNames()[direction], Engine: proved.Engine, Points: proved.Points, Frequencies: proved.Frequencies, Warnings: proved.Warnings,
		Budget: Budget{Budget: proved.Budget}}
	if a.gap && !a.theory {
		out.Lower = attack.Lower
		if d := proved.Lower - attack.Upper; d > 0 { // between two laws of one pair
			out.Budget.Discretization += d
		}
		// The law above is about twice as far off as the one below.
		if out.Estimate = out.Lower + (out.Upper-out.Lower)/3; math.IsInf(out.Upper, 1) {
			out.Estimate = out.Upper
		}
		if out.Loose = out.Upper-out.Lower > 0.1*math.Abs(out.Upper); out.Loose {
			out.Estimate = out.Lower + (out.Upper-out.Lower)/2
		}
		for _, w := range attack.Warnings {
			if !slices.Contains(out.Warnings, w) {
				out.Warnings = append(out.Warnings, w)
			}
		}
	}
	if a.theory {
		out.Lower = attack.Lower
		if proved.Lower > attack.Upper { // both may be infinite
			out.Budget.TheoryGap = proved.Lower - attack.Upper
		}
		out.Gap = &Gap{Range{proved.Lower, proved.Estimate, proved.Upper}, Range{attack.Lower, attack.Estimate, attack.Upper}}
		for _, w := range attack.Warnings {
			out.Warnings = append(out.Warnings, "attack: "+w)
		}
	}
	if err := out.finish(); err != nil {
		return Interval{}, err
	}
	return out, nil
}

// finish returns an error if the interval is empty, and puts the estimate into it.
func (iv *Interval) finish() error {
	if !(iv.Lower <= iv.Upper) {
		return fmt.Errorf("internal error: the interval [%v, %v] is empty; please report the plan", iv.Lower, iv.Upper)
	}
	iv.Estimate = min(max(iv.Estimate, iv.Lower), iv.Upper)
	return nil
}

// asked is the number of sums that a question asks.
func (a *Accountant) asked() float64 {
	sums := 1.0
	if !a.symmetric {
		sums *= 2
	}
	if a.gap {
		sums *= 2
	}
	return sums
}

// larger reports whether a is above b, or as high and more likely so.
func larger(a, b fourier.Result) bool {
	return a.Upper > b.Upper || a.Upper == b.Upper && a.Estimate > b.Estimate
}

// join returns the maximum of two answers; what else it says is about the larger one.
func join(a, b fourier.Result) fourier.Result {
	if larger(b, a) {
		a, b = b, a
	}
	a.Lower = max(a.Lower, b.Lower)
	a.Estimate = min(max(a.Estimate, b.Estimate, a.Lower), a.Upper)
	if a.Loose = a.Loose && a.Upper-a.Lower > 0.1*math.Abs(a.Upper); a.Loose {
		a.Estimate = a.Lower + (a.Upper-a.Lower)/2
	}
	return a.Narrowed()
}

// both asks two sums at the same time; nil is not asked.
func both(ask func(*fourier.Sum) (fourier.Result, error), a, b *fourier.Sum) (p, q fourier.Result, err error) {
	var errQ error
	parallel.Both(func() {
		if a != nil {
			p, err = ask(a)
		}
	}, func() {
		if b != nil {
			q, errQ = ask(b)
		}
	})
	return p, q, cmp.Or(err, errQ)
}
