// What coarse laws say: where the answer is, about, and upper bounds that need no transform: Chernoff's, and total variation.
//
// They assume upper laws that are complete and total variations with their errors; the bounds hold in
// floating point. They are what an answer falls back on when a transform would be too long.

package lattice

import (
	"cmp"
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// steers: coarse laws: how much deeper than asked they reach, and the change of log-odds in one of their cells. Bounds from them hold
// for any.
const (
	spareCoarse = 8
	coarseRes   = 0.5
)

// perLoss is what a loss of a coarse law takes for the lines that a guess looks at. steers: what work is charged.
const perLoss = 12

// A guess is the composition of the coarse laws of all entries, each of which is about that of a step, to half a unit of log-odds.
//
// Invariants: where it is complete, δ is at most e^excess·δ'(ε − moved), δ' that of the composition.
type guess struct {
	*contour.Composition
	complete               bool
	excess, moved, largest float64
}

// coarse returns a guess from laws that resolve the tails down to
// what matters for a total of log δ at a relative accuracy.
func (s *Sum) coarse(m *meter.Meter, logDelta, relative float64) (*guess, error) {
	above := logDelta - FarMargin(relative) - xmath.Log(s.copies)
	for _, e := range s.entries {
		s.follow(m, e, above)
	}
	for _, e := range s.entries {
		m.Spend(perLoss * float64(len(e.coarse.Loss)))
	}
	if s.guess != nil {
		return s.guess, nil
	}
	c, err := contour.New()
	if err != nil {
		return nil, err
	}
	g := &guess{Composition: c, complete: true, moved: s.steps().LossErr()}
	moved := 0.0
	var excess xmath.Sum
	for _, e := range s.entries {
		l, count := contour.NewLaw(e.coarse), float64(e.Count)
		if len(l.Loss) == 0 {
			g.complete = false
			continue
		}
		if complete(e.coarse) != nil {
			g.complete = false
		}
		if _, err := c.Add(contour.Factor{Transform: l, Count: e.Count}); err != nil {
			return nil, err
		}
		g.largest += count * l.MaxLoss()
		moved += count * l.LossErr * (1 + 1e-12)
		excess.AddProduct(count, l.Excess+2*l.ExcessErr)
	}
	g.moved = max(g.moved, moved)
	g.excess = xmath.Up(excess.Value(), 2)
	s.guess = g
	return g, nil
}

// follow makes the coarse law of a step, unless that of earlier questions resolves its tail down to the log-probability above. A law that
// the limits of m cut short serves once.
func (s *Sum) follow(m *meter.Meter, e *entry, above float64) {
	if e.coarse != nil && e.coarseTo <= above && e.coarseTo >= above-spareKept*spareCoarse {
		return
	}
	v := m.Vertices(e.Profile)
	e.coarse = pld.Coarse(e.Profile, above-spareCoarse, logBelow, coarseRes, v.Stop)
	v.Spend(len(e.coarse.Loss))
	if e.coarseTo = above - spareCoarse; v.Cut {
		e.coarseTo = math.Inf(1)
	}
	s.guess = nil
}

// Coarse returns a law that is about that of the i-th step, and resolves its tail down to the log-probability above.
func (s *Sum) Coarse(m *meter.Meter, i int, above float64) (*pld.Law, error) {
	e := s.entries[i]
	s.follow(m, e, above)
	return e.coarse, cmp.Or(m.Stopped(), complete(e.coarse))
}

// Variance is about that of the loss of the i-th step under a tilt, by its coarse law.
func (s *Sum) Variance(i int, theta float64) float64 {
	_, _, v := s.entries[i].coarse.Tilted(theta)
	return v
}

// log returns an upper bound of log δ(ε), by Chernoff's bound at s.
func (g *guess) log(eps, s float64) float64 {
	if !g.complete || !(s > 0) {
		return 0
	}
	return min(0, xmath.Up(g.Most(xmath.Down(eps-g.moved, 2), s)+g.excess, 2))
}

// epsilon returns an upper bound of ε(δ), by Chernoff's bound at s.
func (g *guess) epsilon(logDelta, s float64) float64 {
	if !g.complete || !(s > 0) {
		return math.Inf(1)
	}
	return xmath.Up(g.Highest(xmath.Down(logDelta-g.excess, 2), s)+g.moved, 2)
}

// Proves reports whether a Chernoff bound alone shows δ(eps) ≤ delta; false says nothing.
// relative is the accuracy of the questions beside it, with which it shares coarse laws.
func (s *Sum) Proves(m *meter.Meter, eps, delta, relative float64) bool {
	if !(delta > 0) || math.IsInf(eps, 0) || math.IsNaN(eps) || len(s.entries) == 0 {
		return false
	}
	logDelta := xmath.Log(delta)
	if logInf, infErr, top := s.steps().Ends(); eps-s.steps().LossErr() >= top {
		return logInf+infErr <= logDelta*(1+8*xmath.U)
	}
	g, err := s.coarse(m, logDelta, relative)
	return err == nil && g.complete && g.AtMost(xmath.Down(eps-g.moved, 2), xmath.Down(logDelta-g.excess, 2))
}

// look aims by coarse laws, and narrows best by what needs no transform; settled says that this is all.
func (q *query) look() (a aim, settled bool, err error) {
	if q.ofDelta {
		return q.lookAt()
	}
	finiteLog := xmath.LogSub(q.logDelta, q.logInf)
	if math.IsInf(finiteLog, -1) {
		q.best = Answer{Lower: q.floor, Upper: math.Inf(1), Estimate: math.Inf(1)}
		return a, true, nil
	}
	g, err := q.coarse(q.m, finiteLog, q.relative)
	if err != nil {
		return a, false, err
	}
	at, theta, ok := g.Guess(q.m.Ctx, q.logDelta)
	if !ok {
		at, theta = max(q.floor, 0), 1
	}
	a = aim{g.Composition, at, finiteLog, theta}
	q.best.Upper = min(q.best.Upper, g.epsilon(q.logDelta, theta), q.variation(q.logDelta))
	next := q.best
	if next.Lower = q.nextToTop(); next.width() <= shareOfSum*q.wanted(next) { // as narrow as a sum
		q.best = next
	}
	if q.done() {
		q.best.Estimate = q.best.Upper
		return a, true, nil
	}
	if q.logDelta > -math.Ln2 {
		// With η above the least possible ε the bound holds if the reversed profile
		// is at most 1 − e^−η there: δ(ε) = 1 − e^ε(1 − δ_rev(−ε)).
		eta := 0.9 * max(q.relative*math.Abs(q.floor), q.absolute)
		if q.reversed().Proves(q.m, -q.floor-eta, -math.Expm1(-eta), q.relative) {
			q.best.Upper = min(q.best.Upper, xmath.Up(q.floor+eta, 4))
			q.best.Estimate = q.best.Lower
			return a, true, nil
		}
	}
	return a, false, nil
}

// atoms is by how much the largest losses of steps are too large to be told from atoms there. steers: width.
const atoms = 1e-12

// nextToTop returns a lower bound of ε(δ) that is narrow where δ is far below the probability of the largest loss: no line
// finds an answer there.
func (q *query) nextToTop() float64 {
	if math.IsInf(q.top, 1) {
		return q.floor
	}
	x, logP := q.steps().Above(atoms)
	part := q.logDelta - logP + 4*xmath.U*(math.Abs(q.logDelta)+math.Abs(logP))
	if !(part < 0) {
		return q.floor
	}
	return max(q.floor, xmath.Down(x+xmath.Log1mExp(part)*(1+8*xmath.U), 2))
}

// lookAt looks where δ is asked, by laws that reach as far as it needs.
func (q *query) lookAt() (a aim, settled bool, err error) {
	logDelta, theta := -10.0, 0.0
	var g *guess
	for range 12 {
		if g, err = q.coarse(q.m, logDelta, q.relative); err != nil {
			return a, false, err
		}
		if g.largest <= q.eps {
			if logDelta < -1e4 {
				break
			}
			logDelta *= 2
			continue
		}
		v, t, ok := g.GuessDelta(q.eps)
		if theta = t; !ok {
			break
		}
		if v > logDelta-3 {
			logDelta = v
			break
		}
		logDelta = max(v, 2*logDelta) - 1
	}
	if g.largest <= q.eps {
		// Below every float64: the mass beyond the coarse laws is all there is.
		q.best.Upper, q.best.Estimate = min(q.best.Upper, xmath.LogAdd(q.logInf, logDelta)), q.logInf
		return a, true, nil
	}
	// A bound that needs no transform, in case it would be too long.
	q.best.Upper = min(q.best.Upper, g.log(q.eps, theta))
	return aim{g.Composition, q.eps, logDelta, theta}, false, nil
}

// reversed returns the sum of the reversed profiles.
func (s *Sum) reversed() *Sum {
	r := New(s.maxPoints, s.transform)
	for i, step := range s.steps() {
		step.Profile = profiles.Reverse(step.Profile)
		step.Support = step.Profile.Support()
		r.Set(i, step, false)
	}
	return r
}

// variation bounds ε(δ) by total variation: with τ = ΣT_j·TV_j the reversed
// profile is at most τ, so δ(ε) ≤ 1 − e^ε(1−τ) for ε ≤ 0. It is +Inf unless
// τ ≤ δ.
func (s *Sum) variation(logDelta float64) float64 {
	tau := 0.0
	for _, e := range s.entries {
		v, err := profiles.LogDelta(e.Profile, 0)
		tau += float64(e.Count) * math.Exp(v+err)
	}
	tau *= 1 + 1e-12
	if delta := math.Exp(logDelta); tau <= delta*(1-1e-12) {
		// The difference of two numbers below 2δ, each good to (2 + |log δ|)u.
		return math.Log1p(-delta) - math.Log1p(-tau) + 8*xmath.U*(2+math.Abs(logDelta))*-math.Log1p(-delta)
	}
	return math.Inf(1)
}
