// How much a cost can change between neighbours, at every distance, and its smooth
// bound. It assumes votes of every teacher.

package pate

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pate/ballots"
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
// is for GNMax, Confident and rounded Interactive; it returns a *ConditionError
// where the theorem's conditions fail. Rows are grouped, so that equal
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
	var sigma float64
	switch a := l.aggregator.(type) {
	case GNMax:
		sigma = a.Sigma
	case Confident:
		sigma = a.Sigma2
	case Interactive:
		if !a.Rounded {
			return nil, fault.New("rounded", "false is not in [true]: smooth sensitivity needs a statistic that the mechanism itself rounds")
		}
		sigma = a.Sigma2
	default:
		return nil, fault.New("mechanism", "%v is not in [gnmax, confident, interactive]: smooth sensitivity is not known for it", l.aggregator)
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
	s.Cost = l.costAt(ctx, order, r, weights)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if r == DataIndependent {
		return s, nil // a constant cost
	}
	b, err := newLocalBound(sigma, order, l.votes.Classes(), l.votes.Teachers())
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

func (l *Ledger) costAt(ctx context.Context, order float64, r Report, weights func(int) float64) float64 {
	answer, check := l.pricers(order, r == DataIndependent)
	var s xmath.Sum
	dearest := newLargest()
	for i := range l.votes.Queries() {
		if i%askEach == 0 && ctx.Err() != nil {
			break // the caller looks again
		}
		if check != nil {
			s.Add(check(i))
		}
		switch w := weights(i); {
		case l.limited(r):
			dearest.add(answer(i), l.most)
		case w != 0:
			s.Add(w * answer(i))
		}
	}
	for _, x := range dearest.All() {
		s.Add(x)
	}
	return s.Value() * (1 + 8*u)
}

// histograms groups the queries that are charged for an answer by their sorted
// histogram: the first query of each group, and the weight of the group.
func (l *Ledger) histograms(weights func(int) float64) (first []int, weight []float64) {
	index := map[string]int{}
	w := make([]int64, l.votes.Classes())
	var key []byte
	for i := range l.votes.Queries() {
		p := weights(i)
		if p == 0 {
			continue
		}
		copy(w, l.votes.Row(i))
		slices.Sort(w)
		key = key[:0]
		for k := len(w) - 1; k >= 0 && w[k] > 0; k-- {
			key = binary.AppendUvarint(key, uint64(w[k]))
		}
		at, ok := index[string(key)]
		if !ok {
			at = len(first)
			index[string(key)] = at
			first, weight = append(first, i), append(weight, 0)
		}
		weight[at] += p
	}
	return first, weight
}

// addAnswers adds the arrays of the answers to sum. Chunks are fixed, so that
// the result does not depend on the number of cores.
func (l *Ledger) addAnswers(ctx context.Context, sum []float64, b *localBound, weights func(int) float64) error {
	first, weight := l.histograms(weights)
	chunks := min(64, max(1, 8_000_000/len(sum)), len(first))
	if chunks == 0 {
		return nil
	}
	parts := make([][]float64, chunks)
	errs := make([]error, len(first))
	// Chunk c takes rows c, c+chunks, …; progress is counted by rows.
	for c := range parts {
		parts[c] = make([]float64, len(sum))
	}
	var told sync.Mutex
	done := 0
	report := func() {
		told.Lock()
		defer told.Unlock()
		done++
		l.progress(done, len(first))
	}
	err := parallel.Each(ctx, chunks, nil, func(c int) {
		for k := c; k < len(first) && ctx.Err() == nil; k += chunks {
			w := append([]int64(nil), l.votes.Row(first[k])...)
			sort.Slice(w, func(i, j int) bool { return w[i] > w[j] })
			a, err := b.atDistance(w)
			if err != nil {
				errs[k] = fault.New("votes", "row %d: %w", first[k]+1, err)
				return
			}
			// What lies beyond the array repeats its end; differences are summed
			// as they stand, because the end enters every later distance.
			part := parts[c]
			for d := range part {
				part[d] += weight[k] * a[min(d, len(a)-1)]
			}
			if l.progress != nil {
				report()
			}
		}
	})
	if err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	for d := range sum {
		for c := range parts {
			sum[d] += parts[c][d]
		}
		sum[d] *= 1 + u*float64(len(first)+80) // plain sums of positive terms
	}
	return nil
}

// addChecks adds the arrays of all threshold checks to sum.
func (l *Ledger) addChecks(ctx context.Context, sum []float64, order float64) error {
	ls := thresholdLocal(l.thresholdTable(order))
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

// thresholdTable returns the cost of the check, with its error, at every value
// 0 … N of the statistic.
func (l *Ledger) thresholdTable(order float64) (cost, err []float64) {
	var c Confident
	switch a := l.aggregator.(type) {
	case Confident:
		c = a
	case Interactive:
		c = a.Confident
	}
	return c.table(order, l.votes.Teachers())
}

func (c Confident) table(order float64, teachers int64) (cost, err []float64) {
	price := thresholdCost(c.Sigma1)(order)
	cost, err = make([]float64, teachers+1), make([]float64, teachers+1)
	for v := range cost {
		cost[v], err[v] = price.at(thresholdLogQ(c.Threshold, c.Sigma1, float64(v)))
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

// ThresholdAtDistance returns the array L[0 … N] of a confident aggregator's
// check on one query whose largest count is v: L[d] bounds the local
// sensitivity of its cost for every value of the statistic within d of v.
func (c Confident) ThresholdAtDistance(v, teachers int64, order float64) ([]float64, error) {
	if err := errorsOf(c.check(), checkOrder("order", order), ballots.CheckTeachers(teachers)); err != nil {
		return nil, err
	}
	if teachers > maxSmoothTeachers {
		return nil, fault.New("teachers", "%d is not in [1, %d] for smooth sensitivity", teachers, maxSmoothTeachers)
	}
	if v < 0 || v > teachers {
		return nil, fault.New("v", "%d is not in [0, %d]", v, teachers)
	}
	return thresholdAtDistance(thresholdLocal(c.table(order, teachers)), int(v)), nil
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
	for d, v := range s.Local {
		if x := math.Exp(-beta*float64(d)) * v; x > ss {
			ss, distance = x, d
		}
	}
	// The discount's argument rounds to u of its size, which is below 1e3·d.
	return ss * (1 + u*(8+2*beta*float64(distance))), distance, nil
}
