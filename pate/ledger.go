// What a ledger holds: the votes, what their costs depend on, and the options they are priced
// with. The files that work costs out read it; only Account makes one.

package pate

import (
	"fmt"
	"slices"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/pate/ballots"
)

// A Price says by which bound a query is priced from its votes.
type Price int

const (
	// Best is the best bound there is from q alone, in both directions: the two-tails theorem
	// of docs/pate.md. It is never above Theorem 6 where that holds.
	Best Price = iota
	// Exact is the divergence of the query's law from that of every neighbour, in both
	// directions. Summed over queries it is exactly the largest that any teacher's votes can
	// make it, given the counts.
	Exact
	// Theorem6 is the bound of PATE 2018, from the data set that voted to its neighbours only.
	Theorem6
)

var priceNames = [...]string{"best", "exact", "theorem6"}

// String returns the name that UnmarshalText takes.
func (p Price) String() string {
	if p < 0 || int(p) >= len(priceNames) {
		return fmt.Sprintf("price(%d)", int(p))
	}
	return priceNames[p]
}

// UnmarshalText is the inverse of String.
func (p *Price) UnmarshalText(name []byte) error {
	i := slices.Index(priceNames[:], string(name))
	if i < 0 {
		return fault.New("price", "%q is not in [best, exact, theorem6]", name)
	}
	*p = Price(i)
	return nil
}

// Options of Account; the zero value is a good default.
type Options struct {
	Orders []float64       // nil: 1.5, 2, …, 100
	Price  Price           // the bound by which queries are priced
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
	most       int // answers; 0 for no limit
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

// LogQ returns a bound on the log of the probability that query i, if answered,
// is not answered with its plurality.
func (l *Ledger) LogQ(i int) float64 { return l.q.logQ[i] }

// LogPass returns the log of the probability that query i passes the check; 0
// for an aggregator without one.
func (l *Ledger) LogPass(i int) float64 {
	if l.q.check == nil {
		return 0
	}
	return l.q.logPass[i]
}

// sigma2 returns the standard deviation of an answer's noise.
func (l *Ledger) sigma2() float64 {
	if a, ok := l.aggregator.(GNMax); ok {
		return a.Sigma
	}
	return l.confident().Sigma2
}

// confident returns the check and the answer of an aggregator that has a check.
func (l *Ledger) confident() Confident {
	switch a := l.aggregator.(type) {
	case Confident:
		return a
	case Interactive:
		return a.Confident
	}
	return Confident{}
}
