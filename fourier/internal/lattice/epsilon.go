// ε(δ) by transforms: what the refinement must know about it.
//
// It assumes δ in (0, 1) and an interval [floor, top] that holds ε. It returns a narrower one, whose
// ends are proved by both laws of some pass, by a bound of bounds.go, or were known.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// An epsilonQuestion is ε(δ). Widths are in ε; θ times such a width is one of log δ.
//
// Invariants: ε is in [floor, top]. last is the interval of the last pass alone.
type epsilonQuestion struct {
	logDelta, floor, top float64
	finiteLog            float64 // log of δ without the mass at +∞
	last                 Answer
	sought               bool // the answer lay outside a window, and was looked for once
}

// transformEpsilon narrows best, which holds ε(δ) of two or more runs.
func (q *query) transformEpsilon(best Answer, logDelta, logInf, floor, top float64) (Answer, error) {
	return q.byRungs(best, q.absolute, func(best Answer) (Answer, error) {
		finiteLog := xmath.LogSub(logDelta, logInf)
		if math.IsInf(finiteLog, -1) {
			return Answer{Lower: floor, Upper: math.Inf(1), Estimate: math.Inf(1)}, nil
		}
		c := q.coarse(q.m, finiteLog, q.relative)
		best, done := q.withoutTransform(best, c, logDelta, finiteLog, floor)
		if done {
			return best, nil
		}
		f := &refinement{query: q, best: best, c: c, logDelta: finiteLog, margin: FarMargin(q.relative)}
		f.eps, f.theta = c.epsilon(finiteLog)
		return f.refine(&epsilonQuestion{logDelta: logDelta, finiteLog: finiteLog, floor: floor, top: top})
	})
}

// withoutTransform narrows best by the bounds that need no transform, in case it would be too long,
// and reports whether that is enough.
func (q *query) withoutTransform(best Answer, c cumulant, logDelta, finiteLog, floor float64) (r Answer, done bool) {
	if e, _ := c.chernoff(finiteLog); !math.IsNaN(e) {
		for _, slack := range []float64{1e-9, 1e-6, 1e-3, 1e-1, 1} {
			if x := e + slack*math.Abs(e); c.proves(x-q.steps().LossErr(), logDelta) {
				best.Upper = min(best.Upper, x)
				break
			}
		}
	}
	best.Upper = min(best.Upper, q.variation(logDelta))
	if best.width() <= q.absolute {
		best.Estimate = best.Upper
		return best, true
	}
	if logDelta > -math.Ln2 {
		// With η above the least possible ε the bound holds if the reversed profile
		// is at most 1 − e^−η there: δ(ε) = 1 − e^ε(1 − δ_rev(−ε)).
		eta := 0.9 * max(q.relative*math.Abs(floor), q.absolute)
		if q.reversed().Proves(q.m, -floor-eta, -math.Expm1(-eta), q.relative) {
			best.Upper = min(best.Upper, xmath.Up(floor+eta, 4))
			best.Estimate = best.Lower
			return best, true
		}
	}
	return best, false
}

func (x *epsilonQuestion) aim(f *refinement) float64 {
	want := max(f.relative*math.Abs(f.eps), f.absolute)
	if f.eps > x.top-want/2 {
		// The largest loss is the answer from above; show that δ is reached just
		// below it.
		f.eps = x.top - want/2
		f.theta = f.c.saddle(f.eps, f.theta)
	}
	return want
}

func (x *epsilonQuestion) unit(f *refinement) float64 { return f.theta }

func (x *epsilonQuestion) first(f *refinement, p target) float64 {
	return max(f.Sum.step(p, f.firstScale()), f.finest())
}

func (x *epsilonQuestion) read(f *refinement, ps *pass, want float64) (v view, err error) {
	r := ps.epsilon(f.m, x.logDelta, x.floor, x.top, f.eps, want)
	if err := meter.Cancelled(f.m.Ctx); err != nil {
		return v, err
	}
	r.Points, r.Step = ps.n, f.step
	x.last = r
	f.best = intersect(f.best, r)
	// The accuracy asked for is relative to the answer, not to the first guess.
	v = view{want: max(f.best.smaller(f.relative), f.absolute), width: r.width(), watched: f.best.width(), at: r.Estimate,
		gap: r.width() * f.theta, inside: r.Lower > x.floor && r.Upper < x.top}
	v.done = v.watched <= v.want
	if r.Upper < x.top { // next to the largest loss δ has no slope to count with
		v.truncated = r.Budget.Truncation
	}
	return v, nil
}

func (x *epsilonQuestion) refocus(*refinement) bool { return false }

func (x *epsilonQuestion) missed(*refinement, view) {}

func (x *epsilonQuestion) recentre(f *refinement, v view) (again bool) {
	if v.inside {
		f.eps = x.last.Estimate
		f.theta = f.c.saddle(f.eps, f.theta)
		return false
	}
	f.eps, f.theta = f.c.epsilon(x.finiteLog)
	if x.sought {
		return false
	}
	// The window may just have missed the answer.
	x.sought = true
	if x.last.Upper < x.top && !f.exact {
		// Or the step does not resolve the loss for the lower law.
		f.fixed, f.finer, f.step = true, 0, f.step/4
	}
	return true
}

func (x *epsilonQuestion) tooCoarse(f *refinement, v view) float64 {
	b := &x.last.Budget
	fine := b.Discretization > 0 && b.Discretization < 0.8*v.want && v.width > v.want*1.5
	// Next to the largest loss the budget says nothing of the lower law.
	if v.deeper == 0 && (x.last.Upper >= x.top || !fine) {
		return v.width
	}
	return 0
}

// epsilon solves for ε on both laws.
func (ps *pass) epsilon(m *meter.Meter, logDelta, floor, top, guess, want float64) Answer {
	tol := 1e-6 * want
	var reads [3]float64 // of the upper law, the lower law, both
	upper := func(e float64) (float64, float64) {
		if m.Stopped() != nil {
			return math.NaN(), 0
		}
		reads[0]++
		x := ps.upper.read(e)
		return x.upper() - logDelta, x.totalSlope()
	}
	lower := func(e float64) (float64, float64) {
		if m.Stopped() != nil {
			return math.NaN(), 0
		}
		reads[1]++
		x := ps.lower.read(e)
		return x.lower() - logDelta, x.totalSlope()
	}
	r := Answer{}
	reach := max(1/ps.upper.theta, ps.step)
	parallel.Both(
		func() { r.Upper = closed.Solve(upper, floor, top, guess, reach, tol, true) },
		func() { r.Lower = closed.Solve(lower, floor, top, guess, reach, tol, false) })
	estimate := func(e float64) (float64, float64) {
		if m.Stopped() != nil {
			return math.NaN(), 0
		}
		reads[2]++
		v, slope := ps.estimate(e)
		return v - logDelta, slope
	}
	start := r.Lower + (r.Upper-r.Lower)/3
	if math.IsInf(r.Upper, 0) {
		start = r.Lower
	}
	// In a bracket: where single atoms decide, Newton's method alone ends anywhere, and
	// the budget at a loss without mass is not the answer's.
	r.Estimate = closed.Solve(estimate, r.Lower, r.Upper, start, 0, 1e-4*min(r.Upper-r.Lower, want), true)
	r.Budget = ps.budget(r.Estimate, 0)
	m.Spend(meter.PerRead * ((reads[0]+reads[2])*float64(len(ps.upper.freqs)) + (reads[1]+reads[2])*float64(len(ps.lower.freqs))))
	r.Upper = min(top, xmath.Up(r.Upper+ps.upMoved, 2))
	r.Lower = max(floor, xmath.Down(r.Lower-ps.loMoved, 2))
	r.Budget.RoundOff += ps.upMoved + ps.loMoved
	return r
}
