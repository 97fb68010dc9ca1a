// Privacy losses with three values: those of staircase columns, and of the worst
// randomizer of an ε.

package labeldp

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// An Atom is one staircase column of a randomizer: the output is drawn with
// probability e^ε·Weight from the labels that are up and Weight from the others.
// Up is nil if all labels are alike.
type Atom struct {
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
func worstPair(k int, atoms []Atom) (tau float64, pair [2]int) {
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
func upNotIn(atoms []Atom, y, z int) (own, apart float64) {
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

// WorstCase is one label through an ε-DP randomizer of which nothing else is
// known, as when its prior was itself estimated from the labels: every ε-DP
// pair is dominated by binary randomized response (Kairouz, Oh and Viswanath,
// ICML 2015, Theorem 2.5). It is a [profiles.Mechanism], under substitute.
type WorstCase struct{ Epsilon float64 }

// Name implements profiles.Mechanism.
func (WorstCase) Name() string { return "label-randomizer" }

// Pair implements profiles.Mechanism.
func (w WorstCase) Pair(rel profiles.Relation) (profiles.Profile, error) {
	if err := substituteOnly(rel); err != nil {
		return nil, err
	}
	if err := checkEpsilon("epsilon", w.Epsilon); err != nil {
		return nil, err
	}
	e := xmath.Up(math.Exp(w.Epsilon), 2)
	return threeAtoms(1/(1+e), w.Epsilon, e)
}
