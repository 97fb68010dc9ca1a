package subsample

import (
	"context"

	"github.com/dpaccountant/accountant/profiles"
)

// This file has what a mechanism is whose one run is a list of runs.

// A Sequence is a base mechanism whose run costs what a list of runs of other mechanisms
// costs, fixed in advance. It runs on the whole data set only, as far as its user is
// concerned: its sampling, if any, is its own. Where runs are profiles.Attacked, their
// attacks are reached by the list as a whole, not by each alone: an attack may cost
// more than the pair of the same run, and the list of attacks does not cost more than
// that of pairs.
type Sequence interface {
	profiles.Mechanism
	// Runs returns the list under r. It may take long: once ctx is done, the error is
	// that of ctx.
	Runs(ctx context.Context, r profiles.Relation) ([]Run, error)
}

// A Run is a mechanism, run Count ≥ 1 times on samples of a scheme, nil for the whole data
// set.
type Run struct {
	Mechanism profiles.Mechanism
	Scheme    Scheme
	Count     int64
}
