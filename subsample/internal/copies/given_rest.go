// What a table of copies leaves out, given away: the upper profile that goes with a pair
// that moves it to no copy (docs/persons.md).

package copies

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

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

// SelfReverse implements profiles.SelfReverser.
func (g givenRest) SelfReverse() bool {
	s, ok := g.Profile.(profiles.SelfReverser)
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

// Cost implements profiles.Costly.
func (g givenRest) Cost() float64 { return profiles.Cost(g.Profile) }

// Support implements profiles.Profile.
func (g givenRest) Support() profiles.Support {
	s := g.Profile.Support()
	s.LogPInf, s.LogQInf = g.logP, g.logQ
	return s
}

// TransformsWithin implements profiles.NearlyTransformer; what is left out is part of mass.
func (g givenRest) TransformsWithin(mass float64) (upper, lower profiles.Transform) {
	if n, ok := g.Profile.(profiles.NearlyTransformer); ok {
		return n.TransformsWithin(mass)
	}
	return nil, nil
}

// Transform implements profiles.Transformer.
func (givenRest) Transform() profiles.Transform { return nil }
