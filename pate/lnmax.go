// LNMax, the Laplace noisy maximum: an answer, the probability that it is not the
// plurality (rounded up), and its costs.

package pate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pate/ballots"
)

// LNMax adds independent Laplace noise of scale 1/Gamma to every count and
// answers with the largest: the aggregator of Papernot et al., "Semi-supervised
// knowledge transfer for deep learning from private training data" (ICLR 2017),
// kept for comparison. Each query is 2·Gamma differentially private.
type LNMax struct {
	Gamma float64
}

// NewLNMax returns the aggregator with noise of scale 1/gamma.
func NewLNMax(gamma float64) (LNMax, error) {
	l := LNMax{gamma}
	return l, l.check()
}

func (l LNMax) check() error { return checkRange("gamma", l.Gamma, 1e-9, 100) }

// String returns the name, with the parameters if there are any.
func (l LNMax) String() string { return fmt.Sprintf("lnmax(gamma=%v)", l.Gamma) }

// Label answers one query with fresh noise from src; nil is the operating system's. The
// noise is an exact draw: the answer has the law that is accounted for.
func (l LNMax) Label(votes []int64, src rand.Source) (class int, err error) {
	if err := errorsOf(l.check(), ballots.CheckRow(votes)); err != nil {
		return 0, err
	}
	// Rounded up: more noise costs less.
	return noisyArgmax(votes, xmath.Up(1/l.Gamma, 1), random.Laplace, random.Source(src)), nil
}

// RDP returns the data-independent cost min(ε, ε²λ/2) of one query, ε = 2γ,
// rounded up; it implements rdp.Curve. Relation: one training example changed,
// both directions. The tight curve rdp.Pure(2γ) is slightly lower.
func (l LNMax) RDP(order float64) float64 {
	e := 2 * l.Gamma
	return xmath.Up(min(e, e*e*order/2), 3)
}

// LogQ returns the log of a bound on Pr[the answer is not the plurality],
// rounded up: Σ (2 + γΔ)/4·e^{−γΔ} over the other classes, at most 1.
//
// Theorem: Papernot et al. 2017, Lemma 4.
func (l LNMax) LogQ(votes []int64) (float64, error) {
	if err := errorsOf(l.check(), ballots.CheckRow(votes)); err != nil {
		return 0, err
	}
	return l.logQ(votes, make([]float64, 0, len(votes))), nil
}

func (l LNMax) logQ(votes []int64, terms []float64) float64 {
	top := 0
	for i, n := range votes {
		if n > votes[top] {
			top = i
		}
	}
	terms = terms[:0]
	for i, n := range votes {
		if i != top {
			x := l.Gamma * float64(votes[top]-n)
			terms = append(terms, xmath.Log((2+x)/4)-x)
		}
	}
	s := xmath.LogSum(terms)
	return min(0, s+u*(16+4*math.Abs(s)))
}

// DependentRDP returns the cost at one order of a query whose answer differs
// from the plurality with probability at most e^logQ, at most min(ε, ε²λ/2). It
// bounds D_λ(M(D) ‖ M(D')) for the D that cast the votes.
//
// Theorem: Papernot et al. 2017, Theorem 3, which is Theorem 6 of PATE 2018 at
// infinite orders. Condition: q ≤ 1/(e^ε + 1); beyond it the cap is returned.
func (l LNMax) DependentRDP(logQ, order float64) (float64, error) {
	if err := errorsOf(l.check(), checkOrder("order", order), checkLogQ(logQ)); err != nil {
		return 0, err
	}
	return l.upper(logQ, order), nil
}

func (l LNMax) upper(logQ, order float64) float64 {
	ind := l.RDP(order)
	e := 2 * l.Gamma
	// −log(e^ε + 1), lowered by its rounding error.
	limit := -e - math.Log1p(math.Exp(-e))
	limit += 4 * u * limit
	if !(logQ <= limit) {
		return ind
	}
	if math.IsInf(logQ, -1) {
		return 0
	}
	n := order - 1
	c := logQ + e
	a, ea := logSurvivors(order, logQ, c, u*(math.Abs(c)))
	b := logQ + n*e
	v, err := logSumExp(a, ea, b, u*(math.Abs(b)+2*n*e))
	return min(ind, (max(0, v+err)+underflow)/n*(1+2*u)+underflow)
}
