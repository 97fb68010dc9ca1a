// Transforms of the Gaussian pairs, for the contour engine.

package copies

import (
	"math"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// maxCopies is the largest table of copies whose transform is served whole. A transform of
// many means is dear: the strip around the real line narrows by their number, and beyond
// some real point M is that of the largest mean, however rare. TransformsWithin cuts it.
const maxCopies = 6

// maxWhole is the largest table that is served whole where little of it can be cut.
const maxWhole = 64

// Transform implements hook.Transformer; nil for a table beyond maxCopies. What is left
// out of the table, below e^−790, is moved to u = 0 as the tails do: it changes δ by less
// than e^−790 a run, below the rounding of every δ in [1e-300, 1] after 1e12 runs.
func (p *GaussianAttack) Transform() transform.Transform { return p.whole(false) }

// TransformsWithin implements hook.NearlyTransformer. Beyond k copies, m = Pr[U > k] at
// most mass: P = (1−m)·P' + m·R with at most k copies in P'. Above, R gives everything
// away; below, it is moved to u = 0, as NewGaussianAttack does with the rest of a table. The loss
// is L = log P'/Q + log(1−m): M(z) = (1−m)^{z+1}·M'(z).
func (p *GaussianAttack) TransformsWithin(mass float64) (upper, lower transform.Transform) {
	return p.within(mass, false, transform.NewGivenAway)
}

// Transform implements hook.Transformer; see GaussianAttack.
func (p *GaussianOpposite) Transform() transform.Transform { return p.whole(true) }

// TransformsWithin implements hook.NearlyTransformer, as for GaussianAttack: above, what
// is beyond k copies gives everything away on both sides, (1−m)·P' + m·R against (1−m)·Q' +
// m·R'; below, it is moved to u = 0 on both. L = log P'/Q': M(z) = (1−m)·M'(z).
func (p *GaussianOpposite) TransformsWithin(mass float64) (upper, lower transform.Transform) {
	return p.within(mass, true, transform.NewBothGivenAway)
}

func (c *shifts) whole(mirrored bool) transform.Transform {
	if c.Last() > maxCopies {
		return nil
	}
	return c.mixture(c.Last(), 0, mirrored)
}

func (c *shifts) within(mass float64, mirrored bool, givenAway func(transform.Transform, float64) transform.Transform) (upper, lower transform.Transform) {
	k, m := c.cut(mass)
	if c.RealZeros && c.Last() <= maxWhole {
		k, m = c.Last(), 0
	}
	if m == 0 && k <= maxWhole {
		t := c.mixture(k, 0, mirrored)
		return t, t
	}
	// An error e of what is above k, relative, is one of m·e/p_0 in the weight of no copy. With
	// this limit, and the m below 1e-13 that sums ask for, any e below 1e-7 is less than the
	// roundings counted there.
	if c.LogNone < xmath.Log(1e-4) {
		return nil, nil
	}
	return givenAway(c.mixture(k, m, mirrored), m), c.mixture(k, 0, mirrored)
}

// cut returns the least k with Pr[U > k] ≤ mass, and that probability, rounded up.
func (c *shifts) cut(mass float64) (k int, m float64) {
	k = c.Last()
	for k > 1 && math.Exp(c.LogAbove[k]) <= mass {
		k--
	}
	if m = math.Exp(c.LogAbove[k+1]) * (1 + 1e-12); m == 0 && !math.IsInf(c.LogAbove[k+1], -1) {
		m = math.SmallestNonzeroFloat64
	}
	return k, m
}

// mixture is the pair of Σ_u p_u N(uθ, 1), u ≤ last, against N(0, 1) or, mirrored, the same
// at the opposite means; the rest counts as u = 0. All weights are over 1 − without.
func (c *shifts) mixture(last int, without float64, mirrored bool) transform.Transform {
	none, scale := math.Inf(-1), -math.Log1p(-without)
	pair := transform.Pair{Sigma: 1 / c.theta, SigmaErr: 4 * xmath.U, LogP0: min(0, c.LogNone+scale), Err0: c.EtaErr + 4*xmath.U + 2e-12*without*math.Exp(-c.LogNone)}
	pair.RealZeros = c.RealZeros && last == c.Last()
	if without == 0 && last < c.Last() {
		pair.LogP0 = min(0, xmath.LogAdd(c.LogNone, c.LogAbove[last+1]))
	}
	for n := 1; n <= last; n++ {
		if math.IsInf(c.LogP[n], -1) {
			continue
		}
		// without is rounded up by 1e-12 of itself.
		k := transform.Component{Mean: n, LogP: min(0, c.LogP[n]+scale), LogQ: none, Err: c.Err[n] + 2*xmath.U + 2e-12*without}
		pair.Components = append(pair.Components, k)
		if mirrored {
			pair.Components = append(pair.Components, transform.Component{Mean: -n, LogP: none, LogQ: k.LogP, Err: k.Err})
		}
	}
	if mirrored {
		pair.LogQ0 = pair.LogP0
	}
	t, err := transform.NewGaussianMixture(pair)
	if err != nil {
		return nil
	}
	return t
}

// Transforms of the Laplace profiles, for the contour engine.

// Transform implements hook.Transformer; nil where exponentials of the shifts leave the
// range of numbers.
func (p *LaplaceAttack) Transform() transform.Transform {
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

// A laplaceChoice is a public choice of Laplace profiles, which has transforms.
type laplaceChoice struct{ *publicChoice }

// SelfReverse implements hook.SelfReverser: so is every item.
func (p laplaceChoice) SelfReverse() bool { return true }

// Support implements profiles.Profile. The loss of a group is a multiple of that of one record to three roundings.
func (p laplaceChoice) Support() profiles.Support {
	s := p.publicChoice.Support()
	s.LossErr = 3 * xmath.U * s.Max
	return s
}

// choice lists the items; ok is false if one has too little noise. Such an item counts as given away
// where it weighs nothing.
func (p laplaceChoice) choice() (items []transform.LaplaceItem, ok bool) {
	for u, item := range p.items {
		m := item.Support().Max
		if m > maxSampledLoss {
			return nil, false
		}
		items = append(items, transform.LaplaceItem{M: m, MErr: 3 * xmath.U, LogWeight: p.logW[u], WeightErr: p.err[u]})
	}
	return items, true
}

// Transform implements hook.Transformer.
func (p laplaceChoice) Transform() transform.Transform { return p.PoissonTransform(1, 0) }

// PoissonTransform implements poissonTransformer.
func (p laplaceChoice) PoissonTransform(rate, rateErr float64) transform.Transform {
	if items, ok := p.choice(); ok {
		return transform.NewSampledLaplace(items, math.Exp(p.logRest()), rate, rateErr)
	}
	return nil
}

// EnvelopeTransform implements envelopeTransformer.
func (p laplaceChoice) EnvelopeTransform(rate float64) transform.Transform {
	if items, ok := p.choice(); ok {
		return transform.NewLaplaceEnvelope(items, math.Exp(p.logRest()), rate, 0)
	}
	return nil
}
