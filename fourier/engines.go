// The choice of the engine.
//
// The contour engine comes first: one certified integral of the transforms of all steps, with laws
// in place of missing ones (mixed.go). What it does not serve, or not well enough for little work, goes to
// the lattices. Both answers are proved, so that their intersection is, whichever was asked.

package fourier

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
)

// beyondLattices is a relative width that no lattice improves on in reasonable time. It decides
// who is asked, and proves nothing.
const beyondLattices = 1e-8

// composeEpsilon answers ε(δ) of two or more runs.
func (s *Sum) composeEpsilon(ctx context.Context, logDelta, logInf, floor, top float64) (Result, error) {
	m := s.newMeter(ctx)
	served, err := s.prepare(logDelta)
	if err != nil {
		return Result{}, err
	}
	known := unknown(math.Inf(-1), math.Inf(1))
	more := false
	if served && !s.latticesFirst() {
		if known, more, err = s.integrateEpsilon(m, logDelta, s.easyTerms(m), true); err != nil {
			return Result{}, err
		}
		if known.Lower, known.Upper = max(known.Lower, floor), min(known.Upper, top); !s.wide(known) {
			return known, nil
		}
		if w := known.Upper - known.Lower; w <= beyondLattices*min(math.Abs(known.Lower), math.Abs(known.Upper)) && !more {
			known.Warnings = []string{meter.Warning(meter.ErrRounding, w)}
			return known, nil
		}
	}
	if s.factors.mixed() && s.opts.Engine != Lattice {
		known, err = s.withShare(m, func() (Result, error) { return s.composeMixed(m, logDelta, logInf, floor, top) })
		if err != nil {
			return Result{}, err
		}
		if !s.wide(known) {
			return known, nil
		}
	}
	r, err := s.latticeEpsilon(m, s.opts.Relative, logDelta, logInf, floor, top)
	if err != nil {
		return Result{}, err
	}
	if r = both(r, known); (more || served && s.latticesFirst()) && s.wide(r) && m.Work > 0 {
		again, _, err := s.integrateEpsilon(m, logDelta, m.Work/workTerm, false)
		if err != nil {
			return Result{}, err
		}
		if again = both(again, r); !s.wide(again) {
			again.Warnings = nil
			return again, nil
		}
		r = again
	}
	return s.fromOthers(m, r, logDelta, logInf, floor, top)
}

// composeDelta answers δ(ε) of two or more runs.
func (s *Sum) composeDelta(ctx context.Context, eps, logInf float64) (Result, error) {
	m := s.newMeter(ctx)
	served, err := s.prepare(logTypical)
	if err != nil {
		return Result{}, err
	}
	known := unknown(0, 1)
	more := false
	if served && !s.latticesFirst() {
		if known, more, err = s.integrateDelta(m, eps, s.easyTerms(m)); err != nil {
			return Result{}, err
		}
		if !s.wideDelta(known) {
			return known, nil
		}
		if w := known.Upper - known.Lower; w <= beyondLattices*known.Upper && !more {
			known.Warnings = []string{meter.Warning(meter.ErrRounding, w)}
			return known, nil
		}
	}
	if s.factors.mixed() && s.opts.Engine != Lattice {
		known, err = s.withShare(m, func() (Result, error) {
			return s.mixedDelta(m, eps, Result{Upper: 1, Estimate: math.NaN(), Engine: Contour})
		})
		if err != nil {
			return Result{}, err
		}
		if !s.wideDelta(known) {
			return known, nil
		}
	}
	r, err := s.latticeDelta(m, eps, logInf)
	if err != nil {
		return Result{}, err
	}
	if r = both(r, known); (more || served && s.latticesFirst()) && s.wideDelta(r) && m.Work > 0 {
		again, _, err := s.integrateDelta(m, eps, m.Work/workTerm)
		if err != nil {
			return Result{}, err
		}
		if r = both(again, r); !s.wideDelta(r) {
			r.Warnings = nil
		}
	}
	return r, nil
}

// chernoff reports whether a Chernoff bound on the transforms shows δ(eps) ≤ delta, and
// whether there are any.
func (s *Sum) chernoff(eps, logDelta float64) (proved, ok bool) {
	if served, err := s.prepare(logDelta); !served || err != nil || s.latticesFirst() {
		return false, false
	}
	return s.factors.upper.AtMost(eps, logDelta), true
}
