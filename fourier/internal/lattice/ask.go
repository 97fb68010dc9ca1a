// A question to the engine, and the two ways to answer it.
//
// It assumes what its callers know without an engine: that there are two runs or more, where
// ε lies, and how likely an infinite loss is. It returns an interval that is proved whatever limit was
// reached.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Accuracy is how narrow an interval is wanted: for ε the larger of Relative times its size and
// Absolute, for δ Relative times δ.
type Accuracy struct{ Relative, Absolute float64 }

// A query is one question on its way through the engine: the composition, what may be spent,
// and how accurate an answer is wanted now.
//
// Invariants: best is proved, of ε or of log δ. relative is that of the accuracy asked for now, never finer than
// that of the question; m belongs to the question.
type query struct {
	*Sum
	m                  *meter.Meter
	relative, absolute float64
	ofDelta            bool
	eps                float64 // δ(eps) is asked
	logDelta           float64 // or ε(δ), which lies in [floor, top]
	floor, top         float64
	logInf             float64 // log-probability of an infinite loss
	best               Answer
	why                error // transforms were not done when they were last asked
}

// Epsilon returns an interval of ε(δ), 0 < δ < 1, of two or more runs. ε is known to lie in
// [floor, top], and logInf is the log-probability of an infinite loss.
func (s *Sum) Epsilon(m *meter.Meter, a Accuracy, logDelta, logInf, floor, top float64) (Answer, error) {
	q := &query{Sum: s, m: m, relative: a.Relative, absolute: a.Absolute, logDelta: logDelta, logInf: logInf, floor: floor, top: top}
	err := q.answer()
	return q.best, err
}

// Delta returns an interval of δ(ε) of two or more runs, for a finite ε below their largest loss.
func (s *Sum) Delta(m *meter.Meter, a Accuracy, eps, logInf float64) (Answer, error) {
	q := &query{Sum: s, m: m, relative: a.Relative, ofDelta: true, eps: eps, logInf: logInf, floor: math.Inf(-1)}
	err := q.answer()
	r := q.best
	for _, x := range []*float64{&r.Budget.Discretization, &r.Budget.Truncation, &r.Budget.Aliasing, &r.Budget.RoundOff} {
		*x *= math.Exp(r.Estimate)
	}
	r.Lower, r.Estimate, r.Upper = xmath.ExpDown(r.Lower), math.Exp(r.Estimate), xmath.ExpUp(r.Upper)
	return r, err
}

// none is what is known before anything is asked.
func (q *query) none() Answer { return Answer{Lower: q.floor, Upper: q.top, Estimate: math.NaN()} }

// Shares of the work of a question, for few runs: a short transform comes first, then laws
// convolved one by one.
const (
	fewTransforms = 4e6 // steers: work
	easyWork      = 2e7 // steers: work
)

// rung is the ratio of the accuracies that are asked for one after the other: a
// pass costs about the inverse root of its accuracy, so that those before the last
// one cost little, and the answer at a limit of work is no wider than the one of a coarser accuracy.
const rung = 1e-3 // steers: time for width

// answer asks the two ways to compose lattice laws in turn, each for what is proved before, until it is
// done: a transform, of few runs a short one; then laws convolved one by one, to a thousandth, of many runs where there
// is work to spare, of many different ones where the transform found nothing; then what served, for the rest.
func (q *query) answer() error {
	q.best = q.none()
	asked := q.relative
	coarse := max(asked, rung)
	first := q.m.Work / 2
	many := len(q.entries) > fewCopies // whose products take far more than easyWork
	switch {
	case q.few():
		first = fewTransforms
	case many:
		first = max(first, q.m.Work-easyWork)
	}
	q.relative = coarse
	if err := q.m.Within(first, q.byTransform); err != nil {
		return err
	}
	way := q.byTransform
	if !q.ended() && (q.few() || q.m.Work > fewTransforms && !(many && q.finds(q.best))) {
		if err := q.m.Within(easyWork, q.byProducts); err != nil {
			return err
		}
		if q.done() {
			way = q.byProducts // the products served
		}
	}
	for relative := coarse; ; relative *= rung {
		if q.relative = relative; relative < asked*(1+1e-9) {
			q.relative = asked
		}
		if !q.ended() {
			q.best.Warnings = nil
			if relative == coarse && q.why == meter.ErrRounding {
				q.best = q.best.short(q.why) // neither more work nor a finer accuracy helps
				break
			}
			if err := way(); err != nil {
				return err
			}
		}
		if q.relative == asked {
			break
		}
	}
	if q.relative = asked; q.done() {
		q.best.Warnings = nil
	}
	if math.IsNaN(q.best.Estimate) {
		q.best.Estimate = q.best.Upper
	}
	return nil
}

// wanted is the width wanted of an interval now: for ε in units of its smaller end.
func (q *query) wanted(r Answer) float64 {
	if q.ofDelta {
		return q.relative
	}
	return max(q.relative*min(math.Abs(r.Lower), math.Abs(r.Upper)), q.absolute)
}

// done reports whether the interval is as narrow as is wanted now.
func (q *query) done() bool {
	return q.best.width() <= q.wanted(q.best) || q.ofDelta && q.best.Upper < leastLog
}

// finds reports whether both ends of an answer say more than was known: of δ, to a factor of e.
func (q *query) finds(r Answer) bool {
	if q.ofDelta {
		return r.width() < 1
	}
	return r.Lower > q.floor && r.Upper < q.top
}

// ended reports whether the interval is done or cannot be narrowed any more.
func (q *query) ended() bool { return q.done() || q.m.Stopped() != nil || q.m.Work <= 0 }

// leastLog is log δ below every δ that is worth a round: next to it float64s have no digits.
const leastLog = -736 // steers: time

// fewCopies is up to how many runs laws are convolved one by one soon: tilts do not suit
// few runs of rare losses, and products of few are cheap.
const fewCopies = 64 // steers: which way comes first

func (s *Sum) few() bool { return s.copies <= fewCopies && len(s.entries) <= fewCopies }

// FarMargin is how far below δ the mass of a run is followed, in logarithm; what
// lies above counts as +∞: a millionth of the width wanted.
func FarMargin(relative float64) float64 { return 14 - xmath.Log(min(1, relative)) }
