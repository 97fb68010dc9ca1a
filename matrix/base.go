package matrix

import (
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// This file has the Gaussians that runs are made of.

// effective returns σ over a norm, whose double is known to 2^-62: within an ulp of it.
func effective(sigma float64, norm double) float64 {
	return (double{sigma, 0}).over(norm).hi
}

// The range of noise multipliers of a Gaussian.
const minEffective, maxEffective = 1e-6, 1e15

// gaussian returns the Gaussian whose record moves the mean by the root of s. If that is
// exact, its noise multiplier is known to one rounding, which profiles.Gaussian counts.
func gaussian(sigma float64, s squares) (profiles.Mechanism, error) {
	upper := effective(sigma, s.upper.sqrt())
	if !s.exact {
		upper = xmath.Down(upper, 1)
	}
	if !(upper >= minEffective && upper <= maxEffective) {
		return nil, fault.New("noise-multiplier", "%v over a sensitivity of %v is %v, not in [%g, %g]", sigma, s.upper.sqrt().hi, upper, minEffective, maxEffective)
	}
	g, err := profiles.NewGaussianMechanism(upper)
	if err != nil || s.exact {
		return g, err
	}
	var attack profiles.Mechanism = nothing{}
	if lower := xmath.Up(effective(sigma, s.lower.sqrt()), 1); s.lower.hi > 0 && lower <= maxEffective {
		if attack, err = profiles.NewGaussianMechanism(lower); err != nil {
			return nil, err
		}
	}
	return certain{g, attack}, nil
}

// certain is a Gaussian that dominates, and one that is reached.
type certain struct {
	profiles.Mechanism
	attack profiles.Mechanism
}

// Attack implements profiles.Attacked.
func (b certain) Attack(profiles.Relation) (profiles.Mechanism, error) { return b.attack, nil }

// nothing is what an attack without a block sees.
type nothing struct{}

func (nothing) Name() string { return "matrix" }

func (nothing) Pair(profiles.Relation) (profiles.Profile, error) { return profiles.Identical(), nil }
