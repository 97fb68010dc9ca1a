// What a question wants, what it is answered with, and the tables that it may use or make.
//
// It assumes a composition with at least one factor. What it returns as proved is proved by the
// readings of tables (certificate.go); how many tables there are, and where, steers.

package contour

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Options are what a question wants. The zero value asks for 1e-9.
type Options struct {
	// Relative and Absolute are the wanted width: Upper − Lower at most the larger of
	// Relative·|ε| and Absolute for Epsilon; for Delta, the same of log δ (where that is
	// near 0, Relative itself). 0 and 0 mean a relative width of 1e-9.
	Relative, Absolute float64
	// Enough, if it is above Relative, is a relative width of ε that is as good where the sum must lose digits for less.
	Enough float64
	// Work limits the terms (nodes × frequencies, summed over the factors) that one
	// question may take, so that every question ends after the same work on every
	// machine. 0 means 5e6, and 2e4 more for each factor.
	Work int64
	// Most, if it is above Work, is what the question may take for the widest answer that is better than none.
	Most int64
	// Reserve is the share by which tables reach further than the question needs, for
	// questions to come; 0.3 suits a running total, whose every next step needs a little more.
	Reserve float64
}

func (o *Options) check() error {
	for _, v := range []struct {
		name  string
		value float64
	}{{"relative", o.Relative}, {"absolute", o.Absolute}, {"enough", o.Enough}, {"reserve", o.Reserve}} {
		if !(v.value >= 0) || math.IsInf(v.value, 0) {
			return fmt.Errorf("%s: %v is not in [0, Inf)", v.name, v.value)
		}
	}
	if o.Work < 0 {
		return fmt.Errorf("work: %d is negative", o.Work)
	}
	if o.Relative == 0 && o.Absolute == 0 {
		o.Relative = 1e-9
	}
	return nil
}

// A Report says how an answer came about.
type Report struct {
	Theta, Lambda float64 // the line and the period in ε
	Frequencies   int
	Tables        int   // how many were made for this question; 0: an earlier one served
	Work          int64 // terms evaluated
	// What the parts of the error contribute to the answer, in ε for Epsilon and in
	// log δ for Delta: the periods beside, the frequencies left out, the errors of the
	// transforms, floating point.
	Aliasing, Truncation, Quadrature, Rounding float64
}

// An EpsilonAnswer is a certified interval of ε(δ). Without one, it is (−Inf, +Inf).
type EpsilonAnswer struct {
	Lower, Upper float64
	Estimate     float64 // NaN if there is none
	Report
}

// A DeltaAnswer is a certified interval of log δ(ε) and of log(1 − δ(ε)), each to a
// relative accuracy of its own; (−Inf, 0) where it was not computed.
type DeltaAnswer struct {
	LogLower, LogUpper                     float64
	LogComplementLower, LogComplementUpper float64
	Report
}

// maxTables bounds how many tables one question may make, as many of a sample, and the steps of a guess.
const maxTables = 8 // steers: time for width

// foldTables is that of laws: each costs as much as the first, and the next laws are finer. steers: time for width.
const foldTables = 3

// tableLimit is how many tables one question may make.
func (c *Composition) tableLimit() int {
	if c.lattice != nil {
		return foldTables
	}
	return maxTables
}

// budget is the state of one question.
type budget struct {
	opt    Options
	work   int64 // left
	extra  int64 // of it, for the widest answer and the last table of a sample only
	report Report
}

func (b *budget) spend(terms int64) {
	b.work -= terms
	b.report.Work += terms
}

// width is the wanted width of a logarithm of about that size.
func (b *budget) width(log float64) float64 {
	if math.IsInf(log, 0) || math.IsNaN(log) {
		log = 0
	}
	return math.Max(b.opt.Relative*math.Max(1, math.Abs(log)), b.opt.Absolute)
}

func (c *Composition) begin(opt Options) (*budget, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	if len(c.factors) == 0 {
		return nil, &NotServed{Reason: "no factors"}
	}
	b := &budget{opt: opt, work: opt.Work}
	if b.work == 0 {
		b.work = 5e6 + 2e4*int64(len(c.factors))
	}
	b.extra = max(0, opt.Most-b.work)
	b.work += b.extra
	return b, nil
}

// extend brings an earlier table up to date, and reports whether it serves.
func (c *Composition) extend(ctx context.Context, t *table, b *budget) (bool, error) {
	if c.bump != nil && !t.current(c) {
		return false, nil // what it leaves out was bounded for the factors as they were
	}
	if c.lattice != nil {
		return t.current(c), nil
	}
	missing := len(c.factors) - len(t.columns)
	if missing > 0 {
		cost := int64((t.terms/float64(len(t.columns)) + 1) * float64(missing))
		if cost > b.work {
			return false, nil
		}
		b.spend(cost)
	}
	err := t.extend(ctx, c, nil)
	var not *NotServed
	if errors.As(err, &not) {
		return false, nil
	}
	return err == nil, err
}

// tabulate makes a table, and keeps it.
func (c *Composition) tabulate(ctx context.Context, q *cumulant, g goal, b *budget) (*table, error) {
	g.reserve = b.opt.Reserve
	if c.lattice != nil {
		if b.work < foldTerms*int64(len(c.factors)) {
			return nil, &NotServed{Reason: "no work for a table", Work: foldTerms * int64(len(c.factors))}
		}
		c.tables = nil // two would take twice the memory
	}
	t, err := c.build(ctx, q, g)
	var not *NotServed
	if errors.As(err, &not) {
		b.spend(not.spent)
	}
	if err != nil {
		return nil, err
	}
	b.spend(int64(t.terms))
	b.report.Tables++
	if len(c.tables) == keptTables {
		copy(c.tables, c.tables[1:])
		c.tables = c.tables[:keptTables-1]
	}
	c.tables = append(c.tables, t)
	return t, nil
}

// used moves table i to the end of the list.
func (c *Composition) used(i int) {
	t := c.tables[i]
	copy(c.tables[i:], c.tables[i+1:])
	c.tables[len(c.tables)-1] = t
}

func (b *budget) describe(t *table, r reading, scale float64) Report {
	rep := b.report
	rep.Theta, rep.Lambda, rep.Frequencies = t.theta, t.lambda(), t.n+1
	rep.Aliasing, rep.Truncation = r.aliasing*scale, r.truncation*scale
	rep.Quadrature, rep.Rounding = r.quadrature*scale, r.rounding*scale
	return rep
}
