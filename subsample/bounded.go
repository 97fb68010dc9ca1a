// One run of a step: the mechanism, its sampling and the persons that it is about; and mechanisms that Gaussian
// noise bounds.

package subsample

import (
	"context"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/trait"
	"github.com/dpaccountant/accountant/profiles"
)

// Of returns one run of b under a scheme, on the whole data set if s is nil, for persons of so many records. It may
// take long: once ctx is done, the error is that of ctx.
//
// A mechanism that Gaussian noise bounds (trait.GaussianBounded) has above it what that noise has: each theorem of this
// package and of package allocation is about a pair of laws, or one law next to two others, for which Lemma S of
// docs/theory/integer-noise.md stands. The recursion over batches of fixed size is about more, and is left out. Below it
// is its attack.
func Of(ctx context.Context, b profiles.Mechanism, s Scheme, r profiles.Relation, records int64) (profiles.Bounds, error) {
	if s != nil {
		if err := profiles.CheckSampled(b, s.Name()); err != nil {
			return profiles.Bounds{}, err
		}
	}
	if g, ok := b.(trait.GaussianBounded); ok {
		return bounded(ctx, g, s, r, records)
	}
	maker, ok := s.(LawMaker)
	switch {
	case ok:
		return personsLaws(b, maker, r, records)
	case records != 1:
		return ofPersons(ctx, b, s, r, records)
	case s == nil:
		return profiles.Unsampled(ctx, b, r)
	}
	return s.Apply(b, r)
}

// starSchemes are the schemes whose theorems are about a pair, or about one law beside others.
var starSchemes = []string{"poisson", "without-replacement", "with-replacement", "must-ow", "must-wo", "must-ww",
	"truncated-poisson", "random-allocation", "balls-in-bins", "shuffle", "fixed-order"}

func bounded(ctx context.Context, b trait.GaussianBounded, s Scheme, r profiles.Relation, records int64) (profiles.Bounds, error) {
	if s == nil && records == 1 {
		return b.Whole(r)
	}
	if _, err := b.Pair(r); err != nil {
		return profiles.Bounds{}, err
	}
	if s != nil && !slices.Contains(starSchemes, s.Name()) {
		return profiles.Bounds{}, fault.New("sampling", "nothing is proved about %s on samples of %s", b.Name(), s.Name())
	}
	above, leak := b.Above()
	if leak > 0 && (records > 1 || s != nil && s.Name() != "poisson" && s.Name() != "without-replacement") {
		return profiles.Bounds{}, fault.New("mechanism", "the tail of %s is known for samples of poisson and without-replacement of one record a person only", b.Name())
	}
	m, err := Of(ctx, above, s, r, records)
	if err != nil {
		return m, err
	}
	m.Name, m.Together, m.Numerical = b.Name(), nil, false
	attack, err := b.Attack(r)
	if err != nil {
		return m, err
	}
	low, err := Of(ctx, attack, s, r, records)
	if err != nil && ctx.Err() != nil {
		return m, err
	}
	if err != nil { // no attack is known of this sampling
		low = profiles.Bounds{}
	}
	if m.Laws != nil {
		m.Laws = lawsBetween{m.Laws, low.Laws}
		return m, nil
	}
	for i := range m.Directions {
		m.Directions[i] = profiles.Direction{Upper: profiles.GivenAway(m.Directions[i].Upper, leak), Lower: low.Directions[i].Lower}
	}
	return m, nil
}

// lawsBetween are laws of one mechanism above, and of an attack below.
type lawsBetween struct{ upper, lower profiles.Laws }

// Least implements profiles.Laws.
func (l lawsBetween) Least() float64 {
	if l.lower == nil {
		return l.upper.Least()
	}
	return max(l.upper.Least(), l.lower.Least())
}

// For implements profiles.Laws.
func (l lawsBetween) For(ctx context.Context, q profiles.Question) (profiles.Composition, error) {
	c, err := l.upper.For(ctx, q)
	if err != nil {
		return c, err
	}
	c.Numerical, c.Lower = false, [2][]profiles.Repeated{}
	if l.lower != nil {
		low, err := l.lower.For(ctx, q)
		if err != nil {
			return c, err
		}
		c.Lower = low.Lower
	}
	return c, nil
}
