// What a randomizer costs: the exact worst pair of its rows, as a profile and as a Rényi
// divergence.

package labeldp

import (
	"cmp"
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

func (r *randomizer) WorstPair() (y, yPrime float64) {
	return r.labels[r.worst[0]], r.labels[r.worst[1]]
}

func (r *randomizer) Tau() float64 { return r.tau }

// shared reports whether two atoms have the same output, and the worst pair cannot do
// without knowing which it was: then what is released tells less than the atom drawn, and
// the three-atom profile is only an upper bound.
func (r *randomizer) shared() bool {
	up := func(a atom, y int) bool { return a.Up != nil && a.Up[y] }
	for j := 1; j < len(r.atoms); j++ {
		a, b := r.atoms[j-1], r.atoms[j]
		for _, y := range r.worst {
			if r.at[j] == r.at[j-1] && up(a, y) != up(b, y) {
				return true
			}
		}
	}
	return false
}

func (r *randomizer) Pair(rel profiles.Relation) (profiles.Profile, error) {
	if err := substituteOnly(rel); err != nil {
		return nil, err
	}
	if r.tau == 0 {
		return threeAtoms(0, r.eps, r.e)
	}
	// The integers of the sampler differ from the weights by rounding down, which
	// the sums see as 2^−62 per atom, and by the pad, whose contribution to any
	// pair is at most pad/total·(e^ε − e^ε').
	total := float64(r.draw.total)
	up := (r.tau*0x1p62/total)*(1+16*xmath.U) + float64(r.draw.pad)/total
	return threeAtoms(up, r.eps, r.e)
}

func (r *randomizer) Bounds(_ context.Context, rel profiles.Relation) (profiles.Bounds, error) {
	p, err := r.Pair(rel)
	if err != nil {
		return profiles.Bounds{}, err
	}
	m := profiles.NewBounds(r.name, rel, p)
	if r.shared() {
		low, err := profiles.NewFinite(r.Row(r.worst[0]), r.Row(r.worst[1]))
		if err != nil {
			return profiles.Bounds{}, err
		}
		m.Directions[0].Lower = low
		m.Directions[1].Lower = profiles.Reverse(low)
	}
	return m, nil
}

// Privacy losses with three values: those of staircase columns, and of the worst
// randomizer of an ε.

// An atom is one staircase column of a randomizer: the output is drawn with
// probability e^ε·Weight from the labels that are up and Weight from the others.
// Up is nil if all labels are alike.
type atom struct {
	Output float64 `json:"output"`
	Weight float64 `json:"weight"`
	Up     []bool  `json:"up"`
}

// The privacy loss of a randomizer in staircase form has three atoms.
//
// Write T(y) for the atoms in which y is up. Every row sums to 1, so all T(y)
// have the same weight; hence for two labels the hockey-stick divergence is
//
//	δ(ε') = (e^ε − e^ε')₊ · c(T(y) \ T(y')),  ε' ≥ 0,
//
// in both orders, and the pair with the largest c(T(y) \ T(y')) =: τ is worst
// for every ε' at once: losses ε, −ε, 0 with masses τe^ε, τ and the rest under
// P. If no pattern contains both extreme labels, they are such a pair and τ is
// the weight of T(y).

// worstPair returns τ and a pair of labels that attains it. Rows that were read may sum to 1 by
// rowTolerance only, which is much of τ where ε or τ is small: then all pairs are looked at.
func worstPair(k int, atoms []atom) (tau float64, pair [2]int) {
	most := 0.0
	for y := range k {
		own, _ := upNotIn(atoms, y, y)
		most = max(most, own)
	}
	for _, p := range [2][2]int{{0, k - 1}, {k - 1, 0}} {
		own, apart := upNotIn(atoms, p[0], p[1])
		tau = max(tau, apart)
		if pair = [2]int{0, k - 1}; own == apart && most <= own*(1+1e-3) {
			return apart, pair
		}
	}
	for y := range k {
		for z := range k {
			if _, apart := upNotIn(atoms, y, z); apart > tau {
				tau, pair = apart, [2]int{y, z}
			}
		}
	}
	return tau, pair
}

// upNotIn returns c(T(y)) and c(T(y) \ T(z)).
func upNotIn(atoms []atom, y, z int) (own, apart float64) {
	var o, a xmath.Sum
	for _, t := range atoms {
		if t.Up != nil && t.Up[y] {
			o.Add(t.Weight)
			if !t.Up[z] {
				a.Add(t.Weight)
			}
		}
	}
	return o.Value(), a.Value()
}

func substituteOnly(rel profiles.Relation) error {
	if rel != profiles.Substitute {
		return fault.New("neighbors", "%v is not substitute, the only relation of label privacy", rel)
	}
	return nil
}

// threeAtoms returns the profile with losses ±ε of masses τe^ε and τ and the
// rest at 0, where e is e^ε rounded down: masses are those of the pair with the
// ratio e, whose loss is within a few ulps below ε.
func threeAtoms(tau, eps, e float64) (*profiles.Discrete, error) {
	var rest xmath.Sum
	rest.Add(1)
	rest.Add(-tau)
	rest.AddProduct(-tau, e)
	if rest.Value() < 8*xmath.U {
		// All of it is binary randomized response, the worst of all ε-DP pairs.
		tau, rest = 1/(1+e), xmath.Sum{}
	}
	lt, le := xmath.Log(tau), xmath.Log(e)
	atoms := []profiles.Atom{
		{Loss: -eps, LogP: lt, LogQ: lt + le},
		{Loss: 0, LogP: xmath.Log(rest.Value()), LogQ: xmath.Log(rest.Value())},
		{Loss: eps, LogP: lt + le, LogQ: lt},
	}
	if tau == 0 {
		atoms = atoms[1:2]
	}
	massErr := 8 * xmath.U * (1 + math.Abs(lt) + le)
	if tau == 0 {
		massErr = 0
	}
	return profiles.NewDiscrete(atoms, math.Inf(-1), math.Inf(-1), massErr, 8*xmath.U*max(1, eps))
}

// worstCase is one label through an ε-DP randomizer of which nothing else is
// known, as when its prior was itself estimated from the labels: every ε-DP
// pair is dominated by binary randomized response (Kairouz, Oh and Viswanath,
// ICML 2015, Theorem 2.5).
type worstCase struct{ eps float64 }

func (worstCase) Name() string { return "label-randomizer" }

func (w worstCase) Pair(rel profiles.Relation) (profiles.Profile, error) {
	if err := cmp.Or(substituteOnly(rel), checkEpsilon(w.eps)); err != nil {
		return nil, err
	}
	e := xmath.Up(math.Exp(w.eps), 2)
	return threeAtoms(1/(1+e), w.eps, e)
}

// The privacy of a randomizer.
//
// All rows sum to 1, so every label has the same weight τ of atoms in which it is up. For two labels and 0 ≤ ε′ ≤ ε,
//
//	δ(ε′) = (e^ε − e^ε′) · c(atoms in which y is up and y′ is not),
//
// so the worst pair is the same for all ε′; in the optimum no pattern contains both extreme labels, and they are
// such a pair. The privacy loss has three values: ε, −ε and 0 with probabilities τe^ε, τ and 1 − τ(1 + e^ε).
// Randomizer.Pair is this profile, for the accountant to compose. Probabilities are drawn as integers over a
// common total near 2⁶², so that ε-DP holds for what is released and not only for real numbers; the profile is
// rounded up by what that changes.
