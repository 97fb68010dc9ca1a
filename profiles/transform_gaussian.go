// The transform of a Gaussian profile.

package profiles

import (
	"math"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// noise returns 1/μ. μ is 1/σ to one rounding, or to two after Repeat, which
// knows μ² − mu²; 1/μ has another.
func (g Gaussian) noise() (sigma, relErr float64) {
	return 1 / g.mu, 4*xmath.U + math.Abs(g.lo)/(g.mu*g.mu)
}

// Transform implements Transformer; nil for the empty composition.
func (g Gaussian) Transform() Transform {
	sigma, relErr := g.noise()
	t, err := transform.NewGaussian(sigma, relErr)
	if err != nil {
		return nil
	}
	return t
}

// PoissonTransform returns the transform of (rate·P + (1−rate)·Q, Q), the rate known to a
// relative error.
func (g Gaussian) PoissonTransform(rate, rateErr float64) Transform {
	sigma, relErr := g.noise()
	t, err := transform.NewPoissonGaussian(rate, rateErr, sigma, relErr)
	if err != nil {
		return nil
	}
	return t
}

// Transform implements Transformer: the means ±1 with weight q, 0 with the rest.
func (g gaussianPlusMinus) Transform() Transform {
	none := math.Inf(-1)
	sigma, relErr := Gaussian{mu: g.mu}.noise()
	t, err := transform.NewGaussianMixture(transform.Pair{Sigma: sigma, SigmaErr: relErr,
		Components: []transform.Component{{Mean: -1, LogP: none, LogQ: g.logRate}, {Mean: 1, LogP: g.logRate, LogQ: none}},
		LogP0:      g.log1m, LogQ0: g.log1m, Err0: 2 * xmath.U * (1 + math.Abs(g.log1m))})
	if err != nil {
		return nil
	}
	return t
}
