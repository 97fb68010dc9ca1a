package subsample

import (
	"math"

	"github.com/dpaccountant/accountant/internal/transform"
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
		return p.transform(2 * roundOff)
	}
	return nil
}

// Transform implements profiles.Transformer. What is left out of the table, below e^−790,
// is moved to u = 0 as the tails do: it changes δ by less than e^−790 a run, below the
// rounding of every δ in [1e-300, 1] after 1e12 runs.
func (p *switched) Transform() profiles.Transform { return p.mixture(nil) }

// Transform implements profiles.Transformer; see switched.
func (p *opposite) Transform() profiles.Transform {
	return p.mixture(func(c *transform.Component) transform.Component {
		return transform.Component{Mean: -c.Mean, LogP: math.Inf(-1), LogQ: c.LogP, Err: c.Err}
	})
}

// mixture is the pair of Σ_u p_u N(uθ, 1) against N(0, 1), or against the image of the
// other means under mirror.
func (c *copies) mixture(mirror func(*transform.Component) transform.Component) profiles.Transform {
	none := math.Inf(-1)
	pair := transform.Pair{Sigma: 1 / c.theta, SigmaErr: 4 * roundOff, LogP0: min(0, c.LogNone), Err0: c.EtaErr}
	for n := 1; n < len(c.LogP); n++ {
		if math.IsInf(c.LogP[n], -1) {
			continue
		}
		k := transform.Component{Mean: n, LogP: min(0, c.LogP[n]), LogQ: none, Err: c.Err[n]}
		pair.Components = append(pair.Components, k)
		if mirror != nil {
			pair.Components = append(pair.Components, mirror(&k))
		}
	}
	if mirror != nil {
		pair.LogQ0 = pair.LogP0
	}
	t, err := transform.NewGaussianMixture(pair)
	if err != nil {
		return nil
	}
	return t
}
