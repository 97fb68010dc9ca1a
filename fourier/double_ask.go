package fourier

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
)

// The questions ε(δ) and δ(ε) to laws multiplied one by one (doubling.go), finer until
// they are as narrow as asked or the work is done.

// double returns an upper and a lower law of the sum, for a δ about as small as given.
func (s *Sum) double(m *meter, logDelta, res float64) (upper, lower *pile, err error) {
	runs := 0.0
	for i, e := range s.entries {
		j := pileJob{res: res, log: logDelta, runs: 1, all: s.copies, m: m}
		above, below := pld.Follow(e.profile, j.above(), logBelow, j.at)
		if err := complete(above); err != nil {
			return nil, nil, err
		}
		m.spend(workVertex * float64(len(above.Loss)))
		runs += float64(e.count)
		for _, side := range []struct {
			up  bool
			law *pld.Law
			all **pile
		}{{true, above, &upper}, {false, below, &lower}} {
			j.up, j.runs = side.up, 1
			p, err := j.power(newPile(side.law, side.up), e.count)
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

// pileMargin is how far below δ, in logarithm, the mass of all runs together is followed.
const pileMargin = 12

// firstRes is the resolution tried first; the width falls with its square, and the work
// that it takes grows with its inverse square.
const firstRes = 0.5

// finerRes returns the resolution to try after one that gave a width, when a width is
// wanted; 0 if what is left of the work does not do for it.
func finerRes(res, want, width, spent, left float64) float64 {
	f := max(0.3, min(0.6, 0.8*math.Sqrt(want/width)))
	if !(spent/(f*f) < left) || res < 1e-3 {
		return 0
	}
	return res * f
}

// doubleEpsilon narrows best, which holds ε(δ), to a relative width, or so far as the
// work that is left allows.
func (s *Sum) doubleEpsilon(m *meter, best Result, logDelta, floor, top, relative float64) (Result, error) {
	best.Warnings = nil
	for res := firstRes; res > 0; {
		before := m.work
		upper, lower, err := s.double(m, logDelta, res)
		if err := cancelled(m.ctx); err != nil {
			return Result{}, err
		}
		if err != nil {
			return s.widest(best, err), nil
		}
		at := func(p *pile, up bool) func(float64) (float64, float64) {
			return func(e float64) (float64, float64) {
				v, slope := p.logDelta(e, up)
				return v - logDelta, slope
			}
		}
		guess := min(max(best.Estimate, floor), top)
		if math.IsNaN(guess) || math.IsInf(guess, 0) {
			guess = max(floor, 0)
		}
		r := Result{
			Upper: solve(at(upper, true), floor, top, guess, 0, 0, true),
			Lower: solve(at(lower, false), floor, top, guess, 0, 0, false),
		}
		r.Budget = Budget{Discretization: max(0, r.Upper-r.Lower), RoundOff: upper.moved + lower.moved}
		r.Upper = min(top, xmath.Up(r.Upper+upper.moved, 2))
		r.Lower = max(floor, xmath.Down(r.Lower-lower.moved, 2))
		r.Estimate = r.Lower + (r.Upper-r.Lower)/2
		best = intersect(best, r)
		width, want := best.Upper-best.Lower, relative*min(math.Abs(best.Lower), math.Abs(best.Upper))
		if width <= want {
			return best, nil
		}
		left := m.work
		if width <= s.opts.Absolute {
			left = min(left, easyWork)
		}
		res = finerRes(res, want, width, before-m.work, left)
	}
	return s.widest(best, errOverwork), nil
}

// doubleDelta narrows best, which holds δ(ε).
func (s *Sum) doubleDelta(m *meter, best Result, eps, relative float64) (Result, error) {
	best.Warnings = nil
	depth := math.Log(best.Lower)
	if !(best.Lower > 0) {
		depth = -10
	}
	for res := firstRes; res > 0; {
		before := m.work
		upper, lower, err := s.double(m, depth, res)
		if err := cancelled(m.ctx); err != nil {
			return Result{}, err
		}
		if err != nil {
			return s.widest(best, err), nil
		}
		hi, _ := upper.logDelta(xmath.Down(eps-upper.moved, 2), true)
		lo, _ := lower.logDelta(xmath.Up(eps+lower.moved, 2), false)
		best = intersect(best, Result{Lower: expDown(lo), Estimate: math.Exp(lo + (hi-lo)/2), Upper: expUp(hi), Budget: Budget{Discretization: expUp(hi) - expDown(lo)}})
		width, want := best.Upper-best.Lower, relative*best.Upper
		if width <= want || best.Upper < 1e-320 {
			return best, nil
		}
		if lo < depth-pileMargin/2 { // the tails that decide were left out
			if m.work < 2*(before-m.work) || depth <= deepest {
				break
			}
			depth = max(2*depth-pileMargin, deepest)
			continue
		}
		res = finerRes(res, want, width, before-m.work, m.work)
	}
	return s.widest(best, errOverwork), nil
}
