// The order in which a question is answered: the certified integral of the transforms of all steps first, then
// with laws in place of missing transforms (mixed.go), then lattice laws alone, then the integral with all the
// work that is left. Every answer is proved, and each narrows what was proved before it.

package fourier

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/lattice"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
)

// A question is ε(δ) or δ(ε) of two or more runs.
type question struct {
	*Sum
	m        *meter.Meter
	ofDelta  bool    // δ(eps) is asked, not ε(δ)
	eps      float64 // where ofDelta
	logDelta float64 // of ε(δ); of δ(ε) what is asked mostly
	logInf   float64 // log-probability of an infinite loss
	least    float64 // the answer lies in [least, most]
	most     float64
}

// askEpsilon answers ε(δ) of two or more runs, which lies in [floor, top].
func (s *Sum) askEpsilon(ctx context.Context, logDelta, logInf, floor, top float64) (Result, error) {
	q := &question{Sum: s, m: s.newMeter(ctx), logDelta: logDelta, logInf: logInf, least: floor, most: top}
	return q.answer()
}

// askDelta answers δ(eps) of two or more runs.
func (s *Sum) askDelta(ctx context.Context, eps, logInf float64) (Result, error) {
	q := &question{Sum: s, m: s.newMeter(ctx), ofDelta: true, eps: eps, logDelta: logTypical, logInf: logInf, most: 1}
	return q.answer()
}

// answer asks one way after the other until the interval is as narrow as asked.
func (q *question) answer() (Result, error) {
	known := unknown(q.least, q.most)
	served, err := q.prepare(q.logDelta)
	if err != nil {
		return Result{}, err
	}
	wants := int64(0)
	if served {
		r, terms, err := q.integral(q.easyTerms(q.m))
		if err != nil {
			return Result{}, err
		}
		if known, wants = both(r, known), terms; !q.tooWide(known) {
			return known, nil
		}
		if w := known.Upper - known.Lower; w <= integralEnough*min(math.Abs(known.Lower), math.Abs(known.Upper)) && wants == 0 {
			known.Warnings = []string{meter.Warning(meter.ErrRounding, w)}
			return known, nil
		}
	}
	if q.factors.mixed() && !q.opts.Laws {
		if known, err = q.mixed(known); err != nil || !q.tooWide(known) {
			return known, err
		}
	}
	if n := len(q.factors.list); n >= manyFinite && q.factors.finite() && !q.opts.Laws && q.m.Afford(meter.PerVertex*float64(n)) {
		if _, regular := q.lattices.Regular(); !regular { // else lattices are exact
			if known, err = q.smooth(known); err != nil || !q.tooWide(known) {
				return known, err
			}
		}
	}
	r, err := q.lattice()
	switch known = both(r, known); {
	case !q.tooWide(known):
		known.Warnings = nil // of the narrower of two, which are narrow enough together
	case len(known.Warnings) == 0: // what an integral without the work for it has proved
		known.Warnings = r.Warnings
		known = known.Narrowed()
	}
	return known, err
}

// tooWide reports whether an interval, of δ or of ε, is wider than asked.
func (s *Sum) tooWide(r Result, ofDelta bool) bool {
	if ofDelta {
		return s.wideDelta(r)
	}
	return s.wide(r)
}

func (q *question) tooWide(r Result) bool { return q.Sum.tooWide(r, q.ofDelta) }

// integral asks the contour engine (integral.go).
func (q *question) integral(terms float64) (r Result, wants int64, err error) {
	if q.ofDelta {
		return q.integrateDelta(q.m, q.eps, terms)
	}
	return q.integrateEpsilon(q.m, q.logDelta, terms)
}

// lattice asks lattice laws alone.
func (q *question) lattice() (Result, error) {
	var a lattice.Answer
	var err error
	if q.ofDelta {
		a, err = q.lattices.Delta(q.m, lattice.Accuracy{Relative: q.opts.Relative}, q.eps, q.logInf)
	} else {
		accuracy := lattice.Accuracy{Relative: q.opts.Relative, Absolute: q.opts.Absolute}
		a, err = q.lattices.Epsilon(q.m, accuracy, q.logDelta, q.logInf, q.least, q.most)
	}
	if err != nil {
		return Result{}, err
	}
	b := Budget{Discretization: a.Budget.Discretization, Truncation: a.Budget.Truncation, Aliasing: a.Budget.Aliasing, RoundOff: a.Budget.RoundOff}
	return Result{Lower: a.Lower, Estimate: a.Estimate, Upper: a.Upper, Budget: b, Engine: Lattice, Points: a.Points, Step: a.Step, Warnings: a.Warnings}, nil
}

// chernoff reports whether a Chernoff bound on the transforms shows δ(eps) ≤ delta, and
// whether there are any.
func (s *Sum) chernoff(eps, logDelta float64) (proved, ok bool) {
	if served, err := s.prepare(logDelta); !served || err != nil {
		return false, false
	}
	return s.factors.upper.AtMost(eps, logDelta), true
}
