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
	wants := int64(0)
	if served && !s.latticesFirst() {
		if known, wants, err = s.integrateEpsilon(m, logDelta, s.easyTerms(m)); err != nil {
			return Result{}, err
		}
		if known.Lower, known.Upper = max(known.Lower, floor), min(known.Upper, top); !s.wide(known) {
			return known, nil
		}
		if w := known.Upper - known.Lower; w <= beyondLattices*min(math.Abs(known.Lower), math.Abs(known.Upper)) && wants == 0 {
			known.Warnings = []string{meter.Warning(meter.ErrRounding, w)}
			return known, nil
		}
	}
	if s.factors.mixed() && !s.opts.Laws {
		known, err = s.withShare(m, func() (Result, error) { return s.composeMixed(m, logDelta, logInf, floor, top) })
		if err != nil {
			return Result{}, err
		}
		if !s.wide(known) {
			return known, nil
		}
	}
	r, integral, err := s.inTurn(m, known, wants, served, s.wide, func() (Result, error) {
		return s.latticeEpsilon(m, s.opts.Relative, logDelta, logInf, floor, top)
	}, func(terms float64) (Result, int64, error) { return s.integrateEpsilon(m, logDelta, terms) })
	if err != nil || integral {
		return r, err
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
	wants := int64(0)
	if served && !s.latticesFirst() {
		if known, wants, err = s.integrateDelta(m, eps, s.easyTerms(m)); err != nil {
			return Result{}, err
		}
		if !s.wideDelta(known) {
			return known, nil
		}
		if w := known.Upper - known.Lower; w <= beyondLattices*known.Upper && wants == 0 {
			known.Warnings = []string{meter.Warning(meter.ErrRounding, w)}
			return known, nil
		}
	}
	if s.factors.mixed() && !s.opts.Laws {
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
	r, _, err := s.inTurn(m, known, wants, served, s.wideDelta, func() (Result, error) { return s.latticeDelta(m, eps, logInf) },
		func(terms float64) (Result, int64, error) { return s.integrateDelta(m, eps, terms) })
	return r, err
}

// The lattices come first with soonWork where the integral wants no more than nearTerms. Few runs of rare
// losses took them all the work that there was, and the integral a hundredth of it. It decides who is asked, and
// proves nothing.
const (
	soonWork  = 1.5e7
	nearTerms = 1e8
)

// inTurn asks the lattices and then, where the answer is wide and that may help, the integral, of which it is known
// how many terms it wants; after it the lattices again, if they were cut short for it. integral says that it
// made the answer as narrow as asked.
func (s *Sum) inTurn(m *meter.Meter, known Result, wants int64, served bool, wide func(Result) bool, lattice func() (Result, error), integrate func(terms float64) (Result, int64, error)) (r Result, integral bool, err error) {
	r = known
	ask := func() error {
		x, err := lattice()
		if err == nil {
			r = both(x, r)
		}
		return err
	}
	short := wants > 0 && wants <= nearTerms && m.Work > 4*soonWork
	if short {
		err = m.Within(soonWork, ask)
	} else {
		err = ask()
	}
	if err != nil || !(wants > 0 || served && s.latticesFirst()) || !wide(r) || m.Work <= 0 {
		return r, false, err
	}
	terms := m.Work / workTerm
	if short {
		terms = soonWork / workTerm
	}
	x, _, err := integrate(terms)
	if err != nil {
		return Result{}, false, err
	}
	if r = both(x, r); !wide(r) {
		r.Warnings = nil
		return r, true, nil
	}
	if short {
		err = ask()
	}
	return r, false, err
}

// chernoff reports whether a Chernoff bound on the transforms shows δ(eps) ≤ delta, and
// whether there are any.
func (s *Sum) chernoff(eps, logDelta float64) (proved, ok bool) {
	if served, err := s.prepare(logDelta); !served || err != nil || s.latticesFirst() {
		return false, false
	}
	return s.factors.upper.AtMost(eps, logDelta), true
}
