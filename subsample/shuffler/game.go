package shuffler

// One round as a sum over users: the likelihoods of both data sets, relative to one base law, are sums of independent
// terms, so that δ is the mean of the positive part of a sum (Theorem F).

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A slot is what one user adds to the likelihoods of the data set with the victim and of its neighbour, with a probability.
type slot struct{ p, a, b float64 }

// A game is the pair of laws with the densities Σa + ka and Σb + kb over n independent slots, and with the masses outA and outB
// where the other law has none:
//
//	δ(α) = E(Σ(a − αb) + ka − α·kb)₊ + outA.
type game struct {
	n          int64
	slots      []slot
	ka, kb     float64
	outA, outB float64
	ratio      float64 // the largest ratio of the densities, 0 if it has no bound
}

// reverse exchanges the two data sets.
func (g game) reverse() game {
	slots := make([]slot, len(g.slots))
	for i, s := range g.slots {
		slots[i] = slot{s.p, s.b, s.a}
	}
	g.slots = slots
	g.ka, g.kb, g.outA, g.outB = g.kb, g.ka, g.outB, g.outA
	return g
}

// slotsOf returns what one of n users adds where all report.
func slotsOf(p part, rel profiles.Relation, n float64) []slot {
	var slots []slot
	for _, k := range p.kinds {
		if rel == profiles.ZeroOut {
			k.b = k.o
		}
		slots = append(slots, slot{p.gamma * k.w, k.a / (n * p.gamma), k.b / (n * p.gamma)})
	}
	return joined(append(slots, slot{1 - p.gamma, 0, 0}))
}

// joined adds up the probabilities of equal slots.
func joined(slots []slot) []slot {
	var out []slot
	for _, s := range slots {
		i := slices.IndexFunc(out, func(o slot) bool { return o.a == s.a && o.b == s.b })
		switch {
		case s.p <= 0:
		case i >= 0:
			out[i].p += s.p
		default:
			out = append(out, s)
		}
	}
	return out
}

// game returns one round of the scheme: Theorem F, with c = n for the shuffler of all users. No density is a difference: those who
// do not report add 1/n, in place of a 1 that each who reports takes 1/n off.
func (s shufflerScheme) game(p part, rel profiles.Relation) (game, error) {
	n := float64(s.honest())
	g := game{n: s.honest(), ratio: p.ratio}
	switch {
	case s.rate > 0 && rel == profiles.AddRemove:
		// Without the victim, c of n − 1 users report with a probability that is (1 − c/n)/(1 − q) times that with n users.
		q := s.rate
		for _, k := range slotsOf(p, rel, n) {
			g.slots = append(g.slots, slot{q * k.p, k.a, 0})
		}
		g.slots = joined(append(g.slots, slot{1 - q, 1 / n, 1 / (n * (1 - q))}))
		g.outA, g.ratio = q*p.outA, 0
	case s.rate > 0:
		q := s.rate
		for _, k := range slotsOf(p, rel, n) {
			g.slots = append(g.slots, slot{q * k.p, k.a, k.b})
		}
		g.slots = joined(append(g.slots, slot{1 - q, 1 / n, 1 / n}))
		g.outA, g.outB = q*p.outA, q*p.outB
	case rel == profiles.AddRemove:
		return game{}, errCount
	default:
		c := s.reports()
		q := float64(c) / n
		g.n, g.slots = c, slotsOf(p, rel, n)
		g.ka = (n - float64(c)) / n
		g.kb, g.outA, g.outB = g.ka, q*p.outA, q*p.outB
	}
	if rel == profiles.ZeroOut {
		g.outB = 0
		if len(p.kinds) > 0 {
			g.ratio = 0
			for _, k := range p.kinds {
				g.ratio = max(g.ratio, k.a/k.o, k.o/k.a)
			}
		}
	}
	return g, nil
}

var errCount = fault.New("neighbors", "add-remove needs cohort-rate: with a number of reports that is fixed the count gives away who is missing; substitute needs no cohort")

// exactOutcomes is the number of outcomes up to which a game is listed.
const (
	exactOutcomes = 20000
	exactUsers    = 1000
)

// listed reports whether the outcomes of a game are few enough to be listed.
func (g game) listed() bool {
	if g.n > exactUsers {
		return false
	}
	count := 1.0 // of the ways to divide n users among the slots
	for i := 1; i < len(g.slots); i++ {
		count *= float64(g.n+int64(i)) / float64(i)
	}
	return count <= exactOutcomes
}

// An outcome is one division of the users among the slots, with its probability under both data sets.
type outcome struct{ p, q float64 }

// list returns all outcomes of a game. Their masses have a relative error of at most massErr: logarithms of factorials are sums of
// at most n logarithms of 8 u·log n! together, and densities are sums of terms of one sign.
func (g game) list() (all []outcome, massErr float64) {
	n := int(g.n)
	logFactorial := make([]float64, n+1)
	var sum xmath.Sum
	for i := 1; i <= n; i++ {
		sum.Add(xmath.Log(float64(i)))
		logFactorial[i] = sum.Value()
	}
	var walk func(i, left int, log, a, b float64)
	last := len(g.slots) - 1
	walk = func(i, left int, log, a, b float64) {
		s := g.slots[i]
		if i == last {
			c := float64(left)
			mass := math.Exp(log + c*xmath.Log(s.p) - logFactorial[left])
			all = append(all, outcome{mass * (a + c*s.a), mass * (b + c*s.b)})
			return
		}
		lp := xmath.Log(s.p)
		for c := 0; c <= left; c++ {
			x := float64(c)
			walk(i+1, left-c, log+x*lp-logFactorial[c], a+x*s.a, b+x*s.b)
		}
	}
	walk(0, n, logFactorial[n], g.ka, g.kb)
	most := 0.0 // of |n·log p|, whose rounding counts in each term
	for _, s := range g.slots {
		most = max(most, -xmath.Log(s.p))
	}
	return all, u * (64 + 16*logFactorial[n] + 8*float64(n)*most + 4*float64(len(g.slots)))
}

// exact returns the profile of a game whose outcomes are listed.
func (g game) exact() (*profiles.Discrete, error) {
	all, massErr := g.list()
	var atoms []profiles.Atom
	infP, infQ := g.outA, g.outB
	for _, o := range all {
		switch {
		case o.q == 0:
			infP += o.p
		case o.p == 0:
			infQ += o.q
		default:
			atoms = append(atoms, profiles.Atom{Loss: xmath.Log(o.p / o.q), LogP: xmath.Log(o.p), LogQ: xmath.Log(o.q)})
		}
	}
	atoms = together(atoms)
	return profiles.NewDiscrete(atoms, xmath.Log(infP), xmath.Log(infQ), massErr+float64(bits.Len(uint(len(all))))*4*u, massErr)
}

// together joins atoms whose losses are one but for rounding.
func together(atoms []profiles.Atom) []profiles.Atom {
	slices.SortFunc(atoms, func(x, y profiles.Atom) int { return cmp.Compare(x.Loss, y.Loss) })
	var out []profiles.Atom
	for _, a := range atoms {
		if n := len(out) - 1; n >= 0 && a.Loss-out[n].Loss < 1e-13*(1+math.Abs(a.Loss)) {
			out[n].LogP, out[n].LogQ = xmath.LogAdd(out[n].LogP, a.LogP), xmath.LogAdd(out[n].LogQ, a.LogQ)
			continue
		}
		out = append(out, a)
	}
	for i := range out {
		out[i].Loss = out[i].LogP - out[i].LogQ
	}
	return out
}

// worst returns a profile above those of games whose outcomes are listed.
func worst(games []game) (*profiles.Discrete, error) {
	x := []float64{0}
	var all []*profiles.Discrete
	for _, g := range games {
		d, err := g.exact()
		if err != nil {
			return nil, err
		}
		all = append(all, d)
		for _, a := range d.Atoms() {
			x = append(x, math.Abs(a.Loss))
		}
	}
	slices.Sort(x)
	// Points that are one but for rounding would make masses of it; chords are above without them.
	kept := x[:1]
	for _, p := range x {
		if p-kept[len(kept)-1] > 1e-7 {
			kept = append(kept, p)
		}
	}
	x = kept
	h := [2][]float64{make([]float64, len(x)), make([]float64, len(x))}
	for _, d := range all {
		up, back := d.Support(), profiles.Reverse(d).Support()
		for i := range x {
			// In positive terms: δ(x) is the mean of 1 − e^{x−L} where it is positive.
			p, q := math.Exp(up.LogPInf), math.Exp(back.LogPInf)
			for _, a := range d.Atoms() {
				p += math.Exp(a.LogP) * (d.MassErr() + max(0, -math.Expm1(x[i]-a.Loss)+2*up.LossErr))
				q += math.Exp(a.LogQ) * (d.MassErr() + max(0, -math.Expm1(x[i]+a.Loss)+2*up.LossErr))
			}
			h[0][i], h[1][i] = max(h[0][i], p*(1+8*u)), max(h[1][i], q*(1+8*u))
		}
	}
	return profiles.NewChords(x, h[0], h[1])
}

// Proof (docs/theory/shuffler.md §2): Theorem F.
//
// Given C = c the cohort is uniform among the c-subsets. Coins and other messages are shown as in A; their number is
// c−M whether or not the victim is in, and given that, their owners are a uniform set. The probability of C = c
// without the victim, over that with it, is (1−c/n)/(1−q). ∎

// Proof (docs/theory/shuffler.md §2): Theorem A.
//
// R_z = η + (1−γ)ν_z: each other user flips a coin γ. Show the adversary all coins and all messages that are not from
// η; their law does not depend on the victim. What is left is K ~ Bin(n−1,γ) draws of ω and the victim's message,
// shuffled: relative to ω^{K+1} its density is the mean of A. Pr[K = m−1]/m = Pr[Bin(n,γ) = m]/(nγ). Showing more only
// raises H. ∎
