// The recursion over data configurations for the schemes of fixed size.

package subsample

import (
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/adaptive"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// NewAdaptiveBound implements FixedSize.
func (s fixedSize) NewAdaptiveBound(b profiles.Mechanism) (adaptive.Bound, error) {
	pair, err := b.Pair(profiles.Substitute)
	if err != nil {
		return nil, err
	}
	return s.adaptiveBound(b, pair, s.Multiplicity())
}

// together is the recursion for many runs of the mechanism, or nil where it is not proved.
func (s fixedSize) together(b profiles.Mechanism, pair profiles.Profile, law copies.Law) profiles.Together {
	if t, err := s.adaptiveBound(b, pair, law); err == nil {
		return t
	}
	return nil
}

func (s fixedSize) adaptiveBound(b profiles.Mechanism, pair profiles.Profile, law copies.Law) (adaptive.Bound, error) {
	g, ok := pair.(profiles.Gaussian)
	if !ok {
		return nil, fault.New("mechanism", "%q is not in [gaussian], for which the recursion is proved", b.Name())
	}
	lower, err := attack(pair, law)
	if err != nil {
		return nil, err
	}
	theta, rate := 1/g.NoiseMultiplier(), ratioUp(s.batch, s.population)
	switch {
	case rate == 1 && s.kind == withoutReplacement:
		return nil, fault.New("sampling", "the whole population is not a sample")
	case s.kind == withoutReplacement || s.batch == 1:
		return adaptive.NewBound(theta, adaptive.Single(rate), lower, nil), nil
	case s.kind == mustOW:
		// Given the other members of the subset: the record is in it, or another is.
		rate := s.subsetRate()
		return adaptive.NewBound(theta, adaptive.Repeated(s.insideSubset(), rate, (1-rate)/rate), lower, nil), nil
	case s.kind == mustWW:
		return nil, fault.New("sampling", "must-ww is not in [without-replacement, with-replacement, must-ow, must-wo], for which the recursion is proved")
	}
	return adaptive.NewBound(theta, adaptive.Repeated(law, 1, 0), lower, s), nil
}
