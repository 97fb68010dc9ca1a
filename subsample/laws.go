// Laws that are made for a question (profiles.Laws), for persons with several records.

package subsample

import (
	"context"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// PersonsLaws returns one run of b on a sample drawn by s as it is to a person with at most so
// many records, with laws that are made for each question: of single records, or chains of
// them (Chain). Where s draws no sample (Whole) they are what the mechanism is on all records.
func PersonsLaws(b profiles.Mechanism, s LawMaker, r profiles.Relation, records int64) (profiles.Bounds, error) {
	if err := CheckChain(s, r, records); err != nil {
		return profiles.Bounds{}, err
	}
	l, err := s.Laws(b, r)
	if w, ok := s.(Whole); ok && err == nil {
		if runs, ok := w.Whole(); ok {
			return profiles.Bounds{Name: s.Name(), Relation: r, Laws: &wholeLaws{b, r, records, runs}}, nil
		}
	}
	if records > 1 {
		l = chainedLaws{l, s.Name(), r, records}
	}
	return profiles.Bounds{Name: s.Name(), Relation: r, Laws: l}, err
}

// wholeLaws are those of runs on all records: what one run is, so often.
type wholeLaws struct {
	base          profiles.Mechanism
	relation      profiles.Relation
	records, runs int64 // runs of the base in one of the scheme
}

// Least implements profiles.Laws: they are the same at every δ.
func (*wholeLaws) Least() float64 { return 0 }

// For implements profiles.Laws.
func (l *wholeLaws) For(ctx context.Context, q profiles.Question) (profiles.Composition, error) {
	if q.Runs > xmath.MaxCount/l.runs {
		return profiles.Composition{}, fault.New("count", "%d times %d runs are above 2^53", q.Runs, l.runs)
	}
	one, err := Persons(ctx, l.base, nil, l.relation, l.records)
	if err != nil {
		return profiles.Composition{}, err
	}
	return profiles.Repeat(one, l.runs*q.Runs), nil
}

// chainedLaws are the laws of a chain of single changes.
type chainedLaws struct {
	profiles.Laws // of one change
	name          string
	relation      profiles.Relation
	records       int64
}

// For implements profiles.Laws. Laws of batches are one for each direction, and as often above
// as below.
func (l chainedLaws) For(ctx context.Context, q profiles.Question) (profiles.Composition, error) {
	c, err := l.Laws.For(ctx, q)
	if err != nil {
		return c, err
	}
	return l.chained(c)
}

// Retreat implements profiles.Retreat.
func (l chainedLaws) Retreat(q profiles.Question) (profiles.Composition, error) {
	inner, ok := l.Laws.(profiles.Retreat)
	if !ok {
		return l.For(context.Background(), q)
	}
	c, err := inner.Retreat(q)
	if err != nil {
		return c, err
	}
	return l.chained(c)
}

func (l chainedLaws) chained(c profiles.Composition) (profiles.Composition, error) {
	one := profiles.Bounds{Name: l.name, Relation: l.relation}
	for d := range one.Directions {
		one.Directions[d] = profiles.Direction{Upper: c.Upper[d][0].Profile, Lower: c.Lower[d][0].Profile}
	}
	all, err := Chain(one, l.records)
	return profiles.Repeat(all, c.Upper[0][0].Count), err
}
