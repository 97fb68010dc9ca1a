// The cost of one query at every distance from the votes: tables that no votes enter. It
// assumes one order and one mechanism, and returns bounds that grow with the distance.

package pate

import (
	"math"
	"sort"

	"github.com/dpaccountant/accountant/internal/fault"
)

// far is the cost of one query at a distance: tables that no votes enter.
type far struct {
	order, ind float64
	gauss      *tails
	lnmax      *LNMax
	logQ, cost []float64 // R* at log q, ascending both, the larger of both directions
	checks     []checkAt // of every statistic and neighbour; nil without a check
	total      float64   // of all queries at every data set
	eta        float64   // relative accuracy of what is computed
}

// leastCost is the least cost in the tables: below it float64 has no relative accuracy, which
// the smoothness of a logarithm needs.
const leastCost = 1e-290

// checkAt is what a check with a statistic contributes: e^{(λ−1)D} − 1 of check and answer is
// alone + weight·(e^{(λ−1)D_answer} − 1).
type checkAt struct{ alone, weight float64 }

// The grid of log q, to which q is rounded up: a function of q that rises and that no votes
// enter takes the place of R*.
func farStep(logQ float64) float64 {
	if logQ < -16 {
		return 1.0 / 8
	}
	return 1.0 / 256
}

// addChecks tabulates four pairs for every statistic v: its neighbours v ± 1, in both
// directions.
func (f *far) addChecks(c Confident, teachers int64) error {
	for v := int64(0); v <= teachers; v++ {
		for _, w := range []int64{max(0, v-1), min(teachers, v+1)} {
			x := c.checkPair(float64(v), float64(w))
			for range 2 {
				s, e, ok := x.excess(f.order)
				z := f.order*x.p[0] - (f.order-1)*x.q[0]
				ez := (2*f.order-1)*x.err[0] + 8*u*f.order*(math.Abs(x.p[0])+math.Abs(x.q[0]))
				if !ok || z > 300 {
					return fault.New("sigma1", "%v is too small for a smooth bound at order %v", c.Sigma1, f.order)
				}
				f.checks = append(f.checks, checkAt{max(leastCost, s+e), math.Exp(z) * (1 + 2*ez + 8*u)})
				if s > leastCost {
					f.eta = max(f.eta, 2*e/s+2*ez)
				}
				x = x.reversed()
			}
		}
	}
	if f.eta > 1e-3 {
		return fault.New("sigma1", "%v is so large that rounding hides what its check costs", c.Sigma1)
	}
	return nil
}

// answer returns the cost of an answer with at most this q.
func (f *far) answer(logQ float64) float64 {
	return f.cost[min(len(f.cost)-1, sort.SearchFloat64s(f.logQ, logQ))]
}

// row returns F(d) of one query for d = 0 … most; counts are descending and are used up.
func (f *far) row(w []int64, statistic int, most int) []float64 {
	out := make([]float64, most+1)
	teachers := len(f.checks)/4 - 1
	for d := range out {
		cost := f.ind
		if d == 0 || w[0]-w[1] >= 2 {
			if d > 0 {
				w[0]--
				w[1]++
			}
			if f.lnmax != nil {
				cost = f.answer(f.lnmax.logQ(w, nil))
			} else {
				cost = f.answer(f.gauss.logQ(w))
			}
		} else {
			w[0], w[1] = 0, 0 // and so for every larger distance
		}
		out[d] = cost
		if f.checks != nil {
			grow := math.Expm1((f.order - 1) * cost)
			top := 0.0
			for _, c := range f.checks[4*max(0, statistic-d) : 4*(min(teachers, statistic+d)+1)] {
				top = max(top, c.alone+c.weight*grow)
			}
			out[d] = math.Log1p(top) / (f.order - 1) * (1 + 16*u)
			if math.IsInf(grow, 1) || math.IsInf(top, 1) {
				out[d] = f.total
			}
		}
		if d > 0 {
			out[d] = max(out[d], out[d-1])
		}
	}
	return out
}
