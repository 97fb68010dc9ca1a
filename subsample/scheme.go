package subsample

import "github.com/dpaccountant/accountant/profiles"

// A Scheme is a way to draw the subsample that a mechanism runs on. It turns a
// base mechanism into the mechanism that was really run.
type Scheme interface {
	// Name is the scheme's name in plan files.
	Name() string
	// Apply returns b run once on a subsample drawn by the scheme.
	Apply(b profiles.Base, r profiles.Relation) (profiles.Mechanism, error)
}
