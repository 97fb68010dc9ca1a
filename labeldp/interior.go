// The optimum without a grid, by an interior method. What it returns is a candidate: the
// certificate decides what it is worth.

package labeldp

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/lp"
)

// interior is the primal–dual interior-point method for the grid-free problem.
//
// The dual is: maximize Σ(λ_y + y μ_y) subject to, for every pattern S with
// column s, weight w = Σ p_y s_y,
//
//	h_S = λ·s + (μ·s)²/(2w) ≤ 0,
//
// whose best output is μ·s/w. By Theorem 6 of arXiv:2312.05659 intervals of
// labels suffice as patterns. In the coordinates Λ_j = λ_1 + … + λ_j and
// N_j = μ_1 + … + μ_j the pattern [a, b) touches only the indices k, b and a of
// each, so that the Newton matrix costs O(1) per pattern.
type interior struct {
	*problem
	pats []pattern
	g    []float64 // objective in the coordinates (Λ, N)

	d, grad, rhs  []float64 // in prefix sums
	dual          *duals    // those of pricing.go, which keep their digits when values are of order e^−ε
	c, dc         []float64
	h, out        []float64 // h_S and μ·s/w at x
	hTry, outTry  []float64
	mat, fact     []float64
	scale, slopes []float64
	iterations    int
	primalValue   float64 // dual objective plus gap
	last          int     // the constraint violated last
}

// A pattern is an interval [a, b) of labels that are up, 0 ≤ a < b ≤ k, not all.
// Its column in prefix coordinates has the entries val at the indices at.
type pattern struct {
	a, b int
	w    float64
	n    int
	at   [3]int
	val  [3]float64
}

// newInterior starts from λ_y = −start/k and μ = 0, which is farther from all borders the
// larger start is.
func newInterior(q *problem, start float64) *interior {
	k := q.k
	in := &interior{problem: q}
	for a := range k {
		for b := a + 1; b <= k; b++ {
			if a == 0 && b == k {
				continue
			}
			p := pattern{a: a, b: b, w: 1 + q.e1*(q.cumP[b]-q.cumP[a])}
			p.at[0], p.val[0], p.n = k-1, 1, 1
			if b == k {
				p.val[0] += q.e1
			} else {
				p.at[p.n], p.val[p.n] = b-1, q.e1
				p.n++
			}
			if a > 0 {
				p.at[p.n], p.val[p.n] = a-1, -q.e1
				p.n++
			}
			in.pats = append(in.pats, p)
		}
	}
	in.g = make([]float64, 2*k)
	in.g[k-1] = 1
	in.g[2*k-1] = q.y[k-1]
	for j := range k - 1 {
		in.g[k+j] = q.y[j] - q.y[j+1]
	}
	n := len(in.pats)
	vec := func(n int) []float64 { return make([]float64, n) }
	in.d, in.grad, in.rhs, in.scale = vec(2*k), vec(2*k), vec(2*k), vec(2*k)
	in.c, in.dc, in.h, in.out, in.hTry, in.outTry = vec(n), vec(n), vec(n), vec(n), vec(n), vec(n)
	in.mat, in.fact = vec(4*k*k), vec(4*k*k)
	in.slopes = vec(k + 1)
	in.dual = &duals{q, vec(k), vec(k)}
	for j, y := range q.y {
		in.dual.lambda[j] = -start/float64(k) - q.p[j]*y*y/2
		in.dual.mu[j] = -q.p[j] * y
	}
	in.constraints(in.dual, in.h, in.out)
	for i := range in.c {
		in.c[i] = start / (float64(n) * -in.h[i])
	}
	return in
}

// constraints evaluates h_S and the best outputs at the duals, up to the first
// that is violated. The one violated last is looked at first: a line search
// meets it again. Sums over the labels that are up are formed term by term: those of
// prefix sums would multiply their rounding by e^ε, while values are of order e^−ε.
func (in *interior) constraints(d *duals, h, out []float64) (feasible bool) {
	// Σ r_y over all labels is level + t·(slope − t·ΣP/2).
	level := 0.0
	for j, y := range in.y {
		in.slopes[j+1] = in.slopes[j] + d.mu[j] + in.p[j]*y
		level += d.lambda[j] - y*(d.mu[j]+in.p[j]*y/2)
	}
	if !in.constraint(in.last, level, d, h, out) {
		return false
	}
	for i := range in.pats {
		if !in.constraint(i, level, d, h, out) {
			in.last = i
			return false
		}
	}
	return true
}

// constraint evaluates one of them.
func (in *interior) constraint(i int, level float64, d *duals, h, out []float64) bool {
	p := &in.pats[i]
	// t maximizes, so that its error counts squared: prefix sums will do.
	slope := in.slopes[in.k]
	t := (slope + in.e1*(in.slopes[p.b]-in.slopes[p.a])) / p.w
	up := 0.0
	ys, ps, ls, ms := in.y[p.a:p.b], in.p[p.a:p.b], d.lambda[p.a:p.b], d.mu[p.a:p.b]
	for j, y := range ys {
		u := t - y
		up += ls[j] + u*(ms[j]-ps[j]*u/2)
	}
	out[i], h[i] = t, level+t*(slope-t*in.cumP[in.k]/2)+in.e1*up
	return h[i] < 0
}

// residual writes Σ c_S ∇h_S − g into grad.
func (in *interior) residual(c, out, grad []float64) {
	k := in.k
	for i, g := range in.g {
		grad[i] = -g
	}
	in.accumulate(c, out, grad[:k], grad[k:])
}

// accumulate adds Σ c_S s to l and Σ c_S t_S s to m.
func (in *interior) accumulate(c, t, l, m []float64) {
	for i := range in.pats {
		p := &in.pats[i]
		ci, zi := c[i], c[i]*t[i]
		for j := range p.n {
			l[p.at[j]] += ci * p.val[j]
			m[p.at[j]] += zi * p.val[j]
		}
	}
}

// normal adds Σ_S [a·(s, t s)(s, t s)ᵀ + b·(0, s)(0, s)ᵀ] to the upper triangle
// of mat.
func (q *problem) normal(mat []float64, pats []pattern, coef func(i int) (t, a, b float64)) {
	k, n := q.k, 2*q.k
	for i := range pats {
		p := &pats[i]
		t, a, b := coef(i)
		for u := range p.n {
			for v := range p.n {
				r, s := p.at[u], p.at[v]
				vv := p.val[u] * p.val[v]
				mat[r*n+k+s] += a * t * vv
				if r <= s {
					mat[r*n+s] += a * vv
					mat[(k+r)*n+k+s] += (a*t*t + b) * vv
				}
			}
		}
	}
}

// solveSPD solves mat·x = b in place of b for a symmetric positive
// semidefinite mat (upper triangle), after scaling its diagonal to 1 and adding
// a ridge just large enough for a Cholesky factor.
func solveSPD(mat, fact, scale, b []float64) error {
	n := len(b)
	for i := range n {
		scale[i] = 1
		if d := mat[i*n+i]; d > 0 {
			scale[i] = 1 / math.Sqrt(d)
		}
	}
	for ridge := 1e-14; ridge < 1e-3; ridge *= 10 {
		for i := range n {
			for j := i; j < n; j++ {
				fact[i*n+j] = mat[i*n+j] * scale[i] * scale[j]
			}
			fact[i*n+i] += ridge
		}
		t, ok := lapack64.Potrf(blas64.Symmetric{N: n, Stride: n, Data: fact, Uplo: blas.Upper})
		if !ok {
			continue
		}
		for i := range b {
			b[i] *= scale[i]
		}
		lapack64.Potrs(t, blas64.General{Rows: n, Cols: 1, Stride: 1, Data: b})
		for i := range b {
			b[i] *= scale[i]
		}
		return nil
	}
	return fault.New("solver", "the Newton matrix is not positive definite")
}

const (
	maxIterations = 300
	minStep       = 1e-10
)

// roundOff is the gap, in scaled units, below which the duals hold no more
// information: they are a few ulps of values of order e^−ε.
func (in *interior) roundOff() float64 { return 1e-17 / (1 + in.e1) }

// iterationWork is what an iteration takes in multiplications: the factors of the matrix, and each pattern a few times,
// measured.
func (in *interior) iterationWork() int64 {
	k, n := int64(in.k), int64(len(in.pats))
	return 3*k*k*k + 200*n
}

// solve runs the method, from where it is, until the duality gap is below rel
// times the value.
// The duals it ends with are strictly feasible up to round-off, so an early end
// costs tightness, never validity: the caller certifies what it gets. It is long because
// an iteration is one formula after another on the same vectors.
func (in *interior) solve(ctx context.Context, rel float64) error {
	k, n := in.k, len(in.pats)
	sigma := 0.1
	best, idle := math.Inf(1), 0
	cTry, gTry := make([]float64, n), make([]float64, 2*k)
	dTry := &duals{in.problem, make([]float64, k), make([]float64, k)}
	for ; in.iterations < maxIterations; in.iterations++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := take(ctx, in.iterationWork()); err != nil {
			return err
		}
		in.residual(in.c, in.out, in.grad)
		eta, worst, obj := 0.0, 0.0, 0.0
		for i, c := range in.c {
			eta -= c * in.h[i]
		}
		for _, g := range in.grad {
			worst = max(worst, math.Abs(g))
		}
		for _, l := range in.dual.lambda {
			obj += l
		}
		in.primalValue = obj + eta
		if eta < max(rel*math.Abs(obj), in.roundOff()) && worst < 1e-9 {
			return nil
		}
		if idle++; eta < 0.9*best {
			best, idle = eta, 0
		}
		if idle > 25 && eta < 1e-8*math.Abs(obj) {
			return nil // round-off; the certificate will tell
		}
		tau := sigma * eta / float64(n)

		clear(in.mat)
		in.normal(in.mat, in.pats, func(i int) (t, a, b float64) {
			return in.out[i], in.c[i] / -in.h[i], in.c[i] / in.pats[i].w
		})
		for i := range in.dc {
			in.dc[i] = tau/-in.h[i] - in.c[i]
		}
		clear(in.rhs)
		in.accumulate(in.dc, in.out, in.rhs[:k], in.rhs[k:])
		for i := range in.d {
			in.d[i] = -in.grad[i] - in.rhs[i]
		}
		if err := solveSPD(in.mat, in.fact, in.scale, in.d); err != nil {
			return err
		}
		step := 1.0
		for i := range in.pats {
			p := &in.pats[i]
			dir := 0.0
			for j := range p.n {
				dir += p.val[j] * (in.d[p.at[j]] + in.out[i]*in.d[k+p.at[j]])
			}
			in.dc[i] += in.c[i] / -in.h[i] * dir
			if in.dc[i] < 0 {
				step = min(step, 0.995*in.c[i]/-in.dc[i])
			}
		}
		merit := in.merit(in.grad, in.c, in.h, tau)
		for ; step >= minStep; step *= 0.6 {
			for {
				pl, pm := 0.0, 0.0
				for i, y := range in.y {
					dl, dm := in.d[i]-pl, in.d[k+i]-pm
					pl, pm = in.d[i], in.d[k+i]
					dTry.lambda[i] = in.dual.lambda[i] + step*(dl+y*dm)
					dTry.mu[i] = in.dual.mu[i] + step*dm
				}
				if in.constraints(dTry, in.hTry, in.outTry) || step < minStep {
					break
				}
				step *= 0.8
			}
			for i := range cTry {
				cTry[i] = in.c[i] + step*in.dc[i]
			}
			in.residual(cTry, in.outTry, gTry)
			// Asking for a decrease here stalls on skewed priors; a bound on the
			// growth is enough in practice.
			if in.merit(gTry, cTry, in.hTry, tau) <= 10*merit {
				break
			}
		}
		if step < minStep {
			return nil
		}
		in.dual, dTry = dTry, in.dual
		in.c, cTry = cTry, in.c
		in.h, in.hTry = in.hTry, in.h
		in.out, in.outTry = in.outTry, in.out
		switch {
		case step > 0.9:
			sigma = 0.02
		case step < 0.2:
			sigma = 0.5
		default:
			sigma = 0.1
		}
	}
	return nil
}

func (in *interior) merit(grad, c, h []float64, tau float64) float64 {
	s := 0.0
	for _, g := range grad {
		s += g * g
	}
	for i := range c {
		d := c[i]*-h[i] - tau
		s += d * d
	}
	return math.Sqrt(s)
}

// primal drops the patterns of weight below drop, and light ones whose
// constraint is slack, and restores the equalities by repeated corrections of
// least norm. If more than 2k − 1 patterns are left
// the optimum is not unique, and a vertex of the optimal face is returned.
func (in *interior) primal(drop, ratio float64) []column {
	var pats []pattern
	var c, t []float64
	for i := range in.pats {
		w := in.c[i] * (1 + in.e1)
		if slack := in.c[i] < ratio*-in.h[i] && w < 1e3*drop; w >= drop && !slack {
			pats, c, t = append(pats, in.pats[i]), append(c, in.c[i]), append(t, in.out[i])
		}
	}
	in.restore(pats, c, t)
	cols := in.columns(pats, c, t)
	if len(cols) < 2*in.k || len(cols) > 16*in.k {
		return cols // beyond, nothing has been dropped: there is no optimum yet
	}
	weights, err := in.purified(cols)
	if err != nil {
		return cols
	}
	var pats2 []pattern
	var c2, t2 []float64
	for i, w := range weights {
		if w*(1+in.e1) >= drop {
			pats2, c2, t2 = append(pats2, pats[i]), append(c2, w), append(t2, t[i])
		}
	}
	in.restore(pats2, c2, t2)
	pure := in.columns(pats2, c2, t2)
	row, mean := in.residuals(pure)
	if was := in.value(cols); row > 1e-14 || mean > 1e-14 || in.value(pure) > was*(1+1e-11) {
		return cols // ill-conditioned: more atoms than needed do no harm
	}
	return pure
}

// best returns the primal solution with the fewest atoms that is as good as the
// interior point: within 1e-10, and round-off of its value.
func (in *interior) best() (cols []column, value float64) {
	for _, keep := range [][2]float64{{1e-7, 1e4}, {1e-7, 10}, {1e-9, 0}, {0, 0}} {
		cols = in.primal(keep[0], keep[1])
		value = in.value(cols)
		row, mean := in.residuals(cols)
		if row < 1e-13 && mean < 1e-13 && value <= in.primalValue*(1+1e-10)+10*in.roundOff() {
			break
		}
	}
	return cols, value
}

// purified returns weights of columns that are a vertex of the optimal face: where the
// optimum is not unique, an interior method returns a mixture of all of them. The value must
// not depend on the weights by more than round-off.
func (in *interior) purified(cols []column) ([]float64, error) {
	m, e := 2*in.k, 1+in.e1
	rhs := in.onesAndZeros()
	vectors, weights := make([][]float64, len(cols)), make([]float64, len(cols))
	for j, c := range cols {
		vectors[j], weights[j] = in.vector(c.t, c.up, m), c.c*e
	}
	weights, err := lp.Independent(rhs, vectors, weights)
	for j := range weights {
		weights[j] /= e
	}
	return weights, err
}

func (in *interior) columns(pats []pattern, c, t []float64) []column {
	cols := make([]column, len(pats))
	for i, p := range pats {
		cols[i] = column{t[i], c[i], interval(in.k, p.a, p.b)}
	}
	return cols
}

// restore moves weights c and outputs t onto Σ c s = 1, Σ c t s = y by the
// correction that minimizes Σ (δc/c)² + Σ δt², linearized and repeated.
func (in *interior) restore(pats []pattern, c, t []float64) {
	k := in.k
	sub := &interior{problem: in.problem, pats: pats, g: in.g}
	for range 5 {
		sub.residual(c, t, in.grad)
		clear(in.mat)
		in.normal(in.mat, pats, func(i int) (ti, a, b float64) { return t[i], c[i] * c[i], c[i] * c[i] })
		for i, g := range in.grad {
			in.d[i] = -g
		}
		if solveSPD(in.mat, in.fact, in.scale, in.d) != nil {
			return
		}
		for i := range pats {
			p := &pats[i]
			da, db := 0.0, 0.0
			for j := range p.n {
				da += p.val[j] * in.d[p.at[j]]
				db += p.val[j] * in.d[k+p.at[j]]
			}
			t[i] += c[i] * db
			c[i] = max(c[i]+c[i]*c[i]*(da+t[i]*db), 0)
		}
	}
}
