package allocation

// Laws that are made for a question (subsample.LawMaker): an accountant that is asked for ε at
// some δ has them computed for that δ. What laws are aimed at proves nothing; they bound every
// δ(ε).

import (
	"context"
	"slices"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

var _, _ subsample.Whole = randomScheme{}, shuffleScheme{}

// leastRelative is the finest width that laws are made for on behalf of an accountant: their
// time grows with one over it.
const leastRelative = 1e-5

// aimable is a scheme whose laws can be aimed. Implementations are values that can be compared.
type aimable interface {
	// Bounds is Apply with a context.
	Bounds(ctx context.Context, b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error)
	// at returns the scheme with laws for a target.
	at(t target) aimable
	// repeated returns the scheme of so many runs as one, false if there is none. Its laws reach
	// smaller δ than those of one run, composed.
	repeated(runs int64) (aimable, bool)
	// Unhidden returns how many runs on all records dominate one run, each under r; 0 where a record takes no part.
	Unhidden(r profiles.Relation) (runs int64, inner profiles.Relation)
}

// aimed are the laws of a mechanism under a scheme, each computed once.
type aimed struct {
	scheme   aimable
	base     profiles.Mechanism
	relation profiles.Relation
	mu       sync.Mutex                  // made may be read by several accountants
	made     map[aimable]profiles.Bounds // by the scheme with its target
}

// Laws implements subsample.LawMaker.
func (s randomScheme) Laws(b profiles.Mechanism, r profiles.Relation) (profiles.Laws, error) {
	return &aimed{scheme: s, base: b, relation: r, made: map[aimable]profiles.Bounds{}}, s.check(b, r)
}

// Laws implements subsample.LawMaker.
func (s shuffleScheme) Laws(b profiles.Mechanism, r profiles.Relation) (profiles.Laws, error) {
	return &aimed{scheme: s, base: b, relation: r, made: map[aimable]profiles.Bounds{}}, s.check(b, r)
}

// Whole implements subsample.Whole: every record takes part in all steps of an epoch.
func (s randomScheme) Whole() (runs int64, ok bool) {
	return s.uses * s.epochs, s.uses == s.steps && s.part == s.steps
}

// Whole implements subsample.Whole: the one batch is the data set.
func (s shuffleScheme) Whole() (runs int64, ok bool) {
	return s.epochs, s.batches == 1 && s.unused == 0
}

// Unhidden tells what subsample.Unhidden asks: the uses of a record, its draws being known.
func (s randomScheme) Unhidden(r profiles.Relation) (runs int64, inner profiles.Relation) {
	if s.part == 0 {
		return 0, r
	}
	return s.uses * s.epochs, r
}

// Unhidden tells what subsample.Unhidden asks: Theorem 5, where an add-remove moves √5 in an epoch as
// five runs of Gaussian noise do.
func (s shuffleScheme) Unhidden(r profiles.Relation) (runs int64, inner profiles.Relation) {
	if _, whole := s.Whole(); r == profiles.AddRemove && !whole {
		return 5 * s.epochs, r
	}
	return s.epochs, r
}

// Least implements profiles.Laws.
func (*aimed) Least() float64 { return minDelta }

// For implements profiles.Laws. Runs that are alone are one run of so many epochs; others are
// composed, so that a total that grows, or others like it, need no new laws.
func (a *aimed) For(ctx context.Context, q profiles.Question) (profiles.Composition, error) {
	s, count, total := a.scheme, q.Runs, q.Total
	if q.Alone && !q.Many {
		if all, ok := s.repeated(q.Runs); ok {
			s, count, total = all, 1, 1
		}
	}
	s = s.at(target{Delta: min(max(q.Delta, minDelta), 0.5), Relative: min(max(q.Width, leastRelative), 0.5), Runs: min(max(total, 1), xmath.MaxCount)})
	a.mu.Lock()
	defer a.mu.Unlock()
	m, ok := a.made[s]
	if !ok {
		var err error
		if m, err = a.law(ctx, s); err != nil {
			return profiles.Composition{}, err
		}
		a.made[s] = m
	}
	return profiles.Repeat(m, count), nil
}

// law computes the law of one run.
func (a *aimed) law(ctx context.Context, s aimable) (profiles.Bounds, error) {
	m, err := s.Bounds(ctx, a.base, a.relation)
	if err != nil {
		return m, err
	}
	if _, ok := a.base.(profiles.Attacked); ok {
		m.Numerical = false // the base leaves a gap
	}
	return m, nil
}

// Retreat implements trait.Retreat: above, nothing is hidden; below, nothing is known.
func (a *aimed) Retreat(q profiles.Question) (profiles.Composition, error) {
	runs, _ := a.scheme.Unhidden(a.relation)
	up, err := unhidden(a.base, a.relation, runs)
	if err != nil {
		return profiles.Composition{}, err
	}
	if up == nil {
		if up, err = profiles.NewDiscrete(nil, 0, 0, 0, 0); err != nil { // an infinite loss is certain
			return profiles.Composition{}, err
		}
	}
	return profiles.Repeat(between(a.base.Name(), a.relation, up, profiles.Identical(), false), q.Runs), nil
}

func (s randomScheme) at(t target) aimable {
	s.target = t
	return s
}

// at implements aimable. The attack on one of several runs is one at a smaller δ.
func (s shuffleScheme) at(t target) aimable {
	s.target = t
	return s
}

func (s randomScheme) repeated(runs int64) (aimable, bool) {
	ok := joined(&s.epochs, &s.once, runs)
	return s, ok
}

func (s shuffleScheme) repeated(runs int64) (aimable, bool) {
	ok := joined(&s.epochs, &s.once, runs)
	return s, ok
}

// joined makes epochs those of so many runs, where what is drawn for the epochs of one run is
// not kept for them alone.
func joined(epochs *int64, once *bool, runs int64) bool {
	if runs > maxSteps/max(1, *epochs) || *once && *epochs > 1 {
		return runs == 1
	}
	*epochs *= runs
	*once = false
	return true
}

// check returns the error that Bounds would return for a mechanism and a relation, without
// computing a law.
func (s randomScheme) check(b profiles.Mechanism, r profiles.Relation) error {
	_, gaussian := noiseOf(b)
	switch _, whole := s.Whole(); {
	case whole:
	case r == profiles.Substitute:
		return s.checkSubstitute(b, gaussian)
	case s.once && s.epochs > 1 && !gaussian:
		return fault.New("redraw", "once is for Gaussian noise only")
	}
	_, _, err := source(b, r)
	return err
}

// checkSubstitute returns what is not proved under substitution.
func (s randomScheme) checkSubstitute(b profiles.Mechanism, gaussian bool) error {
	switch {
	case !gaussian:
		return fault.New("mechanism", "%q has no proved bound for random allocation under substitute; gaussian has", b.Name())
	case s.uses > 1:
		return fault.New("uses", "%d of %d steps have no proved bound under substitute", s.uses, s.steps)
	case s.part < s.steps && s.part > 0:
		return fault.New("first", "%d of %d steps have no proved bound under substitute", s.part, s.steps)
	}
	return nil
}

func (s shuffleScheme) check(b profiles.Mechanism, r profiles.Relation) error {
	if _, ok := noiseOf(b); !ok {
		return fault.New("mechanism", "%q has no proved bound for shuffled batches; gaussian has", b.Name())
	}
	if !slices.Contains(profiles.Relations(), r) {
		return fault.New("neighbors", "%v is not in [add-remove, substitute, zero-out]", r)
	}
	return nil
}
