// ε(δ) from the tables of a composition.
//
// It assumes 0 < δ < 1. It returns an interval whose ends readings prove, from the tables that there
// are and then from new ones, each where the one before points to.

package contour

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// nearby is how close the logarithm of a quantity must be to the target for its ε to be a start.
const nearby = 1 // steers: where a search starts

// An epsilonSearch is the search for ε(δ).
//
// Invariants: ans.Lower and ans.Upper are proved. guess, where it is not NaN, is about where ε is by the
// table of the line theta.
type epsilonSearch struct {
	c      *Composition
	b      *budget
	d      side
	target float64 // logarithm of the quantity of that side
	slack  float64 // by what it may be off
	logX   float64 // logarithm of its part from finite losses, about
	ans    EpsilonAnswer

	guess, theta float64
	own          float64 // the cost of the sum there, 0 if no table knows it
	slope        float64 // by which the logarithm of the quantity changes there, about
}

// Epsilon returns ε(δ) for log δ < 0. The error is a *NotServed when the answer beside
// it, which is proved all the same, is not as narrow as wanted: above it is at most Chernoff's bound next to the saddle.
func (c *Composition) Epsilon(ctx context.Context, logDelta float64, opt Options) (ans EpsilonAnswer, err error) {
	s := &epsilonSearch{c: c, ans: EpsilonAnswer{Lower: math.Inf(-1), Upper: math.Inf(1), Estimate: math.NaN()}, guess: math.NaN()}
	if !(logDelta < 0) || math.IsInf(logDelta, 0) {
		return s.ans, fmt.Errorf("logDelta: %v is not in (-Inf, 0)", logDelta)
	}
	b, err := c.begin(opt)
	if err != nil {
		return s.ans, err
	}
	s.b = b
	defer func() { ans.Work, ans.Tables = b.report.Work, b.report.Tables }()
	if settled, err := s.aim(logDelta); settled || err != nil {
		return s.ans, err
	}
	if done, err := s.knownTables(ctx); done || err != nil {
		return s.ans, err
	}
	err = s.newTables(ctx)
	var not *NotServed
	if errors.As(err, &not) && s.d == right && s.theta > 0 {
		s.ans.Upper = math.Min(s.ans.Upper, c.boundAt(s.theta).epsilon(logDelta))
	}
	return s.ans, err
}

// aim chooses the side and the target, and reports whether the answer is known without a table.
func (s *epsilonSearch) aim(logDelta float64) (settled bool, err error) {
	s.d, s.target, s.logX = right, logDelta, logDelta
	s.slack = 2 * xmath.U * math.Abs(logDelta) // the rounding of the logarithm of δ
	if logDelta > -math.Ln2 {
		s.d = middle
		s.target = xmath.Log(-math.Expm1(logDelta))
		s.slack = 8 * xmath.U * (1 + math.Abs(s.target))
		s.logX = s.target
	} else if m0, _ := s.c.finite(); m0.log < 0 {
		if least, _, _ := m0.infinite(); logDelta+s.slack < least {
			// δ is never below P(L = +∞).
			s.ans.Lower, s.ans.Estimate = math.Inf(1), math.Inf(1)
			return true, nil
		}
		if s.logX = s.c.finitePart(right, logDelta); math.IsNaN(s.logX) {
			return true, &NotServed{Reason: "δ is the probability of an infinite loss"}
		}
	}
	return false, nil
}

// done reports whether the answer is as narrow as wanted.
func (s *epsilonSearch) done() bool {
	size := math.Max(math.Abs(s.ans.Upper), math.Abs(s.ans.Lower))
	return !math.IsInf(size, 1) && s.ans.Upper-s.ans.Lower <= math.Max(s.b.opt.Relative*size, s.b.opt.Absolute)
}

// take narrows the answer by what a table knows.
func (s *epsilonSearch) take(t *table, eps float64) found {
	ans := &s.ans
	f := t.solve(s.target, s.slack, eps, ans.Lower, ans.Upper, &s.c.scale)
	s.b.spend(t.readings())
	if f.reading.low > math.Inf(-1) && f.reading.high-f.reading.low < 1 {
		s.guess, s.theta, t.lastGuess = f.eps, t.theta, f.eps
		s.slope, s.own = math.Abs(f.reading.slope), f.reading.cost()
	}
	width := ans.Upper - ans.Lower
	ans.Lower, ans.Upper = math.Max(ans.Lower, f.lower), math.Min(ans.Upper, f.upper)
	if math.IsNaN(ans.Estimate) || f.upper-f.lower < width {
		ans.Estimate = f.eps
		ans.Report = s.b.describe(t, f.reading, 1/math.Abs(f.reading.slope))
	}
	return f
}

// knownTables asks the tables that there are, the latest first, and reports whether that is enough.
func (s *epsilonSearch) knownTables(ctx context.Context) (done bool, err error) {
	for i := len(s.c.tables) - 1; i >= 0; i-- {
		t := s.c.tables[i]
		if sideOf(t.theta) != s.d {
			continue
		}
		if ok, err := s.c.extend(ctx, t, s.b); err != nil {
			return false, err
		} else if !ok {
			continue
		}
		eps, line := s.guess, s.theta
		f := s.take(t, t.lastGuess)
		if s.done() {
			s.c.used(i)
			return true, nil
		}
		if !(math.Abs(f.reading.mid-s.target) < nearby) {
			// Its sum is noise before ε is as far out as δ wants: it knows of no place to start.
			s.guess, s.theta = eps, line
		}
	}
	return false, nil
}

// begin finds a guess and its line; known says that ε was near the guess in some table.
func (s *epsilonSearch) begin(q *cumulant) (_ *cumulant, known bool) {
	if !math.IsNaN(s.guess) {
		q = s.c.resample(q, s.theta)
		s.theta = q.saddle(s.d, s.guess, s.theta)
		return q, true
	}
	s.guess, s.theta = q.start(s.d, s.logX)
	if r := s.c.resample(q, s.theta); r != q {
		q = r
		s.guess, s.theta = q.start(s.d, s.logX)
	}
	return q, false
}

// newTables makes tables until the answer is as narrow as wanted, or nothing helps.
func (s *epsilonSearch) newTables(ctx context.Context) error {
	line := s.theta
	q, known := s.begin(s.c.cumulant())
	own := 1.0
	switch {
	case known:
		// The table that knows it has a line of its own.
		own = q.atSaddle(s.own, line, s.theta, s.guess)
	case s.d == right:
		part := budget{work: s.b.work, extra: (s.b.work + s.b.extra) / 2}
		at := q.locate(ctx, &part, s.logX, s.guess, s.theta)
		s.b.spend(part.report.Work)
		s.guess, s.theta, s.slope, own = at.eps, at.theta, at.slope, at.condition
	}
	try := newEffort(own)
	enough := s.enough()
	for range s.c.tableLimit() {
		t, err := s.tabulate(ctx, q, &try)
		var not *NotServed
		if errors.As(err, &not) && s.mayWiden(&try) {
			// Wider is better than nothing.
			try.coarser *= coarser
			continue
		}
		if err != nil {
			return err
		}
		before := s.guess
		f := s.take(t, s.guess)
		// A wider answer will do where the table was made for one, or where another line would hardly lose fewer digits.
		if s.done() || try.coarser > 1 && s.narrow(enough*try.coarser) ||
			enough > s.b.opt.Relative && f.reading.limited() && s.narrow(enough*coarser) {
			return nil
		}
		if math.IsNaN(f.eps) {
			f.reading.low = math.Inf(-1)
		} else if f.reading.low == math.Inf(-1) {
			// The line is so far from the answer that nothing is known: go where the sum points to.
			s.guess = f.eps
		}
		s.theta = q.saddle(s.d, s.guess, s.theta)
		moved := math.Abs(s.guess-before) > 0.01*math.Max(math.Abs(s.guess), 1e-3)
		if more := try.after(f.reading, q.atSaddle(f.reading.cost(), t.theta, s.theta, s.guess)); !more && !moved {
			if s.narrow(enough) {
				return nil
			}
			return &NotServed{Reason: "floating point does not reach the width"}
		}
	}
	return &NotServed{Reason: "the width was not reached"}
}

// narrow reports whether the answer has a relative width.
func (s *epsilonSearch) narrow(relative float64) bool {
	return !math.IsInf(s.ans.Upper, 1) && s.ans.Upper-s.ans.Lower <= relative*math.Abs(s.ans.Upper)
}

// enough is the relative width that is as good as what is wanted.
func (s *epsilonSearch) enough() float64 { return math.Max(s.b.opt.Enough, s.b.opt.Relative) }

// mayWiden reports whether a wider answer than the next table is made for would be better than what is known.
func (s *epsilonSearch) mayWiden(try *effort) bool {
	return try.coarser <= coarser && s.enough() > s.b.opt.Relative && !s.narrow(s.enough()*try.coarser)
}

// tabulate makes a table for the guess.
func (s *epsilonSearch) tabulate(ctx context.Context, q *cumulant, try *effort) (*table, error) {
	width := math.Max(s.b.opt.Relative*math.Abs(s.guess), s.b.opt.Absolute)
	steep := math.Min(math.Max(s.slope, math.Abs(s.theta)), 1e6)
	tol := math.Max(1e-12, math.Min(1e-4, width*steep/12)) * try.coarser
	rounding := tol
	if s.b.opt.Enough > s.b.opt.Relative {
		rounding = 4 * tol
	}
	work, most := s.b.work, float64(lastFrequencies)
	if try.coarser == 1 {
		most = maxFrequencies
	}
	if try.coarser == 1 || s.mayWiden(try) {
		work -= s.b.extra
	}
	return s.c.tabulate(ctx, q, goal{side: s.d, eps: s.guess, logX: s.logX, theta: s.theta, tol: tol * try.finer, rounding: rounding, own: try.own, work: work, most: most}, s.b)
}
