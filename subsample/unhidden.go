// What a sampled run is above, whoever sees its sample: the same mechanism on all records, as often as a
// record can take part.

package subsample

import (
	"context"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// An Unhider is a Scheme of which it is known how often a record takes part at most.
type Unhider interface {
	Scheme
	// Unhidden returns how many runs of a mechanism on all records dominate one use of the scheme under
	// r, each under the relation inner; 0 if nothing is known.
	Unhidden(r profiles.Relation) (runs int64, inner profiles.Relation)
}

// Unhidden implements Unhider: given the coins, neighbours run on batches that are neighbours or the
// same, and divergences are jointly convex.
func (Poisson) Unhidden(r profiles.Relation) (runs int64, inner profiles.Relation) { return 1, r }

// Unhidden implements Unhider. Of a batch without replacement, a record that is removed leaves its place to
// another one; the batches can be drawn so that nothing else differs. With replacement a batch may
// hold a record any number of times.
func (s FixedSize) Unhidden(r profiles.Relation) (runs int64, inner profiles.Relation) {
	switch {
	case s.kind != withoutReplacement:
		return 0, r
	case r == profiles.AddRemove:
		return 1, profiles.Substitute
	}
	return 1, r
}

// Unhidden returns what dominates one run of b on a sample drawn by s, for persons with at most so
// many records, even if the sample is public: so many runs of one, which need no work to compose where they are
// Gaussian or bounded. It is no runs where nothing is known.
//
// Given the draws of a person's k records, run t holds u_t ≤ k of them. Where there is but one run to
// be in, it is at most the group of all k. In an allocation to several, with Σ u_t ≤ k·runs, they are at
// most so many runs of that group where the noise is Gaussian: Σ u_t² ≤ k·Σ u_t.
func Unhidden(ctx context.Context, b profiles.Mechanism, s Scheme, r profiles.Relation, records int64) (one [2]profiles.Profile, runs int64, err error) {
	u, ok := s.(Unhider)
	if !ok {
		return one, 0, nil
	}
	runs, inner := u.Unhidden(r)
	if runs == 0 || runs > xmath.MaxCount {
		return one, 0, nil
	}
	m, err := Persons(ctx, b, nil, inner, records)
	if err != nil && records > 1 && b.Name() == "gaussian" && runs <= xmath.MaxCount/(records*records) {
		// The noise of the group is below what a Gaussian may have: k² runs of one record move as far as k records do.
		runs *= records * records
		m, err = profiles.Unsampled(ctx, b, inner)
	}
	if err != nil {
		return one, 0, err
	}
	for d := range one {
		if one[d] = m.Directions[d].Upper; one[d] == nil {
			return one, 0, nil
		}
	}
	_, gaussian := one[0].(profiles.Gaussian)
	_, several := s.(LawMaker)
	if records > 1 && several && !gaussian || inner != r && !profiles.Equal(one[0], one[1]) {
		return one, 0, nil // a removal may be seen as a substitution in either order
	}
	return one, runs, nil
}
