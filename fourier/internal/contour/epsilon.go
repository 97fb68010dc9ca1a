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

// cheap is the number of terms of one factor that a table may have whose ε is a guess.
const cheap = 1e5

// hopeless is how often the work limit a table may need by the first guess of ε, that is often too small
// where jumps are rare, before the question is given up.
const hopeless = 30

// nearby is how close the logarithm of a quantity must be to the target for its ε to be a start.
const nearby = 1

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
}

// Epsilon returns ε(δ) for log δ < 0. The error is a *NotServed when the answer beside
// it, which is proved all the same, is not as narrow as wanted.
func (c *Composition) Epsilon(ctx context.Context, logDelta float64, opt Options) (EpsilonAnswer, error) {
	s := &epsilonSearch{c: c, ans: EpsilonAnswer{Lower: math.Inf(-1), Upper: math.Inf(1), Estimate: math.NaN()}, guess: math.NaN()}
	if !(logDelta < 0) || math.IsInf(logDelta, 0) {
		return s.ans, fmt.Errorf("logDelta: %v is not in (-Inf, 0)", logDelta)
	}
	b, err := c.begin(opt)
	if err != nil {
		return s.ans, err
	}
	s.b = b
	if settled, err := s.aim(logDelta); settled || err != nil {
		return s.ans, err
	}
	if done, err := s.knownTables(ctx); done || err != nil {
		return s.ans, err
	}
	return s.ans, s.newTables(ctx)
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
		least, infinite, _ := m0.infinite()
		if logDelta+s.slack < least {
			// δ is never below P(L = +∞).
			s.ans.Lower, s.ans.Estimate = math.Inf(1), math.Inf(1)
			return true, nil
		}
		if s.logX = xmath.LogSub(logDelta, infinite); !(s.logX > logDelta-34) {
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
	if f.reading.low > math.Inf(-1) && f.reading.high-f.reading.low < 1 {
		s.guess, s.theta, t.lastGuess = f.eps, t.theta, f.eps
	}
	width := ans.Upper - ans.Lower
	ans.Lower, ans.Upper = math.Max(ans.Lower, f.lower), math.Min(ans.Upper, f.upper)
	if math.IsNaN(ans.Estimate) || f.upper-f.lower < width {
		ans.Estimate = f.eps
		ans.Report = s.b.describe(t, f.reading, 1/math.Abs(f.reading.slope))
	} else {
		ans.Work, ans.Tables = s.b.report.Work, s.b.report.Tables
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

// begin finds a guess and its line; known says that ε was near the guess in some table or
// question before.
func (s *epsilonSearch) begin(q *cumulant) (_ *cumulant, known bool) {
	opt := &s.b.opt
	known = !math.IsNaN(s.guess)
	switch {
	case known:
		q = s.c.resample(q, s.theta)
		s.theta = q.saddle(s.d, s.guess, s.theta)
	case opt.Theta != 0 && sideOf(opt.Theta) == s.d:
		s.guess = opt.Epsilon
		known = !opt.Guessed
		q = s.c.resample(q, opt.Theta)
		s.theta = q.saddle(s.d, s.guess, opt.Theta)
	default:
		s.guess, s.theta = q.start(s.d, s.logX)
		if r := s.c.resample(q, s.theta); r != q {
			q = r
			s.guess, s.theta = q.start(s.d, s.logX)
		}
	}
	return q, known
}

// newTables makes tables until the answer is as narrow as wanted, or nothing helps.
func (s *epsilonSearch) newTables(ctx context.Context) error {
	q, known := s.begin(s.c.cumulant())
	try := effort{goal: 1, condition: 1, own: 1}
	atSaddle := 0.0
	terms := math.Inf(1) // that the first table may take
	if s.d == right && !known && q.lines(s.theta) != nil && q.doubtful(s.theta) {
		s.guess, s.theta, atSaddle = q.refine(s.logX, s.guess, s.theta)
		try.own = math.Max(1, math.Min(atSaddle/1e3, 1e6))
		if s.b.opt.Easy {
			var err error
			if terms, err = q.uneasy(s.theta, atSaddle, float64(s.b.work)); err != nil {
				return err
			}
		}
	}
	blind := !known && atSaddle == 0
	for range maxTables {
		t, err := s.tabulate(ctx, q, &try, atSaddle, terms, blind)
		terms, blind = math.Inf(1), false
		if err != nil {
			return err
		}
		before := s.guess
		f := s.take(t, s.guess)
		if s.done() {
			return nil
		}
		moved := math.Abs(s.guess-before) > 0.01*math.Max(math.Abs(s.guess), 1e-3)
		if f.reading.low == math.Inf(-1) || math.IsNaN(f.eps) {
			// The line is so far from the answer that nothing is known: go where the sum
			// points to, and doubt less next time.
			if !math.IsNaN(f.eps) && f.eps != s.guess {
				s.guess = f.eps
			}
			try.doubtLess()
		} else if !moved && !try.after(f.reading) {
			return &NotServed{Reason: "floating point does not reach the width"}
		}
		last := s.theta
		s.theta = q.saddle(s.d, s.guess, s.theta)
		if s.d == right && !math.IsNaN(f.eps) {
			try.learn(q, f.reading, last, f.eps, s.theta)
		}
	}
	return &NotServed{Reason: "the width was not reached"}
}

// tabulate makes a table for the guess, which may take so many terms. A blind one is
// made for a guess that may be far off.
func (s *epsilonSearch) tabulate(ctx context.Context, q *cumulant, try *effort, atSaddle, terms float64, blind bool) (*table, error) {
	b := s.b
	width := math.Max(b.opt.Relative*math.Abs(s.guess), b.opt.Absolute)
	tol := math.Max(1e-12, math.Min(1e-4, width*math.Min(math.Abs(s.theta), 1e3)/12)) * try.goal
	condition := try.allowed(tol)
	g := goal{side: s.d, eps: s.guess, logX: s.logX, theta: s.theta, logTol: xmath.Log(tol), condition: condition, seen: math.Max(try.seen, atSaddle*condition), work: b.work, hopeless: float64(b.work)}
	if blind {
		// Where a table is dear, the first one only has to find out where ε is.
		g.work = min(b.work, cheap*int64(len(s.c.factors)))
		g.hopeless = hopeless * float64(b.work)
	}
	g.hopeless = math.Min(g.hopeless, terms)
	t, err := s.c.tabulate(ctx, q, g, b)
	var not *NotServed
	if blind && errors.As(err, &not) && not.Work > 0 && float64(not.Work) < g.hopeless {
		g.logTol, g.work, g.hopeless = xmath.Log(1e-3), b.work, float64(b.work)
		t, err = s.c.tabulate(ctx, q, g, b)
	}
	return t, err
}
