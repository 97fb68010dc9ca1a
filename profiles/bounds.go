// Relations, directions, and mechanisms with a profile above and one attained below.

package profiles

import (
	"context"
	"fmt"

	"github.com/dpaccountant/accountant/internal/fault"
)

// Relation is the neighbouring relation: which pairs of data sets a guarantee
// is about. They give different answers and are never mixed.
type Relation int

const (
	// AddRemove: one data set is the other with one record added or removed.
	AddRemove Relation = iota
	// Substitute: one record of one data set is replaced by another.
	Substitute
	// ZeroOut: one record of one data set is replaced by an empty place. A
	// mechanism does not notice an empty place among what it runs on: it answers
	// as if the place were not there. A sampler does, as it draws places.
	ZeroOut
)

// Relations lists the relations, in the order of their values.
func Relations() []Relation { return []Relation{AddRemove, Substitute, ZeroOut} }

// String returns the relation's name in plan files.
func (r Relation) String() string {
	switch r {
	case AddRemove:
		return "add-remove"
	case Substitute:
		return "substitute"
	case ZeroOut:
		return "zero-out"
	}
	return fmt.Sprintf("Relation(%d)", int(r))
}

// ParseRelation returns the relation of a name used in plan files.
func ParseRelation(s string) (Relation, error) {
	for _, r := range Relations() {
		if s == r.String() {
			return r, nil
		}
	}
	return 0, fault.New("neighbors", "%q is not one of add-remove, substitute, zero-out", s)
}

// DirectionNames returns the names of the two directions of the relation, in
// the order of Bounds.Directions.
func (r Relation) DirectionNames() [2]string {
	if r == Substitute {
		return [2]string{"forward", "backward"}
	}
	return [2]string{"remove", "add"}
}

// A Direction is what is known about one direction of a mechanism.
type Direction struct {
	// Upper dominates every pair of neighbouring data sets.
	Upper Profile
	// Lower is attained by a concrete pair of data sets, an attack; nil if none
	// is known. When it is Upper itself, the direction is known exactly.
	Lower Profile
}

// Exact returns the direction whose dominating pair p is attained.
func Exact(p Profile) Direction { return Direction{Upper: p, Lower: p} }

// Bounds are one run of a mechanism under a neighbouring relation: what is
// known about its two directions (remove and add, or the two orders of a
// substitution; emptying a place is remove). It is immutable.
type Bounds struct {
	Name       string
	Relation   Relation
	Directions [2]Direction
	// Together bounds many runs better than the composition of Upper does; nil
	// for most mechanisms.
	Together Together
	// Numerical says that Upper and Lower are laws above and below one attained pair:
	// what lies between them is computation, and theory leaves no gap.
	Numerical bool
	// Block is what many runs are together, where no pair of profiles is attained at
	// every ε by the same data sets; nil for most mechanisms. Directions are then those
	// of one run, and Lower is attained at each ε by data sets of its own.
	Block Block
}

// A Block is the adaptive composition of k runs of one mechanism, which an accountant
// asks for in place of k times the profile of one. Implementations are comparable:
// mechanisms with the same value are the same mechanism, and their runs count together.
// width is the relative width of ε that is asked for, a wish and not a promise. Once ctx
// is done, the error is that of ctx.
type Block interface {
	// Upper returns profiles of which the composition dominates every adaptive
	// composition of k runs, in each direction.
	Upper(ctx context.Context, k int64, width float64) ([2][]Repeated, error)
	// Reached returns profiles of whose composition each δ(ε) is reached by some
	// adaptive adversary of k runs, not the same at all ε. So it holds for these runs
	// alone. exact says that nothing but the accuracy of a computation is between them
	// and Upper.
	Reached(ctx context.Context, k int64, width float64) (reached [2][]Repeated, exact bool, err error)
	// Attack returns the pair of one run on concrete data sets.
	Attack() (directions [2]Profile, err error)
}

// Repeated is a profile that is composed Count times.
type Repeated struct {
	Profile Profile
	Count   int64
}

// Together is what is known about the adaptive composition of k runs of one
// mechanism. Implementations are comparable: mechanisms with the same value are
// the same mechanism, so that their runs count together.
//
// Answers are accurate for losses of about eps, where δ is about e^logDelta, and
// use lattices of at most maxPoints points; else there is an error. Both are long
// calls: a cancelled context is returned as an error between two runs.
type Together interface {
	// Upper dominates every adaptive composition of k runs, in both directions.
	Upper(ctx context.Context, k int64, eps, logDelta float64, maxPoints int) (Profile, error)
	// Attack is what some adaptive adversary reaches with k runs.
	Attack(ctx context.Context, k int64, eps, logDelta float64, maxPoints int) (Reached, error)
}

// Reached gives lower bounds of ε(δ) and δ(ε).
type Reached interface {
	Epsilon(delta float64) float64
	Delta(eps float64) float64
}

// TheoryGap reports whether some direction's upper profile is not known to be
// attained.
func (m Bounds) TheoryGap() bool {
	for _, d := range m.Directions {
		if d.Lower == nil || !Equal(d.Lower, d.Upper) {
			return true
		}
	}
	return false
}
