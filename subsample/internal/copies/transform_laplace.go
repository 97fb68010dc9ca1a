// Transforms of the Laplace profiles, for the contour engine.

package copies

import (
	"math"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Transform implements profiles.Transformer; nil where exponentials of the shifts leave the
// range of numbers.
func (p *LaplaceAttack) Transform() profiles.Transform {
	n := len(p.LogP)
	// θ is 1/b, b from the profile of m = 1/b: four roundings.
	t := transform.NewCopiedLaplace(p.LogP, p.Err, p.LogAbove[n], p.theta, 4*xmath.U, p.last)
	if t == nil {
		return nil
	}
	return t
}

// maxSampledLoss is as in profiles: the largest 1/b of noise with a sampled transform.
const maxSampledLoss = 700

// choice lists the items; ok is false if one has too little noise. Such an item counts as given away
// where it weighs nothing.
func (p *laplaceMixture) choice() (items []transform.LaplaceItem, ok bool) {
	for u, m := range p.m {
		if m > maxSampledLoss {
			return nil, false
		}
		items = append(items, transform.LaplaceItem{M: m, MErr: 3 * xmath.U, LogWeight: p.logW[u], WeightErr: p.err[u]})
	}
	return items, true
}

// Transform implements profiles.Transformer.
func (p *laplaceMixture) Transform() profiles.Transform { return p.PoissonTransform(1, 0) }

// PoissonTransform implements poissonTransformer.
func (p *laplaceMixture) PoissonTransform(rate, rateErr float64) profiles.Transform {
	if items, ok := p.choice(); ok {
		return transform.NewSampledLaplace(items, math.Exp(p.rest), rate, rateErr)
	}
	return nil
}

// EnvelopeTransform implements envelopeTransformer.
func (p *laplaceMixture) EnvelopeTransform(rate float64) profiles.Transform {
	if items, ok := p.choice(); ok {
		return transform.NewLaplaceEnvelope(items, math.Exp(p.rest), rate, 0)
	}
	return nil
}
