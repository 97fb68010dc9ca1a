// The design of a randomizer in scaled units, in which labels lie in [0, 1] and values
// near 1.

package labeldp

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A problem is the design of an unbiased randomizer in scaled units: labels are
// centred and divided by half the width of the smallest feasible output range,
// R/2·coth(ε/2), which makes outputs O(1) for every ε and label scale.
//
// A randomizer is a set of staircase columns: an output t and a pattern of
// labels "up"; a column gives its output c·e^ε from the labels up and c from the
// others. Whatever the weights c ≥ 0, it is ε-DP by construction.
type problem struct {
	k        int
	y, p     []float64 // scaled labels, probabilities
	e1       float64   // e^ε − 1
	mid, sc  float64
	cumP     []float64 // cumP[j] = Σ_{i<j} p_i
	eps      float64
	original []float64           // unscaled labels
	exact    map[float64]float64 // scaled outputs of a grid to what was given
}

func newProblem(prior Prior, eps float64) *problem {
	k := len(prior.labels)
	lo, hi := prior.labels[0], prior.labels[k-1]
	q := &problem{k: k, p: prior.probs, e1: math.Expm1(eps), eps: eps, original: prior.labels,
		mid: lo/2 + hi/2, sc: (hi - lo) / 2 / math.Tanh(eps/2)}
	q.y = make([]float64, k)
	q.cumP = make([]float64, k+1)
	var sum xmath.Sum
	for i, y := range prior.labels {
		q.y[i] = ((y - lo) - (hi - y)) / 2 / q.sc
		sum.Add(q.p[i])
		q.cumP[i+1] = sum.Value()
	}
	return q
}

// A column is one staircase column with its weight, in scaled units. up is nil
// for the constant column (every label alike).
type column struct {
	t, c float64
	up   []bool
}

func interval(k, a, b int) []bool {
	up := make([]bool, k)
	for i := a; i < b; i++ {
		up[i] = true
	}
	return up
}

// value returns E ½(t − y)² of the columns, summed without cancellation.
func (q *problem) value(cols []column) float64 {
	var s xmath.Sum
	for _, c := range cols {
		base, extra := 0.0, 0.0
		for i, y := range q.y {
			d := q.p[i] * (c.t - y) * (c.t - y)
			base += d
			if c.up != nil && c.up[i] {
				extra += d
			}
		}
		s.Add(c.c * (base + q.e1*extra) / 2)
	}
	return s.Value()
}

// residuals returns the largest violation of Σ_j M_yj = 1 and Σ_j M_yj t_j = y.
func (q *problem) residuals(cols []column) (row, mean float64) {
	for i, y := range q.y {
		var r, m xmath.Sum
		r.Add(-1)
		m.Add(-y)
		for _, c := range cols {
			s := c.c
			if c.up != nil && c.up[i] {
				s += c.c * q.e1
			}
			r.Add(s)
			m.AddProduct(s, c.t)
		}
		row, mean = max(row, math.Abs(r.Value())), max(mean, math.Abs(m.Value()))
	}
	return row, mean
}
