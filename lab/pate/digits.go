package main

// The votes of teachers on real digits: what each mechanism answers, what students learn from
// it, and what it costs by each accounting. It reads what lab/digits writes.

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/dpaccountant/accountant/lab/logit"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/lab/votes"
	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/rdp"
)

const digitDelta = 1e-5

// The orders of the costs that take long to work out.
var fewOrders = []float64{2, 2.5, 3, 3.5, 4, 5, 6, 8, 10, 14, 20, 32}

// A pool is queries with their right labels and the teachers' votes.
type pool struct {
	votes  *ballots.Votes
	labels []int
}

func readPool(from, name string) (p pool) {
	qs := try.Must(votes.Read(filepath.Join(from, name), 0, 9))
	rows := make([][]int64, len(qs))
	for i, q := range qs {
		rows[i] = q.Counts(10)
		p.labels = append(p.labels, q.Label)
	}
	p.votes = try.Must(ballots.NewVotes(rows, int64(len(qs[0].Numbers))))
	return p
}

// plurality returns the share of queries whose plurality is right.
func (p pool) plurality() float64 {
	n := 0
	for i, want := range p.labels {
		if row := p.votes.Row(i); slices.Index(row, slices.Max(row)) == want {
			n++
		}
	}
	return float64(n) / float64(len(p.labels))
}

// label runs the mechanism, which needs no scores, on every query, with the noise of a seed.
func (p pool) label(a pate.Aggregator, seed uint64) []pate.Answer {
	src := rand.NewPCG(seed, 2)
	out := make([]pate.Answer, p.votes.Queries())
	for i := range out {
		out[i] = try.Must(a.Label(p.votes.Row(i), 0, nil, src))
	}
	return out
}

// right returns how many answers there are, and the share of right ones.
func right(answers []pate.Answer, labels []int) (answered int, share float64) {
	for i, x := range answers {
		if x.Class < 0 {
			continue
		}
		answered++
		if x.Class == labels[i] {
			share++
		}
	}
	return answered, share / float64(max(answered, 1))
}

// A mean is one of several draws, with its standard error.
type mean struct{ value, err float64 }

func meanOf(x []float64) (m mean) {
	m.value, m.err = plots.Mean(x)
	return m
}

func (m mean) String() string { return fmt.Sprintf("%.3f ± %.3f", m.value, m.err) }

// draws runs the mechanism several times.
func (p pool) draws(a pate.Aggregator, seeds int) (answered, share mean) {
	var n, s []float64
	for seed := range seeds {
		x := p.label(a, uint64(seed))
		k, r := right(x, p.labels)
		n, s = append(n, float64(k)), append(s, r)
	}
	return meanOf(n), meanOf(s)
}

// chosen are the parameters, picked on queries that are not reported.
type chosen struct {
	ln, gn, confident pate.Aggregator
	order             map[string]float64 // at which a bound is published
}

var (
	gammas = []float64{0.3, 0.2, 0.1, 0.07, 0.05, 0.03, 0.02}
	sigmas = []float64{5, 10, 15, 20, 25, 30, 40}
)

const (
	choosingSeeds = 4
	lossAllowed   = 0.02
	leastAnswered = 0.4
)

// choose picks, on the queries to choose by, the most noise with which labels are right nearly as
// often as without; and of the checks that answer enough queries, with labels right as often as without noise, that
// with the least data-independent cost.
func choose(p pool) (c chosen) {
	clean := p.plurality()
	for _, g := range gammas {
		a := try.Must(pate.NewLNMax(g))
		if _, share := p.draws(a, choosingSeeds); share.value >= clean-lossAllowed {
			c.ln = a
		}
	}
	for _, s := range sigmas {
		a := try.Must(pate.NewGNMax(s))
		if _, share := p.draws(a, choosingSeeds); share.value >= clean-lossAllowed {
			c.gn = a
		}
	}
	least := math.Inf(1)
	for _, t := range []float64{40, 50, 60, 70} {
		for _, s1 := range []float64{20, 40, 60} {
			for _, s2 := range sigmas[1:5] {
				a := try.Must(pate.NewConfident(t, s1, s2))
				n, share := p.draws(a, 2)
				q := float64(len(p.labels))
				cost := q/(s1*s1) + 2*n.value/(s2*s2)
				if n.value >= leastAnswered*q && share.value >= clean && cost < least {
					least, c.confident = cost, a
				}
			}
		}
	}
	c.order = map[string]float64{}
	for _, a := range c.mechanisms() {
		cost, _ := bill(p, a, pate.Best, fewOrders, nil)
		_, c.order[a.String()] = try.Must2(cost[0].Epsilon(cost[0].Total, pate.Improved, digitDelta))
	}
	return c
}

func (c chosen) mechanisms() []pate.Aggregator { return []pate.Aggregator{c.ln, c.gn, c.confident} }

// bill returns the cost of the first queries, for each of the cuts (nil: all), by a bound at these votes.
func bill(p pool, a pate.Aggregator, price pate.Price, orders []float64, cuts []int) ([]pate.Cost, *pate.Ledger) {
	l := try.Must(pate.Account(context.Background(), p.votes, a, pate.Options{Price: price, Orders: orders}))
	report := pate.Worst
	if _, sigma1, _ := a.Parameters(); sigma1 > 0 && price != pate.Theorem6 {
		report = pate.Joint
	}
	if cuts == nil {
		cuts = []int{p.votes.Queries()}
	}
	return try.Must(l.Running(context.Background(), report, nil, cuts)), l
}

// A priced mechanism: ε of all queries by every accounting.
type priced struct {
	name                                            string
	classic, independent, theorem6, expected, rStar float64
	exact                                           [2]float64 // to a neighbour, and back
	composed                                        [2]float64 // the larger direction, as an interval
	published, order                                float64
	answered, share                                 mean
}

func price(p pool, a pate.Aggregator, order float64) (x priced) {
	ctx := context.Background()
	x.name, x.order = a.String(), order
	eps := func(c pate.Cost, g rdp.Grid, by pate.Conversion) float64 {
		e, _ := try.Must2(c.Epsilon(g, by, digitDelta))
		return e
	}
	old, l := bill(p, a, pate.Theorem6, nil, nil)
	x.theorem6 = eps(old[0], old[0].Total, pate.Improved)
	ind := try.Must(l.Cost(ctx, pate.DataIndependent, nil))
	x.classic, x.independent = eps(ind, ind.Total, pate.Classic), eps(ind, ind.Total, pate.Improved)
	printed := try.Must(l.Cost(ctx, pate.ExpectedNotABound, nil))
	x.expected = eps(printed, printed.Total, pate.Classic)
	best, bestLedger := bill(p, a, pate.Best, fewOrders, nil)
	x.rStar = eps(best[0], best[0].Total, pate.Improved)
	law, exactLedger := bill(p, a, pate.Exact, fewOrders, nil)
	x.exact = [2]float64{eps(law[0], law[0].Forward, pate.Improved), eps(law[0], law[0].Reverse, pate.Improved)}
	forward, reverse := try.Must2(exactLedger.ExactEpsilon(ctx, digitDelta))
	x.composed = [2]float64{max(forward[0], reverse[0]), max(forward[1], reverse[1])}
	out := try.Must(bestLedger.Publish(ctx, publication(order), digitDelta, rand.NewPCG(0, 3)))
	x.published = out.Private.Median
	x.answered, x.share = p.draws(a, 10)
	return x
}

func publication(order float64) pate.Publication {
	return pate.Publication{Order: order, Beta: 0.02, Noise: 0.15, Confidence: 0.95}
}

// study trains a student on the answers to the first queries.
func study(images []logit.Image, answers []pate.Answer) logit.Model {
	var data []logit.Image
	for i, x := range answers {
		if x.Class >= 0 {
			data = append(data, logit.Image{X: images[i].X, Label: x.Class})
		}
	}
	return logit.Training{Steps: 100, Rate: 2}.Train(data, 10, nil)
}

// students returns the accuracy, on images of the test, of students that learn from the first queries.
func students(p pool, images []logit.Image, a pate.Aggregator, cuts []int, seeds int) []mean {
	shares := make([][]float64, len(cuts))
	for seed := range seeds {
		x := p.label(a, uint64(seed))
		for i, k := range cuts {
			shares[i] = append(shares[i], study(images, x[:k]).Right(images[len(x):]))
		}
	}
	out := make([]mean, len(cuts))
	for i := range out {
		out[i] = meanOf(shares[i])
	}
	return out
}

// rounds are two rounds: Confident labels half of the queries and a student learns from its
// answers; Interactive compares the other half with the student, who learns from both.
type rounds struct {
	interactive                    pate.Aggregator
	answered, reinforced           mean
	share, first, second           mean
	independent, classic, thisPath mean
}

// twoRoundsOf runs them several times. It is long because a run is one path, whose second round
// depends on the first.
func twoRoundsOf(p pool, images []logit.Image, c pate.Aggregator, seeds int) (x rounds) {
	ctx, half := context.Background(), p.votes.Queries()/2
	threshold, sigma1, sigma2 := c.Parameters()
	x.interactive = try.Must(pate.NewInteractive(threshold/2, 0.9, sigma1, sigma2, true))
	early := try.Must(p.votes.First(half))
	var rows [][]int64
	for i := half; i < p.votes.Queries(); i++ {
		rows = append(rows, p.votes.Row(i))
	}
	late := try.Must(ballots.NewVotes(rows, p.votes.Teachers()))
	one := try.Must(pate.Account(ctx, early, c, pate.Options{Orders: fewOrders}))
	firstCost := try.Must(one.Cost(ctx, pate.DataIndependent, nil))
	joint := try.Must(one.Cost(ctx, pate.Joint, nil))
	cols := make([][]float64, 8)
	put := func(i int, v float64) { cols[i] = append(cols[i], v) }
	for seed := range seeds {
		answers := pool{early, p.labels[:half]}.label(c, uint64(seed))
		student := study(images, answers)
		put(0, student.Right(images[p.votes.Queries():]))
		var scores [][]float64
		src := rand.NewPCG(uint64(seed), 4)
		asked, told := 0, 0
		for i, row := range rows {
			s := student.Scores(images[half+i].X)
			scores = append(scores, s)
			a := try.Must(x.interactive.Label(row, p.votes.Teachers(), s, src))
			if a.Answered {
				asked++
			} else if a.Class >= 0 {
				told++
			}
			answers = append(answers, a)
		}
		for _, a := range answers[:half] {
			if a.Answered {
				asked++
			}
		}
		table := try.Must(ballots.NewScores(scores, p.votes.Teachers(), false))
		two := try.Must(pate.Account(ctx, late, x.interactive, pate.Options{Orders: fewOrders, Scores: table}))
		both := func(r pate.Report, first pate.Cost, by pate.Conversion) float64 {
			second := try.Must(two.Cost(ctx, r, nil))
			sum := rdp.OnOrders(rdp.Compose(first.Total, second.Total), fewOrders)
			e, _ := try.Must2(first.Epsilon(sum, by, digitDelta))
			return e
		}
		_, share := right(answers, p.labels)
		put(1, float64(asked))
		put(2, float64(told))
		put(3, share)
		put(4, study(images, answers).Right(images[p.votes.Queries():]))
		for i, e := range []struct {
			r     pate.Report
			first pate.Cost
			by    pate.Conversion
		}{{pate.DataIndependent, firstCost, pate.Improved}, {pate.DataIndependent, firstCost, pate.Classic}, {pate.Joint, joint, pate.Improved}} {
			put(5+i, both(e.r, e.first, e.by))
		}
	}
	for i, m := range []*mean{&x.first, &x.answered, &x.reinforced, &x.share, &x.second, &x.independent, &x.classic, &x.thisPath} {
		*m = meanOf(cols[i])
	}
	return x
}

// passes returns the probability that the check lets a query with this largest count pass.
func passes(a pate.Aggregator, most float64) float64 {
	threshold, sigma1, _ := a.Parameters()
	return math.Erfc((threshold-most)/(sigma1*math.Sqrt2)) / 2
}
