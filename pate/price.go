// What a query costs at an order, in both directions, by each of three bounds: the exact law of
// its output, the best bound from the probability q of another answer, and Theorem 6.

package pate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/ballot"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/rdp"
)

// priceAccuracy is the relative accuracy of R* in a rate; that of a search for parameters, whose rates are bounds as well, is
// searchAccuracy.
const (
	priceAccuracy  = 1e-6
	searchAccuracy = 3e-3
)

// manyKinds is the number of different q above which they are rounded up before R* is worked
// out, which costs less than 2% of it: R* is at most q times a function that falls with q.
const manyKinds = 2048

// A kind is all that queries have in common that cost the same.
type kind struct {
	logQ, statistic float64
	votes           string // of Exact: the sorted histogram
	query           int    // of Exact with scores of a student: the query
}

// sortQueries finds the kinds of the queries.
func (l *Ledger) sortQueries(ctx context.Context) error {
	rounded := l.q.logQ
	if l.price == Best {
		different := map[float64]bool{}
		for _, x := range rounded {
			if different[x] = true; len(different) > manyKinds {
				rounded = slices.Clone(rounded)
				for i, x := range rounded {
					step := 1.0 / 64
					if x < -16 {
						step = 1.0 / 8
					}
					rounded[i] = min(0, math.Ceil(x/step)*step)
				}
				break
			}
		}
	}
	_, scored := l.aggregator.(interactive)
	known := map[kind]int{}
	l.kindOf = make([]int, l.votes.Queries())
	for i := range l.kindOf {
		if i%askEach == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		k := kind{logQ: rounded[i]}
		if l.q.check != nil {
			k.statistic = l.q.statistic[i]
		}
		if l.price == Exact {
			k.votes = histogramKey(l.votes.Row(i))
			if scored {
				k.query = i
			}
		}
		at, ok := known[k]
		if !ok {
			at = len(l.kinds)
			known[k] = at
			l.kinds = append(l.kinds, i)
			l.kindQ = append(l.kindQ, k.logQ)
		}
		l.kindOf[i] = at
	}
	return nil
}

// rates returns what every kind of query costs at the orders.
func (l *Ledger) rates(ctx context.Context, independent bool, orders []float64, progress func(done, total int)) ([][]rate, error) {
	out := make([][]rate, len(l.kinds))
	for k := range out {
		out[k] = make([]rate, len(orders))
	}
	if independent || l.price == Theorem6 {
		return out, parallel.Each(ctx, len(orders), progress, func(j int) {
			answer, check := l.pricers(orders[j], independent)
			for k, i := range l.kinds {
				if k%askEach == 0 && ctx.Err() != nil {
					return
				}
				r := &out[k][j]
				a := answer(i)
				r.answer = [2]float64{a, a}
				if check != nil {
					c := check(i)
					r.check = [2]float64{c, c}
				}
			}
		})
	}
	price := l.bestRates
	if l.price == Exact {
		price = l.exactRates
	}
	return out, parallel.Each(ctx, len(l.kinds), progress, func(k int) { price(k, orders, out[k]) })
}

// remembered is rates, kept for the next report where all orders are asked for at once.
func (l *Ledger) remembered(ctx context.Context, independent bool, orders []float64, progress func(done, total int)) ([][]rate, error) {
	if independent || l.price == Theorem6 || len(orders) < len(l.orders) {
		return l.rates(ctx, independent, orders, progress)
	}
	l.knowing.Lock()
	defer l.knowing.Unlock()
	if l.known != nil {
		return l.known, nil
	}
	out, err := l.rates(ctx, false, orders, progress)
	if err == nil {
		l.known = out
	}
	return out, err
}

// bestAnswer returns R* of an answer, in both directions.
func (l *Ledger) bestAnswer(logQ float64, orders []float64, out []rate) {
	logQ = min(logQ, math.Log1p(-1/float64(l.votes.Classes()))+2*u) // a plurality is as likely as any
	best := l.q.answer.fromQ(logQ, l.accuracy)
	for j, order := range orders {
		out[j].answer = best(order)
	}
}

func (l *Ledger) bestRates(k int, orders []float64, out []rate) {
	l.bestAnswer(l.kindQ[k], orders, out)
	if l.q.check == nil {
		return
	}
	c, n := l.q.confident, float64(l.votes.Teachers())
	v := l.q.statistic[l.kinds[k]]
	checks := []pair{c.checkPair(v, max(0, v-1)), c.checkPair(v, min(n, v+1))}
	for j, order := range orders {
		out[j].joint, out[j].check = jointRate(checks, order, out[j].answer)
	}
}

// jointRate returns the largest cost, over the laws of a check at a data set and a neighbour, of
// the check followed by an answer of the given cost if it passes, and of the check alone.
//
// With π and π′ the probabilities of passing, e^{(λ−1)D} = (1−π)^λ(1−π′)^{1−λ} +
// π^λπ′^{1−λ}e^{(λ−1)D_answer}. It is convex in π′, so that of a range of statistics the ends
// are the worst.
func jointRate(checks []pair, order float64, answer [2]float64) (joint, check [2]float64) {
	for _, x := range checks {
		for d := range 2 {
			if d == 1 {
				x = x.reversed()
			}
			alone := x.upper(order)
			check[d] = max(check[d], alone)
			both := xmath.Up(alone+answer[d], 1) // adaptive composition
			s, e, ok := x.excess(order)
			z := order*x.p[0] - (order-1)*x.q[0] // log π^λπ′^{1−λ}
			ez := (2*order-1)*x.err[0] + 4*u*(order*math.Abs(x.p[0])+order*math.Abs(x.q[0]))
			if more := z + (order-1)*answer[d]; ok && more < 300 {
				a := math.Exp(z) * math.Expm1((order-1)*answer[d])
				a += a * (2*ez + u*(8+2*math.Abs(z)+2*(order-1)*answer[d]))
				both = min(both, math.Log1p(s+e+a)/(order-1)*(1+8*u)+underflow)
			}
			joint[d] = max(joint[d], both)
		}
	}
	return joint, check
}

// best returns the best bound from q alone for noise that is ε-private, ε = 2γ, in both
// directions.
//
// Theorem: on the failing outcomes the likelihood ratio is between e^{−ε} and e^ε; S of
// twotails.go is convex in it, so that it is at an end there, and convex in how much of q is at
// which end, so that all of q is at one. It grows with q up to 1/(1 + e^ε), where it is that of
// every ε-private mechanism.
func (l lnMax) best(logQ, order float64) [2]float64 {
	e := 2 * l.gamma
	limit := l.RDP(order)
	if c, err := rdp.Pure(e); err == nil {
		limit = min(limit, c.RDP(order))
	}
	both := [2]float64{limit, limit}
	if last := -e - math.Log1p(math.Exp(-e)); !(logQ <= last*(1+4*u)) || math.IsInf(logQ, -1) {
		if math.IsInf(logQ, -1) {
			return [2]float64{}
		}
		return both
	}
	var worst [2]float64
	for _, shift := range []float64{-e, e} {
		y := logQ + shift
		err := u * (4 + 2*math.Abs(y) + 2*math.Abs(logQ))
		keep, other := xmath.Log1mExp(logQ), xmath.Log1mExp(y)
		errKeep := err*math.Exp(max(y, logQ))*2/-math.Expm1(max(y, logQ)) + 4*u*max(math.Abs(keep), math.Abs(other))
		x := pair{[]float64{keep, logQ}, []float64{other, y}, []float64{errKeep, err}}
		worst[0] = max(worst[0], x.upper(order))
		worst[1] = max(worst[1], x.reversed().upper(order))
	}
	return [2]float64{min(limit, worst[0]), min(limit, worst[1])}
}

// pricers return the costs of an answer and of a check by Theorem 6; check is nil without a
// threshold.
func (l *Ledger) pricers(order float64, independent bool) (answer, check func(i int) float64) {
	answer = pricer(l.q.answer.theorem6(order), l.q.logQ, independent)
	if l.q.check != nil {
		check = pricer(l.q.check(order).upper, l.q.checkLogQ, independent)
	}
	return answer, check
}

func pricer(price func(logQ float64) float64, logQ []float64, independent bool) func(i int) float64 {
	if independent {
		v := price(0)
		return func(int) float64 { return v }
	}
	return func(i int) float64 { return price(logQ[i]) }
}

// exactRates returns the largest divergences over the neighbours, in both directions. Where the
// laws are not worked out it is the best bound from q.
func (l *Ledger) exactRates(k int, orders []float64, out []rate) {
	answers, checks, joint, ok := l.laws(l.kinds[k])
	if !ok {
		l.bestRates(k, orders, out)
		return
	}
	largest := func(laws []pair, put func(r *rate) *[2]float64) {
		for _, x := range laws {
			y := x.reversed()
			for j, order := range orders {
				at := put(&out[j])
				at[0], at[1] = max(at[0], x.upper(order)), max(at[1], y.upper(order))
			}
		}
	}
	largest(answers, func(r *rate) *[2]float64 { return &r.answer })
	largest(checks, func(r *rate) *[2]float64 { return &r.check })
	largest(joint, func(r *rate) *[2]float64 { return &r.joint })
	// Rounding errors may be above what holds at every data set.
	for j, order := range orders {
		r := &out[j]
		for d := range 2 {
			r.answer[d] = min(r.answer[d], l.q.answer.RDP(order))
			if l.q.check != nil {
				r.check[d] = min(r.check[d], l.q.check(order).ind*(1+6*u))
				r.joint[d] = min(r.joint[d], xmath.Up(r.check[d]+r.answer[d], 1))
			}
		}
	}
}

// What a table of votes is made into before it is priced: for every query the bound on q and the
// statistic of its check, by each aggregator. It assumes that the parameters were checked.

// An Aggregator labels queries from votes: that of [NewGNMax], [NewConfident],
// [NewInteractive] or [NewLNMax].
type Aggregator interface {
	fmt.Stringer

	// Label runs the aggregator on one query with fresh noise from src; nil is the
	// operating system's. The noise is an exact draw: the answer has the law that is
	// accounted for.
	//
	// That of NewInteractive also takes N of its statistic, the number of all teachers, also
	// where some abstain from this query, and the student's class probabilities. Its
	// answer's class is the student's own, and Answered false, when the student is
	// reinforced. Other aggregators ignore both.
	Label(votes []int64, teachers int64, scores []float64, src rand.Source) (Answer, error)

	// Parameters returns the threshold and the standard deviation of a check, 0 without
	// one, and the scale of the noise of an answer.
	Parameters() (threshold, sigma1, scale float64)

	prepare(ctx context.Context, v *ballots.Votes, s *ballots.Scores) (*queries, error)
}

// askEach is the number of queries between two looks at a context.
const askEach = 1 << 12

// queries is what the cost of a table of votes depends on.
type queries struct {
	answer NoisyMax
	logQ   []float64 // log q̃ of the answers

	confident confident                        // the check and the answer, if there is a threshold
	check     func(order float64) gaussianCost // nil without a threshold
	statistic []float64                        // what is compared with the threshold
	checkLogQ []float64
	logPass   []float64
}

// A NoisyMax answers every query, with the largest count after noise: that of [NewGNMax] or [NewLNMax].
type NoisyMax interface {
	Aggregator

	// RDP returns the cost of one query at every data set, rounded up; it implements
	// rdp.Curve. Relation: one training example changed, both directions.
	RDP(order float64) float64
	// LogQ returns log q̃, q̃ ≥ Pr[the answer is not the plurality], rounded up, at most 0.
	LogQ(votes []int64) (float64, error)
	// DependentRDP returns the cost at one order of a query whose answer differs from the
	// plurality with probability at most e^logQ, never more than that of RDP. It bounds
	// D_λ(M(D) ‖ M(D')) for the D that cast the votes.
	DependentRDP(logQ, order float64) (float64, error)

	// bound returns log q̃ as a function of the histogram, rounded up; teachers 0 is any number of them.
	bound(teachers int64) func(votes []int64) float64
	// theorem6 returns the cost at an order as a function of log q.
	theorem6(order float64) func(logQ float64) float64
	// fromQ returns R* of log q as a function of the order, in both directions.
	fromQ(logQ, accuracy float64) func(order float64) [2]float64
	// laws returns the laws of the answer to a query, or false where they are not worked out.
	laws(h histogram) (winner, bool)
}

// labelMax returns the class of the largest count after noise.
func labelMax(votes []int64, scale float64, draw func(rand.Source) *random.Real, src rand.Source) (Answer, error) {
	if err := ballot.CheckVotes(votes); err != nil {
		return noAnswer, err
	}
	return Answer{noisyArgmax(votes, scale, draw, random.Source(src)), true}, nil
}

func logQ(a NoisyMax, votes []int64) (float64, error) {
	if err := ballot.CheckVotes(votes); err != nil {
		return 0, err
	}
	return a.bound(0)(votes), nil
}

func dependentRDP(a NoisyMax, logQ, order float64) (float64, error) {
	if err := checkOrder("order", order); err != nil {
		return 0, err
	}
	if math.IsNaN(logQ) || logQ > 0 {
		return 0, fault.New("log-q", "%v is not in [-Inf, 0]", logQ)
	}
	return a.theorem6(order)(logQ), nil
}

// prepareAnswers prepares an aggregator without a check.
func prepareAnswers(ctx context.Context, v *ballots.Votes, answer NoisyMax) (*queries, error) {
	bound := answer.bound(v.Teachers())
	q := &queries{answer: answer, logQ: make([]float64, v.Queries())}
	for i := range q.logQ {
		if i%askEach == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		q.logQ[i] = bound(v.Row(i))
	}
	return q, nil
}

func (g gnMax) prepare(ctx context.Context, v *ballots.Votes, _ *ballots.Scores) (*queries, error) {
	return prepareAnswers(ctx, v, g)
}

func (l lnMax) prepare(ctx context.Context, v *ballots.Votes, _ *ballots.Scores) (*queries, error) {
	return prepareAnswers(ctx, v, l)
}

func (c confident) prepare(ctx context.Context, v *ballots.Votes, _ *ballots.Scores) (*queries, error) {
	return c.prepareAt(ctx, v, func(i int) float64 { return float64(slices.Max(v.Row(i))) })
}

// prepareAt prepares the check with its statistic given per query.
func (c confident) prepareAt(ctx context.Context, v *ballots.Votes, statistic func(i int) float64) (*queries, error) {
	q, err := prepareAnswers(ctx, v, gnMax{c.sigma2})
	if err != nil {
		return nil, err
	}
	q.confident, q.check = c, thresholdCost(c.sigma1)
	q.statistic = make([]float64, v.Queries())
	q.checkLogQ = make([]float64, v.Queries())
	q.logPass = make([]float64, v.Queries())
	for i := range q.checkLogQ {
		if i%askEach == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		q.statistic[i] = statistic(i)
		q.checkLogQ[i] = thresholdLogQ(c.threshold, c.sigma1, q.statistic[i])
		q.logPass[i], _ = thresholdLogs(c.threshold, c.sigma1, q.statistic[i])
	}
	return q, nil
}

func (c interactive) prepare(ctx context.Context, v *ballots.Votes, s *ballots.Scores) (*queries, error) {
	if s == nil {
		return nil, fault.New("baseline", "is missing, must hold the student's scores for interactive aggregation")
	}
	if s.Queries() != v.Queries() || s.Classes() != v.Classes() {
		return nil, fault.New("baseline", "shape (%d, %d) is not the votes' (%d, %d)", s.Queries(), s.Classes(), v.Queries(), v.Classes())
	}
	return c.prepareAt(ctx, v, func(i int) float64 { return c.statistic(v.Row(i), s.Row(i), v.Teachers()) })
}

// Divergences of laws, and check and answer as one mechanism.
//
// Divergence. D_λ(P‖Q) = log(1 + Σ q·g(p/q))/(λ−1), g(x) = x^λ − 1 − λ(x−1) ≥ 0, and p − q of the likeliest
// outcome is minus the sum of the others: small positive numbers are summed, however close P and Q are. A query's
// cost is the largest over all neighbours, one vote moved (withdrawn or cast as well, if some teachers abstain);
// summed, it is the largest over all that one teacher's votes can be, given the counts.
//
// Check and answer are one mechanism, whose outcomes are "no answer" and every class: with π, π′ the
// probabilities of passing,
//
//	e^{(λ−1)D} = (1−π)^λ(1−π′)^{1−λ} + π^λπ′^{1−λ}·e^{(λ−1)D_answer}.
//
// That is the joint report, a bound without a transcript; it is convex in π′, so that the ends of a range of
// statistics are the worst.
