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
	// Copies, where it has a Count, is attained as well: one run reaches that many copies of a profile, which tell at
	// least what Lower does.
	Copies Repeated
}

// exact returns the direction whose dominating pair p is attained.
func exact(p Profile) Direction { return Direction{Upper: p, Lower: p} }

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
	// Laws make the profiles of runs for the question that is asked, in place of as many
	// times the Directions of one run, which may be missing then; nil for most mechanisms.
	Laws Laws
}

// Laws are what runs of one mechanism are together, made for a question: where no pair of
// profiles is attained at every ε by the same data sets, or where profiles are computed that
// are sharp near one δ. Implementations are comparable: mechanisms with the same value are the
// same mechanism, and their runs count together.
type Laws interface {
	// For returns profiles of all runs of the question. They hold for every ε and δ,
	// whatever they are made for. Once ctx is done, the error is that of ctx.
	For(ctx context.Context, q Question) (Composition, error)
	// Least is the smallest δ that profiles can be made for; 0 if they are the same at
	// every δ.
	Least() float64
}

// A Question is what Laws are made for. Runs and Alone are facts of the total; the rest is a
// wish about where the profiles are sharp, and proves nothing.
type Question struct {
	Runs  int64 // of the mechanism in the total
	Alone bool  // nothing else runs, before, after or in between
	Last  bool  // what else runs comes before, as the attack may choose
	// Delta is the δ that is asked about, of a total of so many runs of Laws with a Least, and
	// Width the relative width of ε.
	Delta, Width float64
	Total        int64
	// Many totals will be asked: what they can share serves better than what is made for one.
	Many bool
}

// A Composition is what is known about runs of a mechanism: for each direction, profiles that
// are composed.
type Composition struct {
	// Upper dominates every adaptive composition of the runs.
	Upper [2][]Repeated
	// Lower is attained by concrete data sets, or, in answer to a Question whose runs are
	// Alone or Last, reached at each ε by some adversary, not the same at all ε.
	Lower [2][]Repeated
	// Numerical says that nothing but the accuracy of a computation is between the two.
	Numerical bool
}

// Repeated is a profile that is composed Count times.
type Repeated struct {
	Profile Profile
	Count   int64
}

// Repeat returns so many runs of m, each as it is.
func Repeat(m Bounds, count int64) Composition {
	c := Composition{Numerical: m.Numerical}
	for d, dir := range m.Directions {
		c.Upper[d] = []Repeated{{dir.Upper, count}}
		c.Lower[d] = []Repeated{{dir.Lower, count}}
	}
	return c
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
	// InBlocks reports whether many runs are known at once: UpperInBlocks and AttackInBlocks are then as Upper and Attack, in a time
	// that grows with the logarithm of k, and wider where runs are few.
	InBlocks() bool
	UpperInBlocks(ctx context.Context, k int64, eps, logDelta float64, maxPoints int) (Profile, error)
	AttackInBlocks(ctx context.Context, k int64, eps, logDelta float64, maxPoints int) (Reached, error)
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
