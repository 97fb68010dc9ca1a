// What a table of votes costs, query by query and in all. It assumes that one training
// example changes one teacher's votes; costs are rounded up.

package pate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/queue"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/rdp"
)

// Account returns the ledger of labelling every query of v with a. Once ctx is
// done, the error is that of ctx, here and in the methods that take one.
func Account(ctx context.Context, v *ballots.Votes, a Aggregator, o Options) (*Ledger, error) {
	if v == nil {
		return nil, fault.New("votes", "is missing")
	}
	if a == nil {
		return nil, fault.New("mechanism", "is missing")
	}
	if o.Price = cmp.Or(o.Price, Best); !slices.Contains([]Price{Best, Exact, Theorem6}, o.Price) {
		return nil, fault.New("price", "%q is not in [best, exact, theorem6]", o.Price)
	}
	if o.Orders == nil {
		o.Orders = defaultOrders()
	}
	if err := checkOrders(o.Orders); err != nil {
		return nil, err
	}
	q, err := a.prepare(ctx, v, o.Scores)
	if err != nil {
		return nil, err
	}
	switch {
	case o.MaxAnswers < 0:
		return nil, fault.New("max-answers", "%d is not in [1, ∞)", o.MaxAnswers)
	case o.MaxAnswers > 0 && q.check == nil:
		return nil, fault.New("max-answers", "must be absent, because %v answers every query", a)
	}
	l := &Ledger{aggregator: a, votes: v, orders: slices.Clone(o.Orders), q: q, scores: o.Scores,
		price: o.Price, most: o.MaxAnswers, progress: o.Progress, accuracy: priceAccuracy}
	return l, l.sortQueries(ctx)
}

// A Cost is a Rényi cost, split by what was paid for. Threshold, Answer and
// Total are curves on the same orders.
type Cost struct {
	Report                   Report
	Threshold, Answer, Total rdp.Grid

	// Answered is the number of answers charged: the expected one for
	// ExpectedNotABound.
	Answered float64

	// ExPost says that the cost charges a transcript, which is random: it is no
	// bound of a Rényi divergence. At an order λ fixed in advance, except with
	// probability δ, the privacy loss log P(y)/P′(y) of the transcript y that was
	// drawn is at most Total(λ) + log(1/δ)/(λ−1), P′ being the law at a neighbour:
	// see Epsilon.
	ExPost bool

	// Forward and Reverse are the totals of the two directions: from the data set that voted
	// to a neighbour, and back. Total is the larger of both, at every order. By Theorem6 the
	// reverse is not known, has no orders, and Total is the forward direction only.
	Forward, Reverse rdp.Grid

	gaussian bool // λ times a number: that of Gaussian noise at every data set
}

// Bound reports whether the cost is proved to bound the Rényi divergence of the
// mechanism that ran.
func (c Cost) Bound() bool { return c.Report != ExpectedNotABound && !c.ExPost }

// Cost returns the total of all queries. The transcript says which queries were
// answered; it is required for Realised, and must be nil for every other report
// and for an aggregator that answers every query.
//
// Theorem: that of the ledger's Price for each step, for DataIndependent Proposition 8 of PATE
// 2018; adaptive composition at a fixed order (Mironov 2017, Proposition 1). Relation: one
// training example changed; direction: both, but by Theorem6 only from the data set that cast
// the votes to its neighbour. For Worst and DataIndependent the sum over every path of answers
// is at most the cost, for Realised see Cost.ExPost.
func (l *Ledger) Cost(ctx context.Context, r Report, answered []bool) (Cost, error) {
	c, err := l.Running(ctx, r, answered, []int{l.votes.Queries()})
	if err != nil {
		return Cost{}, err
	}
	return c[0], nil
}

// Running returns the costs of the first k queries for every k of cuts, which
// must ascend.
func (l *Ledger) Running(ctx context.Context, r Report, answered []bool, cuts []int) ([]Cost, error) {
	n := l.votes.Queries()
	weights, err := l.weights(r, answered)
	if err != nil {
		return nil, err
	}
	for i, k := range cuts {
		if k < 1 || k > n || i > 0 && k <= cuts[i-1] {
			return nil, fault.New(fmt.Sprintf("cuts[%d]", i), "%d is not in [1, %d] and ascending", k, n)
		}
	}
	costs := make([]Cost, len(cuts))
	_, isGaussian := l.q.answer.(gnMax)
	for i := range costs {
		g := func() rdp.Grid { return rdp.Grid{Orders: l.orders, Values: make([]float64, len(l.orders))} }
		costs[i] = Cost{Report: r, Threshold: g(), Answer: g(), Total: g(), Forward: g(), ExPost: r == Realised && l.q.check != nil,
			gaussian: r == DataIndependent && isGaussian}
		if r == DataIndependent || l.price != Theorem6 {
			costs[i].Reverse = g()
		}
	}
	var count xmath.Sum
	groups := make([][]group, len(cuts))
	from := 0
	for i, to := range cuts {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		groups[i] = l.groups(from, to, weights)
		for _, g := range groups[i] {
			count.AddProduct(g.count, g.weight)
		}
		costs[i].Answered = count.Value()
		if l.limited(r) {
			costs[i].Answered = min(costs[i].Answered, float64(l.most))
		}
		from = to
	}
	// A block of orders at a time, so that memory is bounded.
	block := max(1, min(len(l.orders), 2_000_000/len(l.kinds)))
	blocks := (len(l.orders) + block - 1) / block
	for b := range blocks {
		first := b * block
		orders := l.orders[first:min(first+block, len(l.orders))]
		var progress func(done, total int)
		if l.progress != nil {
			progress = func(done, total int) { l.progress(b*total+done, blocks*total) }
		}
		rates, err := l.remembered(ctx, r == DataIndependent, orders, progress)
		if err != nil {
			return nil, err
		}
		err = parallel.Each(ctx, len(orders), nil, func(j int) {
			l.column(ctx, first+j, r, groups, costs, func(kind int) rate { return rates[kind][j] })
		})
		if err != nil {
			return nil, err
		}
	}
	return costs, nil
}

// A group is a number of queries that cost the same at every order.
type group struct {
	kind          int
	weight, count float64
}

// groups returns the queries from … to−1 by what their cost depends on. Tables of
// votes hold the same few thousand histograms again and again.
func (l *Ledger) groups(from, to int, weight func(i int) float64) []group {
	type key struct {
		kind   int
		weight float64
	}
	known := map[key]int{}
	var out []group
	for i := from; i < to; i++ {
		k := key{l.kindOf[i], weight(i)}
		at, ok := known[k]
		if !ok {
			at = len(out)
			known[k] = at
			out = append(out, group{kind: k.kind, weight: k.weight})
		}
		out[at].count++
	}
	return out
}

// column fills order j of the costs, or ends early once ctx is done.
func (l *Ledger) column(ctx context.Context, j int, r Report, groups [][]group, costs []Cost, price func(kind int) rate) {
	var checks, answers, joint [2]xmath.Sum
	dearest := [2]largest{newLargest(), newLargest()}
	for k := range costs {
		for i, g := range groups[k] {
			if i%askEach == 0 && ctx.Err() != nil {
				return
			}
			one := price(g.kind)
			w := g.weight
			for d := range 2 {
				checks[d].AddProduct(g.count, one.check[d])
				joint[d].AddProduct(g.count, one.joint[d])
				a := one.answer[d]
				switch {
				case w == 0:
				case l.limited(r):
					for range min(int(g.count), l.most) {
						dearest[d].add(a, l.most)
					}
				default:
					answers[d].AddProduct(g.count, w*a)
				}
			}
		}
		// A compensated sum of exact products is good to 2u; weights and the last
		// sum round once.
		var check, answer, total [2]float64
		for d := range 2 {
			sa := answers[d]
			if l.limited(r) {
				sa = dearest[d].sum()
			}
			check[d], answer[d] = checks[d].Value()*(1+4*u), sa.Value()*(1+6*u)
			total[d] = (checks[d].Value() + sa.Value()) * (1 + 8*u)
			if r == Joint && l.q.check != nil {
				if both := joint[d].Value() * (1 + 4*u); both < total[d] {
					total[d], answer[d] = both, max(0, both-check[d])
				}
			}
		}
		d := 0
		if total[1] > total[0] {
			d = 1
		}
		costs[k].Threshold.Values[j], costs[k].Answer.Values[j], costs[k].Total.Values[j] = check[d], answer[d], total[d]
		costs[k].Forward.Values[j] = total[0]
		if len(costs[k].Reverse.Values) > 0 {
			costs[k].Reverse.Values[j] = total[1]
		}
	}
}

// largest holds the largest numbers added, the least of them first.
type largest struct{ *queue.Queue[float64] }

func newLargest() largest {
	return largest{queue.New(func(x, y float64) bool { return x < y })}
}

// add keeps the most largest numbers.
func (h largest) add(x float64, most int) {
	switch {
	case h.Len() < most:
		h.Add(x)
	case x > h.First():
		h.Replace(x)
	}
}

func (h largest) sum() (s xmath.Sum) {
	for _, x := range h.All() {
		s.Add(x)
	}
	return s
}

// weights returns how much of an answer each query is charged.
func (l *Ledger) weights(r Report, answered []bool) (func(i int) float64, error) {
	n := l.votes.Queries()
	one := func(int) float64 { return 1 }
	if !slices.Contains([]Report{Worst, Realised, DataIndependent, ExpectedNotABound, Joint}, r) {
		return nil, fault.New("report", "%q is not in [expected, realised, worst, independent, joint]", r)
	}
	if r == Joint && l.price == Theorem6 && l.q.check != nil {
		return nil, fault.New("report", "joint needs the price best or exact: Theorem 6 has none for a check and its answer together")
	}
	if l.q.check == nil {
		if answered != nil {
			return nil, fault.New("answered", "must be absent, because %v answers every query", l.aggregator)
		}
		return one, nil
	}
	if answered != nil && len(answered) != n {
		return nil, fault.New("answered", "%d entries are not one for each of %d queries", len(answered), n)
	}
	if answered != nil && (r == Worst || r == DataIndependent || r == Joint) {
		return nil, fault.New("answered", "must be absent for the %v report, which holds whatever is answered; a limit fixed in advance is max-answers", r)
	}
	if n := count(answered); l.most > 0 && n > l.most {
		return nil, fault.New("answered", "%d answers are more than %d, the most that was fixed in advance", n, l.most)
	}
	given := func(i int) float64 {
		if answered[i] {
			return 1
		}
		return 0
	}
	switch {
	case r == Realised && answered == nil:
		return nil, fault.New("answered", "is missing, must say which queries were answered for the realised report")
	case r == Realised:
		return given, nil
	case r == ExpectedNotABound:
		return func(i int) float64 { return math.Exp(l.q.logPass[i]) }, nil
	}
	return one, nil
}

func count(answered []bool) (n int) {
	for _, a := range answered {
		if a {
			n++
		}
	}
	return n
}

// limited reports whether the report charges only the MaxAnswers dearest answers:
// no path of answers costs more.
func (l *Ledger) limited(r Report) bool {
	return l.most > 0 && (r == Worst || r == DataIndependent || r == Joint)
}

// Which queries a cost charges for an answer, and what that makes of it: a bound, an ex-post
// statement, or neither.

// A Report says which queries are charged for an answer.
type Report string

const (
	// Worst charges every query for its check, and as many for an answer as can
	// be answered: all, or the Options.MaxAnswers dearest. It is a bound at the
	// data set that cast the votes.
	Worst Report = "worst"
	// Realised charges the answers that were given. Which they are is part of the
	// output, so that for an aggregator with a check this is a random number and
	// no (ε, δ) bound of the mechanism; it holds ex post only: see Cost.ExPost.
	Realised Report = "realised"
	// DataIndependent charges as Worst does, at the cost that does not depend on
	// the votes: a bound at every data set. It takes no transcript, and is the only
	// report that may be published as it stands.
	DataIndependent Report = "independent"
	// ExpectedNotABound weighs the cost of every answer by the probability that
	// it is given. It is what the tables of PATE 2018 print; it is not a bound on
	// any Rényi divergence: with votes (5,3,2), T=6, σ1=3, σ2=1 and λ=4 the exact
	// divergence is 2.350 and this is 1.700.
	ExpectedNotABound Report = "expected"
	// Joint prices the check of a query and the answer that may follow as one mechanism, whose
	// outcomes are "no answer" and every class: a bound at the data set that cast the votes,
	// without a transcript, at most Worst. With a limit on answers it is the smaller of both.
	// It needs Best or Exact; scores and votes must not depend on earlier answers.
	Joint Report = "joint"
)

// What a ledger holds: the votes, what their costs depend on, and the options they are priced
// with. The files that work costs out read it; only Account makes one.

// A Price says by which bound a query is priced from its votes.
type Price string

const (
	// Best is the best bound there is from q alone, in both directions: the two-tails theorem
	// of twotails.go. It is never above Theorem 6 where that holds.
	Best Price = "best"
	// Exact is the divergence of the query's law from that of every neighbour, in both
	// directions. Summed over queries it is exactly the largest that any teacher's votes can
	// make it, given the counts.
	Exact Price = "exact"
	// Theorem6 is the bound of PATE 2018, from the data set that voted to its neighbours only.
	Theorem6 Price = "theorem6"
)

// Options of Account; the zero value is a good default.
type Options struct {
	Orders []float64       // nil: 1.5, 2, …, 100
	Price  Price           // the bound by which queries are priced; "" is Best
	Scores *ballots.Scores // the student's scores, for Interactive only

	// MaxAnswers is fixed in advance: after as many answers no query is answered
	// any more. 0 sets no limit. For aggregators with a check only.
	MaxAnswers int

	// Progress is told how much of a total is done, never by two goroutines at
	// once.
	Progress func(done, total int)
}

// A Ledger holds what a table of votes cost, query by query.
type Ledger struct {
	aggregator Aggregator
	votes      *ballots.Votes
	orders     []float64
	q          *queries
	scores     *ballots.Scores
	price      Price
	most       int     // answers; 0 for no limit
	accuracy   float64 // of R*, relative
	progress   func(done, total int)

	known   [][]rate // of every kind, once they were worked out for all orders
	far     *far     // of the order that was last published at
	knowing sync.Mutex

	kindOf []int     // of every query
	kinds  []int     // a query of each kind
	kindQ  []float64 // log q̃ of each kind
}

// A rate is what one query costs at one order: its check, an answer, and both as one law whose
// outcomes are no answer and every class. The first of two numbers is the divergence from the
// data set that voted to a neighbour, the second the reverse.
type rate struct{ check, answer, joint [2]float64 }

// Why a transcript is no bound.
//
// A transcript is random. Which queries pass the check is part of what the mechanism releases, so a cost that
// counts them is a random number. One query with votes (5,5), T = 8, σ1 = 20, σ2 = ½: with probability 0.56 nothing
// is answered, and the check alone costs ε = 0.1775 at δ = 1e-5; but the mechanism's δ(0.1775) against votes (6,4)
// is 0.22. What holds, ex post: let c be the sum of the divergences charged to the transcript at an order λ, and L
// its privacy loss. Given the past every factor of exp((λ−1)Σ(L_i − c_i)) has mean at most 1, so the mean of the
// product is at most 1, and by Markov's inequality
//
//	L ≤ c + log(1/δ)/(λ−1),   except with probability δ.
//
// That is the classic conversion, for an order fixed in advance; K orders fixed in advance share δ (EpsilonExPost;
// --orders 20 is one order). It is a promise about the answers that came, not the (ε, δ) of the mechanism, and it
// is neither added to other costs nor published as one.
//
// --max-answers A, fixed before anything is answered, after which nothing is: every path of answers then costs
// at most the checks and the A dearest answers, so that this sum is a bound (worst), and Q checks and A answers at
// their data-independent costs are one for every data set (independent).
//
// That the last is no bound is not a subtlety: votes (5,3,2) against (6,3,1), T = 6, σ1 = 3, σ2 = 1, λ = 4 have the
// exact divergence 2.350; the expected cost is 1.700 (the worst-case sum is 4.222). To stop, or to choose
// parameters, by what was spent so far needs the filter of package rdp, on data-independent costs.
