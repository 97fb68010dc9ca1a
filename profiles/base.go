// Base mechanisms: what runs on a sample, before any question of sampling.

package profiles

import (
	"context"

	"github.com/dpaccountant/accountant/internal/fault"
)

// A Base is a base mechanism: what is run on a sample, before any question of
// sampling. It knows its dominating pair under each neighbouring relation.
type Base interface {
	// Name is the mechanism's name in plan files.
	Name() string
	// Pair returns the profile of the first direction of one run on the whole
	// data set; the second direction is its Reverse. The pair dominates, and is
	// attained unless the mechanism is Attacked.
	//
	// A mechanism that is declared by its guarantee alone (pure, approximate,
	// finite, randomized response) has that guarantee under whichever relation
	// it is used with. Under ZeroOut the pair is that of AddRemove, but for
	// randomized response, which answers for an empty place.
	Pair(Relation) (Profile, error)
}

// A SubstituteMixer is a Base for which the effect of substituting one record
// that is sampled with some rate is known more exactly than by the envelope.
type SubstituteMixer interface {
	// SubstituteMixture returns the profile of the pair
	// (rate·M(+1) + (1−rate)·M(0), rate·M(−1) + (1−rate)·M(0)): the attack by two
	// records with opposite contributions. dominating says that this pair is
	// proved to dominate every pair of neighbours under Poisson sampling.
	SubstituteMixture(rate float64) (p Profile, dominating bool, err error)
}

// An Attacked is a Base whose Pair dominates all pairs of neighbouring data sets
// without being the profile of one of them at every ε.
type Attacked interface {
	Base
	// Attack returns the mechanism on a concrete pair of data sets, whose Pair is
	// attained under r.
	Attack(r Relation) (Base, error)
}

// A Compound is a Base that no attained pair describes: it has its own upper and
// lower profiles. It runs on the whole data set only; its Pair may be an error.
type Compound interface {
	Base
	// Mechanism returns one run under r. It may take long: once ctx is done, the error is
	// that of ctx.
	Mechanism(ctx context.Context, r Relation) (Mechanism, error)
}

// A Blocker is a Base of which a run on the whole data set is known better than by its
// Pair and its Attack: many runs are a Block.
type Blocker interface {
	Base
	// Once returns one run under r, with its Block.
	Once(r Relation) (Mechanism, error)
}

// A NoiseScaler is a Base whose noise can be set: what calibration turns.
type NoiseScaler interface {
	Base
	// NoiseMultiplier returns the noise scale over the sensitivity.
	NoiseMultiplier() float64
	// NoiseRange returns the smallest and the largest noise multiplier for which
	// there is a Pair under r.
	NoiseRange(r Relation) (lo, hi float64)
	// WithNoiseMultiplier returns the same mechanism with other noise.
	WithNoiseMultiplier(noiseMultiplier float64) (Base, error)
}

// Unsampled returns one run of b on the whole data set. Where that takes long, ctx can
// cancel it.
func Unsampled(ctx context.Context, b Base, r Relation) (Mechanism, error) {
	if c, ok := b.(Compound); ok {
		return c.Mechanism(ctx, r)
	}
	if c, ok := b.(Blocker); ok {
		return c.Once(r)
	}
	p, err := b.Pair(r)
	if err != nil {
		return Mechanism{}, err
	}
	m := NewMechanism(b.Name(), r, p)
	if a, ok := b.(Attacked); ok {
		attack, err := a.Attack(r)
		if err != nil {
			return Mechanism{}, err
		}
		if p, err = attack.Pair(r); err != nil {
			return Mechanism{}, err
		}
		m.Directions[0].Lower, m.Directions[1].Lower = p, Reverse(p)
	}
	return m, nil
}

// CheckSampled returns an error if nothing is known about b on a sample of the scheme of a
// name.
func CheckSampled(b Base, scheme string) error {
	if _, ok := b.(Compound); ok {
		return fault.New("sampling", "nothing is proved about %s on a sample; it runs on the whole data set", b.Name())
	}
	if _, ok := b.(Blocker); ok && scheme != "poisson" {
		return fault.New("sampling", "nothing is proved about %s on samples of %s; it runs on the whole data set or a poisson sample", b.Name(), scheme)
	}
	return nil
}

// NewMechanism returns the mechanism whose first direction is p and whose
// second is the reverse of p, both attained.
func NewMechanism(name string, r Relation, p Profile) Mechanism {
	return Mechanism{Name: name, Relation: r, Directions: [2]Direction{Exact(p), Exact(Reverse(p))}}
}
