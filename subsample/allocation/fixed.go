package allocation

// A fixed public order: consequence 6 of Theorem 1 in docs/theory/allocation.md.

import (
	"context"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
)

// Fixed is a partition into batches that is public or independent of the data: each record is
// used so many times, and nothing is amplified. One run is all the uses.
type Fixed struct {
	uses   int64
	target Target
}

// NewFixed returns the scheme.
func NewFixed(uses int64) (Fixed, error) {
	if uses < 1 || uses > maxSteps {
		return Fixed{}, fault.New("uses", "%d is not in [1, %d]", uses, int64(maxSteps))
	}
	return Fixed{uses, defaultTarget}, nil
}

// Name returns the scheme's name in plan files.
func (Fixed) Name() string { return "fixed-order" }

// Apply returns all uses of b. Zero-out and substitute only: a list that is cut into batches again
// after a removal moves a record out of every batch, up to √(4(t−1)+1) in place of 1.
func (s Fixed) Apply(b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	switch {
	case s.uses == 0:
		return profiles.Bounds{}, fault.New("uses", "0 is not in [1, %d]", int64(maxSteps))
	case r == profiles.AddRemove:
		return profiles.Bounds{}, fault.New("neighbors", "add-remove is not for a fixed order: without one record all later ones move up, into other batches; zero-out or substitute keep its place")
	case r != profiles.ZeroOut && r != profiles.Substitute:
		return profiles.Bounds{}, fault.New("neighbors", "%v is not in [zero-out, substitute]", r)
	}
	if s.uses == 1 {
		return profiles.Unsampled(context.Background(), b, r)
	}
	return Random{steps: s.uses, uses: s.uses, part: s.uses, epochs: 1, target: s.target}.whole(context.Background(), b, r)
}
