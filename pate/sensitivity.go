// How much a cost can change between neighbours, at every distance, and its smooth
// bound. It assumes votes of every teacher.

package pate

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
)

// A Sensitivity is how much the cost of a whole table of votes can change, by
// distance: Local[d] bounds the local sensitivity of Cost at every data set
// within d changed training examples (each changes one teacher, on all queries
// at once).
type Sensitivity struct {
	Order float64
	Cost  float64 // B_λ(D), the data-dependent cost at this order, rounded up
	Local []float64
	Bound bool // false where Cost.Bound is: for ExpectedNotABound and for a transcript
}

// NewSensitivity returns the sensitivity of the cost by Theorem 6 at one order, whatever the
// ledger's price. It
// is for GNMax, Confident and rounded Interactive; the error where one of the theorem's conditions fails, C2, C5 or
// C6, names it and the order. Rows are grouped, so that equal
// histograms are worked out once; memory is at most 64 arrays of one number per
// teacher, and 64 MB. Once ctx is done, the error is that of ctx.
//
// Theorem: PATE 2018, Theorems 20 and 24. The arrays that are added up are
// maxima over all distances up to d: for sensitivities at distance exactly d the
// discounted maximum of the sum is not β-smooth.
func (l *Ledger) NewSensitivity(ctx context.Context, order float64, r Report, answered []bool) (*Sensitivity, error) {
	if err := checkOrder("order", order); err != nil {
		return nil, err
	}
	gnmax, ok := l.q.answer.(gnMax)
	if !ok {
		return nil, fault.New("mechanism", "%v is not in [gnmax, confident, interactive]: smooth sensitivity is not known for it", l.aggregator)
	}
	if a, ok := l.aggregator.(interactive); ok && !a.rounded {
		return nil, fault.New("rounded", "false is not in [true]: smooth sensitivity needs a statistic that the mechanism itself rounds")
	}
	if r == Joint {
		return nil, fault.New("report", "joint is not in [expected, realised, worst, independent], whose cost by Theorem 6 has a smooth sensitivity")
	}
	weights, err := l.weights(r, answered)
	if err != nil {
		return nil, err
	}
	if l.limited(r) && r != DataIndependent {
		return nil, fault.New("max-answers", "smooth sensitivity is known for the cost of all queries only")
	}
	if l.votes.Short() > 0 {
		return nil, fault.New("votes", "%d rows have fewer than %d votes; smooth sensitivity needs the vote of every teacher", l.votes.Short(), l.votes.Teachers())
	}
	if l.votes.Teachers() > maxSmoothTeachers {
		return nil, fault.New("teachers", "%d is not in [1, %d] for smooth sensitivity", l.votes.Teachers(), maxSmoothTeachers)
	}
	s := &Sensitivity{Order: order, Local: make([]float64, l.votes.Teachers()+1), Bound: r != ExpectedNotABound && !(r == Realised && l.q.check != nil)}
	priced, err := Account(ctx, l.votes, l.aggregator, Options{Orders: []float64{order}, Price: Theorem6, Scores: l.scores, MaxAnswers: l.most})
	if err != nil {
		return nil, err
	}
	c, err := priced.Cost(ctx, r, answered)
	if err != nil {
		return nil, err
	}
	s.Cost = c.Total.Values[0]
	if r == DataIndependent {
		return s, nil // a constant cost
	}
	b, err := newLocalBound(gnmax.sigma, order, l.votes.Classes(), l.votes.Teachers())
	if err != nil {
		return nil, err
	}
	if l.q.check != nil {
		if err := l.addChecks(ctx, s.Local, order); err != nil {
			return nil, err
		}
	}
	if b.flat {
		return s, nil
	}
	return s, l.addAnswers(ctx, s.Local, b, weights)
}

// A tally is the queries whose histograms differ by the order of the classes alone, and with a check
// have the same statistic.
type tally struct {
	first  int     // the first of them
	votes  []int64 // descending
	weight float64 // of all together
}

// tallies returns those of the queries that have a weight.
func (l *Ledger) tallies(ctx context.Context, weights func(i int) float64) ([]tally, error) {
	type key struct {
		votes     string
		statistic float64
	}
	known := map[key]int{}
	var out []tally
	for i := range l.votes.Queries() {
		if i%askEach == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w := weights(i)
		if w == 0 {
			continue
		}
		k := key{votes: histogramKey(l.votes.Row(i))}
		if l.q.check != nil {
			k.statistic = l.q.statistic[i]
		}
		at, ok := known[k]
		if !ok {
			at = len(out)
			known[k] = at
			votes := slices.Clone(l.votes.Row(i))
			slices.SortFunc(votes, func(a, b int64) int { return cmp.Compare(b, a) })
			out = append(out, tally{first: i, votes: votes})
		}
		out[at].weight += w
	}
	return out, nil
}

// sumOver adds, to the entries of sum, those of an array for each tally times its weight. An array goes on with its
// last entry. Chunks are fixed, so that the sum does not depend on the number of cores.
func sumOver(ctx context.Context, rows []tally, sum []float64, progress func(done, total int), array func(t tally) ([]float64, error)) error {
	chunks := min(64, max(1, 8_000_000/len(sum)))
	parts, errs := make([][]float64, chunks), make([]error, chunks)
	err := parallel.Each(ctx, chunks, progress, func(c int) {
		parts[c] = make([]float64, len(sum))
		for k := c; k < len(rows) && ctx.Err() == nil; k += chunks {
			a, err := array(rows[k])
			if err != nil {
				errs[c] = err
				return
			}
			for d := range sum {
				parts[c][d] += rows[k].weight * a[min(d, len(a)-1)]
			}
		}
	})
	if err != nil {
		return err
	}
	for d := range sum {
		for c := range parts {
			sum[d] += parts[c][d]
		}
	}
	return cmp.Or(errs...)
}

// addAnswers adds the arrays of the answers to sum.
func (l *Ledger) addAnswers(ctx context.Context, sum []float64, b *localBound, weights func(int) float64) error {
	rows, err := l.tallies(ctx, weights)
	if err != nil {
		return err
	}
	err = sumOver(ctx, rows, sum, l.progress, func(t tally) ([]float64, error) {
		a, err := b.atDistance(slices.Clone(t.votes))
		if err != nil {
			err = fault.New("votes", "row %d: %w", t.first+1, err)
		}
		return a, err
	})
	for d := range sum {
		sum[d] *= 1 + u*float64(len(rows)+80) // plain sums of positive terms
	}
	return err
}

// addChecks adds the arrays of all threshold checks to sum.
func (l *Ledger) addChecks(ctx context.Context, sum []float64, order float64) error {
	ls := thresholdLocal(l.q.confident.table(order, l.votes.Teachers()))
	count := make([]float64, len(ls))
	for _, v := range l.q.statistic {
		count[int(v)]++
	}
	for v, n := range count {
		if n == 0 {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for d, x := range thresholdAtDistance(ls, v) {
			sum[d] += n * x
		}
	}
	for d := range sum {
		sum[d] *= 1 + u*float64(len(ls)+8)
	}
	return nil
}

// table returns the cost of the check, with its error, at every value 0 … N of the statistic.
func (c confident) table(order float64, teachers int64) (cost, err []float64) {
	price := thresholdCost(c.sigma1)(order)
	cost, err = make([]float64, teachers+1), make([]float64, teachers+1)
	for v := range cost {
		cost[v], err[v] = price.at(thresholdLogQ(c.threshold, c.sigma1, float64(v)))
	}
	return cost, err
}

// thresholdLocal returns the local sensitivity at every value of the statistic,
// rounded up.
func thresholdLocal(cost, err []float64) []float64 {
	ls := make([]float64, len(cost))
	for v := 1; v < len(cost); v++ {
		if cost[v] == cost[v-1] {
			continue
		}
		d := math.Abs(cost[v]-cost[v-1]) + err[v] + err[v-1]
		ls[v-1], ls[v] = max(ls[v-1], d), max(ls[v], d)
	}
	return ls
}

// thresholdAtDistance returns the largest local sensitivity within distance d of
// v, for every d.
func thresholdAtDistance(ls []float64, v int) []float64 {
	l := make([]float64, len(ls))
	top := 0.0
	for d := range l {
		if v-d >= 0 {
			top = max(top, ls[v-d])
		}
		if v+d < len(ls) {
			top = max(top, ls[v+d])
		}
		l[d] = top
	}
	return l
}

// Smooth returns SS_β = max_d e^{−βd}·Local[d], rounded up, and the distance
// where it is reached: a β-smooth upper bound on the local sensitivity of Cost.
//
// Theorem: PATE 2018, Theorem 24 (after Nissim, Raskhodnikova and Smith, STOC
// 2007). Condition: β > 0.
func (s *Sensitivity) Smooth(beta float64) (ss float64, distance int, err error) {
	if err := checkRange("beta", beta, 1e-12, 1e3); err != nil {
		return 0, 0, err
	}
	ss, distance = discounted(s.Local, beta)
	return ss, distance, nil
}
