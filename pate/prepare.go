// What a table of votes is made into before it is priced: for every query the bound on q and the
// statistic of its check, by each aggregator. It assumes that the parameters were checked.

package pate

import (
	"context"
	"fmt"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/pate/ballots"
)

// An Aggregator labels queries from votes: [GNMax], [Confident], [Interactive]
// or [LNMax].
type Aggregator interface {
	fmt.Stringer
	check() error
	prepare(ctx context.Context, v *ballots.Votes, s *ballots.Scores) (*queries, error)
}

// askEach is the number of queries between two looks at a context.
const askEach = 1 << 12

// queries is what the cost of a table of votes depends on.
type queries struct {
	logQ   []float64                        // log q̃ of the answers
	answer func(order float64) gaussianCost // nil for LNMax
	lnmax  *LNMax

	check     func(order float64) gaussianCost // nil without a threshold
	statistic []float64                        // what is compared with the threshold
	checkLogQ []float64
	logPass   []float64
}

func (g GNMax) prepare(ctx context.Context, v *ballots.Votes, _ *ballots.Scores) (*queries, error) {
	t := newTails(g.Sigma, v.Teachers())
	q := &queries{answer: g.cost, logQ: make([]float64, v.Queries())}
	for i := range q.logQ {
		if i%askEach == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		q.logQ[i] = t.logQ(v.Row(i))
	}
	return q, nil
}

func (l LNMax) prepare(ctx context.Context, v *ballots.Votes, _ *ballots.Scores) (*queries, error) {
	q := &queries{lnmax: &l, logQ: make([]float64, v.Queries())}
	terms := make([]float64, 0, v.Classes())
	for i := range q.logQ {
		if i%askEach == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		q.logQ[i] = l.logQ(v.Row(i), terms)
	}
	return q, nil
}

func (c Confident) prepare(ctx context.Context, v *ballots.Votes, _ *ballots.Scores) (*queries, error) {
	return c.prepareAt(ctx, v, func(i int) float64 { return float64(slices.Max(v.Row(i))) })
}

// prepareAt prepares the check with its statistic given per query.
func (c Confident) prepareAt(ctx context.Context, v *ballots.Votes, statistic func(i int) float64) (*queries, error) {
	q, err := GNMax{c.Sigma2}.prepare(ctx, v, nil)
	if err != nil {
		return nil, err
	}
	q.check = thresholdCost(c.Sigma1)
	q.statistic = make([]float64, v.Queries())
	q.checkLogQ = make([]float64, v.Queries())
	q.logPass = make([]float64, v.Queries())
	for i := range q.checkLogQ {
		if i%askEach == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		q.statistic[i] = statistic(i)
		q.checkLogQ[i] = thresholdLogQ(c.Threshold, c.Sigma1, q.statistic[i])
		q.logPass[i], _ = thresholdLogs(c.Threshold, c.Sigma1, q.statistic[i])
	}
	return q, nil
}

func (c Interactive) prepare(ctx context.Context, v *ballots.Votes, s *ballots.Scores) (*queries, error) {
	if s == nil {
		return nil, fault.New("baseline", "is missing, must hold the student's scores for interactive aggregation")
	}
	if s.Queries() != v.Queries() || s.Classes() != v.Classes() {
		return nil, fault.New("baseline", "shape (%d, %d) is not the votes' (%d, %d)", s.Queries(), s.Classes(), v.Queries(), v.Classes())
	}
	return c.prepareAt(ctx, v, func(i int) float64 { return c.statistic(v.Row(i), s.Row(i), v.Teachers()) })
}
