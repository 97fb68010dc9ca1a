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

// withoutTransform narrows best by the bounds that need no transform, in case it would be too long,
// and reports whether that is enough.
func (q *query) withoutTransform(c *cumulant, finiteLog float64) (done bool) {
	if e, _ := c.chernoff(finiteLog); !math.IsNaN(e) {
		for _, slack := range []float64{1e-9, 1e-6, 1e-3, 1e-1, 1} {
			if x := e + slack*math.Abs(e); c.proves(x-q.steps().LossErr(), q.logDelta) {
				q.best.Upper = min(q.best.Upper, x)
				break
			}
		}
	}
	q.best.Upper = min(q.best.Upper, q.variation(q.logDelta))
	if q.best.width() <= q.absolute {
		q.best.Estimate = q.best.Upper
		return true
	}
	if q.logDelta > -math.Ln2 {
		// With η above the least possible ε the bound holds if the reversed profile
		// is at most 1 − e^−η there: δ(ε) = 1 − e^ε(1 − δ_rev(−ε)).
		eta := 0.9 * max(q.relative*math.Abs(q.floor), q.absolute)
		if q.reversed().Proves(q.m, -q.floor-eta, -math.Expm1(-eta), q.relative) {
			q.best.Upper = min(q.best.Upper, xmath.Up(q.floor+eta, 4))
			q.best.Estimate = q.best.Lower
			return true
		}
	}
	return false
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
