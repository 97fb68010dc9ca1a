// The optimal unbiased randomizer, with outputs anywhere on the real line.

package labeldp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// OptimalUnbiased returns the ε-DP unbiased randomizer of least half-loss under
// the prior, with outputs anywhere on the real line, and a certificate of its
// optimality: Theorem 6 of arXiv:2312.05659, without its output grid. It has at
// most 2k outputs for k labels, usually 2k − 2 or fewer.
//
// The guarantee is ε-DP under replacement of one label, and E[ŷ] = y for every
// label, also those of probability 0. How close to the optimum it is, the
// certificate says: RelGap is mostly below 1e-9 for ε from 1e-5 to 12 and larger
// outside, where rounding hides more. A gap costs accuracy, neither privacy nor
// unbiasedness. The optimum depends on the prior
// discontinuously: compare losses, not probabilities. Once ctx is done, the error
// is that of ctx.
func OptimalUnbiased(ctx context.Context, p Prior, eps float64) (Randomizer, Certificate, error) {
	const name = "optimal-unbiased"
	if err := cmp.Or(p.check(), checkEpsilon(eps)); err != nil {
		return nil, Certificate{}, err
	}
	if len(p.labels) == 1 {
		r := identity(name, p.labels, eps)
		return r, r.certify(0, 0), nil
	}
	q := newProblem(p, eps)
	o, err := q.find(ctx, p.known)
	if err != nil {
		return nil, Certificate{}, err
	}
	return q.finish(name, o.cols, o.primal, o.bound, o.iterations, 0)
}

// An optimum is the best unbiased randomizer that was found, with duals, feasible up
// to what bound allows for, that prove the bound.
type optimum struct {
	cols          []column
	primal, bound float64
	duals         *duals
	iterations    int
}

func (q *problem) optimum(ctx context.Context) (optimum, error) {
	// Above a finite ε debiased randomized response is optimal; its certificate is
	// closed, and holds where round-off defeats the interior-point method.
	var o optimum
	o.cols, o.duals = q.debiasedRR()
	o.primal, o.bound = q.value(o.cols), o.duals.bound(nil)
	if o.primal-o.bound <= 1e-12*o.primal {
		return o, nil
	}
	floor := o.primal
	for _, start := range []float64{1, 30} {
		in := newInterior(q, start)
		// One solve is nearly always enough. Zero probabilities leave duals
		// undetermined, and patterns that are no intervals slightly violated until
		// the gap is smaller.
		for _, rel := range []float64{1e-11, 1e-12, 1e-13, 1e-14} {
			before := in.iterations
			err := in.solve(ctx, rel)
			if ctx.Err() != nil {
				return optimum{}, err
			}
			o.iterations += in.iterations - before
			if b := in.dual.bound(nil); b > o.bound {
				o.bound, o.duals = b, &duals{q, slices.Clone(in.dual.lambda), slices.Clone(in.dual.mu)}
			}
			if found, value := in.best(); q.exactly(found) && value < floor {
				o.cols, o.primal = found, value
			}
			if err != nil || o.primal-o.bound <= 1e-10*o.primal {
				break // a solver that gave up leaves what it has, and the gap tells
			}
		}
		// Where nearly all labels lie at one end, the first start is so close to the
		// border that it takes thousands of steps to get away; the second is not.
		if o.primal-o.bound <= 1e-6*o.primal || allowed(ctx) == 0 {
			break
		}
	}
	return o, nil
}

// find returns the optimum of the prior, computed at most once for the same ε. Nobody may
// change it.
func (q *problem) find(ctx context.Context, k *known) (optimum, error) {
	if err := ctx.Err(); err != nil {
		return optimum{}, err
	}
	k.lock.Lock()
	eps, found := k.eps, k.found
	k.lock.Unlock()
	if eps == q.eps {
		return found.(optimum), nil
	}
	o, err := q.optimum(ctx)
	if err == nil {
		k.lock.Lock()
		k.eps, k.found = q.eps, o
		k.lock.Unlock()
	}
	return o, err
}

// exactly reports that columns make an unbiased randomizer, as finish demands.
func (q *problem) exactly(cols []column) bool {
	row, mean := q.residuals(cols)
	return row <= residualTol && mean <= 2*residualTol
}

// residualTol bounds how far probabilities may sum from 1, and means be from labels
// in units of the width of an unbiased randomizer's outputs, 2 in scaled units. Sums
// of 2k terms of size 1 round to 1e-13 for 500 labels.
const residualTol = 1e-11

// finish wraps the columns, with how far they are from the optimum at most. Privacy
// holds by construction. Unbiasedness is the solver's, and is demanded: rows that
// sum to 1 and means that are the labels (up to the bias allowed).
func (q *problem) finish(name string, cols []column, primal, dual float64, iterations int, bias float64) (*randomizer, Certificate, error) {
	r := newRandomizer(name, q.original, q.eps, q.atoms(cols))
	c := r.certify(iterations, bias)
	// No loss is negative; duals beyond float64 prove no more.
	if !(dual > 0) {
		dual = 0
	}
	c.Primal, c.Dual = primal*q.sc*q.sc, dual*q.sc*q.sc
	if primal > 0 {
		c.RelGap = max(0, (primal-dual)/primal)
	}
	if !(c.RowResidual <= residualTol && c.MeanResidual <= 2*residualTol*q.sc) {
		return nil, Certificate{}, fmt.Errorf("solver: the result is inexact: probabilities sum to 1 ± %.3g and means are off by %.3g at epsilon %v",
			c.RowResidual, c.MeanResidual, q.eps)
	}
	return r, c, nil
}

// The design of a randomizer in scaled units, in which labels lie in [0, 1] and values
// near 1.

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

// The optimum, its dual and its certificate.
//
// Write E = e^ε. Any column of an ε-DP matrix is a mixture of staircase columns s^S, with E on a set S of labels
// ("up") and 1 elsewhere. So a randomizer is a list of atoms (output t, set S, weight c): c·E is the probability of
// t from a label that is up, c from the others. ε-DP holds by construction, and a linear program in the weights is
// left,
//
//	minimize Σ c Σ_y p_y s_y ½(t − y)²   subject to   Σ c s = 1,  Σ c t s = y,
//
// with only 2k equalities for k labels: an optimum has at most 2k atoms, whatever the grid of outputs. Without a
// grid, the patterns S of an optimum are intervals of labels that move up with the output (Claims 11 to 14), none of
// them all labels.
//
// Feasibility. Outputs T admit an unbiased randomizer exactly if they reach from y₁ − R/(E − 1) to y_k + R/(E −
// 1), R = y_k − y₁. For the largest output U, U − y₁ = E[U − M(y₁)] ≤ e^ε E[U − M(y_k)] = e^ε (U − y_k); solve for
// U. Conversely the two ends alone suffice.
//
// Dual. With r_y(t) = λ_y + μ_y(t − y) − ½p_y(t − y)² the dual is to maximize Σ λ_y subject to F(t) = Σ r_y(t) +
// (E − 1) Σ r_y(t)₊ ≤ 0 for every output t. The best pattern at t is {r_y(t) > 0}. If F exceeds 0 by at most v,
// lowering every λ_y by v/(k − 1 + E) repairs it; hence any duals give a lower bound Σ λ − k·v/(k − 1 + E). On the
// real line the maximum of F is found exactly: the zeros of the r_y cut it into pieces on which F is a concave
// quadratic. That is the certificate: it covers all 2^k patterns and all real outputs, and charges its own rounding.
//
// Two solvers. OptimalUnbiased eliminates t from the dual (h_S = λ·s + (μ·s)²/2w_S ≤ 0, w_S = Σ p s, best
// output μ·s/w_S) and runs a primal–dual interior-point method over intervals. In prefix-sum coordinates each
// pattern touches six variables, so that an iteration costs O(k²) plus one Cholesky factorization of order 2k.
// OptimalUnbiasedGrid is the simplex method of internal/lp, with columns priced in closed form. They share the
// pricing and the push to a vertex of optima that are not unique, and agree.
//
// When debiased randomized response is optimal. Complementary slackness leaves it one candidate for the duals;
// it is optimal exactly if that is feasible. This is tried first: it settles large ε in closed form, where values of
// order e^−ε would drown in rounding.
//
// Limits. ε²·loss/R² → ½ as ε → 0, half of what Laplace and staircase noise have. Rounding outputs to a grid of
// spacing Δ costs at most Δ²/8.
