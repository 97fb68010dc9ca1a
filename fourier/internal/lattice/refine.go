// The refinement of one question: the laws of all steps at one lattice step, composed above and below, and again with a
// finer step, until the interval is as narrow as asked or nothing helps any more.
//
// It returns an interval that every pair of laws has only narrowed, with a warning if it is wider than
// asked. Which steps are tried proves nothing.

package lattice

import (
	"errors"
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
)

// A pair is the compositions of the laws of all steps at one lattice step.
//
// Invariants: δ of the composition is on the safe side of e^excess·δ'(ε ∓ moved), δ' that of an end, 0 the upper one. An end
// is nil where its laws have no finite loss.
type pair struct {
	ends          [2]*contour.Composition
	excess, moved [2]float64
	step, origin  float64 // of the lattice of the total loss
	between       float64 // steers: of the width, by where a loss lies between points: 4/T for the losses of T runs, spread evenly
	exact         bool    // every law is exactly on the lattice
}

// Limits of a refinement. A round shrinks the step by at least a fifth, normally one or two suffice.
const (
	maxRounds  = 14   // steers: time for width
	narrower   = 0.9  // steers: a round whose interval is wider than that times the one before it is stale
	mostStale  = 3    // steers: stale rounds in a row before the end
	longerStep = 4    // steers: times the step where the first one was too fine for the limits
	shareOfSum = 1e-3 // steers: of the width wanted, that the sums over frequencies may have
)

// An aim is about where the answer is: ε, log δ without the mass at +∞, and the saddle; laws are those that say so, coarse ones at
// first.
type aim struct {
	laws                 *contour.Composition
	at, finiteLog, theta float64
}

// byTransform narrows q.best by laws at the accuracy that is wanted now.
func (q *query) byTransform() error {
	if q.last != nil && q.last.ends[0] != nil {
		if _, err := q.read(q.last, 1); q.done() || q.m.Stopped() != nil {
			return meter.Cancelled(q.m.Ctx)
		} else if err != nil {
			q.last = nil
		}
	}
	a, settled, err := q.look()
	if settled || err != nil {
		return err
	}
	p := q.newTarget(a)
	step := q.step(p, 1)
	if !q.ofDelta {
		step = max(q.step(p, q.firstScale()), q.finest())
	}
	why, narrowest, tooFine, stale := error(meter.ErrRounds), math.Inf(1), 0.0, 0
	for range maxRounds {
		var exact bool
		if step, exact = q.fitStep(step, p); step <= tooFine {
			break // no longer one is to be had
		}
		ps, err := q.pair(p, step)
		if cancelled := meter.Cancelled(q.m.Ctx); cancelled != nil {
			return cancelled
		}
		var r Answer
		if err == nil {
			ps.exact, ps.between, q.last = exact, min(2, p.density*step*step/(2*q.width(p, step))), ps
			if r, err = q.read(ps, q.m.Work/2); q.done() || meter.Cancelled(q.m.Ctx) != nil {
				return meter.Cancelled(q.m.Ctx)
			}
		}
		if err != nil {
			why = err
			if exact || !math.IsInf(narrowest, 1) || q.m.Stopped() != nil || q.m.Work <= 0 {
				break
			}
			tooFine = step
			step *= longerStep
			continue
		}
		again := q.recentre(&a, ps, r)
		if exact && !again {
			break
		}
		p = q.newTarget(a)
		switch w := q.best.width(); {
		case again:
			step = min(step, q.step(p, q.firstScale())) // where the aim was wrong, so was the step
			continue
		case !q.finds(r):
			step /= longerStep // it does not resolve the loss for the lower law
			stale++
		case w < narrower*narrowest:
			narrowest, stale = w, 0
			step = q.finer(p, step, r.width()*p.unit)
		case stale == mostStale-2:
			stale++
			step = q.leastError(p, step, r.width()*p.unit)
		default:
			stale++
			step = q.finer(p, step, r.width()*p.unit)
		}
		if stale >= mostStale {
			if q.finds(r) {
				why = meter.ErrRounding
			}
			break
		}
	}
	q.why = why
	q.best = q.best.short(why)
	return nil
}

// recentre aims where a pair found the answer r: coarse laws may be off by many standard deviations of the total, those of a lattice are
// not. It reports whether laws at the same step can say more now.
func (q *query) recentre(a *aim, ps *pair, r Answer) (again bool) {
	if ps.ends[0] == nil {
		return false
	}
	a.laws = ps.ends[0]
	switch from := a.at; {
	case q.ofDelta && q.finds(r):
		a.finiteLog = xmath.LogSub(r.Estimate, q.logInf)
	case q.ofDelta:
		// A larger δ may have been foreseen, so that the laws have too little of their tails.
		if log := xmath.LogSub(q.best.Upper, q.logInf); log < a.finiteLog-1 && !math.IsInf(log, -1) {
			a.finiteLog = log
			return true
		}
	case q.finds(r):
		a.at = r.Estimate
	default:
		at, theta, ok := a.laws.Guess(q.m.Ctx, q.logDelta-ps.excess[0])
		if ok {
			a.at, a.theta = min(at, q.best.Upper), theta
		}
		return ok && math.Abs(a.at-from)*a.theta > 1
	}
	if _, theta, ok := a.laws.GuessDelta(a.at); ok {
		a.theta = theta
	}
	return false
}

// pair makes the laws of all entries at a step.
func (q *query) pair(p target, step float64) (*pair, error) {
	ps := &pair{step: step}
	top := p.logDelta - FarMargin(q.relative) - xmath.Log(q.copies)
	points := min(q.m.Points, q.maxPoints)
	var excess, wrong [2]xmath.Sum
	for i := range ps.ends {
		var err error
		if ps.ends[i], err = contour.New(); err != nil {
			return nil, err
		}
		ps.ends[i].Fold(step, points, q.transform)
	}
	for _, e := range q.entries {
		if err := q.m.Stopped(); err != nil {
			return nil, err
		}
		if q.m.Work <= 0 {
			return nil, meter.ErrWork
		}
		l, err := q.lawsAt(q.m, e, step, p, top)
		if err != nil {
			return nil, err
		}
		ps.origin += float64(e.Count) * l.offset
		for i, law := range [2]*pld.Law{l.upper, l.lower} {
			// A sum of positive terms: 1e-12 covers the rounding of 4000 of them.
			ps.moved[i] += float64(e.Count) * law.LossErr * (1 + 1e-12)
			if len(law.Loss) == 0 {
				ps.ends[i] = nil
			}
			if ps.ends[i] == nil {
				continue
			}
			f := contour.NewLaw(law)
			if _, err := ps.ends[i].Add(contour.Factor{Transform: f, Count: e.Count}); err != nil {
				return nil, err
			}
			excess[i].AddProduct(float64(e.Count), f.Excess)
			wrong[i].AddProduct(float64(e.Count), (f.ExcessErr+4*xmath.U*math.Abs(f.Excess))*(1+1e-6))
		}
	}
	for i := range ps.ends {
		ps.excess[i] = excess[i].Value() + float64(1-2*i)*wrong[i].Value()
	}
	// No law below a profile has more than the mass 1. A list that does, by rounding that its errors do not name, counts what is above
	// 1 against it: that covers masses that all are too high by that share, and proves nothing where one is by all of it.
	ps.excess[1] = -math.Abs(ps.excess[1])
	return ps, nil
}

// leastError returns the step at which a width of aΔ² + b/Δ is least, after one that had this width of log δ:
// errors of tails count the more the finer the step. a is that of the error law, b that of the width.
func (q *query) leastError(p target, step, width float64) float64 {
	return step * math.Cbrt(width/(2*q.Sum.width(p, step)))
}

// read narrows best by a pair, each end for so much work. It returns what the pair alone proves, and the limit that it reached.
func (q *query) read(ps *pair, work float64) (r Answer, err error) {
	r = q.none()
	var errs [2]error
	var middle [2]float64
	var reports [2]contour.Report
	share := shareOfSum
	if ps.exact {
		share *= shareOfSum // nothing else has a width
	}
	o := contour.Options{Work: int64(max(1, work/meter.PerTerm))}
	end := func(i int) {
		c := ps.ends[i]
		switch {
		case c == nil:
		case q.ofDelta:
			at := xmath.Down(q.eps-ps.moved[i], 1)
			if i > 0 {
				at = xmath.Up(q.eps+ps.moved[i], 1)
			}
			var a contour.DeltaAnswer
			a, errs[i] = c.Delta(q.m.Ctx, at, o)
			reports[i], middle[i] = a.Report, a.LogLower+(a.LogUpper-a.LogLower)/2+ps.excess[i]
			if i == 0 {
				r.Upper = min(0, xmath.Up(a.LogUpper+ps.excess[i], 2))
			} else {
				r.Lower = xmath.Down(a.LogLower+ps.excess[i], 2)
			}
		default:
			target := q.logDelta - ps.excess[i]
			target -= float64(1-2*i) * 2 * xmath.U * math.Abs(target)
			if !(target < 0) {
				return // laws so far from a probability say nothing
			}
			var a contour.EpsilonAnswer
			a, errs[i] = c.Epsilon(q.m.Ctx, target, o)
			reports[i], middle[i] = a.Report, a.Estimate
			if i == 0 {
				r.Upper = min(q.top, xmath.Up(a.Upper+ps.moved[i], 2))
			} else {
				r.Lower = max(q.floor, xmath.Down(a.Lower-ps.moved[i], 2))
			}
		}
	}
	for _, share := range []float64{share, 1 - aimed} { // what the step leaves, where there is no memory for less
		o.Relative, o.Absolute = max(1e-12, share*q.relative), share*q.absolute
		parallel.Both(func() { end(0) }, func() { end(1) })
		if !short(errs[0]).Memory && !short(errs[1]).Memory {
			break
		}
	}
	r.Step = ps.step
	for i, x := range reports {
		q.m.Spend(meter.PerTerm * float64(x.Work))
		r.Points = max(r.Points, int(math.Round(min(x.Lambda/ps.step, math.MaxInt32))))
		r.Budget.Truncation += x.Truncation
		r.Budget.Aliasing += x.Aliasing
		r.Budget.RoundOff += x.Rounding + x.Quadrature + ps.moved[i]
	}
	if w := r.width(); !math.IsInf(w, 1) {
		r.Estimate = q.estimate(ps, r, middle)
		r.Budget = r.Budget.within(w)
		r.Budget.Discretization = max(0, w-r.Budget.Truncation-r.Budget.Aliasing-r.Budget.RoundOff)
	}
	q.best = intersect(q.best, r)
	for _, e := range errs {
		switch not := short(e); {
		case not.Work > 0:
			return r, meter.ErrWork
		case not.Memory:
			return r, meter.ErrMemory
		}
	}
	return r, nil
}

// estimate returns about what the answer of a pair is, from the middles of its sums: the lower law has a third of the error, and more
// or less as the ends lie between points of the lattice (docs/theory/accuracy.md §4).
func (q *query) estimate(ps *pair, r Answer, middle [2]float64) float64 {
	between := func(loss float64) float64 {
		if q.ofDelta {
			loss = q.eps
		}
		x := (loss - ps.origin) / ps.step
		x -= math.Floor(x)
		return ps.between * (x*x - x + 1./6)
	}
	upper, lower := between(r.Upper), between(r.Lower)
	share := (1./3 + lower) / (1 + lower - upper)
	all := intersect(q.best, r)
	if x := middle[1] + (middle[0]-middle[1])*share; all.Lower <= x && x <= all.Upper {
		return x
	}
	return all.Lower + all.width()*share
}

// short returns of what a sum had too little.
func short(err error) contour.NotServed {
	var not *contour.NotServed
	if !errors.As(err, &not) {
		return contour.NotServed{}
	}
	return *not
}
