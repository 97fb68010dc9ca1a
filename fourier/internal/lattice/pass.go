// One pass: the laws of all steps at one lattice step, composed under one tilt above and below.
//
// It assumes a target and a step. It returns the two compositions, or why there are none: a
// limit, or a profile that cannot be discretised. The choice of the tilt, of the length of the transform
// and of the way to compose decides how wide the readings are; that they are bounds is proved by
// read.go from the composition itself, whatever was chosen.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A pass is the pair of compositions of one lattice step and one tilt.
//
// Invariants: neither composition is nil; upper's δ is above the sum's once losses are moved by
// upMoved, and lower's below it once they are moved by loMoved.
type pass struct {
	upper, lower *composition
	step         float64
	n            int
	exact        bool    // every law is exactly on the lattice
	density      float64 // of the loss over δ near the answer; 0 until asked

	// By how much rounding may have displaced the total loss.
	upMoved, loMoved float64
}

// Of transforms with more points than longTransform (64 MB), or than a quarter of
// what the memory limit allows, one works at a time, so that sums asked together
// take no more memory than one.
const longTransform = 1 << 20 // steers: memory for time

// fewKept: a pass is kept for the next question if its readings take memory and time of so small a part of its points.
const fewKept = 16 // steers: memory for time

var long = make(chan struct{}, 1)

// run composes all entries at a step under the best window, and returns the cumulant of their upper laws as well, which are
// finer than the coarse ones. tol is the share of δ that may alias.
func (q *query) run(p target, step float64, exact bool, tol float64) (*pass, *cumulant, error) {
	ps := &pass{step: step, exact: exact}
	w := p.c.window(p.eps, p.logDelta, p.theta, maxTiltStep/step, tol)
	if _, err := q.lengthen(ps, p, w); err != nil {
		return nil, nil, err // before laws are made for nothing
	}
	up, lo, err := q.terms(ps, p)
	if err != nil {
		return nil, nil, err
	}
	laws := &cumulant{terms: up, nodes: map[int]bend{}}
	if !laws.like(p.c, w.theta) || !laws.like(p.c, w.theta+w.s) {
		// The tilt lives on losses that the coarse laws have and the lattice has not, or
		// the other way round.
		w = laws.window(p.eps, p.logDelta, laws.saddle(p.eps, p.theta), maxTiltStep/step, tol)
	}
	b, err := q.lengthen(ps, p, w)
	if err != nil {
		return nil, nil, err
	}
	q.last = nil // two passes would take twice the memory
	// The bound of the right tail is the least of three Chernoff bounds, about the best abscissa.
	excess := []float64{w.s * 0.5, w.s, w.s * 1.6}
	var upSpent, loSpent float64
	parallel.Both(
		func() { ps.upper, upSpent = q.compose(b, up, w.theta, ps.n, excess) },
		func() { ps.lower, loSpent = q.compose(b, lo, w.theta, ps.n, excess) })
	q.m.Spend(upSpent + loSpent)
	if err := q.m.Stopped(); err != nil {
		return nil, nil, err
	}
	if ps.upper == nil || ps.lower == nil {
		if b.whole == nil {
			b.whole = meter.ErrWork
		}
		return nil, nil, b.whole
	}
	if kept := len(ps.upper.freqs) + len(ps.lower.freqs); kept <= ps.n/fewKept {
		q.last = ps
	}
	return ps, laws, nil
}

// lengthen sets the length of the transform, and returns what it may take, or why it is out of the question.
func (q *query) lengthen(ps *pass, p target, w window) (price, error) {
	points := w.width/ps.step + 64
	if !(points < 1<<45) {
		return price{}, meter.ErrMemory
	}
	ps.n = int(points)
	if points < math.MaxInt32 {
		ps.n = q.transform.Length(ps.n)
	}
	b := q.price(p, ps.step, points, ps.n, len(q.entries))
	if b.whole != nil && !b.direct {
		return price{}, b.whole
	}
	return b, nil
}

// terms makes the laws of all entries at the step of a pass.
func (q *query) terms(ps *pass, p target) (up, lo []term, err error) {
	top := p.logDelta - FarMargin(q.relative) - xmath.Log(q.copies)
	up, lo = make([]term, len(q.entries)), make([]term, len(q.entries))
	for i, e := range q.entries {
		if err := q.m.Stopped(); err != nil {
			return nil, nil, err
		}
		k, _, _ := p.c.terms[i].law.Tilted(p.theta)
		l, err := q.lawsAt(q.m, e, ps.step, p, top, k)
		if err != nil {
			return nil, nil, err
		}
		up[i], lo[i] = term{l.upper, float64(e.Count), q.m}, term{l.lower, float64(e.Count), q.m}
		// A sum of positive terms: 1e-12 covers the rounding of 4000 of them.
		ps.upMoved += float64(e.Count) * l.upper.LossErr * (1 + 1e-12)
		ps.loMoved += float64(e.Count) * l.lower.LossErr * (1 + 1e-12)
	}
	return up, lo, nil
}

// A price is what the two ways to compose one law may take. It proves nothing.
type price struct {
	direct   bool    // direct summation is tried first
	work     float64 // that it may take
	perPoint float64 // of a transform, its readings included
	whole    error   // why a transform is out of the question
}

// price looks at a transform of n points for so many terms; points is what the window asks for.
func (q *query) price(p target, step, points float64, n, terms int) price {
	limit := q.m.Points
	b := price{direct: points > directPoints || q.copies >= directRuns, work: 1.5 * points}
	if points > float64(limit) || q.copies >= directRuns {
		b.work = directWork
	}
	// Each of the two sides may take half of what is left, with 30 readings of the
	// frequencies that are kept: up to 9.6 over the standard deviation if it were a
	// normal law, taken twice for the others.
	kept := min(1, 2*9.6/math.Pi*step/(p.scale*math.Sqrt(q.copies)))
	b.perPoint = meter.PerPoint*float64(terms) + 15*meter.PerRead*kept
	switch {
	case n > limit:
		b.whole = meter.ErrMemory
	case float64(n)*b.perPoint > q.m.Work/2:
		b.whole = meter.ErrWork
	}
	b.work = min(b.work, q.m.Work/directShare)
	return b
}

// compose composes the laws of one side, and returns what that took; nil if it would take more than
// there is, or the question must end.
func (q *query) compose(b price, terms []term, theta float64, n int, excess []float64) (c *composition, spent float64) {
	if b.direct {
		if c, spent = composeDirect(q.m, terms, theta, int64(n), excess, b.work); c != nil {
			return c, spent
		}
	}
	if b.whole != nil || float64(n)*b.perPoint > q.m.Work/2-spent {
		return nil, spent
	}
	// Two sums with two laws each may be at work.
	if n > min(longTransform, q.maxPoints/4) {
		select {
		case long <- struct{}{}:
			defer func() { <-long }()
		case <-q.m.Ctx.Done():
			return nil, spent
		}
	}
	return compose(q.m, terms, theta, n, q.transform, excess), spent + meter.PerPoint*float64(n)*float64(len(terms))
}

// measured is the width of log δ(ε) that is due to the step; 0 without a pass, or where other errors hide it: rounding, or
// those far from the centre.
func (ps *pass) measured(eps float64) float64 {
	if ps == nil {
		return 0
	}
	u, l := ps.upper.read(eps), ps.lower.read(eps)
	if d := u.logValue - l.logValue; d > 0 && u.upper()-l.lower() < 2*d {
		return d
	}
	return 0
}

// width is the distance of the two bounds of log δ(ε).
func (ps *pass) width(eps float64) float64 {
	return ps.upper.read(eps).upper() - ps.lower.read(eps).lower()
}

// estimate returns log δ without its leading error: the upper law's is twice the
// lower's and of opposite sign, and reading between lattice points adds the same
// to both (docs/theory/accuracy.md §4).
func (ps *pass) estimate(eps float64) (logDelta, slope float64) {
	u, l := ps.upper.read(eps), ps.lower.read(eps)
	if math.IsInf(l.logValue, -1) || math.IsInf(u.logValue, -1) {
		return xmath.LogAdd(u.logInf, u.logValue), u.totalSlope()
	}
	v := u.logValue
	if !ps.exact {
		x := u.frac
		b2 := x*x - x + 1.0/6
		if ps.density == 0 {
			ps.density = ps.upper.density(u)
		}
		v = (u.logValue+2*l.logValue)/3 + ps.step*ps.step*ps.density*b2/2
		// The laws shift the loss by a and −a/2, and log δ bends over that stretch: the
		// mean is short by −(log δ)″a²/4, from the slopes at both.
		if u.slope > 0 && l.slope > u.slope {
			v += (l.slope - u.slope) * (u.logValue - l.logValue) / (9 * u.slope)
		}
	}
	return xmath.LogAdd(u.logInf, v), u.totalSlope()
}

// budget splits the width at ε by cause: that of δ, or that of ε if delta is 0.
func (ps *pass) budget(eps, delta float64) Budget {
	u, l := ps.upper.read(eps), ps.lower.read(eps)
	per := delta
	if delta == 0 {
		per = 1 / max(u.totalSlope(), 1e-300)
	}
	if !(u.s > 0 && l.s > 0) {
		return Budget{}
	}
	return Budget{
		Discretization: max(0, u.logValue-l.logValue) * per,
		Truncation:     max(0, math.Exp(u.logInf-u.logValue)-math.Exp(l.logInf-u.logValue)) * per,
		Aliasing:       (u.foldRight/u.s + (l.aliasLeft+l.aliasRight)/l.s) * per,
		RoundOff:       (u.roundOff/u.s + l.roundOff/l.s + u.relative + l.relative) * per,
	}
}
