// The aligned privacy profile of Zhao and Liu 2023: pictures, no bound beyond Theorem 5.

package subsample

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
)

// An AlignedPoint compares a mechanism at (Epsilon, Delta) with the sampled one
// at (Epsilon2, Delta2) = (ε', δ'); the aligned privacy profile plots ε'/ε
// against δ' − δ. It is a picture and no ranking of schemes: they have different
// ε' at the same ε.
type AlignedPoint struct {
	Epsilon, Delta, Epsilon2, Delta2 float64
	// Kind is what sampling does to (ε, δ) at the point: "strong" amplification makes both
	// smaller, "weak type I" ε, "weak type II" δ, and "dilution" neither (Zhao and Liu 2023,
	// Definition 5; corrected: docs/theory/must-composition.md).
	Kind string
}

func (p AlignedPoint) kind() string {
	switch {
	case p.Epsilon2 < p.Epsilon && p.Delta2 < p.Delta:
		return "strong"
	case p.Epsilon2 < p.Epsilon:
		return "weak type I"
	case p.Delta2 < p.Delta:
		return "weak type II"
	}
	return "dilution"
}

// Aligned implements FixedSize.
func (s fixedSize) Aligned(b profiles.Mechanism, epsilons []float64) ([]AlignedPoint, error) {
	pair, err := b.Pair(profiles.Substitute)
	if err != nil {
		return nil, err
	}
	t5, err := s.Theorem5(b)
	if err != nil {
		return nil, err
	}
	eta := s.InclusionProbability()
	out := make([]AlignedPoint, len(epsilons))
	for i, eps := range epsilons {
		if !(eps >= 0) || math.IsInf(eps, 1) {
			return nil, fault.New("epsilon", "%v is not in [0, ∞)", eps)
		}
		d, _ := profiles.LogDelta(pair, eps)
		eps2 := forward(eps, eta)
		d2, _ := profiles.LogDelta(t5, eps2)
		out[i] = AlignedPoint{Epsilon: eps, Delta: math.Exp(d), Epsilon2: eps2, Delta2: math.Exp(d2)}
		out[i].Kind = out[i].kind()
	}
	return out, nil
}
