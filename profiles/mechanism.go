// Base mechanisms: what runs on a sample, before any question of sampling.

package profiles

import (
	"context"

	"github.com/dpaccountant/accountant/internal/fault"
)

// A Mechanism is what is run on a sample, before any question of
// sampling. It knows its dominating pair under each neighbouring relation.
type Mechanism interface {
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

// A SubstituteMixer is a Mechanism for which the effect of substituting one record
// that is sampled with some rate is known more exactly than by the envelope.
type SubstituteMixer interface {
	// SubstituteMixture returns the profile of the pair
	// (rate·M(+1) + (1−rate)·M(0), rate·M(−1) + (1−rate)·M(0)): the attack by two
	// records with opposite contributions. dominating says that this pair is
	// proved to dominate every pair of neighbours under Poisson sampling.
	SubstituteMixture(rate float64) (p Profile, dominating bool, err error)
}

// An Attacked is a Mechanism whose Pair dominates all pairs of neighbouring data sets
// without being the profile of one of them at every ε.
type Attacked interface {
	Mechanism
	// Attack returns the mechanism on a concrete pair of data sets, whose Pair is
	// attained under r.
	Attack(r Relation) (Mechanism, error)
}

// A Compound is a Mechanism that no attained pair describes: it has its own upper and
// lower profiles. It runs on the whole data set only; its Pair may be an error.
type Compound interface {
	Mechanism
	// Bounds returns one run under r. It may take long: once ctx is done, the error is
	// that of ctx.
	Bounds(ctx context.Context, r Relation) (Bounds, error)
}

// A Blocker is a Mechanism of which a run on the whole data set is known better than by its
// Pair and its Attack: many runs have Laws.
type Blocker interface {
	Mechanism
	// Once returns one run under r, with its Laws.
	Once(r Relation) (Bounds, error)
}

// A NoiseScaler is a Mechanism whose noise can be set: what calibration turns.
type NoiseScaler interface {
	Mechanism
	// NoiseMultiplier returns the noise scale over the sensitivity.
	NoiseMultiplier() float64
	// NoiseRange returns the smallest and the largest noise multiplier for which
	// there is a Pair under r.
	NoiseRange(r Relation) (lo, hi float64)
	// WithNoiseMultiplier returns the same mechanism with other noise.
	WithNoiseMultiplier(noiseMultiplier float64) (Mechanism, error)
}

// Unsampled returns one run of b on the whole data set. Where that takes long, ctx can
// cancel it.
func Unsampled(ctx context.Context, b Mechanism, r Relation) (Bounds, error) {
	if c, ok := b.(Compound); ok {
		return c.Bounds(ctx, r)
	}
	if c, ok := b.(Blocker); ok {
		return c.Once(r)
	}
	p, err := b.Pair(r)
	if err != nil {
		return Bounds{}, err
	}
	m := NewBounds(b.Name(), r, p)
	if a, ok := b.(Attacked); ok {
		attack, err := a.Attack(r)
		if err != nil {
			return Bounds{}, err
		}
		if p, err = attack.Pair(r); err != nil {
			return Bounds{}, err
		}
		m.Directions[0].Lower, m.Directions[1].Lower = p, Reverse(p)
	}
	return m, nil
}

// CheckSampled returns an error if nothing is known about b on a sample of the scheme of a
// name.
func CheckSampled(b Mechanism, scheme string) error {
	if _, ok := b.(Compound); ok {
		return fault.New("sampling", "nothing is proved about %s on a sample; it runs on the whole data set", b.Name())
	}
	if _, ok := b.(Blocker); ok && scheme != "poisson" {
		return fault.New("sampling", "nothing is proved about %s on samples of %s; it runs on the whole data set or a poisson sample", b.Name(), scheme)
	}
	return nil
}

// NewBounds returns the mechanism whose first direction is p and whose
// second is the reverse of p, both attained.
func NewBounds(name string, r Relation, p Profile) Bounds {
	return Bounds{Name: name, Relation: r, Directions: [2]Direction{Exact(p), Exact(Reverse(p))}}
}
