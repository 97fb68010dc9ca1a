// An interior method, for a first point and a bound. Both are approximate, and checked
// by weak duality.

package lp

import (
	"context"
	"errors"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Approximate returns a point that is nearly optimal, and an upper bound on the
// optimum that is proved whatever the point is worth: the way out where active
// constraints are so nearly dependent that Maximize fails. The point is inside the
// box; rows it keeps about as well as it is optimal. It ends when the two are within
// gap of each other, relatively, or when rounding lets it go no further, and does
// not alter what Maximize starts from; slack is that of Bound.
//
// It is the primal–dual interior-point method with Mehrotra's predictor and
// corrector (SIAM J. Optimization 2, 1992), whose linear systems have a positive
// diagonal added and so are never singular.
func (s *Solver) Approximate(ctx context.Context, gap, slack float64) (x []float64, bound float64, err error) {
	in, err := newInterior(s)
	if err != nil {
		return nil, 0, err
	}
	bound = math.Inf(1)
	least, idle := math.Inf(1), 0 // steps since the least gap so far
	for range maxInterior {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		bound = min(bound, s.boundFor(in.y, slack))
		in.residuals()
		left := bound - in.value() + in.infeasibility()
		if idle++; left < 0.9*least {
			least, idle = left, 0
		}
		if left <= gap*math.Abs(bound) || idle > maxIdle {
			break
		}
		if !in.step() {
			break
		}
		s.work += int64(s.n) * int64(s.n) * int64(len(s.rows)+s.n) / 4
	}
	x = make([]float64, s.n)
	for j := range x {
		x[j] = min(max(s.lo[j]+in.x[j], s.lo[j]), s.hi[j])
	}
	return x, bound, nil
}

const (
	maxInterior = 80
	maxIdle     = 5
)

// Bound returns an upper bound on the optimum, from the multipliers of the vertex
// at which Maximize ended, whether it succeeded or not. The right sides of the rows,
// as they were added, may be too small by slack: that much is granted.
func (s *Solver) Bound(slack float64) float64 {
	y := make([]float64, len(s.rows))
	for i, a := range s.active {
		if a.kind == below {
			y[a.index] += s.y[i]
		}
	}
	return s.boundFor(y, slack)
}

// Work returns a count of the multiplications made so far, about: a measure of
// effort that, other than time, is the same on every machine.
func (s *Solver) Work() int64 { return s.work }

// boundFor is weak duality: for any multipliers y ≥ 0 of the rows, and x in the
// box, c·x ≤ y·b + Σ_j max over x_j of (c_j − y·a_j)x_j. Rounding: sums of R rows
// and n columns err by at most (R + n + 4)u times the sum of magnitudes.
func (s *Solver) boundFor(y []float64, slack float64) float64 {
	const u = xmath.U
	total, mag := 0.0, 0.0
	left, size := append([]float64(nil), s.c...), make([]float64, s.n)
	for j, c := range s.c {
		size[j] = math.Abs(c)
	}
	for i, r := range s.rows {
		t := y[i]
		if !(t > 0) {
			continue
		}
		b := r.b + slack/r.scale
		total += t * b
		mag += t * math.Abs(b)
		for j, a := range r.a {
			left[j] -= t * a
			size[j] += t * math.Abs(a)
		}
	}
	for j, d := range left {
		end := s.lo[j]
		if d > 0 {
			end = s.hi[j]
		}
		total += d * end
		mag += size[j] * max(math.Abs(s.lo[j]), math.Abs(s.hi[j]))
	}
	if total += float64(len(s.rows)+s.n+4) * 2 * u * mag; math.IsNaN(total) {
		return math.Inf(1)
	}
	return total
}

// interior holds an iterate of the program in x − lo, t = hi − x and the slacks of
// the rows, all positive, with their multipliers z, w and y.
type interior struct {
	*Solver
	a              []float64 // rows × n
	b              []float64
	x, t, z, w     []float64 // n
	s, y           []float64 // rows
	rp, rd         []float64
	hess, scaled   []float64
	dx, dt, dz, dw []float64
	ds, dy         []float64
	rs, rx, rt     []float64
	mu             float64
}

func newInterior(s *Solver) (*interior, error) {
	n, m := s.n, len(s.rows)
	vec := func(n int) []float64 { return make([]float64, n) }
	in := &interior{Solver: s, a: vec(m * n), b: vec(m), x: vec(n), t: vec(n), z: vec(n), w: vec(n), s: vec(m), y: vec(m),
		rp: vec(m), rd: vec(n), hess: vec(n * n), scaled: vec(m * n), dx: vec(n), dt: vec(n), dz: vec(n), dw: vec(n),
		ds: vec(m), dy: vec(m), rs: vec(m), rx: vec(n), rt: vec(n)}
	size := 1e-300
	for _, c := range s.c {
		size = max(size, math.Abs(c))
	}
	for j := range n {
		d := s.hi[j] - s.lo[j]
		if !(d > 0) || math.IsInf(d, 1) {
			return nil, errors.New("lp: a variable without room has no interior")
		}
		in.x[j], in.t[j], in.z[j], in.w[j] = d/2, d/2, size, size
	}
	for i, r := range s.rows {
		copy(in.a[i*n:], r.a)
		in.b[i] = r.b
		for j, a := range r.a {
			in.b[i] -= a * s.lo[j]
		}
	}
	// Start where the rows hold, if scaling towards the lower ends gets there.
	scale := 1.0
	for i, b := range in.b {
		if v := in.row(i, in.x); b > 0 && v > 0.9*b {
			scale = min(scale, 0.9*b/v)
		}
	}
	for j := range n {
		in.x[j] *= scale
		in.t[j] = s.hi[j] - s.lo[j] - in.x[j]
	}
	for i, b := range in.b {
		in.s[i], in.y[i] = max(b-in.row(i, in.x), 1e-3), size
	}
	return in, nil
}

func (in *interior) row(i int, x []float64) float64 {
	v := 0.0
	for j, a := range in.a[i*in.n : (i+1)*in.n] {
		v += a * x[j]
	}
	return v
}

func (in *interior) value() float64 {
	v := 0.0
	for j, c := range in.c {
		v += c * (in.lo[j] + in.x[j])
	}
	return v
}

func (in *interior) infeasibility() float64 {
	worst := 0.0
	for _, r := range in.rp {
		worst = max(worst, math.Abs(r))
	}
	return worst
}

// residuals of A x + s = b and Aᵀy − z + w = c, and the mean complementarity.
func (in *interior) residuals() {
	mu := 0.0
	for j := range in.rd {
		in.rd[j] = in.c[j] + in.z[j] - in.w[j]
		mu += in.x[j]*in.z[j] + in.t[j]*in.w[j]
	}
	for i := range in.rp {
		in.rp[i] = in.b[i] - in.row(i, in.x) - in.s[i]
		mu += in.s[i] * in.y[i]
		for j, a := range in.a[i*in.n : (i+1)*in.n] {
			in.rd[j] -= a * in.y[i]
		}
	}
	in.mu = mu / float64(2*in.n+len(in.rp))
}

// step makes one predictor–corrector step, and reports that it got anywhere. It is long
// because both halves solve with the factors of one matrix.
func (in *interior) step() bool {
	n, m := in.n, len(in.rp)
	for i := range in.rp {
		d := math.Sqrt(in.y[i] / in.s[i])
		for j, a := range in.a[i*n : (i+1)*n] {
			in.scaled[i*n+j] = d * a
		}
	}
	h := blas64.Symmetric{N: n, Stride: n, Data: in.hess, Uplo: blas.Upper}
	clear(in.hess)
	if m > 0 {
		blas64.Syrk(blas.Trans, 1, blas64.General{Rows: m, Cols: n, Stride: n, Data: in.scaled}, 0, h)
	}
	top := 0.0
	for j := range n {
		in.hess[j*n+j] += in.z[j]/in.x[j] + in.w[j]/in.t[j]
		top = max(top, in.hess[j*n+j])
	}
	diagonal := make([]float64, n)
	for j := range n {
		diagonal[j] = in.hess[j*n+j]
	}
	upper := append([]float64(nil), in.hess...)
	var f blas64.Triangular
	for ridge := 0.0; ; ridge = max(1e-15, 100*ridge) {
		if ridge > 1e-6 {
			return false
		}
		copy(in.hess, upper)
		for j := range n {
			in.hess[j*n+j] = diagonal[j]*(1+ridge) + 1e-300*top
		}
		var ok bool
		if f, ok = lapack64.Potrf(h); ok {
			break
		}
	}
	// The predictor aims at complementarity 0, the corrector at the share of it
	// that the predictor could not remove, with its second-order terms.
	for j := range n {
		in.rx[j], in.rt[j] = -in.x[j]*in.z[j], -in.t[j]*in.w[j]
	}
	for i := range m {
		in.rs[i] = -in.s[i] * in.y[i]
	}
	in.direction(f)
	p, d := in.lengths()
	after := 0.0
	for j := range n {
		after += (in.x[j]+p*in.dx[j])*(in.z[j]+d*in.dz[j]) + (in.t[j]+p*in.dt[j])*(in.w[j]+d*in.dw[j])
	}
	for i := range m {
		after += (in.s[i] + p*in.ds[i]) * (in.y[i] + d*in.dy[i])
	}
	after /= float64(2*n + m)
	target := in.mu * math.Pow(after/in.mu, 3)
	for j := range n {
		in.rx[j] += target - in.dx[j]*in.dz[j]
		in.rt[j] += target - in.dt[j]*in.dw[j]
	}
	for i := range m {
		in.rs[i] += target - in.ds[i]*in.dy[i]
	}
	in.direction(f)
	p, d = in.lengths()
	p, d = min(1, 0.995*p), min(1, 0.995*d)
	if !(p > 1e-8 || d > 1e-8) {
		return false
	}
	for j := range n {
		in.x[j] += p * in.dx[j]
		in.t[j] = max(in.hi[j]-in.lo[j]-in.x[j], in.t[j]*1e-3)
		in.z[j] += d * in.dz[j]
		in.w[j] += d * in.dw[j]
	}
	for i := range m {
		in.s[i] += p * in.ds[i]
		in.y[i] += d * in.dy[i]
	}
	return true
}

// direction solves the Newton system with the factor f of its matrix
// Aᵀ(y/s)A + z/x + w/t.
func (in *interior) direction(f blas64.Triangular) {
	for j := range in.dx {
		in.dx[j] = in.rd[j] + in.rx[j]/in.x[j] - in.rt[j]/in.t[j]
	}
	for i := range in.rp {
		v := (in.rs[i] - in.y[i]*in.rp[i]) / in.s[i]
		for j, a := range in.a[i*in.n : (i+1)*in.n] {
			in.dx[j] -= a * v
		}
	}
	lapack64.Potrs(f, blas64.General{Rows: in.n, Cols: 1, Stride: 1, Data: in.dx})
	for j, dx := range in.dx {
		in.dt[j] = -dx
		in.dz[j] = (in.rx[j] - in.z[j]*dx) / in.x[j]
		in.dw[j] = (in.rt[j] + in.w[j]*dx) / in.t[j]
	}
	for i := range in.rp {
		in.ds[i] = in.rp[i] - in.row(i, in.dx)
		in.dy[i] = (in.rs[i] - in.y[i]*in.ds[i]) / in.s[i]
	}
}

// lengths returns how far primal and dual variables can go, at most 1/0.995.
func (in *interior) lengths() (primal, dual float64) {
	primal, dual = 1/0.995, 1/0.995
	shrink := func(length, v, dv float64) float64 {
		if dv < 0 {
			return min(length, -v/dv)
		}
		return length
	}
	for j := range in.x {
		primal = shrink(shrink(primal, in.x[j], in.dx[j]), in.t[j], in.dt[j])
		dual = shrink(shrink(dual, in.z[j], in.dz[j]), in.w[j], in.dw[j])
	}
	for i := range in.s {
		primal = shrink(primal, in.s[i], in.ds[i])
		dual = shrink(dual, in.y[i], in.dy[i])
	}
	return primal, dual
}
