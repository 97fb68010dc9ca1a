// The scheme Poisson: which theorem is for which relation and mechanism.

package subsample

import "github.com/dpaccountant/accountant/profiles"

// NewPoisson returns Poisson sampling: every record takes part independently
// with probability rate.
func NewPoisson(rate float64) (Poisson, error) {
	if err := CheckRate(rate); err != nil {
		return Poisson{}, err
	}
	return Poisson{rate}, nil
}

// Poisson is Poisson sampling with one rate for all records; see NewPoisson.
type Poisson struct{ rate float64 }

// Name implements Scheme.
func (Poisson) Name() string { return "poisson" }

// Rate returns the sampling rate.
func (s Poisson) Rate() float64 { return s.rate }

// WithRate implements RateSetter.
func (Poisson) WithRate(rate float64) (Scheme, error) {
	s, err := NewPoisson(rate)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Apply implements Scheme.
//
// Under add-remove the result is exact (PoissonProfile), and the same under
// zero-out: a batch with an empty place and one without the place have outputs of
// one law, and the other places are drawn independently. Under substitute the
// Gaussian is exact (the pair at ±1 dominates: docs/theory.md §5); any other
// mechanism has the Envelope above, and below the pair with opposite
// contributions, or, for a mechanism declared by its pair alone, the pair in
// which the absence of the record looks like its substitute.
func (s Poisson) Apply(b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	pair, err := b.Pair(r)
	if err != nil {
		return profiles.Bounds{}, err
	}
	name := b.Name()
	reached, err := attained(b, pair, r)
	if err != nil {
		return profiles.Bounds{}, err
	}
	if r != profiles.Substitute || s.rate == 1 {
		p, err := PoissonProfile(pair, s.rate)
		if err != nil {
			return profiles.Bounds{}, err
		}
		m := profiles.NewBounds(name, r, p)
		if !profiles.Equal(reached, pair) {
			if p, err = PoissonProfile(reached, s.rate); err != nil {
				return profiles.Bounds{}, err
			}
			m.Directions[0].Lower, m.Directions[1].Lower = p, profiles.Reverse(p)
		}
		return m, nil
	}
	if m, ok := b.(profiles.SubstituteMixer); ok {
		p, dominating, err := m.SubstituteMixture(s.rate)
		if err != nil {
			return profiles.Bounds{}, err
		}
		if dominating {
			return profiles.NewBounds(name, r, p), nil
		}
		return s.bounds(name, pair, p)
	}
	attack, err := PoissonProfile(reached, s.rate)
	if err != nil {
		return profiles.Bounds{}, err
	}
	return s.bounds(name, pair, attack)
}

// bounds returns the mechanism between an attack and the envelope of pair, in either order.
func (s Poisson) bounds(name string, pair, attack profiles.Profile) (profiles.Bounds, error) {
	dominates, err := eitherOrder(name, pair)
	if err != nil {
		return profiles.Bounds{}, err
	}
	e, err := Envelope(dominates, s.rate)
	if err != nil {
		return profiles.Bounds{}, err
	}
	return profiles.Bounds{Name: name, Relation: profiles.Substitute, Directions: [2]profiles.Direction{
		{Upper: e, Lower: attack},
		{Upper: profiles.Reverse(e), Lower: profiles.Reverse(attack)},
	}}, nil
}
