package fourier

// The first engine: one certified integral of the transforms of all steps
// (internal/contour, docs/contour.md), with laws in place of missing ones (mixed.go). What
// it does not serve goes to the lattices.

import (
	"context"
	"errors"
	"math"
	"reflect"

	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// An Engine is how an answer was computed.
type Engine string

// The engines.
const (
	ClosedForm Engine = "closed form" // tails of one mechanism, or a list of all losses
	Contour    Engine = "contour"     // an integral of transforms, of laws where a part has none
	Lattice    Engine = "lattice"     // laws above and below, composed by an FFT
)

// IntegralAccuracy is the relative width that the contour engine is asked for even
// when less is wanted: it costs next to nothing there.
const IntegralAccuracy = 1e-9

// beyondLattices is a relative width that no lattice improves on in reasonable time.
const beyondLattices = 1e-8

// integralFloor is an absolute width of ε that is always good enough: near ε = 0 a
// relative one cannot be reached.
const integralFloor = 1e-13

// Work of the contour engine is counted in terms of its sums, which take about half
// of the unit of a meter. A question may take easyTerms, and more for each step,
// before the lattices are tried.
const (
	workTerm     = 0.5
	easyTerms    = 5e6
	hurriedTerms = 2e6 // where a lattice of the accuracy asked for costs little
	termsPerStep = 2e4
)

// reserve is by how much tables reach further than a question needs once a sum is
// asked while it grows, or is to be asked often: it halves the number of tables of a curve
// and a table costs little more. It proves nothing.
const reserve = 0.3

// ExpectMany says that many questions follow, such as the points of a curve or those of a
// running total: what is computed for one then reaches further, to serve others too.
func (s *Sum) ExpectMany() { s.parts.many = true }

// A part is a step as it was added: equal profiles together, and Gaussians of
// different noise apart, whose transforms are closed forms.
type part struct {
	profile profiles.Profile
	count   int64

	// Of a part without a transform (mixed.go).
	lacks    bool
	coarse   *pld.Law // that the search begins with, and the depth of its tails
	coarseTo float64
	laws     *lawPair
}

// parts are the factors of the integral.
type parts struct {
	list           []part
	at             map[any]int // where a profile is that can be a key
	known, lacking int         // parts that were looked at, and those of them without a transform
	rich           bool        // some part with a transform is no finite law: the product decays
	wish           *wish
	terms          lawTerms
	// upper and lower are the compositions made so far, one and the same while every
	// transform is exact. mass is what profiles.TransformsOf was given.
	upper, lower *contour.Composition
	mass         float64
	dear         bool // some transform is that of a long table of copies
	asked        bool
	grew         bool // parts were added after a question
	many         bool // many questions are expected
	// Relative widths that ε and log δ are worth asking for, where it is more than
	// IntegralAccuracy: what rounding has allowed lately.
	epsilonWidth, deltaWidth float64
}

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

// add returns the index of the part.
func (p *parts) add(profile profiles.Profile, count int64) int {
	p.grew = p.grew || p.asked
	key := any(nil)
	if reflect.ValueOf(profile).Comparable() {
		key = profile
		if i, ok := p.at[key]; ok {
			p.list[i].count += count
			return i
		}
	} else {
		for i := range p.list {
			if profiles.Equal(p.list[i].profile, profile) {
				p.list[i].count += count
				return i
			}
		}
	}
	if key != nil {
		if p.at == nil {
			p.at = map[any]int{}
		}
		p.at[key] = len(p.list)
	}
	p.list = append(p.list, part{profile: profile, count: count})
	return len(p.list) - 1
}

// make brings the compositions up to date, and reports whether the engine serves them.
// Losses that have no exact transform have those of losses above and below, whose δ(ε)
// is within mass of their own.
func (p *parts) make(mass float64) (bool, error) {
	if !p.rich || p.lacking > 0 && p.wish == nil {
		return false, nil
	}
	if p.upper == nil || p.upper != p.lower && p.mass > mass {
		c, err := contour.New()
		if err != nil {
			return false, err
		}
		p.upper, p.lower, p.mass = c, c, mass
	}
	for i, x := range p.list {
		if i < p.upper.Len() {
			for _, c := range p.ends() {
				if err := c.SetCount(i, x.count); err != nil {
					return false, err
				}
			}
			continue
		}
		above, below, err := p.transforms(x)
		if err != nil {
			return false, err
		}
		if !same(above, below) && p.upper == p.lower {
			// From here on there are two.
			c, err := contour.New()
			if err != nil {
				return false, err
			}
			for _, y := range p.list[:i] {
				_, lower, err := p.transforms(y)
				if err != nil {
					return false, err
				}
				if _, err := c.Add(contour.Factor{Transform: lower, Count: y.count}); err != nil {
					return false, err
				}
			}
			p.lower = c
		}
		for j, c := range p.ends() {
			if _, err := c.Add(contour.Factor{Transform: [2]profiles.Transform{above, below}[j], Count: x.count}); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// same reports whether a profile has one exact transform. Types that cannot be compared
// count as two, which is sound.
func same(a, b profiles.Transform) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// Transforms of long tables of copies take thousands of terms. A lattice of coarseAccuracy
// costs less than the first look at them; they come after it, where it is too wide.
const (
	fewPieces      = 16
	coarseAccuracy = 1e-4
)

// pieces returns the number of pieces of a transform that is made of pieces.
func pieces(t profiles.Transform) int {
	if m, ok := t.(interface{ Pieces() int }); ok {
		return m.Pieces()
	}
	return 1
}

// late reports whether the lattices are asked first.
func (s *Sum) late() bool {
	return s.parts.dear && s.opts.Engine == "" && s.opts.Relative >= coarseAccuracy
}

// ends returns the different compositions, the upper one first.
func (p *parts) ends() []*contour.Composition {
	if p.upper == p.lower {
		return []*contour.Composition{p.upper}
	}
	return []*contour.Composition{p.upper, p.lower}
}

// logTypical is log δ of what is asked mostly, where it is not known yet: that of 1e-20.
const logTypical = -46

// massShare is the share of δ that all runs together may differ from their transforms
// by: below IntegralAccuracy of log δ.
const massShare = 1e-11

// prepare brings the compositions up to date for a δ, and reports whether the engine
// is to be asked.
func (s *Sum) prepare(logDelta float64) (bool, error) {
	if s.opts.Engine == Lattice {
		return false, nil
	}
	if s.parts.classify(massOf(logDelta, s.runs)); s.parts.lacking > 0 {
		return false, nil
	}
	return s.refit(logDelta)
}

// massOf is by how much δ(ε) of one run may be off.
func massOf(logDelta, runs float64) float64 { return massShare * math.Exp(logDelta) / max(1, runs) }

// refit brings the compositions up to date.
func (s *Sum) refit(logDelta float64) (bool, error) {
	mass := massOf(logDelta, s.runs)
	if s.parts.upper == nil || s.parts.mass > mass {
		mass /= 1e3 // for smaller ones to come
	}
	return s.parts.make(mass)
}

// integralOptions are those of a question that may take so many terms; an easy one has the lattices to go to.
func (s *Sum) integralOptions(width, terms float64, easy bool) contour.Options {
	o := contour.Options{Relative: min(s.opts.Relative, max(IntegralAccuracy, width)), Absolute: integralFloor, Work: int64(max(terms, 1)), Easy: easy}
	if s.parts.lacking > 0 {
		// The laws decide the width.
		o.Relative = min(s.opts.Relative/4, max(IntegralAccuracy, lawIntegral*s.opts.Relative))
	}
	if s.parts.grew || s.parts.many {
		o.Reserve = reserve
	}
	return o
}

func (s *Sum) easy(m *meter) float64 {
	if s.parts.lacking > 0 && s.hurried() {
		return min(m.work/workTerm, coarseTerms+coarsePerStep*float64(len(s.parts.list)))
	}
	if s.parts.lacking > 0 {
		return min(m.work/workTerm, mixedTerms)
	}
	if s.hurried() {
		return min(m.work/workTerm, hurriedTerms+termsPerStep*float64(len(s.parts.list)))
	}
	return min(m.work/workTerm, easyTerms+termsPerStep*float64(len(s.parts.list)))
}

// charge takes the work of an answer off the meter, and reports whether the engine did
// not serve the question for want of work alone. err is what is left of its error.
func (m *meter) charge(work int64, from error) (more bool, err error) {
	m.spend(workTerm * float64(work))
	var not *contour.NotServed
	switch {
	case from == nil:
		return false, nil
	case errors.As(from, &not):
		return not.Work > 0, nil
	case m.ctx.Err() != nil:
		return false, cancelled(m.ctx)
	}
	return false, from
}

// wide reports whether an interval of ε is wider than asked.
func (s *Sum) wide(r Result) bool {
	w := r.Upper - r.Lower
	return !(w <= max(s.opts.Relative*min(math.Abs(r.Lower), math.Abs(r.Upper)), min(s.opts.Absolute, s.opts.Relative)))
}

// integrateEpsilon asks the contour engine for ε(δ). What it returns is proved; more
// says that it would be narrower for more work.
func (s *Sum) integrateEpsilon(m *meter, logDelta, terms float64, easy bool) (r Result, more bool, err error) {
	s.parts.asked = true
	a, more, err := s.endEpsilon(m, 0, logDelta, terms, easy)
	if err != nil {
		return Result{}, false, err
	}
	if s.parts.upper != s.parts.lower {
		if s.parts.lacking > 0 && s.hurried() && s.wide(Result{Lower: a.Lower, Upper: a.Upper}) {
			// One end alone takes too much.
			r = Result{Lower: math.Inf(-1), Estimate: math.NaN(), Upper: a.Upper, Engine: Contour}
			return r, more, nil
		}
		b, wants, err := s.endEpsilon(m, 1, logDelta, terms, easy)
		if err != nil {
			return Result{}, false, err
		}
		if s.parts.lacking > 0 && math.IsInf(a.Upper, 1) && !math.IsInf(b.Lower, -1) {
			// The search for the one end failed; where the other is, is known.
			if err := s.borrow(m, s.parts.upper, s.parts.lower, terms); err != nil {
				return Result{}, false, err
			}
			if a, more, err = s.endEpsilon(m, 0, logDelta, terms, easy); err != nil {
				return Result{}, false, err
			}
		}
		a.Lower, more = b.Lower, more || wants
	}
	r = Result{Lower: a.Lower, Estimate: a.Estimate, Upper: a.Upper, Engine: Contour, Frequencies: a.Frequencies, Budget: budgetOf(a.Report)}
	s.parts.describe(&r, 1)
	return r, more, nil
}

// endEpsilon asks the composition of one end, 0 the upper one, of whose answer that end is
// proved; both, if the compositions are one.
func (s *Sum) endEpsilon(m *meter, end int, logDelta, terms float64, easy bool) (a contour.EpsilonAnswer, more bool, err error) {
	c := s.parts.ends()[end]
	target, loss := logDelta, 0.0
	if s.parts.lacking > 0 {
		excess := 0.0
		excess, loss = s.parts.moved(end)
		// Rounded so that the upper end is asked for a smaller δ.
		target -= excess
		target -= (1 - 2*float64(end)) * 2 * xmath.U * math.Abs(target)
		if !(target < 0) {
			// Laws so far from a probability say nothing.
			return contour.EpsilonAnswer{Lower: math.Inf(-1), Upper: math.Inf(1), Estimate: math.NaN()}, false, nil
		}
		if end > 0 {
			if err := s.borrow(m, c, s.parts.upper, terms); err != nil {
				return a, false, err
			}
		}
	}
	o := s.integralOptions(s.parts.epsilonWidth, terms, easy && s.opts.Engine == "")
	if w := s.parts.wish; w != nil && w.saddle != 0 {
		o.Epsilon, o.Theta, o.Guessed = w.eps, w.saddle, !s.hurried()
	}
	a, err = c.Epsilon(m.ctx, target, o)
	more, err = m.charge(a.Work, err)
	if width := a.Upper - a.Lower; err == nil && width > o.Absolute && !more {
		learn(&s.parts.epsilonWidth, width/max(math.Abs(a.Upper), math.Abs(a.Lower)), o.Relative)
	}
	a.Lower, a.Upper = a.Lower-loss, a.Upper+loss
	return a, more, err
}

// integrateDelta asks the contour engine for δ(ε).
func (s *Sum) integrateDelta(m *meter, eps, terms float64) (r Result, more bool, err error) {
	s.parts.asked = true
	for range 3 {
		mid := 0.0
		for i, c := range s.parts.ends() {
			excess, loss := s.parts.moved(i)
			at := xmath.Down(eps-loss, 1)
			if i > 0 {
				at = xmath.Up(eps+loss, 1)
			}
			if loss == 0 {
				at = eps
			}
			if i > 0 && s.parts.lacking > 0 {
				if err := s.borrow(m, c, s.parts.upper, terms); err != nil {
					return Result{}, false, err
				}
			}
			o := s.integralOptions(s.parts.deltaWidth, terms, false)
			a, err := c.Delta(m.ctx, at, o)
			if s.parts.lacking > 0 {
				a.LogUpper = xmath.Up(a.LogUpper+excess, 2)
				a.LogLower = xmath.Down(a.LogLower+excess, 2)
			}
			wants, err := m.charge(a.Work, err)
			if err != nil {
				return Result{}, false, err
			}
			if width := a.LogUpper - a.LogLower; width > o.Absolute && !wants {
				learn(&s.parts.deltaWidth, width/max(1, math.Abs(a.LogUpper)), o.Relative)
			}
			mid = a.LogLower + (a.LogUpper-a.LogLower)/2
			if more = more || wants; i > 0 {
				r.Lower = expDown(a.LogLower)
				continue
			}
			r = Result{Lower: expDown(a.LogLower), Estimate: math.Exp(mid), Upper: expUp(a.LogUpper), Engine: Contour, Frequencies: a.Frequencies, Budget: budgetOf(a.Report)}
			if math.IsInf(mid, -1) {
				r.Estimate = math.NaN()
			}
			b := &r.Budget
			for _, x := range []*float64{&b.Aliasing, &b.Truncation, &b.Quadrature, &b.RoundOff} {
				*x *= r.Upper
			}
		}
		s.parts.describe(&r, 1)
		if math.IsInf(mid, -1) || s.parts.upper == s.parts.lower || s.parts.mass*s.runs <= massShare*math.Exp(mid) {
			break
		}
		// δ is so small that the masses left out count.
		if ok, err := s.refit(mid); err != nil || !ok {
			return r, more, err
		}
	}
	return r, more, nil
}

func budgetOf(r contour.Report) Budget {
	return Budget{Aliasing: r.Aliasing, Truncation: r.Truncation, Quadrature: r.Quadrature, RoundOff: r.Rounding}
}

// both intersects what the two engines prove; the rest is that of the narrower one.
func both(a, b Result) Result {
	if !(a.Upper-a.Lower <= b.Upper-b.Lower) {
		a, b = b, a
	}
	a.Lower, a.Upper = max(a.Lower, b.Lower), min(a.Upper, b.Upper)
	return a.Narrowed()
}

// composeEpsilon answers ε(δ) of two or more runs.
func (s *Sum) composeEpsilon(ctx context.Context, logDelta, logInf, floor, top float64) (Result, error) {
	m := s.newMeter(ctx)
	served, err := s.prepare(logDelta)
	if err != nil {
		return Result{}, err
	}
	known := Result{Lower: math.Inf(-1), Upper: math.Inf(1), Estimate: math.NaN()}
	more := false
	if served && !s.late() {
		if known, more, err = s.integrateEpsilon(m, logDelta, s.easy(m), true); err != nil {
			return Result{}, err
		}
		if known.Lower, known.Upper = max(known.Lower, floor), min(known.Upper, top); !s.wide(known) {
			return known, nil
		}
		if w := known.Upper - known.Lower; w <= beyondLattices*min(math.Abs(known.Lower), math.Abs(known.Upper)) && !more {
			known.Warnings = []string{s.reason(errRounding, w)}
			return known, nil
		}
	}
	if s.parts.mixed() && s.opts.Engine != Lattice {
		known, err = s.aside(m, func() (Result, error) { return s.composeMixed(m, logDelta, logInf, floor, top) })
		if err != nil {
			return Result{}, err
		}
		if !s.wide(known) {
			return known, nil
		}
	}
	r, err := s.latticeEpsilon(m, logDelta, logInf, floor, top)
	if err != nil {
		return Result{}, err
	}
	if r = both(r, known); (more || served && s.late()) && s.wide(r) && m.work > 0 {
		again, _, err := s.integrateEpsilon(m, logDelta, m.work/workTerm, false)
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
	wide := func(r Result) bool { return !(r.Upper-r.Lower <= s.opts.Relative*r.Upper) }
	known := Result{Lower: 0, Upper: 1, Estimate: math.NaN()}
	more := false
	if served && !s.late() {
		if known, more, err = s.integrateDelta(m, eps, s.easy(m)); err != nil {
			return Result{}, err
		}
		if !wide(known) {
			return known, nil
		}
		if w := known.Upper - known.Lower; w <= beyondLattices*known.Upper && !more {
			known.Warnings = []string{s.reason(errRounding, w)}
			return known, nil
		}
	}
	if s.parts.mixed() && s.opts.Engine != Lattice {
		known, err = s.aside(m, func() (Result, error) {
			return s.mixedDelta(m, eps, Result{Upper: 1, Estimate: math.NaN(), Engine: Contour}, wide)
		})
		if err != nil {
			return Result{}, err
		}
		if !wide(known) {
			return known, nil
		}
	}
	r, err := s.latticeDelta(m, eps, logInf)
	if err != nil {
		return Result{}, err
	}
	if r = both(r, known); (more || served && s.late()) && wide(r) && m.work > 0 {
		again, _, err := s.integrateDelta(m, eps, m.work/workTerm)
		if err != nil {
			return Result{}, err
		}
		if r = both(again, r); !wide(r) {
			r.Warnings = nil
		}
	}
	return r, nil
}

// notServed is the warning of an answer that only the contour engine may give.
const notServed = "the contour engine does not serve this question: the interval is wider than asked"

func (s *Sum) latticeEpsilon(m *meter, logDelta, logInf, floor, top float64) (Result, error) {
	best := Result{Lower: floor, Upper: top, Estimate: math.NaN(), Engine: Lattice}
	if s.opts.Engine == Contour {
		best.Engine, best.Warnings = Contour, []string{notServed}
		return best, nil
	}
	return s.byLattices(m, best,
		func(r Result) bool {
			return r.Upper-r.Lower <= max(s.opts.Relative*min(math.Abs(r.Lower), math.Abs(r.Upper)), s.opts.Absolute)
		},
		func(best Result) (Result, error) { return s.refineEpsilon(m, best, logDelta, logInf, floor, top) },
		func(best Result, relative float64) (Result, error) {
			return s.doubleEpsilon(m, best, logDelta, floor, top, relative)
		})
}

func (s *Sum) latticeDelta(m *meter, eps, logInf float64) (Result, error) {
	best := Result{Upper: 1, Estimate: math.NaN(), Engine: Lattice}
	if s.opts.Engine == Contour {
		best.Engine, best.Warnings = Contour, []string{notServed}
		return best, nil
	}
	return s.byLattices(m, best,
		func(r Result) bool { return r.Upper-r.Lower <= s.opts.Relative*r.Upper },
		func(best Result) (Result, error) { return s.refineDelta(m, best, eps, logInf) },
		func(best Result, relative float64) (Result, error) { return s.doubleDelta(m, best, eps, relative) })
}

// fewCopies is up to how many runs laws are multiplied one by one soon: tilts do not suit
// few runs of rare losses, and products of few are cheap. It proves nothing.
const fewCopies = 64

func (s *Sum) few() bool { return s.copies <= fewCopies && len(s.entries) <= fewCopies }

// byLattices asks the two ways to compose lattice laws in turn, each with the interval
// proved before, until it is done: a transform while its tilt suits and it is short; then
// laws multiplied one by one, to a thousandth; then what transforms can; then the
// products again if they were what served.
func (s *Sum) byLattices(m *meter, best Result, done func(Result) bool, refine func(Result) (Result, error), double func(Result, float64) (Result, error)) (Result, error) {
	asked := s.opts.Relative
	defer func() { s.opts.Relative = asked }()
	coarse, first, second := max(asked, rung), m.work/2, m.work/2
	if s.few() {
		first, second = fewTransforms, easyWork
	}
	doubled := false // the products served
	for i, way := range []func() (Result, error){
		func() (Result, error) {
			m.hasty, s.opts.Relative = true, coarse
			return m.within(first, func() (Result, error) { return refine(best) })
		},
		func() (Result, error) {
			if m.hasty = false; !m.dear {
				return best, nil
			}
			r, err := m.within(second, func() (Result, error) { return double(best, coarse) })
			doubled = err == nil && done(r)
			return r, err
		},
		func() (Result, error) {
			if doubled {
				return double(best, asked)
			}
			return refine(best)
		},
	} {
		if i == 2 {
			s.opts.Relative = asked
		}
		if i > 0 && (done(best) || m.stopped() != nil || m.work <= 0) {
			continue
		}
		r, err := way()
		if err != nil {
			return Result{}, err
		}
		best = r
		best.Engine = Lattice
	}
	if s.opts.Relative = asked; done(best) {
		best.Warnings = nil
	}
	return best, nil
}

// chernoff reports whether a Chernoff bound on the transforms shows δ(eps) ≤ delta, and
// whether there are any.
func (s *Sum) chernoff(eps, logDelta float64) (proved, ok bool) {
	if served, err := s.prepare(logDelta); !served || err != nil || s.late() {
		return false, false
	}
	return s.parts.upper.AtMost(eps, logDelta), true
}
