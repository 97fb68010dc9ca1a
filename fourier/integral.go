package fourier

// The first engine: one certified integral of the transforms of all steps
// (internal/contour, docs/contour.md). What it does not serve goes to the lattices.

import (
	"context"
	"errors"
	"math"
	"reflect"

	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// An Engine is how an answer was computed.
type Engine string

// The engines.
const (
	ClosedForm Engine = "closed form" // tails of one mechanism, or a list of all losses
	Contour    Engine = "contour"     // an integral of transforms
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
	termsPerStep = 2e4
)

// reserve is by how much tables reach further than a question needs once a sum is
// asked while it grows.
const reserve = 0.3

// A part is a step as it was added: equal profiles together, and Gaussians of
// different noise apart, whose transforms are closed forms.
type part struct {
	profile profiles.Profile
	count   int64
}

// parts are the factors of the integral.
type parts struct {
	list []part
	at   map[any]int // where a profile is that can be a key
	none bool        // some part has no transform
	rich bool        // some part is not a finite law: the product of transforms decays
	// upper and lower are the compositions made so far, one and the same while every
	// transform is exact. mass is what profiles.TransformsOf was given.
	upper, lower *contour.Composition
	mass         float64
	dear         bool // some transform is that of a long table of copies
	asked        bool
	grew         bool // parts were added after a question
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
	p.list = append(p.list, part{profile, count})
	if _, finite := profile.(*profiles.Discrete); !finite {
		p.rich = true
	}
	return len(p.list) - 1
}

// make brings the compositions up to date, and reports whether the engine serves them.
// Losses that have no exact transform have those of losses above and below, whose δ(ε)
// is within mass of their own.
func (p *parts) make(mass float64) (bool, error) {
	if p.none || !p.rich {
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
		above, below := profiles.TransformsOf(x.profile, p.mass)
		if above == nil || below == nil {
			p.none, p.upper, p.lower = true, nil, nil
			return false, nil
		}
		p.dear = p.dear || !same(above, below) || pieces(above) > fewPieces
		if !same(above, below) && p.upper == p.lower {
			// From here on there are two.
			c, err := contour.New()
			if err != nil {
				return false, err
			}
			for _, y := range p.list[:i] {
				_, lower := profiles.TransformsOf(y.profile, p.mass)
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
	mass := massShare * math.Exp(logDelta) / max(1, s.runs)
	if s.parts.upper == nil || s.parts.mass > mass {
		mass /= 1e3 // for smaller ones to come
	}
	return s.parts.make(mass)
}

// integralOptions are those of a question that may take so many terms.
func (s *Sum) integralOptions(terms float64) contour.Options {
	o := contour.Options{Relative: min(s.opts.Relative, IntegralAccuracy), Absolute: integralFloor, Work: int64(max(terms, 1))}
	if s.parts.grew {
		o.Reserve = reserve
	}
	return o
}

func (s *Sum) easy(m *meter) float64 {
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
func (s *Sum) integrateEpsilon(m *meter, logDelta, terms float64) (r Result, more bool, err error) {
	s.parts.asked = true
	for i, c := range s.parts.ends() {
		a, err := c.Epsilon(m.ctx, logDelta, s.integralOptions(terms))
		wants, err := m.charge(a.Work, err)
		if err != nil {
			return Result{}, false, err
		}
		if more = more || wants; i == 0 {
			r = Result{Lower: a.Lower, Estimate: a.Estimate, Upper: a.Upper, Engine: Contour, Frequencies: a.Frequencies, Budget: budgetOf(a.Report)}
		} else {
			r.Lower = a.Lower
		}
	}
	return r, more, nil
}

// integrateDelta asks the contour engine for δ(ε).
func (s *Sum) integrateDelta(m *meter, eps, terms float64) (r Result, more bool, err error) {
	s.parts.asked = true
	for range 3 {
		mid := 0.0
		for i, c := range s.parts.ends() {
			a, err := c.Delta(m.ctx, eps, s.integralOptions(terms))
			wants, err := m.charge(a.Work, err)
			if err != nil {
				return Result{}, false, err
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
		if math.IsInf(mid, -1) || s.parts.upper == s.parts.lower || s.parts.mass*s.runs <= massShare*math.Exp(mid) {
			break
		}
		// δ is so small that the masses left out count.
		if ok, err := s.prepare(mid); err != nil || !ok {
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
		if known, more, err = s.integrateEpsilon(m, logDelta, s.easy(m)); err != nil {
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
	r, err := s.latticeEpsilon(m, logDelta, logInf, floor, top)
	if err != nil {
		return Result{}, err
	}
	if r = both(r, known); (more || served && s.late()) && s.wide(r) && m.work > 0 {
		again, _, err := s.integrateEpsilon(m, logDelta, m.work/workTerm)
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

// fewCopies is for how many runs laws are multiplied one by one before a transform is tried:
// tilts do not suit few runs of rare losses, and products of few are cheap.
const fewCopies = 64

// byLattices asks the two ways to compose lattice laws in turn, each with the interval
// proved before, until it is done: few runs by doubling, then a transform, if it is short
// and its tilt suits; then doubling, to a thousandth; then what transforms can.
func (s *Sum) byLattices(m *meter, best Result, done func(Result) bool, refine func(Result) (Result, error), double func(Result, float64) (Result, error)) (r Result, err error) {
	asked := s.opts.Relative
	few := s.copies <= fewCopies && len(s.entries) <= fewCopies
	coarse := max(asked, rung)
	ways := []func() (Result, error){
		func() (Result, error) {
			if !few {
				return best, nil
			}
			return m.within(easyWork, func() (Result, error) { return double(best, asked) })
		},
		func() (Result, error) {
			m.hasty, s.opts.Relative = true, coarse
			defer func() { m.hasty, s.opts.Relative = false, asked }()
			if done(best) {
				return best, nil
			}
			return m.within(4*hastyWork, func() (Result, error) { return refine(best) })
		},
		func() (Result, error) {
			s.opts.Relative = coarse
			defer func() { s.opts.Relative = asked }()
			if done(best) {
				return best, nil
			}
			return m.within(m.work/2, func() (Result, error) { return double(best, coarse) })
		},
		func() (Result, error) { return refine(best) },
	}
	for _, ask := range ways {
		if r, err = ask(); err != nil {
			return Result{}, err
		}
		best = r
		best.Engine = Lattice
		if done(best) {
			best.Warnings = nil
			return best, nil
		}
		if m.stopped() != nil || m.work <= 0 {
			break
		}
	}
	return best, nil
}

// chernoff reports whether a Chernoff bound on the transforms shows δ(eps) ≤ delta, and
// whether there are any.
func (s *Sum) chernoff(eps, logDelta float64) (proved, ok bool) {
	if served, err := s.prepare(logDelta); !served || err != nil || s.late() {
		return false, false
	}
	return s.parts.upper.Bound(eps) <= logDelta-4*xmath.U*math.Abs(logDelta), true
}
