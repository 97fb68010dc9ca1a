// What a randomizer costs: the exact worst pair of its rows, as a profile and as a Rényi
// divergence.

package labeldp

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// WorstPair returns two labels that are hardest to tell apart in the sense of
// privacy: the pair with the largest δ(ε') for all ε' ≥ 0.
func (r *Randomizer) WorstPair() (y, yPrime float64) {
	return r.labels[r.worst[0]], r.labels[r.worst[1]]
}

// Tau returns the mass τ that determines the privacy of the randomizer: its
// loss is −ε with probability τ, ε with probability τe^ε, and 0 otherwise.
func (r *Randomizer) Tau() float64 { return r.tau }

// shared reports whether two atoms have the same output, and the worst pair cannot do
// without knowing which it was: then what is released tells less than the atom drawn, and
// the three-atom profile is only an upper bound.
func (r *Randomizer) shared() bool {
	up := func(a Atom, y int) bool { return a.Up != nil && a.Up[y] }
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

// Delta returns δ(ε') of one randomized label, the largest over all pairs of
// labels, for every real ε', to a few ulps of 1; Pair is what is rounded up.
// Neighbouring relation: substitute.
func (r *Randomizer) Delta(eps float64) (float64, error) {
	if math.IsNaN(eps) {
		return 0, fault.New("epsilon", "%v is not a number", eps)
	}
	if r.shared() {
		rows := make([][]float64, len(r.labels))
		for i := range rows {
			rows[i] = r.Row(i)
		}
		worst, e := 0.0, math.Exp(eps)
		for y := range rows {
			for z := range rows {
				var s xmath.Sum
				for j, p := range rows[y] {
					s.Add(max(p-e*rows[z][j], 0))
				}
				worst = max(worst, s.Value())
			}
		}
		return min(worst, 1), nil
	}
	switch {
	case eps >= r.eps:
		return 0, nil
	case eps >= 0:
		return r.tau * math.Exp(eps) * math.Expm1(r.eps-eps), nil
	case eps > -r.eps:
		return -math.Expm1(eps) + r.tau*math.Expm1(r.eps+eps), nil
	}
	return -math.Expm1(eps), nil
}

// RDP returns the Rényi divergence of order alpha > 0 of the three-atom loss, rounded to
// nearest as Delta is; at alpha = 1 the Kullback–Leibler divergence.
func (r *Randomizer) RDP(alpha float64) (float64, error) {
	if !(alpha > 0) {
		return 0, fault.New("alpha", "%v is not in (0, ∞]", alpha)
	}
	if r.tau == 0 {
		return 0, nil
	}
	a := (alpha - 1) * r.eps
	switch {
	case alpha == 1:
		return r.tau * math.Expm1(r.eps) * r.eps, nil
	case math.IsInf(alpha, 1):
		return r.eps, nil
	case a > 300:
		// 1 − ρ and the loss −ε no longer count.
		return r.eps + (r.eps+xmath.Log(r.tau))/(alpha-1), nil
	}
	return math.Log1p(r.tau*(math.Exp(r.eps)*math.Expm1(a)+math.Expm1(-a))) / (alpha - 1), nil
}

// Pair implements profiles.Mechanism: the three-atom profile of one label, rounded
// up over the exact sampler's integers. It dominates every pair of labels, and
// is attained by WorstPair unless two atoms share an output. Only
// [profiles.Substitute] has a meaning here.
func (r *Randomizer) Pair(rel profiles.Relation) (profiles.Profile, error) {
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

// Bounds implements profiles.Compound: one randomized label, at once. Where atoms
// share an output, its lower profile is the pair of extreme labels as released.
func (r *Randomizer) Bounds(_ context.Context, rel profiles.Relation) (profiles.Bounds, error) {
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
