// Laws that are made for a question (profiles.Laws), for persons with several records.

package subsample

import (
	"context"

	"github.com/dpaccountant/accountant/profiles"
)

// PersonsLaws returns one run of b on a sample drawn by s as it is to a person with at most so
// many records, with laws that are made for each question: of single records, or chains of
// them (Chain).
func PersonsLaws(b profiles.Mechanism, s LawMaker, r profiles.Relation, records int64) (profiles.Bounds, error) {
	if err := CheckChain(s, r, records); err != nil {
		return profiles.Bounds{}, err
	}
	l, err := s.Laws(b, r)
	if records > 1 {
		l = chainedLaws{l, s.Name(), r, records}
	}
	return profiles.Bounds{Name: s.Name(), Relation: r, Laws: l}, err
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
	one := profiles.Bounds{Name: l.name, Relation: l.relation}
	for d := range one.Directions {
		one.Directions[d] = profiles.Direction{Upper: c.Upper[d][0].Profile, Lower: c.Lower[d][0].Profile}
	}
	all, err := Chain(one, l.records)
	return profiles.Repeat(all, c.Upper[0][0].Count), err
}
