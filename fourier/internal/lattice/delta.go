// δ(ε) by transforms: what the refinement must know about it.
//
// It assumes a finite ε below the largest loss. It returns bounds that are proved by the laws of the passes, by
// a Chernoff bound, or by the reversed profile.

package lattice

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A deltaQuestion is δ(ε). Widths are in log δ.
//
// Invariants: log δ is in [lo, hi], by all passes together; estimate is that of the last one, or
// hi, and gap its distance of the two laws.
type deltaQuestion struct {
	eps, logInf           float64
	known                 Answer // before the first pass
	lo, hi, estimate, gap float64
}

// transformDelta narrows best, which holds δ(ε) of two or more runs.
func (q *query) transformDelta(best Answer, eps, logInf float64) (Answer, error) {
	return q.byRungs(best, 0, func(best Answer) (Answer, error) {
		if r, ok := q.byReverse(best, eps); ok {
			return r, nil
		}
		c, logDelta, theta := q.reach(eps)
		if c.maxLoss() <= eps {
			// Below every float64: the mass beyond the coarse laws is all there is.
			best.Upper, best.Estimate = min(best.Upper, xmath.ExpUp(xmath.LogAdd(logInf, logDelta))), math.Exp(logInf)
			return best, nil
		}
		if math.IsNaN(logDelta) {
			err := fmt.Errorf("the saddle point at epsilon %v is not a number", eps)
			for _, t := range c {
				if e := Complete(t.law); e != nil {
					err = e
				}
			}
			return best.short(err), nil
		}
		x := &deltaQuestion{eps: eps, logInf: logInf, known: best, lo: math.Inf(-1)}
		f := &refinement{query: q, c: c, eps: eps, logDelta: logDelta, theta: theta, margin: FarMargin(q.relative)}
		// A bound that needs no transform, in case it would be too long.
		x.hi = c.bound(xmath.Down(eps-q.steps().LossErr(), 2))
		best.Upper = min(best.Upper, xmath.ExpUp(x.hi))
		f.best = best
		return f.refine(x)
	})
}

// byReverse uses δ(ε) = 1 − e^ε + e^ε·δ_rev(−ε) where the last term may not matter.
func (q *query) byReverse(best Answer, eps float64) (r Answer, ok bool) {
	least := -math.Expm1(eps)
	if !(least > 0.5) {
		return best, false
	}
	if rest := 0.5 * q.relative * least; rest >= math.Exp(eps) {
		return intersect(best, Answer{Lower: xmath.Down(least, 4), Estimate: least, Upper: 1}), true
	} else if q.reversed().Proves(q.m, -eps, rest*math.Exp(-eps), q.relative) {
		return intersect(best, Answer{Lower: xmath.Down(least, 4), Estimate: least, Upper: xmath.Up(least+rest, 4)}), true
	}
	return best, false
}

// reach returns coarse laws that reach as far as δ needs, what they say δ is, and the saddle. log δ is
// NaN if they say nothing, and a bound of what is beyond them if that is all of it.
func (q *query) reach(eps float64) (c cumulant, logDelta, theta float64) {
	logDelta = -10.0
	for range 12 {
		c = q.coarse(q.m, logDelta, q.relative)
		if c.maxLoss() <= eps {
			if logDelta < -1e4 {
				break
			}
			logDelta *= 2
			continue
		}
		theta = c.saddle(eps, max(theta, 1))
		v, _, _ := c.logDelta(eps, theta)
		if math.IsNaN(v) {
			return c, v, theta
		}
		if v > logDelta-3 {
			logDelta = v
			break
		}
		logDelta = max(v, 2*logDelta) - 1
	}
	return c, logDelta, theta
}

func (x *deltaQuestion) aim(f *refinement) float64 { return f.relative }

func (x *deltaQuestion) unit(*refinement) float64 { return 1 }

func (x *deltaQuestion) first(f *refinement, p target) float64 { return f.Sum.step(p, 1) }

func (x *deltaQuestion) read(f *refinement, ps *pass, want float64) (view, error) {
	x.hi = min(x.hi, ps.upper.read(xmath.Down(x.eps-ps.upMoved, 2)).upper())
	x.lo = max(x.lo, ps.lower.read(xmath.Up(x.eps+ps.loMoved, 2)).lower())
	v, _ := ps.estimate(x.eps)
	if !(v >= x.lo && v <= x.hi) {
		v = x.hi // a reading that is all round-off
	}
	x.estimate, x.gap = v, ps.width(x.eps)
	f.best = intersect(x.known, Answer{Lower: xmath.ExpDown(x.lo), Estimate: math.Exp(v), Upper: xmath.ExpUp(x.hi), Points: ps.n, Step: f.step})
	f.best.Budget = ps.budget(x.eps, math.Exp(v))
	width := x.hi - x.lo
	watched := width
	if math.IsInf(width, 1) {
		watched = math.NaN()
	}
	return view{done: width <= want || f.best.Upper < leastDelta, want: want, width: width, watched: watched, at: x.eps,
		gap: x.gap, inside: true, truncated: f.best.Budget.Truncation / math.Exp(v)}, nil
}

// refocus: the coarse laws foresaw too large a δ, so that tails and window fell short.
func (x *deltaQuestion) refocus(f *refinement) bool {
	hi := xmath.LogSub(x.hi, x.logInf)
	if !(hi < f.logDelta-1 && x.nothingBelow()) {
		return false
	}
	f.logDelta = hi
	return true
}

func (x *deltaQuestion) nothingBelow() bool { return math.IsInf(x.lo, -1) }

func (x *deltaQuestion) missed(f *refinement, _ view) {
	if !x.nothingBelow() {
		f.logDelta = min(x.estimate, f.logDelta)
	}
}

func (x *deltaQuestion) recentre(f *refinement, _ view) (again bool) {
	if !x.nothingBelow() {
		f.logDelta = x.estimate
		if !math.IsInf(x.logInf, -1) {
			f.logDelta = xmath.LogSub(x.estimate, x.logInf)
		}
	}
	f.theta = f.c.saddle(x.eps, f.theta)
	return false
}

func (x *deltaQuestion) tooCoarse(f *refinement, v view) float64 {
	if v.deeper == 0 || f.best.Budget.Discretization > v.want*math.Exp(x.estimate) {
		return x.gap
	}
	return 0
}
