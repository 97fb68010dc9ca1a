// ε(δ) and δ(ε) by laws convolved one by one (convolve.go), finer until they are as narrow as
// asked or the work is done.
//
// It assumes profiles that pld can follow to the tails. It returns intervals whose ends are
// proved by an upper and a lower measure of all runs; the resolution decides their width only.

package lattice

import (
	"cmp"
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
)

// doubled returns an upper and a lower law of the sum, for a δ about as small as given.
func (q *query) doubled(logDelta, res float64) (upper, lower *measure, err error) {
	runs := 0.0
	for i, e := range q.entries {
		j := convolver{res: res, log: logDelta, runs: 1, all: q.copies, m: q.m}
		v := q.m.Vertices(e.Profile)
		above, below := pld.Follow(e.Profile, j.above(), logBelow, j.at, v.Stop)
		if err := complete(above); err != nil {
			return nil, nil, err
		}
		v.Spend(len(above.Loss))
		if v.Cut {
			return nil, nil, cmp.Or(q.m.Stopped(), meter.ErrWork)
		}
		runs += float64(e.Count)
		for _, side := range []struct {
			up  bool
			law *pld.Law
			all **measure
		}{{true, above, &upper}, {false, below, &lower}} {
			j.up, j.runs = side.up, 1
			p, err := j.power(newMeasure(side.law, side.up), e.Count)
			if err == nil && i > 0 {
				j.runs = runs
				p, err = j.times(*side.all, p)
			}
			if err != nil {
				return nil, nil, err
			}
			*side.all = p
		}
	}
	return upper, lower, nil
}

// deepest is log δ below every float64.
const deepest = -770

// firstRes is the resolution tried first; the width falls with its square, and the work
// that it takes grows with its inverse square.
const firstRes = 0.5 // steers: time for width

// steers: the next resolution: from leastFiner to mostFiner times the last one, aimed at
// a little less than the width wanted; and the finest.
const (
	leastFiner, mostFiner = 0.3, 0.6
	aimedRes              = 0.8
	finestRes             = 1e-3
)

// hardlyFiner is the ratio of two resolutions from which on the finer one is not worth its work.
const hardlyFiner = 0.8 // steers: time for width

// finerRes returns the resolution to try after one that gave a width, when a width is
// wanted; or 0, and why: what is left of the work does not do for it, or, as the cells of the last pass
// show, a product would have more than there may be. Without a look at those most of the work
// of a question went into a pass that failed in its last product. Cells grow at most with the
// inverse square of the resolution: each of the two laws has as many losses as the inverse, and
// as many places. It steers, and proves nothing.
func finerRes(res, want, width, spent, left float64, cells int) (float64, error) {
	f := max(leastFiner, min(mostFiner, aimedRes*math.Sqrt(want/width)))
	if fits := 1.05 * math.Sqrt(float64(cells)/(mostCells+pairsKept)); fits > f {
		if f = fits; f > hardlyFiner {
			return 0, errLosses
		}
	}
	if !(spent/(f*f) < left) || res < finestRes {
		return 0, meter.ErrWork
	}
	return res * f, nil
}

// byProducts narrows best to the accuracy that is wanted now, or so far as the work that is left allows.
func (q *query) byProducts() error {
	q.best.Warnings = nil
	depth := q.logDelta
	if q.ofDelta {
		depth = min(-10, q.best.Upper)
	}
	for res := firstRes; ; {
		before := q.m.Work
		upper, lower, err := q.doubled(depth, res)
		if err := meter.Cancelled(q.m.Ctx); err != nil {
			return err
		}
		if err != nil {
			q.best = q.best.short(err)
			return nil
		}
		var r Answer
		shallow := false // the tails that decide were left out
		if q.ofDelta {
			hi, _ := upper.logDelta(xmath.Down(q.eps-upper.moved, 2), true)
			lo, _ := lower.logDelta(xmath.Up(q.eps+lower.moved, 2), false)
			r = Answer{Lower: lo, Estimate: lo + (hi-lo)/2, Upper: hi, Budget: Budget{Discretization: hi - lo}}
			shallow = lo < depth-deepMargin/2
		} else {
			r = q.epsilonOf(upper, lower)
		}
		if q.best = intersect(q.best, r); q.done() {
			return nil
		}
		spent, left := before-q.m.Work, q.m.Work
		if shallow {
			if left < 2*spent || depth <= deepest {
				q.best = q.best.short(meter.ErrWork)
				return nil
			}
			depth = max(2*depth-deepMargin, deepest)
			continue
		}
		if res, err = finerRes(res, q.wanted(q.best), q.best.width(), spent, left, max(upper.cells, lower.cells)); err != nil {
			q.best = q.best.short(err)
			return nil
		}
	}
}

// epsilonOf solves for ε on both measures.
func (q *query) epsilonOf(upper, lower *measure) Answer {
	at := func(p *measure, up bool) func(float64) (float64, float64) {
		return func(e float64) (float64, float64) {
			v, slope := p.logDelta(e, up)
			return v - q.logDelta, slope
		}
	}
	guess := min(max(q.best.Estimate, q.floor), q.top)
	if math.IsNaN(guess) || math.IsInf(guess, 0) {
		guess = max(q.floor, 0)
	}
	r := Answer{
		Upper: closed.Solve(at(upper, true), q.floor, q.top, guess, true),
		Lower: closed.Solve(at(lower, false), q.floor, q.top, guess, false),
	}
	r.Budget = Budget{Discretization: max(0, r.Upper-r.Lower), RoundOff: upper.moved + lower.moved}
	r.Upper = min(q.top, xmath.Up(r.Upper+upper.moved, 2))
	r.Lower = max(q.floor, xmath.Down(r.Lower-lower.moved, 2))
	r.Estimate = r.Lower + (r.Upper-r.Lower)/2
	return r
}
