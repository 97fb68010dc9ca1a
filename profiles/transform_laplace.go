// The transform of a Laplace profile.

package profiles

import (
	"math"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// scaleErr bounds the relative error of m = 1/b: of b, if it was divided by a number of
// records, and of the quotient.
const scaleErr = 2 * xmath.U

// Transform implements Transformer.
func (l Laplace) Transform() Transform { return transform.NewLaplace(l.m, scaleErr) }

// maxSampledLoss is the largest 1/b of Laplace noise whose sampled pairs have a
// transform: between its centres the number of nodes grows with it.
const maxSampledLoss = 700

// PoissonTransform returns the transform of (rate·P + (1−rate)·Q, Q), the rate known to a
// relative error; nil if there is none.
func (l Laplace) PoissonTransform(rate, rateErr float64) Transform {
	if l.m > maxSampledLoss {
		return nil
	}
	return transform.NewSampledLaplace([]transform.LaplaceItem{{M: l.m, MErr: scaleErr}}, 0, rate, rateErr)
}

// EnvelopeTransform returns the transform of the envelope of this pair at a rate; nil if
// there is none.
func (l Laplace) EnvelopeTransform(rate float64) Transform {
	if l.m > maxSampledLoss {
		return nil
	}
	return transform.NewLaplaceEnvelope([]transform.LaplaceItem{{M: l.m, MErr: scaleErr}}, 0, rate, 0)
}

// Transform implements Transformer.
func (l laplacePlusMinus) Transform() Transform {
	if l.m > maxSampledLoss {
		return nil
	}
	return transform.NewOppositeLaplace(l.m, scaleErr, l.rate)
}

// Transform implements Transformer. Masses and losses are known to the errors of the
// profile: a displaced loss moves M(z) − 1 by p|z||z+1||L| times the displacement, no
// more. There is none if the listed masses do not make 1 to these errors, under P
// or under Q: then the terms of first order do not cancel.
func (d *Discrete) Transform() Transform {
	n := len(d.atoms)
	if n == 0 {
		return nil // M is 0
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
