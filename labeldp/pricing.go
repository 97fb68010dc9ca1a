// The best output for given duals, over all patterns and all real outputs: the
// certificate of an optimum.

package labeldp

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// duals is a candidate solution (λ, μ) of the dual, in the form that keeps its
// digits for large ε: with
//
//	r_y(t) = λ_y + μ_y (t − y) − ½ p_y (t − y)²
//
// it is feasible on a set T of outputs if F(t) = Σ_y r_y(t) + (e^ε − 1) Σ_y r_y(t)₊
// is at most 0 on T, and then proves that no randomizer has a value below Σ_y λ_y.
type duals struct {
	*problem
	lambda, mu []float64
}

// at returns F(t) and a bound on its rounding error. Each r_y comes from five
// operations, which err by at most 4 ulps of the sum of its magnitudes; sums are
// compensated, which adds 2 ulps of the sum, and nothing that depends on k.
// Labels whose r_y may have the wrong sign are charged as if up.
func (d *duals) at(t float64) (f, err float64) {
	var sum xmath.Sum
	mag := 0.0
	for i, y := range d.y {
		x := t - y
		a, b, c := d.lambda[i], d.mu[i]*x, d.p[i]*x*x/2
		r := a + b - c
		m := math.Abs(a) + math.Abs(b) + c
		mag += m
		if r > -8*xmath.U*m {
			mag += d.e1 * m
			r += d.e1 * max(r, 0)
		}
		sum.Add(r)
	}
	return sum.Value(), 8 * xmath.U * mag
}

// pattern returns the labels up in the best column at t.
func (d *duals) pattern(t float64) []bool {
	up := make([]bool, d.k)
	for i, y := range d.y {
		x := t - y
		up[i] = d.lambda[i]+d.mu[i]*x-d.p[i]*x*x/2 > 0
	}
	return up
}

// breaks returns the sorted real zeros of all r_y: between two of them the best
// pattern does not change. Zeros beyond float64, of labels of next to no probability, are left out:
// there F is far below 0 by the other labels.
func (d *duals) breaks(buf []float64) []float64 {
	buf = buf[:0]
	add := func(t float64) {
		if !math.IsInf(t, 0) && !math.IsNaN(t) {
			buf = append(buf, t)
		}
	}
	for i, y := range d.y {
		l, m, p := d.lambda[i], d.mu[i], d.p[i]
		if p == 0 {
			if m != 0 {
				add(y - l/m)
			}
			continue
		}
		disc := m*m + 2*p*l
		if disc < 0 {
			continue
		}
		q := m + math.Copysign(math.Sqrt(disc), m)
		add(y + q/p)
		if q != 0 {
			add(y - 2*l/q)
		}
	}
	slices.Sort(buf)
	return buf
}

// maximum returns the largest F over the real line, where it is attained, and
// the largest F with its rounding error added: on each piece between two breaks F is a
// concave quadratic, whose vertex is clamped to the piece. All 2^k patterns are
// covered, intervals or not.
func (d *duals) maximum(buf []float64) (best, at, upper float64, _ []float64) {
	br := d.breaks(buf)
	best, upper = math.Inf(-1), math.Inf(-1)
	try := func(t float64) {
		f, e := d.at(t)
		if f > best {
			best, at = f, t
		}
		upper = max(upper, f+e)
	}
	for i := 0; i <= len(br); i++ {
		lo, hi := math.Inf(-1), math.Inf(1)
		if i > 0 {
			lo = br[i-1]
		}
		if i < len(br) {
			hi = br[i]
		}
		var probe float64
		switch {
		case len(br) == 0:
		case i == 0:
			probe = hi - 1
		case i == len(br):
			probe = lo + 1
		default:
			if lo == hi {
				continue
			}
			probe = lo/2 + hi/2
		}
		w, v := 0.0, 0.0
		for j, y := range d.y {
			x := probe - y
			l, m, p := d.lambda[j], d.mu[j], d.p[j]
			s := 1.0
			if l+m*x-p*x*x/2 > 0 {
				s += d.e1
			}
			w += s * p
			v += s * (m + p*y)
		}
		try(min(max(v/w, lo), hi))
	}
	return best, at, upper, br
}

// bound returns a lower bound on the value of every unbiased randomizer with
// outputs in grid (nil: anywhere), whatever the quality of d: if F ≤ v with
// v > 0, lowering every λ_y by v/(k − 1 + e^ε) makes d feasible (the best
// pattern of a column is never empty).
func (d *duals) bound(grid []float64) float64 {
	v := 0.0
	if grid == nil {
		_, _, v, _ = d.maximum(nil)
	}
	for _, t := range grid {
		f, e := d.at(t)
		v = max(v, f+e)
	}
	return d.boundFor(max(v, 0))
}

func (d *duals) boundFor(v float64) float64 {
	var s xmath.Sum
	mag := 0.0
	for _, l := range d.lambda {
		s.Add(l)
		mag += math.Abs(l)
	}
	k := float64(d.k)
	return s.Value() - k*v/(k+d.e1)*(1+8*xmath.U) - 4*xmath.U*mag
}

// debiasedRR returns the columns of debiased randomized response, and the only
// duals that complementary slackness leaves for it: it is optimal exactly if
// they are feasible.
func (q *problem) debiasedRR() ([]column, *duals) {
	k := float64(q.k)
	c := 1 / (k + q.e1)
	cols := make([]column, q.k)
	d := &duals{q, make([]float64, q.k), make([]float64, q.k)}
	var sum xmath.Sum
	for j, y := range q.y {
		var shift xmath.Sum
		for _, z := range q.y {
			shift.Add((y - z) / q.e1)
		}
		up := make([]bool, q.k)
		up[j] = true
		cols[j] = column{y + shift.Value(), c, up}
		s := q.e1 * q.p[j] * shift.Value()
		for i, z := range q.y {
			s += q.p[i] * (cols[j].t - z)
		}
		d.mu[j] = s
		sum.Add(s)
	}
	mean := sum.Value() / (k + q.e1)
	for j := range d.mu {
		d.mu[j] = (d.mu[j] - mean) / q.e1
	}
	sum = xmath.Sum{}
	for j := range d.lambda {
		term := func(i int) float64 {
			x := cols[j].t - q.y[i]
			return q.p[i]*x*x/2 - d.mu[i]*x
		}
		s := q.e1 * term(j)
		for i := range q.y {
			s += term(i)
		}
		d.lambda[j] = s
		sum.Add(s)
	}
	mean = sum.Value() / (k + q.e1)
	for j := range d.lambda {
		d.lambda[j] = (d.lambda[j] - mean) / q.e1
	}
	return cols, d
}
