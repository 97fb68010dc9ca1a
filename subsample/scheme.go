package subsample

import (
	"iter"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/profiles"
)

// A Scheme is a way to draw the subsample that a mechanism runs on. It turns a
// base mechanism into the mechanism that was really run.
type Scheme interface {
	// Name is the scheme's name in plan files.
	Name() string
	// Apply returns b run once on a subsample drawn by the scheme.
	Apply(b profiles.Base, r profiles.Relation) (profiles.Mechanism, error)
}

// A Sampler is a Scheme that can also draw: what a training loop takes its batches from.
type Sampler interface {
	Scheme
	// Batches returns the batches of a run over a population of so many records, without
	// end, one for each step. The law is that of the scheme from the first batch on;
	// schemes with a schedule for each epoch begin one there. Ranging over it again goes
	// on with the next batch. A batch is in ascending order of its records, is the
	// caller's to keep, and must stay secret, its size included unless that is fixed.
	//
	// The source nil is the operating system's; another must be secret and is for this
	// run alone.
	Batches(src rand.Source, population int64) (iter.Seq[[]Pick], error)
}

// A Pick is one record of a batch: its index in [0, population) and how often it
// appears.
type Pick struct {
	Index, Copies int64
}

// A RateSetter is a Scheme whose sampling rate can be set.
type RateSetter interface {
	Scheme
	Rate() float64
	WithRate(rate float64) (Scheme, error)
}

// A BatchSetter is a Scheme that draws from a population of known size, and whose
// batch size can be set.
type BatchSetter interface {
	Scheme
	Population() int64
	Batch() int64
	MaxBatch() int64
	WithBatch(batch int64) (Scheme, error)
}

// MaxBatch implements BatchSetter.
func (s FixedSize) MaxBatch() int64 {
	switch s.kind {
	case withoutReplacement:
		return min(s.population, maxBatch)
	case mustWO:
		return s.subset
	case mustWW:
		return min(maxBatch, 1000*s.population)
	}
	return maxBatch
}

// WithBatch implements BatchSetter.
func (s FixedSize) WithBatch(batch int64) (Scheme, error) {
	if batch < 1 || batch > s.MaxBatch() {
		return nil, s.outOfRange("batch", batch, 1, s.MaxBatch())
	}
	s.batch = batch
	return s, nil
}

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
// Under add-remove the result is exact (PoissonProfile). Under substitute the
// Gaussian is exact (the pair at ±1 dominates: docs/theory.md §5); any other
// mechanism has the Envelope above, and below the pair with opposite
// contributions, or, for a mechanism declared by its pair alone, the pair in
// which the absence of the record looks like its substitute.
func (s Poisson) Apply(b profiles.Base, r profiles.Relation) (profiles.Mechanism, error) {
	pair, err := b.Pair(r)
	if err != nil {
		return profiles.Mechanism{}, err
	}
	name := b.Name()
	reached, err := attained(b, pair, r)
	if err != nil {
		return profiles.Mechanism{}, err
	}
	if r == profiles.AddRemove || s.rate == 1 {
		p, err := PoissonProfile(pair, s.rate)
		if err != nil {
			return profiles.Mechanism{}, err
		}
		m := profiles.NewMechanism(name, r, p)
		if !profiles.Equal(reached, pair) {
			if p, err = PoissonProfile(reached, s.rate); err != nil {
				return profiles.Mechanism{}, err
			}
			m.Directions[0].Lower, m.Directions[1].Lower = p, profiles.Reverse(p)
		}
		return m, nil
	}
	if m, ok := b.(profiles.SubstituteMixer); ok {
		p, dominating, err := m.SubstituteMixture(s.rate)
		if err != nil {
			return profiles.Mechanism{}, err
		}
		if dominating {
			return profiles.NewMechanism(name, r, p), nil
		}
		return s.bounds(name, pair, p)
	}
	attack, err := PoissonProfile(reached, s.rate)
	if err != nil {
		return profiles.Mechanism{}, err
	}
	return s.bounds(name, pair, attack)
}

// attained returns pair, the Pair of b under r, or what is attained in its place.
func attained(b profiles.Base, pair profiles.Profile, r profiles.Relation) (profiles.Profile, error) {
	a, ok := b.(profiles.Attacked)
	if !ok {
		return pair, nil
	}
	attack, err := a.Attack(r)
	if err != nil {
		return nil, err
	}
	return attack.Pair(r)
}

// bounds returns the mechanism between an attack and the envelope of pair.
func (s Poisson) bounds(name string, pair, attack profiles.Profile) (profiles.Mechanism, error) {
	e, err := Envelope(pair, s.rate)
	if err != nil {
		return profiles.Mechanism{}, err
	}
	return profiles.Mechanism{Name: name, Relation: profiles.Substitute, Directions: [2]profiles.Direction{
		{Upper: e, Lower: attack},
		{Upper: profiles.Reverse(e), Lower: profiles.Reverse(attack)},
	}}, nil
}
