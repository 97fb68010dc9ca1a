// Package trait has what a mechanism, or the laws of one, may say besides what package profiles
// requires: optional methods, by which more is proved, or sooner.
package trait

import "github.com/dpaccountant/accountant/profiles"

// A Grouper is a Mechanism that adds noise to a sum over records.
type Grouper interface {
	profiles.Mechanism
	// Grouped returns the mechanism as a group of size ≥ 1 records changes it: its Pair
	// dominates the pairs of data sets that differ by at most size records, and, unless it
	// is Attacked, is attained by some of them.
	Grouped(size int) (profiles.Mechanism, error)
}

// A GaussianBounded is a Mechanism that Gaussian noise bounds: whatever is proved of that noise by its pair alone, or by
// one law next to two others (Lemma S of docs/theory/integer-noise.md), bounds the mechanism. What is proved by more than
// that, such as the recursion over batches of fixed size, does not.
type GaussianBounded interface {
	profiles.Attacked
	// Above returns the Gaussian noise, and the probability that a run gives everything away in place of it: on the whole
	// data set, on a Poisson sample or on a batch without replacement.
	Above() (gaussian profiles.Mechanism, leak float64)
	// Whole returns one run on the whole data set.
	Whole(profiles.Relation) (profiles.Bounds, error)
}

// A Retreat is Laws that know something which takes next to no work.
type Retreat interface {
	// Retreat returns profiles of all runs of the question where a limit of work leaves no time for those of For.
	Retreat(q profiles.Question) (profiles.Composition, error)
}
