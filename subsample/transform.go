// Transforms of sampled profiles, for the contour engine.

package subsample

import (
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A poissonTransformer is a base whose Poisson-sampled pair has a transform.
type poissonTransformer interface {
	// PoissonTransform returns the transform of (rate·P + (1−rate)·Q, Q), rateErr the
	// relative error of the rate; nil if there is none.
	PoissonTransform(rate, rateErr float64) profiles.Transform
}

// Transform implements profiles.Transformer.
func (p poisson) Transform() profiles.Transform { return p.transform(0) }

func (p poisson) transform(rateErr float64) profiles.Transform {
	if b, ok := p.base.(poissonTransformer); ok {
		return b.PoissonTransform(p.rate, rateErr)
	}
	return nil
}

// Transform implements profiles.Transformer; see inexact for the error of the rate.
func (r rounded) Transform() profiles.Transform {
	if p, ok := r.Profile.(poisson); ok {
		return p.transform(2 * xmath.U)
	}
	return nil
}

// An envelopeTransformer is a base whose envelope has a transform; it is its own reverse.
type envelopeTransformer interface {
	EnvelopeTransform(rate float64) profiles.Transform
}

// Transform implements profiles.Transformer.
func (e envelope) Transform() profiles.Transform {
	if b, ok := e.up.base.(envelopeTransformer); ok {
		return b.EnvelopeTransform(e.up.rate)
	}
	return nil
}
