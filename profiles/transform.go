// Transforms of profiles: the profile's own, or one made from its atoms, above and
// below.

package profiles

import (
	"math"

	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Transform implements hook.Transformer: the roles of P and Q change.
func (r reversed) Transform() transform.Transform {
	if t := hook.TransformOf(r.base); t != nil {
		return t.Reverse()
	}
	return nil
}

// TransformsWithin implements hook.NearlyTransformer.
func (r reversed) TransformsWithin(mass float64) (upper, lower transform.Transform) {
	if upper, lower = hook.TransformsOf(r.base, mass); upper != nil && lower != nil {
		return upper.Reverse(), lower.Reverse()
	}
	return nil, nil
}

// The transform of a Gaussian profile.

// noise returns 1/μ. μ is 1/σ to one rounding, or to two after Repeat, which
// knows μ² − mu²; 1/μ has another.
func (g normalLoss) noise() (sigma, relErr float64) {
	return 1 / g.mu, 4*xmath.U + math.Abs(g.lo)/(g.mu*g.mu)
}

// Transform implements hook.Transformer; nil for the empty composition.
func (g normalLoss) Transform() transform.Transform {
	sigma, relErr := g.noise()
	t, err := transform.NewGaussian(sigma, relErr)
	if err != nil {
		return nil
	}
	return t
}

// PoissonTransform returns the transform of (rate·P + (1−rate)·Q, Q), the rate known to a
// relative error.
func (g normalLoss) PoissonTransform(rate, rateErr float64) transform.Transform {
	sigma, relErr := g.noise()
	t, err := transform.NewPoissonGaussian(rate, rateErr, sigma, relErr)
	if err != nil {
		return nil
	}
	return t
}

// Transform implements hook.Transformer: the means ±1 with weight q, 0 with the rest.
func (g gaussianPlusMinus) Transform() transform.Transform {
	none := math.Inf(-1)
	sigma, relErr := normalLoss{mu: g.mu}.noise()
	t, err := transform.NewGaussianMixture(transform.Pair{Sigma: sigma, SigmaErr: relErr,
		Components: []transform.Component{{Mean: -1, LogP: none, LogQ: g.logRate}, {Mean: 1, LogP: g.logRate, LogQ: none}},
		LogP0:      g.log1m, LogQ0: g.log1m, Err0: 2 * xmath.U * (1 + math.Abs(g.log1m))})
	if err != nil {
		return nil
	}
	return t
}

// The transform of a Laplace profile.

// scaleErr bounds the relative error of m = 1/b: of b, if it was divided by a number of
// records, and of the quotient.
const scaleErr = 2 * xmath.U

// Transform implements hook.Transformer.
func (l laplaceLoss) Transform() transform.Transform { return transform.NewLaplace(l.m, scaleErr) }

// maxSampledLoss is the largest 1/b of Laplace noise whose sampled pairs have a
// transform: between its centres the number of nodes grows with it.
const maxSampledLoss = 700

// PoissonTransform returns the transform of (rate·P + (1−rate)·Q, Q), the rate known to a
// relative error; nil if there is none.
func (l laplaceLoss) PoissonTransform(rate, rateErr float64) transform.Transform {
	if l.m > maxSampledLoss {
		return nil
	}
	return transform.NewSampledLaplace([]transform.LaplaceItem{{M: l.m, MErr: scaleErr}}, 0, rate, rateErr)
}

// EnvelopeTransform returns the transform of the envelope of this pair at a rate; nil if
// there is none.
func (l laplaceLoss) EnvelopeTransform(rate float64) transform.Transform {
	if l.m > maxSampledLoss {
		return nil
	}
	return transform.NewLaplaceEnvelope([]transform.LaplaceItem{{M: l.m, MErr: scaleErr}}, 0, rate, 0)
}

// Transform implements hook.Transformer.
func (l laplacePlusMinus) Transform() transform.Transform {
	if l.m > maxSampledLoss {
		return nil
	}
	return transform.NewOppositeLaplace(l.m, scaleErr, l.rate)
}

// Transform implements hook.Transformer. Masses and losses are known to the errors of the
// profile: a displaced loss moves M(z) − 1 by p|z||z+1||L| times the displacement, no
// more. There is none if the listed masses do not make 1 to these errors, under P
// or under Q: then the terms of first order do not cancel.
func (d *Discrete) Transform() transform.Transform {
	n := len(d.atoms)
	if n == 0 || max(d.atoms[n-1].Loss, -d.atoms[0].Loss) > 700 {
		return nil // M is 0, or terms of e^L are no numbers
	}
	for _, total := range []float64{d.upP[0], d.loQ[n]} {
		// A loss is off by lossErr, and a mass under Q is that under P times e^{−L}.
		if math.Abs(total) > d.err(total, 0)+d.lossErr {
			return nil
		}
	}
	atoms := make([]transform.Atom, n)
	for i, a := range d.atoms {
		atoms[i] = transform.Atom{LogMass: a.LogP, Loss: -a.Loss, Reversed: true,
			MassErr: (d.massErr + 2*xmath.U) * (1 + math.Abs(a.LogP)), LossErr: d.lossErr}
	}
	rel := 0.0
	for _, x := range []float64{d.logPInf, d.logQInf} {
		if !math.IsInf(x, -1) {
			rel = max(rel, (d.massErr+2*xmath.U)*(1+math.Abs(x)))
		}
	}
	return transform.NewMixed(atoms, nil, math.Exp(d.logPInf), math.Exp(d.logQInf), rel)
}
