package fourier

// Mixed plans (docs/contour.md, "Lattice laws as factors"): a part whose loss has no
// transform is discretised into a law above and a law below it. The finite transforms of
// these are factors of two integrals, one for each end of the answer. It assumes that some
// other part has a transform that decays: those of laws are almost periodic. All that is
// chosen here, the tilt, the cells, when to stop, decides the width and the work only.

import (
	"errors"
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// A wish is what the laws of a mixed plan are made for.
type wish struct {
	eps, theta float64 // where the answer is, about, and the saddle there
	saddle     float64 // if not 0, where the search for ε starts
	logDelta   float64 // the tails are followed to what matters there
	cell       float64 // T times the tilted mass of a cell times the square of its width
	above      float64 // log-probability, of one run, from which tails are cut
}

// serves reports whether laws made for w are good for v.
func (w *wish) serves(v *wish) bool {
	const near = 1.25
	ratio := (1 + w.theta) / (1 + v.theta)
	return w.cell <= v.cell && w.above <= v.above && w.above >= v.above-lawDeep && ratio < near && ratio > 1/near
}

// A lawPair is a part's laws, above and below it, and their transforms.
type lawPair struct {
	laws   [2]*pld.Law
	points [2]*transform.Points
}

// Terms of the displacement of δ and ε by laws: 1, except in the tests that prove
// that each of them is needed.
type lawTerms struct {
	excess, lossErr float64
	exchanged       bool
}

// Constants that only steer.
const (
	lawWidth    = 0.1  // of the width wanted that laws are made for
	lawIntegral = 0.02 // of it that the integral is asked for
	lawWork     = 0.2  // of the work limit, on top of what lattices may then take
	lawFloor    = 1e-8 // relative width below which rounding of tails decides
	lawDeep     = 8    // by how much further than needed tails are followed
	lawMargin   = 6    // and how deep in any case, below the accuracy: e^−6 of it
	lawRounds   = 4    // refinements of the laws of a question
	mostPoints  = 1 << 15
	cellDefault = 1e-3
)

// mixed reports whether some part has no transform, and another one decays.
func (p *parts) mixed() bool { return p.lacking > 0 && p.rich }

// classify finds out which parts have transforms.
func (p *parts) classify(mass float64) {
	for ; p.known < len(p.list); p.known++ {
		x := &p.list[p.known]
		above, below := profiles.TransformsOf(x.profile, mass)
		if x.lacks = above == nil || below == nil; x.lacks {
			p.lacking++
			continue
		}
		p.dear = p.dear || !same(above, below) || pieces(above) > fewPieces
		if _, finite := x.profile.(*profiles.Discrete); !finite {
			p.rich = true
		}
	}
}

// sketch returns the composition of all transforms, with those of coarse laws in place
// of the missing ones: it guesses, and proves nothing.
func (s *Sum) sketch(logDelta float64) (*contour.Composition, error) {
	above := logDelta - s.farMargin() - math.Log(max(1, s.runs))
	c, err := contour.New()
	if err != nil {
		return nil, err
	}
	for i := range s.parts.list {
		x := &s.parts.list[i]
		var t transform.Transform
		if x.lacks {
			if x.coarse == nil || x.coarseTo > above || x.coarseTo < above-40 {
				x.coarse, x.coarseTo = pld.Coarse(x.profile, above-lawDeep, -50, 0.5), above-lawDeep
			}
			if err := complete(x.coarse); err != nil {
				return nil, err
			}
			t = transform.NewPoints(x.coarse.Loss, x.coarse.LogMass, x.coarse.LogPInf)
		} else if d, ok := x.profile.(*profiles.Discrete); ok {
			l, _ := pld.OfAtoms(d) // cheaper than the transform
			t = transform.NewPoints(l.Loss, l.LogMass, l.LogPInf)
		} else {
			t, _ = profiles.TransformsOf(x.profile, s.parts.mass)
		}
		if _, err := c.Add(contour.Factor{Transform: t, Count: x.count}); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// wishFor returns what laws must be like for a width of ε. By the error law of
// docs/accuracy.md §4, with the density over δ about θ(θ+1), a cell of width w with the tilted
// mass m moves ε by (θ+1)·T·m·w²/8. n cells with the same T·m·w² = c cover a bell of variance v
// when n³c = 32.6·T·v: with S the sum of the cube roots of 32.6·T·v, all parts together have S·c^(2/3).
func (s *Sum) wishFor(eps, theta, logDelta, width float64) *wish {
	w := &wish{eps: eps, theta: max(0, theta), logDelta: logDelta}
	w.above = logDelta - lawMargin + math.Log(min(1, s.opts.Relative)) - math.Log(max(1, s.runs))
	sum := 0.0
	for i := range s.parts.list {
		if x := &s.parts.list[i]; x.lacks {
			_, _, v := x.coarse.Tilted(w.theta)
			sum += math.Cbrt(32.6 * float64(x.count) * v)
		}
	}
	w.cell = cellDefault
	if c := math.Pow(8*width/((1+w.theta)*sum), 1.5); c > 0 && !math.IsInf(c, 0) {
		w.cell = c
	}
	return w
}

// laws makes the pair of laws of a part for a wish; nil when they would need too many points,
// or the profile cannot be discretised.
func (s *Sum) laws(m *meter, x *part, w *wish) (*lawPair, error) {
	out := &lawPair{}
	if d, ok := x.profile.(*profiles.Discrete); ok {
		out.laws[0], out.laws[1] = pld.OfAtoms(d)
	} else {
		most := min(mostPoints, s.opts.MaxPoints/lawShare)
		if left := m.work / workVertex; left < float64(most) {
			most = max(1, int(left))
		}
		g, ok := x.grid(w, most)
		if !ok {
			return nil, nil
		}
		g.Stop = func() bool { return m.stopped() != nil }
		out.laws[0], out.laws[1] = pld.Discretize(x.profile, g)
		if out.laws[0] == nil {
			m.spend(float64(most) * workVertex)
			return nil, cancelled(m.ctx)
		}
		m.spend(float64(len(out.laws[0].Loss)) * workVertex)
		if sup := x.profile.Support(); out.laws[0].MaxLoss()+2*g.Step < sup.Max {
			out.laws[1] = withoutEnd(out.laws[1], xmath.LogSub(out.laws[0].LogPInf, sup.LogPInf))
		}
	}
	for i, l := range out.laws {
		if len(l.Loss) == 0 || i == 0 && complete(l) != nil {
			return nil, nil
		}
		out.points[i] = transform.NewPoints(l.Loss, l.LogMass, l.LogPInf)
	}
	return out, nil
}

// grid returns the grid of a part. Its step is finer than any cell has to be, so that cells
// follow the tilted mass, and an atom between points costs no more than a cell.
func (x *part) grid(w *wish, most int) (g pld.Grid, ok bool) {
	sup := x.profile.Support()
	lo, hi := pld.Range(x.profile, w.above, -50)
	cell := w.cell / float64(x.count)
	step := math.Exp2(math.Floor(math.Log2(math.Sqrt(cell)))) / 4
	step = max(step, math.Exp2(math.Ceil(math.Log2((hi-lo)*0x1p-45))))
	step = min(step, math.Exp2(math.Floor(math.Log2(0.5/(1+w.theta)))))
	offset := 0.0
	if len(sup.Atoms) > 0 {
		offset = sup.Atoms[0]
	} else if !math.IsNaN(sup.Spike) {
		offset = pld.SpikeOffset(x.profile, step)
	}
	first, last := (lo-offset)/step, (hi-offset)/step
	if !(math.Abs(first) < 1e15 && math.Abs(last) < 1e15) || !((hi-lo)*(1+w.theta) < float64(most)) {
		return g, false
	}
	near := 8 * xmath.U * (math.Abs(offset) + max(math.Abs(lo), math.Abs(hi))) / step
	k, _, _ := x.coarse.Tilted(w.theta)
	g = pld.Grid{Offset: offset, Step: step, Lo: int64(math.Floor(first + near)), Hi: int64(math.Ceil(last - near)),
		Tilt: w.theta, LogNorm: k, Share: cell / (step * step), Most: most}
	if !math.IsInf(sup.LogQInf, -1) {
		g.Lo-- // room for the slope that mass at −∞ leaves
	}
	g.Hi = max(g.Hi, g.Lo+2)
	return g, true
}

// moved returns by what the laws of one end move the answer: the composition's δ(ε) lies on the
// safe side of e^excess·δ'(ε ∓ loss), δ' that of the integral. end 0 is the upper one.
func (p *parts) moved(end int) (excess, loss float64) {
	sign := 1 - 2*float64(end)
	var x xmath.Sum
	abs, wrong := 0.0, 0.0
	for i := range p.list {
		l := p.list[i].laws
		if l == nil {
			continue
		}
		if p.terms.exchanged {
			end = 1 - end
		}
		n := float64(p.list[i].count)
		e, err := l.points[end].Excess()
		x.AddProduct(n, p.terms.excess*e)
		abs += n * math.Abs(e)
		wrong += n * err
		loss += n * p.terms.lossErr * l.laws[end].LossErr
		if p.terms.exchanged {
			end = 1 - end
		}
	}
	// One rounding for a count above 2^53; plain sums of up to 2^30 terms.
	return x.Value() + sign*p.terms.excess*(wrong+4*xmath.U*abs)*(1+1e-6), loss * (1 + 1e-6)
}

// fit makes the laws for a wish, and the compositions with them, and reports whether that
// succeeded.
func (s *Sum) fit(m *meter, w *wish) (bool, error) {
	p := &s.parts
	if p.wish == nil || !p.wish.serves(w) {
		for i := range p.list {
			p.list[i].laws = nil
		}
		made := *w
		if p.grew {
			made.cell /= 4 // for the steps to come
		}
		p.wish, p.upper, p.lower = &made, nil, nil
	}
	p.wish.eps, p.wish.saddle = w.eps, w.saddle
	for i := range p.list {
		x := &p.list[i]
		if !x.lacks || x.laws != nil {
			continue
		}
		var err error
		if x.laws, err = s.laws(m, x, p.wish); err != nil || x.laws == nil {
			p.wish = nil
			return false, err
		}
	}
	return s.refit(w.logDelta)
}

// aside answers with a part of the work, and gives the rest back: lattices that are asked after
// it must not be coarser for it.
func (s *Sum) aside(m *meter, answer func() (Result, error)) (Result, error) {
	if s.opts.Engine == "" {
		whole := m.work
		m.work *= lawWork
		defer func() { m.work = whole }()
	}
	return answer()
}

// composeMixed answers ε(δ) of a mixed plan, if it can. Where the search for ε goes astray, as
// it does where rare jumps carry δ, a coarse lattice says where ε is.
func (s *Sum) composeMixed(m *meter, logDelta, logInf, floor, top float64) (Result, error) {
	known := Result{Lower: floor, Upper: top, Estimate: math.NaN(), Engine: Contour}
	known, err := s.mixedEpsilon(m, logDelta, known)
	if err != nil || !s.wide(known) || s.hurried() || s.opts.Engine != "" {
		return known, err
	}
	wanted := s.opts.Relative
	s.opts.Relative = rung
	r, err := s.latticeEpsilon(m, logDelta, logInf, floor, top)
	s.opts.Relative = wanted
	if err != nil || r.Upper-r.Lower > 10*rung*math.Abs(r.Upper) {
		return known, err
	}
	near := both(r, known)
	near.Estimate = near.Lower + (near.Upper-near.Lower)/2
	return s.mixedEpsilon(m, logDelta, near)
}

// mixedEpsilon answers ε(δ) of a mixed plan by the integral. The answer is proved, if it is one;
// known is what was known before.
func (s *Sum) mixedEpsilon(m *meter, logDelta float64, known Result) (Result, error) {
	c, err := s.sketch(logDelta)
	if err != nil {
		return known, nil
	}
	eps, theta, ok := c.Guess(logDelta)
	return s.mixedRounds(m, known, ok, func(known Result) *wish {
		if x := known.Estimate; x > known.Lower && x < known.Upper {
			eps = x
			_, theta, _ = c.GuessDelta(eps)
		}
		w := s.wishFor(eps, theta, logDelta, max(s.opts.Relative*math.Abs(eps), min(s.opts.Absolute, s.opts.Relative)))
		w.saddle = theta
		return w
	}, func() (Result, error) {
		r, _, err := s.integrateEpsilon(m, logDelta, s.easy(m), s.hurried())
		return r, err
	}, s.wide, func(r Result) float64 {
		return (r.Upper - r.Lower) / max(s.opts.Relative*min(math.Abs(r.Lower), math.Abs(r.Upper)), min(s.opts.Absolute, s.opts.Relative))
	})
}

// mixedDelta answers δ(ε) of a mixed plan by the integral.
func (s *Sum) mixedDelta(m *meter, eps float64, known Result, wide func(Result) bool) (Result, error) {
	c, err := s.sketch(logTypical)
	if err != nil {
		return known, nil
	}
	logDelta, theta, ok := c.GuessDelta(eps)
	if ok && logDelta < logTypical {
		if c, err = s.sketch(logDelta); err != nil {
			return known, nil
		}
		logDelta, theta, ok = c.GuessDelta(eps)
	}
	return s.mixedRounds(m, known, ok, func(known Result) *wish {
		// A relative width of δ is that of ε times the slope.
		return s.wishFor(eps, theta, logDelta, s.opts.Relative/max(theta, 1e-3))
	}, func() (Result, error) {
		r, _, err := s.integrateDelta(m, eps, s.easy(m))
		return r, err
	}, wide, func(r Result) float64 { return (r.Upper - r.Lower) / (s.opts.Relative * r.Upper) })
}

// mixedRounds makes laws, asks, and makes finer ones while that is cheap and helps. excess is
// the width over that wanted.
func (s *Sum) mixedRounds(m *meter, known Result, ok bool, want func(known Result) *wish, ask func() (Result, error), wide func(Result) bool, excess func(Result) float64) (out Result, err error) {
	defer func() {
		if err == nil && wide(out) {
			out.Warnings = []string{s.reason(errRounds, out.Upper-out.Lower)}
		}
	}()
	finer := math.Pow(lawWidth, 1.5)
	if s.opts.Relative < lawFloor {
		finer = 1
	}
	last := math.Inf(1)
	rounds := lawRounds
	if s.hurried() {
		rounds = 1 // a lattice is the next best
	}
	for round := 0; ok && round < rounds && m.work > 0; round++ {
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

// transforms returns those of a part above and below it.
func (p *parts) transforms(x part) (above, below transform.Transform, err error) {
	if x.lacks {
		if x.laws == nil {
			return nil, nil, errNoLaw
		}
		if p.terms.exchanged {
			return x.laws.points[1], x.laws.points[0], nil
		}
		return x.laws.points[0], x.laws.points[1], nil
	}
	if above, below = profiles.TransformsOf(x.profile, p.mass); above == nil || below == nil {
		return nil, nil, errNoLaw
	}
	return above, below, nil
}

// describe adds what laws have of the width of a mixed plan: all that the integral has not,
// with the estimate between the ends. unit is the answer's for a logarithm.
func (p *parts) describe(r *Result, unit float64) {
	if p.lacking == 0 {
		return
	}
	b := &r.Budget
	rest := b.Aliasing + b.Truncation + b.Quadrature + b.RoundOff
	if w := r.Upper - r.Lower; !math.IsInf(w, 1) {
		b.Discretization = max(0, w-rest*unit)
		r.Estimate = r.Lower + w/3 // docs/accuracy.md §4
	}
}

// borrow gives one composition of a mixed plan the table of the other, with columns of its
// own laws: the parts with transforms are computed once.
func (s *Sum) borrow(m *meter, to, from *contour.Composition, terms float64) error {
	work, err := to.Borrow(m.ctx, from, int64(max(terms, 1)))
	_, err = m.charge(work, err)
	return err
}

// Of a mixed plan at coarseAccuracy or worse, the integral is asked only if it takes about
// as little as a lattice does.
const (
	coarseTerms   = 2e5
	coarsePerStep = 2e4
	mixedTerms    = 3e7 // otherwise: those of laws take half as long, and lattices that fine much longer
)

// hurried reports whether a lattice of the accuracy asked for would cost little.
func (s *Sum) hurried() bool { return s.opts.Relative >= coarseAccuracy && s.opts.Engine == "" }

var errNoLaw = errors.New("internal error: a part has neither a transform nor a law")
