// The refinement of one question: pass after pass, each where the one before it found the answer, with a
// finer step, until the interval is as narrow as asked or nothing helps any more.
//
// It returns an interval that every pass has only narrowed, with a warning if it is wider than
// asked. Which steps and tilts are tried proves nothing.

package lattice

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Limits of a refinement. A pass shrinks the step by at least a fifth, normally one or two suffice.
const (
	maxRounds  = 14  // steers: time for width
	narrower   = 0.9 // steers: a pass whose interval is wider than that times the one before it is stale
	mostStale  = 3   // steers: stale passes in a row before the end
	longerStep = 4   // steers: times the step where the first one was too fine for the limits
)

// A refinement is what is known between two passes of one question.
//
// Invariants: best is proved. eps, logDelta and theta are about where the answer is, and theta is
// the saddle of c there. Once fixed, step is the one to use, or to improve on by the measured
// width finer, in the unit of the answer, if that is not 0.
type refinement struct {
	*query
	c               *cumulant
	at              float64 // ε, about
	finiteLog       float64 // log of δ without the mass at +∞, about
	theta           float64
	step, finer     float64
	fixed           bool
	exact           bool // the step makes every law exact
	sought          bool // the answer lay outside a window, and was looked for once
	stale           int
	narrowest       float64 // width of what is proved
	logLow, logHigh float64 // of δ(ε): proved by all passes together
}

// A view is what a pass shows of the question.
type view struct {
	width  float64 // that the pass has, in the unit of the answer
	want   float64 // width wanted
	inside bool    // both ends were found by this pass
	last   Answer  // of this pass alone
	log    float64 // of δ(ε), about, where that is asked: it may be below every float64
}

// byTransform narrows q.best by passes at the accuracy that is wanted now.
func (q *query) byTransform() error {
	if q.ofDelta {
		return q.deltaByTransform()
	}
	finiteLog := xmath.LogSub(q.logDelta, q.logInf)
	if math.IsInf(finiteLog, -1) {
		q.best = Answer{Lower: q.floor, Upper: math.Inf(1), Estimate: math.Inf(1)}
		return nil
	}
	c := q.coarse(q.m, finiteLog, q.relative)
	if q.withoutTransform(c, finiteLog) {
		return nil
	}
	f := &refinement{query: q, c: c, finiteLog: finiteLog}
	f.at, f.theta = c.epsilon(finiteLog)
	return f.refine()
}

func (q *query) deltaByTransform() error {
	c, logDelta, theta := q.reach(q.eps)
	if c.maxLoss() <= q.eps {
		// Below every float64: the mass beyond the coarse laws is all there is.
		q.best.Upper, q.best.Estimate = min(q.best.Upper, xmath.ExpUp(xmath.LogAdd(q.logInf, logDelta))), math.Exp(q.logInf)
		return nil
	}
	if math.IsNaN(logDelta) {
		err := fmt.Errorf("the saddle point at epsilon %v is not a number", q.eps)
		for _, t := range c.terms {
			if e := Complete(t.law); e != nil {
				err = e
			}
		}
		q.best = q.best.short(err)
		return nil
	}
	f := &refinement{query: q, c: c, at: q.eps, finiteLog: logDelta, theta: theta, logLow: math.Inf(-1)}
	// A bound that needs no transform, in case it would be too long.
	f.logHigh = c.bound(xmath.Down(q.eps-q.steps().LossErr(), 2))
	q.best.Upper = min(q.best.Upper, xmath.ExpUp(f.logHigh))
	return f.refine()
}

// refine narrows best, by the last pass and at most maxRounds more.
func (f *refinement) refine() error {
	if !f.ofDelta && f.last.measured(f.at) > 0 {
		want, _ := f.aim()
		if _, done, err := f.read(f.last, want); done || err != nil {
			return err
		}
	}
	why := meter.ErrRounds
	for range maxRounds {
		want, unit := f.aim()
		p := f.newTarget(f.c, f.at, f.finiteLog, f.theta, want*unit)
		switch {
		case !f.fixed:
			f.step = f.firstStep(p)
		case f.finer > 0:
			f.step = f.query.finer(p, f.step, f.finer*unit)
		}
		f.step, f.exact = f.fitStep(f.step, p)
		ps, laws, err := f.run(p, f.step, f.exact, max(min(1e-5, 1e-4*p.wantLog), 1e-14))
		if err := meter.Cancelled(f.m.Ctx); err != nil {
			return err
		}
		if err != nil {
			if f.failed(err) {
				why = err
				continue
			}
			f.best = f.best.short(err)
			return nil
		}
		why = meter.ErrRounds
		v, done, err := f.read(ps, want)
		if done || err != nil {
			return err
		}
		if f.stalled() {
			f.best = f.best.short(meter.ErrRounding)
			return nil
		}
		if f.exact && f.fixed {
			// Only round-off and aliasing are left; a better centre has helped once.
			break
		}
		// The coarse laws may be off by many standard deviations of the total: the lattice's are not.
		f.c = laws
		if f.recentre(v) {
			continue
		}
		// When the step was fine enough, only the centre was not.
		switch f.fixed, f.finer = true, 0; {
		case f.exact:
		case f.stale == mostStale-1:
			f.step = f.leastError(p, v.width*unit)
		default:
			f.finer = v.width
		}
	}
	f.best = f.best.short(why)
	return nil
}

// aim returns the width wanted where the next pass looks, and by what a width of the answer is to be
// multiplied to be one of log δ.
func (f *refinement) aim() (want, unit float64) {
	if f.ofDelta {
		return f.relative, 1
	}
	want = max(f.relative*math.Abs(f.at), f.absolute)
	if f.at > f.top-want/2 {
		// The largest loss is the answer from above; show that δ is reached just
		// below it.
		f.at = f.top - want/2
		f.theta = f.c.saddle(f.at, f.theta)
	}
	return want, f.theta
}

func (f *refinement) firstStep(p target) float64 {
	if w := f.last.measured(p.eps); w > 0 {
		return f.Sum.step(p, w/f.Sum.width(p, f.last.step))
	}
	if f.ofDelta {
		return f.Sum.step(p, 1)
	}
	return max(f.Sum.step(p, f.firstScale()), f.finest())
}

// failed lengthens a first step that is too fine for the limits, and reports whether it did: to one shorter than that of the
// last pass, where that says what to expect.
func (f *refinement) failed(err error) (again bool) {
	limit := err == meter.ErrWork || err == meter.ErrMemory
	if !limit || f.exact || f.narrowest != 0 {
		return false
	}
	f.fixed, f.finer = true, 0
	if f.last.measured(f.at) > 0 {
		f.step *= math.Sqrt(longerStep)
		return f.step < f.last.step
	}
	f.step *= longerStep
	return true
}

// stalled takes in the interval that is proved after a pass, and reports whether passes no longer help.
func (f *refinement) stalled() bool {
	width := f.best.width()
	if f.ofDelta {
		width = f.logHigh - f.logLow
	}
	if math.IsInf(width, 1) {
		return false
	}
	if f.narrowest == 0 || width < narrower*f.narrowest {
		f.narrowest, f.stale = width, 0
		return false
	}
	f.stale++
	return f.stale >= mostStale
}

// leastError returns the step at which a width of aΔ² + b/Δ is least, after a pass that had this width of log δ:
// errors of tails count the more the finer the step. a is that of the error law, b that of the pass.
func (f *refinement) leastError(p target, width float64) float64 {
	return f.step * math.Cbrt(width/(2*f.Sum.width(p, f.step)))
}

// read narrows best by a pass; done says that it is as narrow as asked.
func (f *refinement) read(ps *pass, want float64) (v view, done bool, err error) {
	if f.ofDelta {
		v, done = f.readDelta(ps, want)
		return v, done, nil
	}
	r := ps.epsilon(f.m, f.logDelta, f.floor, f.top, f.at, want)
	if err := meter.Cancelled(f.m.Ctx); err != nil {
		return v, false, err
	}
	r.Points, r.Step = ps.n, ps.step
	f.best = intersect(f.best, r)
	// The accuracy asked for is relative to the answer, not to the first guess.
	v = view{want: max(f.best.smaller(f.relative), f.absolute), width: r.width(), inside: r.Lower > f.floor && r.Upper < f.top, last: r}
	return v, f.best.width() <= v.want, nil
}

func (f *refinement) readDelta(ps *pass, want float64) (v view, done bool) {
	f.logHigh = min(f.logHigh, ps.upper.read(xmath.Down(f.eps-ps.upMoved, 2)).upper())
	f.logLow = max(f.logLow, ps.lower.read(xmath.Up(f.eps+ps.loMoved, 2)).lower())
	x, _ := ps.estimate(f.eps)
	if !(x >= f.logLow && x <= f.logHigh) {
		x = f.logHigh // a reading that is all round-off
	}
	r := Answer{Lower: xmath.ExpDown(f.logLow), Estimate: math.Exp(x), Upper: xmath.ExpUp(f.logHigh), Budget: ps.budget(f.eps, math.Exp(x)), Points: ps.n, Step: ps.step}
	f.best = intersect(f.best, r)
	v = view{want: want, width: ps.width(f.eps), inside: !math.IsInf(f.logLow, -1), last: r, log: x}
	return v, f.logHigh-f.logLow <= want || f.best.Upper < leastDelta
}

// recentre looks where the pass found the answer; again asks for another pass with what it set.
func (f *refinement) recentre(v view) (again bool) {
	if f.ofDelta {
		if hi := xmath.LogSub(f.logHigh, f.logInf); !v.inside && hi < f.finiteLog-1 {
			// A larger δ was foreseen, so that tails and window fell short.
			f.finiteLog, again = hi, true
		} else if v.inside {
			f.finiteLog = xmath.LogSub(v.log, f.logInf)
		}
		f.theta = f.c.saddle(f.eps, f.theta)
		return again
	}
	if v.inside {
		f.at = v.last.Estimate
		f.theta = f.c.saddle(f.at, f.theta)
		return false
	}
	from := f.at
	f.at, f.theta = f.c.epsilon(f.finiteLog)
	if math.Abs(f.at-from)*f.theta > 1 {
		// The coarse laws were off by more than that in log δ, so that the window missed the answer: these laws serve again.
		f.fixed, f.finer = true, 0
		return true
	}
	if f.sought {
		return false
	}
	// The window may just have missed the answer.
	f.sought = true
	if v.last.Upper < f.top && !f.exact {
		// Or the step does not resolve the loss for the lower law.
		f.fixed, f.finer, f.step = true, 0, f.step/4
	}
	return true
}
