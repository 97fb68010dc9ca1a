// Mechanisms that are alike, of a panel in which not all are.

package darrm

import (
	"cmp"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
)

// Voters are mechanisms of a private majority that are alike: Count of them, each
// (Epsilon, Delta)-DP or, where Profile is set, with those Bounds (a teacher trained by
// DP-SGD, say).
type Voters struct {
	Count          int
	Epsilon, Delta float64
	Profile        *profiles.Bounds
}

// Group puts mechanisms that are alike together, in order of their ε and Δ; deltas nil is
// all zero.
func Group(epsilons, deltas []float64) (out []Voters) {
	for i, e := range epsilons {
		v := Voters{Count: 1, Epsilon: e}
		if deltas != nil {
			v.Delta = deltas[i]
		}
		at, found := slices.BinarySearchFunc(out, v, func(a, b Voters) int {
			return cmp.Or(cmp.Compare(a.Epsilon, b.Epsilon), cmp.Compare(a.Delta, b.Delta))
		})
		if found {
			out[at].Count++
		} else {
			out = slices.Insert(out, at, v)
		}
	}
	return out
}

// WithCurve returns v as mechanisms that are (ε_i, δ_i)-DP for each of the pairs given, with
// ε_i ascending from 0, in place of Epsilon and Delta: such as the certified curve of a
// training run. A bound between two of the ε_i is the chord of the ends in e^ε.
func (v Voters) WithCurve(r profiles.Relation, epsilons, deltas []float64) (Voters, error) {
	if len(epsilons) != len(deltas) || len(epsilons) == 0 || epsilons[0] != 0 {
		return v, fault.New("curve", "must have as many δ as ε, and begin at ε = 0")
	}
	for i := range epsilons {
		if i > 0 && !(epsilons[i] > epsilons[i-1] && epsilons[i] <= 600) {
			return v, fault.New("curve", "%v is not above the ε before it, or above 600", epsilons[i])
		}
		if !(deltas[i] >= 0 && deltas[i] <= 1) {
			return v, fault.New("curve", "%v is not in [0, 1]", deltas[i])
		}
	}
	d, err := profiles.NewChords(epsilons, deltas, deltas)
	if err != nil {
		return v, err
	}
	// A mechanism with the pair itself is one of those meant.
	side := profiles.Exact(d)
	v.Epsilon, v.Delta = 0, 0
	v.Profile = &profiles.Bounds{Name: "curve", Relation: r, Directions: [2]profiles.Direction{side, side}}
	return v, nil
}
