// GNMax, the Gaussian noisy maximum: an answer, the probability that it is not the
// plurality (rounded up), and its costs.

package pate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pate/ballots"
)

// GNMax adds independent Gaussian noise of standard deviation Sigma to the
// count of every class and answers with the largest (PATE 2018, section 4.1).
type GNMax struct {
	Sigma float64
}

// NewGNMax returns the aggregator with the given standard deviation, in votes.
func NewGNMax(sigma float64) (GNMax, error) {
	g := GNMax{sigma}
	return g, g.check()
}

func (g GNMax) check() error { return checkSigma("sigma2", g.Sigma) }

// String returns the name, with the parameters if there are any.
func (g GNMax) String() string { return fmt.Sprintf("gnmax(sigma2=%v)", g.Sigma) }

// Label answers one query with fresh noise from src; nil is the operating system's. The
// noise is an exact draw: the answer has the law that is accounted for.
func (g GNMax) Label(votes []int64, src rand.Source) (class int, err error) {
	if err := errorsOf(g.check(), ballots.CheckRow(votes)); err != nil {
		return 0, err
	}
	return noisyArgmax(votes, g.Sigma, random.Normal, random.Source(src)), nil
}

// RDP returns the data-independent cost λ/σ² of one query, rounded up; it
// implements rdp.Curve. At λ = +Inf it is +Inf.
//
// Theorem: PATE 2018, Proposition 8: moving one vote changes the histogram by
// √2 in L2. Relation: one training example changed, both directions.
func (g GNMax) RDP(order float64) float64 { return xmath.Up(order/g.Sigma/g.Sigma, 3) }

// LogQ returns log q̃, q̃ ≥ Pr[the answer is not the plurality], rounded up: the
// sum over the other classes of Pr[noise makes up for the gap], at most 1.
//
// Theorem: PATE 2018, Proposition 7 (a union bound, exact for two classes).
func (g GNMax) LogQ(votes []int64) (float64, error) {
	if err := errorsOf(g.check(), ballots.CheckRow(votes)); err != nil {
		return 0, err
	}
	return newTails(g.Sigma, 0).logQ(votes), nil
}

// DependentRDP returns the cost at one order of a query whose answer differs
// from the plurality with probability at most e^logQ: Theorem 6 of PATE 2018 at
// the orders of Proposition 10 where its conditions hold, and never more than
// λ/σ². It bounds D_λ(M(D) ‖ M(D')) for the D that cast the votes.
func (g GNMax) DependentRDP(logQ, order float64) (float64, error) {
	if err := errorsOf(g.check(), checkOrder("order", order), checkLogQ(logQ)); err != nil {
		return 0, err
	}
	return g.cost(order).upper(logQ), nil
}

func (g GNMax) cost(order float64) gaussianCost {
	t := 1 / g.Sigma
	return newGaussianCost(order, t, t*t)
}

func checkLogQ(logQ float64) error {
	if math.IsNaN(logQ) || logQ > 0 {
		return fault.New("log-q", "%v is not in [-Inf, 0]", logQ)
	}
	return nil
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// tails holds Pr[N(0, 2σ²) > Δ] for gaps Δ = 0, 1, …: gaps are integers, so a
// table turns a query of m classes into m additions.
type tails struct {
	scale float64 // √2·σ
	p     []float64
}

// Beyond this many entries a table costs more than it saves.
const maxTable = 1 << 20

func newTails(sigma float64, teachers int64) *tails {
	t := &tails{scale: math.Sqrt2 * sigma}
	if teachers > 0 && teachers < maxTable {
		t.p = make([]float64, teachers+1)
		for d := range t.p {
			t.p[d] = xmath.NormalTail(float64(d) / t.scale)
			if t.p[d] < 1e-300 {
				t.p = t.p[:d] // the rest goes through logarithms
				break
			}
		}
	}
	return t
}

func (t *tails) log(gap int64) float64 { return xmath.LogNormalTail(float64(gap) / t.scale) }

// logQ returns log q̃ rounded up, at most 0.
func (t *tails) logQ(votes []int64) float64 {
	top := 0
	for i, n := range votes {
		if n > votes[top] {
			top = i
		}
	}
	best := votes[top]
	near := int64(math.MaxInt64) // the smallest gap
	for i, n := range votes {
		if i != top {
			near = min(near, best-n)
		}
	}
	var l float64
	if near < int64(len(t.p)) {
		// Linear: what is off the table is below 1e-300, and the sum is at least
		// p[near] ≥ 1e-300; add those tails at their largest.
		var s xmath.Sum
		var off int
		for i, n := range votes {
			switch d := best - n; {
			case i == top:
			case d < int64(len(t.p)):
				s.Add(t.p[d])
			default:
				off++
			}
		}
		l = xmath.Log(s.Value())
		if off > 0 {
			l = t.addOff(l, votes, top)
		}
	} else {
		l = t.addOff(math.Inf(-1), votes, top)
	}
	return min(0, l+logTailErr(l))
}

// addOff adds the tails of the gaps that the table does not hold.
func (t *tails) addOff(l float64, votes []int64, top int) float64 {
	at := func(d int64) float64 { return t.log(d) }
	largest := l
	for i, n := range votes {
		if d := votes[top] - n; i != top && d >= int64(len(t.p)) {
			largest = max(largest, at(d))
		}
	}
	if math.IsInf(largest, -1) {
		return largest
	}
	var s xmath.Sum
	s.Add(math.Exp(l - largest))
	for i, n := range votes {
		if d := votes[top] - n; i != top && d >= int64(len(t.p)) {
			s.Add(math.Exp(at(d) - largest))
		}
	}
	return largest + xmath.Log(s.Value())
}
