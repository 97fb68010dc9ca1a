// Gaussian noise on a sum whose change is random: the pair of Theorem 3.2 of Charles, Ganesh,
// McMahan and others 2024, for any law of the change (persons.go).

package subsample

import (
	"context"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// A GaussianMixture is Gaussian noise on a sum that a record changes by a random multiple of
// its sensitivity: the sampling is in the law, so that it runs on the whole data set. The change
// is a vector of at most that norm, of which the law is known and the direction is not.
type gaussianMixture struct {
	noise float64
	law   *copies.Law
}

// maxMixtureShift bounds the shifts, which index the table of the law.
const maxMixtureShift = 1 << 12

// NewGaussianMixture returns the mechanism with noise of standard deviation noiseMultiplier,
// whose means are the whole numbers shifts with the given probabilities. These add up to 1
// within 1e-9, and are divided by their sum.
func NewGaussianMixture(noiseMultiplier float64, shifts, probabilities []float64) (profiles.Mechanism, error) {
	const name = "gaussian-mixture"
	if _, err := profiles.NewGaussian(noiseMultiplier); err != nil {
		return nil, fault.In(name, fault.New("noise-multiplier", "%v is not in [1e-06, 1e+15]", noiseMultiplier))
	}
	if len(shifts) == 0 || len(shifts) != len(probabilities) {
		return nil, fault.In(name, fault.New("probabilities", "has %d entries, must have as many as shifts (%d), at least 1", len(probabilities), len(shifts)))
	}
	top := 0.0
	for i, s := range shifts {
		if !(s >= 0 && s <= maxMixtureShift && s == math.Floor(s)) {
			return nil, fault.In(name, fault.New(fmt.Sprintf("shifts[%d]", i), "%v is not a whole number in [0, %d]; with other units of the shifts, scale noise-multiplier as well", s, maxMixtureShift))
		}
		top = max(top, s)
	}
	var sum xmath.Sum
	for i, p := range probabilities {
		if !(p >= 0 && p <= 1) {
			return nil, fault.In(name, fault.New(fmt.Sprintf("probabilities[%d]", i), "%v is not in [0, 1]", p))
		}
		sum.Add(p)
	}
	if !(math.Abs(sum.Value()-1) <= 1e-9) {
		return nil, fault.In(name, fault.New("probabilities", "sums to %v, must sum to 1 within 1e-9", sum.Value()))
	}
	weights := make([]float64, int(top)+1)
	for i, s := range shifts {
		weights[int(s)] += probabilities[i] / sum.Value()
	}
	law := copies.Weights(weights)
	return gaussianMixture{noiseMultiplier, &law}, nil
}

// Name implements profiles.Mechanism.
func (gaussianMixture) Name() string { return "gaussian-mixture" }

// Pair implements profiles.Mechanism: of Σ p_u N(u, σ²), against N(0, σ²), or under substitution
// against Σ p_u N(−u, σ²).
func (m gaussianMixture) Pair(r profiles.Relation) (profiles.Profile, error) {
	switch {
	case m.law.Eta == 0:
		return profiles.Identical(), nil
	case r == profiles.Substitute:
		return copies.NewGaussianOpposite(*m.law, 2/m.noise), nil
	}
	return copies.NewGaussianAttack(*m.law, 1/m.noise), nil
}

// Bounds implements profiles.Compound, so that it is not sampled once more.
func (m gaussianMixture) Bounds(_ context.Context, r profiles.Relation) (profiles.Bounds, error) {
	p, err := m.Pair(r)
	if err != nil {
		return profiles.Bounds{}, err
	}
	return profiles.NewBounds(m.Name(), r, p), nil
}
