// The curve of a base mechanism on a sample, by the best theorem for the pair.

package rdp

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/trait"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// Of returns the curve of one run of a base mechanism on a sample drawn by a
// scheme (nil: the whole data set), under a neighbouring relation, or an error
// that says what has no Rényi result here.
//
//   - Whole data: the exact curves of this package; αμ²/2 for Skellam and summed noise.
//   - Poisson under add-remove and zero-out: Poisson, exact for the Gaussian and for finite
//     mechanisms.
//   - Poisson under substitute, and fixed-size batches without replacement
//     under substitute and, as a case of it, zero-out: the larger direction of the envelope that the scheme
//     proves for finite mechanisms, withoutReplacementGaussian for the Gaussian,
//     else the bound of withoutReplacement, which for Poisson sampling needs the
//     curve under substitute to hold when the record is absent too (it does for
//     added noise).
//   - Batches that may hold a record several times, and fixed-size batches under add-remove: a bound by the
//     profiles that the scheme proves of Gaussian, Laplace and pure mechanisms
//     (docs/theory/subsampling.md §14).
//   - Any other scheme: if it gives finite profiles, their exact divergence.
func Of(b profiles.Mechanism, s subsample.Scheme, r profiles.Relation) (Curve, error) {
	if b == nil {
		return nil, fault.New("mechanism", "is nil, must be a base mechanism")
	}
	if !slices.Contains(profiles.Relations(), r) {
		return nil, fault.New("neighbors", "%v is not one of add-remove, substitute, zero-out", r)
	}
	if list, ok := b.(subsample.Sequence); ok {
		return ofSequence(list, s, r)
	}
	if s == nil {
		return ofPair(b, r)
	}
	if p, ok := subsample.AsPoisson(s); ok {
		return ofPoisson(b, p, r)
	}
	// The samplers that repeat records have a size as well.
	if s, ok := s.(fixedSize); ok && s.Name() == "without-replacement" && r != profiles.AddRemove {
		r = profiles.Substitute // which an empty place is a case of
		if c, ok := ofFinite(b, s, r); ok {
			return c, nil
		}
		c, err := ofPair(b, r)
		if err != nil {
			return nil, err
		}
		if g, ok := c.(gaussian); ok {
			return withoutReplacementGaussian(s.Population(), s.Batch(), g.sigma)
		}
		return WithoutReplacement(c, s.Population(), s.Batch())
	}
	if c, ok := ofFinite(b, s, r); ok {
		return c, nil
	}
	if f, ok := subsample.AsFixedSize(s); ok {
		return ofCopies(b, f, r)
	}
	return nil, fault.New("sampling", "%s has no Rényi bound for the mechanism %s under %s", s.Name(), b.Name(), r)
}

// ofSequence returns the sum of the curves of a list of runs.
func ofSequence(list subsample.Sequence, s subsample.Scheme, r profiles.Relation) (Curve, error) {
	if s != nil {
		return nil, fault.New("sampling", "must be left out; %s has its own", list.Name())
	}
	runs, err := list.Runs(context.Background(), r)
	if err != nil {
		return nil, err
	}
	curves := make([]Curve, len(runs))
	for i, x := range runs {
		c, err := Of(x.Mechanism, x.Scheme, r)
		if err != nil {
			return nil, err
		}
		curves[i] = Repeat(c, x.Count)
	}
	return Compose(curves...), nil
}

// fixedSize is a scheme that draws a batch of fixed size.
type fixedSize interface {
	subsample.Scheme
	Population() int64
	Batch() int64
}

func ofPoisson(b profiles.Mechanism, s subsample.Poisson, r profiles.Relation) (Curve, error) {
	c, err := ofPair(b, r)
	if err != nil || s.Rate() == 1 {
		return c, err
	}
	switch c.(type) {
	case gaussian, laplace, discreteGaussian:
	default:
		if finite, ok := ofFinite(b, s, r); ok {
			return finite, nil
		}
	}
	if r != profiles.Substitute {
		return Poisson(c, s.Rate())
	}
	if g, ok := c.(gaussian); ok {
		return newEnvelope(g.sigma, s.Rate()), nil
	}
	return mixed(c, s.Rate()), nil
}

// ofPair returns the curve of b on the whole data set.
func ofPair(b profiles.Mechanism, r profiles.Relation) (Curve, error) {
	if c, ok := b.(profiles.Compound); ok {
		return ofCompound(c, r)
	}
	p, err := b.Pair(r)
	if err != nil {
		return nil, err
	}
	if b.Name() == "discrete-gaussian" {
		return ofDiscreteGaussian(b, r)
	}
	if g, ok := b.(trait.GaussianBounded); ok {
		if _, leak := g.Above(); leak > 0 {
			return nil, fault.New("mechanism", "%s has no Rényi curve: the end of its tail, with probability %.2g, is not bounded", b.Name(), leak)
		}
	}
	switch p := p.(type) {
	case profiles.Gaussian:
		return gaussian{p.NoiseMultiplier()}, nil
	case hook.GaussianLike:
		return gaussian{p.NoiseMultiplier()}, nil
	case profiles.Laplace:
		return laplace{1 / p.NoiseMultiplier()}, nil
	case hook.LaplaceLike: // a dominated pair has at most the divergences
		return laplace{1 / p.NoiseMultiplier()}, nil
	case profiles.Exponential:
		// Not the curve of this pair but of what it dominates, which holds for every run.
		return boundedRange{p.Epsilon()}, nil
	case *profiles.Discrete:
		return maxOf(fromDiscrete(p), fromDiscrete(profiles.Reverse(p).(*profiles.Discrete))), nil
	}
	return nil, fault.New("mechanism", "%s has no Rényi curve: its profile is a %T", b.Name(), p)
}

// ofCompound returns the curve of the pairs that dominate both directions.
func ofCompound(c profiles.Compound, r profiles.Relation) (Curve, error) {
	m, err := c.Bounds(context.Background(), r)
	if err != nil {
		return nil, err
	}
	var both []Curve
	for _, d := range m.Directions {
		if d.Upper == nil { // there are only laws of runs
			return nil, fault.New("mechanism", "%s has no Rényi curve: what is proved of it is δ at each ε, for the Fourier accountant", c.Name())
		}
		p, ok := d.Upper.(*profiles.Discrete)
		if !ok {
			return nil, fault.New("mechanism", "%s has no Rényi curve: its profile is a %T", c.Name(), d.Upper)
		}
		both = append(both, fromDiscrete(p))
	}
	return maxOf(both...), nil
}

// discreteGaussian is the curve of a Gaussian as a bound: theorems about continuous noise do not hold for it.
type discreteGaussian struct{ gaussian }

// ofDiscreteGaussian returns the curve of the discrete Gaussian on any number of
// whole numbers. Its profile counts a mass below 1e-345 as loss +∞, where no
// Rényi divergence is finite; but ρα, ρ = s²/(2σ²), is exact at the orders with
// integer α·s, for every integer vector of norm s, and an upper bound in between
// (Canonne, Kamath and Steinke 2020, Proposition 5, coordinate by coordinate).
// Under substitution the norm is 2s.
func ofDiscreteGaussian(b profiles.Mechanism, r profiles.Relation) (Curve, error) {
	n, ok := b.(profiles.NoiseScaler)
	if !ok {
		return nil, fault.New("mechanism", "discrete-gaussian has a profile without a noise multiplier")
	}
	noise := n.NoiseMultiplier()
	if r == profiles.Substitute {
		noise /= 2
	}
	return discreteGaussian{gaussian{roundDown(noise)}}, nil
}

// roundDown returns x less 8 u relative.
func roundDown(x float64) float64 { return x * (1 - 0x1p-50) }

// ofFinite returns the exact curve of a sampled mechanism whose upper profiles
// are all finite.
func ofFinite(b profiles.Mechanism, s subsample.Scheme, r profiles.Relation) (Curve, bool) {
	if _, made := s.(subsample.LawMaker); made {
		return nil, false // what it gives is finite, but not the mechanism itself
	}
	m, err := s.Apply(b, r)
	if err != nil || m.Numerical {
		return nil, false
	}
	var both []Curve
	for _, d := range m.Directions {
		p, ok := d.Upper.(*profiles.Discrete)
		if !ok || !math.IsInf(p.Support().LogPInf, -1) {
			return nil, false
		}
		both = append(both, fromDiscrete(p))
	}
	return maxOf(both...), true
}
