// What a scheme is, and a sampler.

package subsample

import (
	"iter"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
)

// A Scheme is a way to draw the subsample that a mechanism runs on. It turns a
// base mechanism into the mechanism that was really run.
type Scheme interface {
	// Name is the scheme's name in plan files.
	Name() string
	// Apply returns b run once on a subsample drawn by the scheme.
	Apply(b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error)
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

// A LawMaker is a Scheme whose laws are made for the question: they bound every δ(ε), and are
// sharp near the one that was asked. Who has no question gets from Apply what serves ordinary
// ones.
type LawMaker interface {
	Scheme
	// Laws returns what makes the laws of b under the scheme. Its error is the one that Apply
	// would return; no law is computed.
	Laws(b profiles.Mechanism, r profiles.Relation) (profiles.Laws, error)
}

// A Whole is a LawMaker that may draw no sample: where every record takes part in every run of the
// mechanism it is as often the mechanism itself, whose profiles need no laws.
type Whole interface {
	LawMaker
	// Whole returns how many runs on all records one use of the scheme is, false if it draws.
	Whole() (runs int64, ok bool)
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

// attained returns pair, the Pair of b under r, or what is attained in its place.
func attained(b profiles.Mechanism, pair profiles.Profile, r profiles.Relation) (profiles.Profile, error) {
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

// eitherOrder returns what dominates pair, the Pair of b, whichever of two records or batches is the
// first: pair itself if it is its own reverse. A record that leaves a batch of fixed size is replaced
// by another, as is one that is substituted, and which of the two kinds is which is the adversary's
// choice, at each step and for each record of a person.
func eitherOrder(name string, pair profiles.Profile) (profiles.Profile, error) {
	if profiles.Equal(pair, profiles.Reverse(pair)) {
		return pair, nil
	}
	d, ok := pair.(*profiles.Discrete)
	if !ok {
		return nil, fault.New("mechanism", "%q loses more in one order of two records than in the other, which nothing is proved about", name)
	}
	return profiles.EitherOrder(d)
}
