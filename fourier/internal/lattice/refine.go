// The refinement: pass after pass, each with what the one before it measured, until the answer is
// as narrow as asked or nothing helps any more.
//
// It assumes a question (epsilon.go, delta.go) that knows how to read a pass and where to look
// next. It returns an interval that every pass has only narrowed, with a warning if it is wider than
// asked. Which steps and tilts are tried steers, and proves nothing.

package lattice

import (
	"errors"
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
)

var errDear = errors.New("the transform is long, or shows no mass where it is asked for")

// maxRounds bounds the refinement; each round shrinks the step by at least a
// fifth, normally one or two suffice.
const maxRounds = 14

// driftingWidth is by how many times an interval may be too wide for passes whose tilt
// fails to go on where laws may be convolved one by one instead. It proves nothing.
const driftingWidth = 10

// A refinement is what is known between two passes of one question.
//
// Invariants: best is proved. eps, logDelta and theta are about where the answer is, and theta is
// the saddle of c there. Once fixed, step is the one to use, or to improve on by the measured
// width finer, in the unit of the answer, if that is not 0.
type refinement struct {
	*query
	best Answer

	c                    cumulant
	eps, logDelta, theta float64
	margin               float64 // how far below δ tails are followed

	step, finer float64
	fixed       bool
	exact       bool // the step makes every law exact
	drifts      int  // passes of which the tilt failed although tails were cut near
	seen        convergence
}

// A view is what a pass shows of a question.
type view struct {
	done    bool    // best is as narrow as wanted
	want    float64 // width wanted, in the unit of the answer
	width   float64 // that the pass has
	watched float64 // width of what is proved, or NaN: not to be watched
	at      float64 // the ε that the pass was read at
	gap     float64 // distance of its two laws there, in log δ
	inside  bool    // both ends were found by this pass
	// truncated is what the tails above the lattice have of the width, in the unit of want;
	// deeper is by how much further they must be followed for that, in logarithm.
	truncated, deeper float64
}

// A question is ε(δ) or δ(ε), as the refinement needs it.
type question interface {
	// aim adjusts where the next pass looks, and returns the width wanted there.
	aim(f *refinement) (want float64)
	// unit returns by what a width of the answer is to be multiplied to be one of log δ.
	unit(f *refinement) float64
	// first returns the step to begin with.
	first(f *refinement, p target) float64
	// read narrows f.best by a pass.
	read(f *refinement, ps *pass, want float64) (view, error)
	// refocus reports whether the pass missed the answer so far that it says only where to
	// look next, and looks there.
	refocus(f *refinement) bool
	// missed looks where the pass found the answer although its tilt was wrong.
	missed(f *refinement, v view)
	// recentre looks where the pass found the answer; again asks for another one with what it
	// set.
	recentre(f *refinement, v view) (again bool)
	// tooCoarse returns the width that the next step is to improve on; 0 if the step was fine enough.
	tooCoarse(f *refinement, v view) float64
}

// refine narrows f.best, by at most maxRounds passes.
func (f *refinement) refine(q question) (Answer, error) {
	for range maxRounds {
		want := q.aim(f)
		unit := q.unit(f)
		p := f.newTarget(f.c, f.eps, f.logDelta, f.theta, want*unit, f.margin)
		if !f.fixed {
			f.step = q.first(f, p)
		} else if f.finer > 0 {
			f.step = f.query.finer(p, f.step, f.finer*unit)
		}
		f.step, f.exact = f.fitStep(f.step, p)
		ps, err := f.run(p, f.step, f.exact, max(min(1e-5, 1e-4*p.wantLog), 1e-14))
		if err := meter.Cancelled(f.m.Ctx); err != nil {
			return Answer{}, err
		}
		if err != nil {
			if again := f.failed(p, err); again {
				continue
			}
			return f.best, nil
		}
		v, err := q.read(f, ps, want)
		if err != nil {
			return Answer{}, err
		}
		switch {
		case v.done:
			return f.best, nil
		case !math.IsNaN(v.watched) && f.seen.stalled(v.watched):
			return f.best.short(meter.ErrRounding), nil
		case f.exact && f.fixed:
			// Only round-off and aliasing are left; a better centre has helped once.
			return f.best.short(meter.ErrRounds), nil
		case q.refocus(f):
			continue
		}
		v.deeper = tooMuchCut(v.truncated, v.want)
		f.margin += v.deeper
		if ps.tiltWrong(v.at) {
			if f.margin == FarMargin(f.relative) {
				f.margin, f.fixed = nearMargin(f.relative), true
				q.missed(f, v)
				continue
			}
			if f.drifts++; f.hasty && f.drifts > 1 && v.width > driftingWidth*v.want {
				f.gaveUp = true
				return f.best.short(errDear), nil
			}
		}
		next, stop := 0.0, false
		if v.deeper == 0 && v.inside {
			next, stop = f.seen.record(f.Sum, p, f.step, v.gap, ps.noise(v.at), v.want*unit)
		}
		if stop {
			return f.best.short(meter.ErrRounding), nil
		}
		// Recentre where the answer is, and refine by the measured ratio. The coarse
		// laws may be off by many standard deviations of the total: the lattice's are
		// not.
		f.c = ps.laws
		if q.recentre(f, v) {
			continue
		}
		// When the step was fine enough, only the centre was not.
		f.fixed, f.finer = true, 0
		if next > 0 {
			f.step = next
		} else if !f.exact {
			f.finer = q.tooCoarse(f, v)
		}
	}
	return f.best.short(meter.ErrRounds), nil
}

// failed looks for a step with which a pass might not fail as the last one did, and puts the warning into
// best if there is none.
func (f *refinement) failed(p target, err error) (again bool) {
	limit := err == meter.ErrWork || err == meter.ErrMemory
	if f.hasty && limit && (f.few() || f.drifts > 0) {
		f.gaveUp = true
		if err == meter.ErrWork {
			err = errDear // the limit of memory is worth naming
		}
		f.best = f.best.short(err)
		return false
	}
	if next := f.seen.coarser(f.Sum, p, f.step, f.exact, err); next > 0 {
		f.fixed, f.finer, f.step = true, 0, next
		return true
	}
	f.best = f.best.short(err)
	return false
}

// rung is the ratio of the accuracies that are asked for one after the other: a
// pass costs about the inverse root of its accuracy, so that those before the last
// one cost little. It steers, and proves nothing.
const rung = 1e-3

// byRungs asks for an accuracy of 1e-3, then 1e-6 and so on down to the one of the
// query, each with the interval that is proved before, which it narrows. So the
// answer at a limit of work is no wider than the one of a coarser rung.
// A width of absolute is always enough.
func (q *query) byRungs(best Answer, absolute float64, ask func(best Answer) (Answer, error)) (Answer, error) {
	wanted := q.relative
	defer func() { q.relative = wanted }()
	for relative := rung; ; relative *= rung {
		q.relative = wanted
		if relative > wanted*(1+1e-9) {
			q.relative = relative
		}
		best.Warnings = nil
		if q.relative > wanted && best.width() <= max(best.smaller(q.relative), absolute) {
			continue
		}
		r, err := ask(best)
		if err != nil || q.relative == wanted {
			return r, err
		}
		best = r
		if best.width() <= max(best.smaller(wanted), absolute) {
			best.Warnings = nil
			return best, nil
		}
	}
}
