// The public choice of one of several profiles: joint convexity of the hockey-stick
// divergence.

package copies

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A publicChoice is the public choice of one of several profiles: item u with
// probability e^logW[u]; with what is left, e^logRest, everything is given away.
// The hockey-stick divergence of it is the weighted sum, for every pair P, Q
// that mixes pairs with the same weights (joint convexity). The items have no
// atoms, or list them in their support: discrete profiles are mixed by
// discreteMixture.
type publicChoice struct {
	items     []profiles.Profile
	logW, err []float64
	above     []float64 // log Σ_{v ≥ u} weight, with the rest; len(items)+1
	support   profiles.Support
}

// logRest is the mass given away.
func (m *publicChoice) logRest() float64 { return m.above[len(m.items)] }

// setRest sets logRest, and what follows from it and the items.
func (m *publicChoice) setRest(logRest float64) {
	n := len(m.items)
	m.above = make([]float64, n+1)
	m.above[n] = logRest
	for u := n - 1; u >= 0; u-- {
		m.above[u] = xmath.LogAdd(m.above[u+1], m.logW[u])
	}
	s := profiles.Support{Min: math.Inf(1), Max: math.Inf(-1), LogPInf: logRest, LogQInf: logRest, Spike: math.NaN()}
	for u, item := range m.items {
		b := item.Support()
		s.Min, s.Max = min(s.Min, b.Min), max(s.Max, b.Max)
		s.LogPInf = xmath.LogAdd(s.LogPInf, m.logW[u]+b.LogPInf)
		s.LogQInf = xmath.LogAdd(s.LogQInf, m.logW[u]+b.LogQInf)
		s.LossErr = max(s.LossErr, b.LossErr)
		s.Atoms = append(s.Atoms, b.Atoms...)
		if math.IsNaN(s.Spike) {
			s.Spike = b.Spike
		}
	}
	slices.Sort(s.Atoms)
	s.Atoms = slices.Compact(s.Atoms)
	m.support = s
}

// Cost implements hook.Costly.
func (m *publicChoice) Cost() (sum float64) {
	for _, p := range m.items[:min(counted(m.above), len(m.items))] {
		sum += perCopy + hook.Cost(p)
	}
	return sum
}

func (m *publicChoice) Tails(eps, tol float64) profiles.Tails {
	p, q, pc, qc := newLogSum(), newLogSum(), newLogSum(), newLogSum()
	n := 0
	for u, item := range m.items {
		// Q(L > ε) ≤ e^−ε P(L > ε) and P(L ≤ ε) ≤ e^ε Q(L ≤ ε) tell what is left.
		if w := m.above[u] + far; u > 0 && w < p.now() && w-max(eps, 0) < q.now() && w < qc.now() && w+min(eps, 0) < pc.now() {
			break
		}
		t := item.Tails(eps, tol)
		w, e := m.logW[u], m.err[u]
		p.add(w+t.P, e+t.Err)
		q.add(w+t.Q, e+t.Err)
		pc.add(w+t.PC, e+t.ErrC)
		qc.add(w+t.QC, e+t.ErrC)
		n++
	}
	p.add(m.logRest(), 0)
	qc.add(m.logRest(), 0)
	var t profiles.Tails
	var e1, e2 float64
	t.P, e1 = p.value(n)
	t.Q, e2 = q.value(n)
	t.Err = max(e1, e2) + leftOut
	t.PC, e1 = pc.value(n)
	t.QC, e2 = qc.value(n)
	t.ErrC = max(e1, e2) + leftOut
	return t
}

func (m *publicChoice) Support() profiles.Support { return m.support }

// A Choice is a public choice of few profiles, whose transforms and profiles add up as their tails do.
type Choice struct {
	publicChoice
	weights []float64
}

// NewChoice returns the choice of one of several pairs without infinite losses, with weights of which the first is 1 less the others.
func NewChoice(items []profiles.Profile, weights []float64) *Choice {
	m := &Choice{}
	for i, w := range weights {
		if w > 0 {
			m.weights = append(m.weights, w)
			m.items, m.logW, m.err = append(m.items, items[i]), append(m.logW, xmath.Log(w)), append(m.err, 4*xmath.U*(2+math.Abs(xmath.Log(w))))
		}
	}
	m.setRest(math.Inf(-1))
	return m
}

// LogDelta implements hook.LogDeltaer.
func (c *Choice) LogDelta(eps float64) (logDelta, err float64) {
	sum := newLogSum()
	for i, p := range c.items {
		d, e := profiles.LogDelta(p, eps)
		if math.IsInf(e, 1) {
			return d, e
		}
		sum.add(c.logW[i]+d, e+c.err[i])
	}
	return sum.value(len(c.items))
}

// Transform implements hook.Transformer.
func (c *Choice) Transform() transform.Transform {
	var of []transform.Transform
	for _, p := range c.items {
		of = append(of, hook.TransformOf(p))
	}
	return transform.NewUnion(c.weights, of)
}

// Joined has the tails of Up above ε = 0, and of the reverse of Down below; what is left is an
// atom at 0. Both halves have the same δ(0), and are the largest of the profiles of some
// pairs, so that together they are convex.
type Joined struct{ Up, Down profiles.Profile }

// SelfReverse implements hook.SelfReverser.
func (j Joined) SelfReverse() bool { return profiles.Equal(j.Up, j.Down) }

// Cost implements hook.Costly.
func (j Joined) Cost() float64 { return max(hook.Cost(j.Up), hook.Cost(j.Down)) }

// Tails implements profiles.Profile.
func (j Joined) Tails(eps, tol float64) profiles.Tails {
	if eps >= 0 {
		t := j.Up.Tails(eps, tol)
		// Below ε lie the atom at 0 and the other half: complements, not the
		// half's own tails.
		t.PC, t.QC = xmath.Log1mExp(t.P), xmath.Log1mExp(t.Q)
		t.ErrC = 4*xmath.U + max(xmath.ComplementErr(t.P, t.PC, t.Err), xmath.ComplementErr(t.Q, t.QC, t.Err))
		return t
	}
	// L ≤ ε is −L ≥ −ε; the loss has no atom in ε < 0 but images of the half's.
	t := j.Down.Tails(math.Nextafter(-eps, math.Inf(-1)), tol+2*xmath.U*math.Abs(eps))
	r := profiles.Tails{PC: t.Q, QC: t.P, ErrC: t.Err}
	r.P, r.Q = xmath.Log1mExp(r.PC), xmath.Log1mExp(r.QC)
	r.Err = 4*xmath.U + max(xmath.ComplementErr(r.PC, r.P, r.ErrC), xmath.ComplementErr(r.QC, r.Q, r.ErrC))
	return r
}

// LogDelta implements hook.LogDeltaer: h(α) = 1 − α + αh(1/α) left of 1.
func (j Joined) LogDelta(eps float64) (logDelta, err float64) {
	if eps >= 0 {
		return profiles.LogDelta(j.Up, eps)
	}
	d, err := profiles.LogDelta(j.Down, -eps)
	if math.IsInf(err, 1) { // no digit of h(1/α), of which little may be needed: by the tails
		return profiles.LogDelta(struct{ profiles.Profile }{j}, eps)
	}
	v := min(0, xmath.LogAdd(xmath.Log1mExp(eps), eps+d))
	return v, err + 8*xmath.U*(1+math.Abs(eps)+math.Abs(v)+math.Abs(xmath.Finite(d)))
}

// LogTailDifference implements hook.TailDifferencer.
func (j Joined) LogTailDifference(eps, tol float64) (logDiff, err float64) {
	half, at := j.Up, eps
	if eps < 0 {
		half, at, tol = j.Down, math.Nextafter(-eps, math.Inf(-1)), tol+2*xmath.U*math.Abs(eps)
	}
	if d, ok := half.(hook.TailDifferencer); ok {
		return d.LogTailDifference(at, tol)
	}
	return 0, math.Inf(1)
}

// Support implements profiles.Profile.
func (j Joined) Support() profiles.Support {
	u, d := j.Up.Support(), j.Down.Support()
	s := profiles.Support{Min: min(-d.Max, 0), Max: max(u.Max, 0), LogPInf: u.LogPInf, LogQInf: d.LogPInf,
		Spike: math.NaN(), LossErr: max(u.LossErr, d.LossErr)}
	for i := len(d.Atoms) - 1; i >= 0; i-- {
		if a := -d.Atoms[i]; a < 0 {
			s.Atoms = append(s.Atoms, a)
		}
	}
	s.Atoms = append(s.Atoms, 0)
	for _, a := range u.Atoms {
		if a > 0 {
			s.Atoms = append(s.Atoms, a)
		}
	}
	return s
}

// What a table of copies leaves out, given away: the upper profile that goes with a pair
// that moves it to no copy (subsample/chain.go).

// GiveRest returns p itself if the table of the law is whole. Else what it leaves out,
// at most e^logRest under P and, with both, under Q, is given away: the loss is ±∞ there. The
// tails of p count that mass as no copy; adding it once more can only raise δ(ε).
func GiveRest(p profiles.Profile, logRest float64, both bool) profiles.Profile {
	if math.IsInf(logRest, -1) {
		return p
	}
	g := givenRest{p, logRest, math.Inf(-1)}
	if both {
		g.logQ = logRest
	}
	return g
}

type givenRest struct {
	profiles.Profile
	logP, logQ float64
}

// SelfReverse implements hook.SelfReverser.
func (g givenRest) SelfReverse() bool {
	s, ok := g.Profile.(hook.SelfReverser)
	return ok && g.logP == g.logQ && s.SelfReverse()
}

// Tails implements profiles.Profile.
func (g givenRest) Tails(eps, tol float64) profiles.Tails {
	t := g.Profile.Tails(eps, tol)
	t.P = min(0, xmath.LogAdd(t.P, g.logP))
	t.QC = min(0, xmath.LogAdd(t.QC, g.logQ))
	t.Err += xmath.U * (4 + 2*xmath.FiniteAbs(t.P))
	t.ErrC += xmath.U * (4 + 2*xmath.FiniteAbs(t.QC))
	return t
}

// Cost implements hook.Costly.
func (g givenRest) Cost() float64 { return hook.Cost(g.Profile) }

// Support implements profiles.Profile.
func (g givenRest) Support() profiles.Support {
	s := g.Profile.Support()
	s.LogPInf, s.LogQInf = g.logP, g.logQ
	return s
}

// TransformsWithin implements hook.NearlyTransformer; what is left out is part of mass.
func (g givenRest) TransformsWithin(mass float64) (upper, lower transform.Transform) {
	if n, ok := g.Profile.(hook.NearlyTransformer); ok {
		return n.TransformsWithin(mass)
	}
	return nil, nil
}

// Transform implements hook.Transformer.
func (givenRest) Transform() transform.Transform { return nil }
