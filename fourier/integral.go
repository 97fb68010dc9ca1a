// Questions to the contour engine (internal/contour, docs/theory/contour.md).
//
// It assumes compositions that are up to date (prepare). It returns what the engine proves of the
// compositions above and below, and how much work would narrow it.

package fourier

import (
	"errors"
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// integralAccuracy is the relative width that the contour engine is asked for even
// when less is wanted: it costs next to nothing there.
const integralAccuracy = 1e-9 // steers: width that costs next to nothing

// integralEnough is a relative width of ε that is as good, unless less was asked for, where rare jumps make the sum lose digits.
const integralEnough = 10 * integralAccuracy

// integralFloor is an absolute width of ε that is always good enough: near ε = 0 a
// relative one cannot be reached.
const integralFloor = 1e-13 // steers: width near 0

// Work of the contour engine is counted in terms of its sums, which take about half
// of the unit of a meter. A question may take plainTerms, and more for each step,
// before the lattices are tried.
const (
	plainTerms   = 2e6   // steers: work before lattices
	termsPerStep = 7.5e5 // steers: work before lattices
	dearTerms    = 3e7   // steers: for a wide answer, and with laws as factors: those take half as long, and lattices that fine much longer
)

// reserve is by how much tables reach further than a question needs once a sum is
// asked while it grows, or is to be asked often: it halves the number of tables of a curve
// and a table costs little more. It proves nothing.
const reserve = 0.3 // steers: time for later questions

// learn takes a width over that asked for into account, which rounding does not allow: the next
// questions are not to try in vain what this one has tried. It steers, and proves nothing.
func learn(width *float64, reached, asked float64) {
	switch {
	case reached > asked && !math.IsInf(reached, 1):
		*width = 3 * reached
	case reached <= asked:
		*width *= 0.98
	}
}

// lawIntegral is the share of the width wanted that the integral of laws is asked for.
const lawIntegral = 0.02 // steers: width for work

// logTypical is log δ of what is asked mostly, where it is not known yet: that of 1e-20.
const logTypical = -46 // steers: a guess of δ

// massShare is the share of δ that all runs together may differ from their transforms
// by: below integralAccuracy of log δ.
const massShare = integralAccuracy / 100

// prepare brings the compositions up to date for a δ, and reports whether the engine
// is to be asked.
func (s *Sum) prepare(logDelta float64) (bool, error) {
	if s.opts.Laws {
		return false, nil
	}
	if s.factors.classify(massOf(logDelta, s.runs)); s.factors.without > 0 || !s.factors.decays {
		return false, nil
	}
	return s.refit(logDelta)
}

// massOf is by how much δ(ε) of one run may be off.
func massOf(logDelta, runs float64) float64 { return massShare * math.Exp(logDelta) / max(1, runs) }

// refit brings the compositions up to date.
func (s *Sum) refit(logDelta float64) (bool, error) {
	mass := massOf(logDelta, s.runs)
	if s.factors.upper == nil || s.factors.mass > mass {
		mass /= 1e3 // for smaller ones to come
	}
	return s.factors.update(mass)
}

// integralOptions are those of a question that may take so many terms.
func (s *Sum) integralOptions(width, terms float64) contour.Options {
	o := contour.Options{Relative: min(s.opts.Relative, max(integralAccuracy, width)), Absolute: integralFloor, Work: int64(max(terms, 1))}
	if s.factors.without > 0 || s.factors.most > 0 {
		// The laws or the bump decide the width.
		o.Relative = min(s.opts.Relative/4, max(integralAccuracy, lawIntegral*s.opts.Relative))
	}
	o.Enough = min(integralEnough, s.opts.Relative)
	if s.factors.grew || s.factors.many {
		o.Reserve = reserve
	}
	return o
}

// easyTerms is how many terms the integral may take before lattices are asked.
func (s *Sum) easyTerms(m *meter.Meter) float64 {
	if s.factors.without > 0 {
		return min(m.Work/meter.PerTerm, dearTerms)
	}
	return min(m.Work/meter.PerTerm, plainTerms+termsPerStep*float64(len(s.factors.list)))
}

// charge takes the work of an answer off the meter, and returns about how many terms the engine would
// serve the question for, 0 if it did or would not for any. err is what is left of its error.
func charge(m *meter.Meter, work int64, from error) (wants int64, err error) {
	m.Spend(meter.PerTerm * float64(work))
	var not *contour.NotServed
	switch {
	case from == nil:
		return 0, nil
	case errors.As(from, &not):
		return not.Work, nil
	case m.Ctx.Err() != nil:
		return 0, meter.Cancelled(m.Ctx)
	}
	return 0, from
}

// integrateEpsilon asks the contour engine for ε(δ). What it returns is proved; it would be
// narrower for about so many terms as it wants, if that is not 0.
func (s *Sum) integrateEpsilon(m *meter.Meter, logDelta, terms float64) (r Result, wants int64, err error) {
	s.factors.before = true
	a, wants, err := s.endEpsilon(m, 0, logDelta, terms)
	if err != nil {
		return Result{}, 0, err
	}
	if len(s.factors.asked()) > 1 {
		b, more, err := s.endEpsilon(m, 1, logDelta, terms)
		if err != nil {
			return Result{}, 0, err
		}
		a.Lower, wants = b.Lower, max(wants, more)
	}
	r = Result{Lower: a.Lower, Estimate: a.Estimate, Upper: a.Upper, Engine: Contour, Frequencies: a.Frequencies, Theta: a.Theta, Period: a.Lambda, Budget: budgetOf(a.Report)}
	s.factors.share(&r, 1)
	return r, wants, nil
}

// endEpsilon asks the composition of one end, 0 the upper one, of whose answer that end is
// proved; both, if the compositions are one.
func (s *Sum) endEpsilon(m *meter.Meter, end int, logDelta, terms float64) (a contour.EpsilonAnswer, wants int64, err error) {
	c := s.factors.asked()[end]
	target, loss := logDelta, 0.0
	if s.factors.without > 0 || s.factors.most > 0 {
		excess := 0.0
		excess, loss = s.factors.moved(end)
		// Rounded so that the upper end is asked for a smaller δ.
		target -= excess
		target -= (1 - 2*float64(end)) * 2 * xmath.U * math.Abs(target)
		if !(target < 0) {
			// Laws so far from a probability say nothing.
			return contour.EpsilonAnswer{Lower: math.Inf(-1), Upper: math.Inf(1), Estimate: math.NaN()}, 0, nil
		}
	}
	o := s.integralOptions(s.factors.epsilonWidth, terms)
	o.Most = int64(max(1, min(m.Work/meter.PerTerm, dearTerms)))
	a, err = c.Epsilon(m.Ctx, target, o)
	wants, err = charge(m, a.Work, err)
	if width := a.Upper - a.Lower; err == nil && width > o.Absolute && wants == 0 {
		learn(&s.factors.epsilonWidth, width/max(math.Abs(a.Upper), math.Abs(a.Lower)), o.Relative)
	}
	a.Lower, a.Upper = a.Lower-loss, a.Upper+loss
	return a, wants, err
}

// integrateDelta asks the contour engine for δ(ε).
func (s *Sum) integrateDelta(m *meter.Meter, eps, terms float64) (r Result, wants int64, err error) {
	s.factors.before = true
	for range 3 {
		mid := 0.0
		for i, c := range s.factors.asked() {
			excess, loss := s.factors.moved(i)
			at := xmath.Down(eps-loss, 1)
			if i > 0 {
				at = xmath.Up(eps+loss, 1)
			}
			if loss == 0 {
				at = eps
			}
			o := s.integralOptions(s.factors.deltaWidth, terms)
			a, err := c.Delta(m.Ctx, at, o)
			if s.factors.without > 0 {
				a.LogUpper = xmath.Up(a.LogUpper+excess, 2)
				a.LogLower = xmath.Down(a.LogLower+excess, 2)
				a.LogLower = min(0, a.LogLower) // masses may make more than 1
			}
			more, err := charge(m, a.Work, err)
			if err != nil {
				return Result{}, 0, err
			}
			if width := a.LogUpper - a.LogLower; width > o.Absolute && more == 0 {
				learn(&s.factors.deltaWidth, width/max(1, math.Abs(a.LogUpper)), o.Relative)
			}
			mid = a.LogLower + (a.LogUpper-a.LogLower)/2
			if wants = max(wants, more); i > 0 {
				r.Lower = xmath.ExpDown(a.LogLower)
				continue
			}
			r = Result{Lower: xmath.ExpDown(a.LogLower), Estimate: math.Exp(mid), Upper: xmath.ExpUp(a.LogUpper), Engine: Contour, Frequencies: a.Frequencies, Theta: a.Theta, Period: a.Lambda, Budget: budgetOf(a.Report)}
			if math.IsInf(mid, -1) {
				r.Estimate = math.NaN()
			}
			unit := r.Upper
			if a.Theta < 0 {
				unit = 1 - r.Lower // the sum was that of 1 − δ
			}
			b := &r.Budget
			for _, x := range []*float64{&b.Aliasing, &b.Truncation, &b.Quadrature, &b.RoundOff} {
				*x *= unit
			}
		}
		s.factors.share(&r, 1)
		if math.IsInf(mid, -1) || s.factors.upper == s.factors.lower || s.factors.mass*s.runs <= massShare*math.Exp(mid) {
			break
		}
		// δ is so small that the masses left out count.
		if ok, err := s.refit(mid); err != nil || !ok {
			return r, wants, err
		}
	}
	return r, wants, nil
}

func budgetOf(r contour.Report) Budget {
	return Budget{Aliasing: r.Aliasing, Truncation: r.Truncation, Quadrature: r.Quadrature, RoundOff: r.Rounding}
}
