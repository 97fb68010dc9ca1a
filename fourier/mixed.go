// Mixed plans: some steps have transforms, others do not (docs/contour.md, "Lattice laws as factors").
//
// A step without a transform is discretised into a law above it and one below it (laws.go). The
// finite transforms of these are factors of two integrals, one for each end of the answer. It returns what
// these prove; how often finer laws are tried steers, and proves nothing.

package fourier

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
)

// withShare answers with a part of the work, and gives the rest back: lattices that are asked after
// it must not be coarser for it.
func (s *Sum) withShare(m *meter.Meter, answer func() (Result, error)) (Result, error) {
	whole := m.Work
	m.Work *= lawWork
	defer func() { m.Work = whole }()
	return answer()
}

// coarseLattice is the accuracy of the lattice that says where ε is. It proves nothing.
const coarseLattice = 1e-3

// composeMixed answers ε(δ) of a mixed plan, if it can. Where the search for ε goes astray, as
// it does where rare jumps carry δ, a coarse lattice says where ε is.
func (s *Sum) composeMixed(m *meter.Meter, logDelta, logInf, floor, top float64) (Result, error) {
	known := Result{Lower: floor, Upper: top, Estimate: math.NaN(), Engine: Contour}
	known, err := s.mixedEpsilon(m, logDelta, known)
	if err != nil || !s.wide(known) || s.latticesCheap() {
		return known, err
	}
	r, err := s.latticeEpsilon(m, coarseLattice, logDelta, logInf, floor, top)
	if err != nil || r.Upper-r.Lower > 10*coarseLattice*math.Abs(r.Upper) {
		return known, err
	}
	near := both(r, known)
	near.Estimate = near.Lower + (near.Upper-near.Lower)/2
	return s.mixedEpsilon(m, logDelta, near)
}

// mixedEpsilon answers ε(δ) of a mixed plan by the integral. The answer is proved, if it is one;
// known is what was known before.
func (s *Sum) mixedEpsilon(m *meter.Meter, logDelta float64, known Result) (Result, error) {
	c, err := s.sketch(m, logDelta)
	if err != nil {
		return known, nil
	}
	eps, theta, ok := c.Guess(m.Ctx, logDelta)
	return s.mixedRounds(m, known, ok, func(known Result) *lawTarget {
		if x := known.Estimate; x > known.Lower && x < known.Upper {
			eps = x
			_, theta, _ = c.GuessDelta(eps)
		}
		w := s.targetFor(eps, theta, logDelta, max(s.opts.Relative*math.Abs(eps), min(s.opts.Absolute, s.opts.Relative)))
		w.saddle = theta
		return w
	}, func() (Result, error) {
		r, _, err := s.integrateEpsilon(m, logDelta, s.easyTerms(m))
		return r, err
	}, s.wide, func(r Result) float64 {
		return (r.Upper - r.Lower) / max(s.opts.Relative*min(math.Abs(r.Lower), math.Abs(r.Upper)), min(s.opts.Absolute, s.opts.Relative))
	})
}

// mixedDelta answers δ(ε) of a mixed plan by the integral.
func (s *Sum) mixedDelta(m *meter.Meter, eps float64, known Result) (Result, error) {
	c, err := s.sketch(m, logTypical)
	if err != nil {
		return known, nil
	}
	logDelta, theta, ok := c.GuessDelta(eps)
	if ok && logDelta < logTypical {
		if c, err = s.sketch(m, logDelta); err != nil {
			return known, nil
		}
		logDelta, theta, ok = c.GuessDelta(eps)
	}
	return s.mixedRounds(m, known, ok, func(known Result) *lawTarget {
		// A relative width of δ is that of ε times the slope.
		return s.targetFor(eps, theta, logDelta, s.opts.Relative/max(theta, 1e-3))
	}, func() (Result, error) {
		r, _, err := s.integrateDelta(m, eps, s.easyTerms(m))
		return r, err
	}, s.wideDelta, func(r Result) float64 { return (r.Upper - r.Lower) / (s.opts.Relative * r.Upper) })
}

// mixedRounds makes laws, asks, and makes finer ones while that is cheap and helps. excess is
// the width over that wanted.
func (s *Sum) mixedRounds(m *meter.Meter, known Result, ok bool, want func(known Result) *lawTarget, ask func() (Result, error), wide func(Result) bool, excess func(Result) float64) (out Result, err error) {
	defer func() {
		if err == nil && wide(out) {
			out.Warnings = []string{meter.Warning(meter.ErrRounds, out.Upper-out.Lower)}
		}
	}()
	finer := math.Pow(lawWidth, 1.5)
	if s.opts.Relative < lawFloor {
		finer = 1
	}
	last := math.Inf(1)
	rounds := lawRounds
	if s.latticesCheap() {
		rounds = 1 // a lattice is the next best
	}
	for round := 0; ok && round < rounds && m.Work > 0; round++ {
		w := want(known)
		w.cell *= finer
		served, err := s.fit(m, w)
		if err != nil || !served {
			return known, err
		}
		r, err := ask()
		if err != nil {
			return known, err
		}
		known = both(r, known)
		if !wide(known) {
			break
		}
		x := excess(r)
		if !(x < 0.7*last) || math.IsInf(x, 1) && round > 0 {
			break // finer laws do not help
		}
		last = x
		if math.IsInf(x, 1) || math.IsNaN(x) {
			x = 30
		}
		finer *= math.Pow(0.5/max(x, 1), 1.5)
	}
	return known, nil
}
