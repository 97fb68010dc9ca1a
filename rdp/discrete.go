// Curves of discrete profiles, exact but for rounding up.

package rdp

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// FromDiscrete returns the exact Rényi divergence of a discrete profile: of its
// one direction P against Q. Take Max with the curve of profiles.Reverse(d) for
// a guarantee in both directions. It is +Inf at every order if some outcome is
// possible under P only.
//
// When d dominates a mechanism the curve bounds the mechanism's divergences:
// they are integrals of the privacy profile with non-negative weights (Zhu,
// Dong and Wang, AISTATS 2022, section 2). Relation and direction: those of d.
func FromDiscrete(d *profiles.Discrete) Curve { return discrete{d} }

type discrete struct{ d *profiles.Discrete }

func (c discrete) RDP(alpha float64) float64 {
	s := c.d.Support()
	if !math.IsInf(s.LogPInf, -1) {
		return math.Inf(1)
	}
	top := xmath.RoundUp(max(s.Max, 0)+s.LossErr, 2)
	if alpha > hugeOrder {
		return top
	}
	atoms := c.d.Atoms()
	terms := make([]float64, 0, len(atoms)+1)
	for _, a := range atoms {
		terms = append(terms, atomTerm(alpha, a, c.d.MassErr(), s.LossErr))
	}
	if !math.IsInf(s.LogQInf, -1) {
		terms = append(terms, atomTerm(alpha, profiles.Atom{LogQ: s.LogQInf, Loss: math.Inf(-1)}, c.d.MassErr(), 0))
	}
	return min(fromMoment(alpha, logSumUp(terms)), top)
}

// atomTerm is the term of an atom, from Q's side for small losses, where a
// profile's masses under Q and its losses are both accurate: a mass of logarithm x to massErr·(1 + |x|).
func atomTerm(alpha float64, a profiles.Atom, massErr, lossErr float64) float64 {
	return term(alpha, a.LogQ, a.Loss, massErr*(1+xmath.FiniteAbs(a.LogQ)), lossErr)
}
