package matrix

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// This file has the error of a banded matrix and its gradient, in steps·bands² operations.
//
// With A the matrix of prefix sums and M = CA⁻¹, lower triangular of w = bands + 1 bands, the
// error is |AC⁻¹|² = |M⁻¹|² = tr S with S = (MᵀM)⁻¹. As MS = M⁻ᵀ is upper triangular with
// diagonal 1/M_ii, the entries of S in the band follow row by row:
//
//	S_ij = −Σ_{k<i} M_ik·S_kj / M_ii  for j < i,   S_ii = (1/M_ii − Σ_{k<i} M_ik·S_ki)/M_ii,
//
// and every S_kj that is asked for is in the band. S_tt is the variance of prefix sum t. The gradient by M is −2M·S², of which the
// band of S² is needed: −S² is the derivative of (MᵀM + εI)⁻¹ at ε = 0, so that M moves by M′
// with M′ᵀM + MᵀM′ = I, from the last row up, and S by the derivative of its recursion.

// bandWork is the memory of one search.
type bandWork struct {
	n, p, w, full int
	c             []float64 // C by columns, p numbers each
	m, moved      []float64 // M and M′ by rows: w numbers, the last is the diagonal
	col, movedCol []float64 // the same by columns: w numbers, the first is the diagonal
	s, slope      []float64 // S and its derivative: full = 2w − 1 numbers for each row, the middle one is the diagonal
}

func newBandWork(n, p int) *bandWork {
	w := p + 1
	full := 2*w - 1
	b := &bandWork{n: n, p: p, w: w, full: full}
	b.c = make([]float64, n*p)
	b.m, b.moved, b.col, b.movedCol = make([]float64, n*w), make([]float64, n*w), make([]float64, n*w), make([]float64, n*w)
	b.s, b.slope = make([]float64, n*full), make([]float64, n*full)
	return b
}

// inverse finds S from C, and its derivative if asked.
func (b *bandWork) inverse(derivative bool) (trace float64) {
	n, p, w, full := b.n, b.p, b.w, b.full
	for j := range n { // column j of CA⁻¹ is column j of C less the next one
		col := b.col[j*w : (j+1)*w]
		clear(col)
		copy(col, b.c[j*p:j*p+min(p, n-j)])
		if j+1 < n {
			for d, x := range b.c[(j+1)*p : (j+1)*p+min(p, n-j-1)] {
				col[d+1] -= x
			}
		}
		for d := range min(w, n-j) {
			b.m[(j+d)*w+w-1-d] = col[d]
		}
	}
	if derivative {
		b.move()
	}
	for i := range n {
		first := max(0, i-w+1)
		row := b.m[i*w+w-1-(i-first) : i*w+w-1] // M_ik for k from first to i−1
		moved := b.moved[i*w+w-1-(i-first) : i*w+w-1]
		diagonal := b.m[i*w+w-1]
		change := b.moved[i*w+w-1]
		for j := first; j <= i; j++ {
			at := j*full + w - 1 - (j - first) // S_jk from k = first on
			sum := -dot(row, b.s[at:], i-first)
			if j == i {
				sum += 1 / diagonal
			}
			value := sum / diagonal
			b.set(b.s, i, j, value)
			if derivative {
				sum := -dot(row, b.slope[at:], i-first) - dot(moved, b.s[at:], i-first) - change*value
				if j == i {
					sum -= change / (diagonal * diagonal)
				}
				b.set(b.slope, i, j, sum/diagonal)
			}
			if j == i {
				trace += value
			}
		}
	}
	return trace
}

func (b *bandWork) set(s []float64, i, j int, x float64) {
	s[i*b.full+b.w-1+j-i] = x
	s[j*b.full+b.w-1+i-j] = x
}

// move finds M′, from the last row up.
func (b *bandWork) move() {
	n, w := b.n, b.w
	clear(b.movedCol)
	for i := n - 1; i >= 0; i-- {
		below := min(w, n-i) - 1 // rows below i in its column
		own, ownMoved := b.col[i*w+1:], b.movedCol[i*w+1:]
		diagonal := b.col[i*w]
		change := (1 - 2*dot(own, ownMoved, below)) / (2 * diagonal)
		b.movedCol[i*w], b.moved[i*w+w-1] = change, change
		for j := max(0, i-w+1); j < i; j++ {
			d := i - j
			common := min(below, w-1-d) // rows below i of column j
			sum := -dot(ownMoved, b.col[j*w+d+1:], common) - dot(own, b.movedCol[j*w+d+1:], common)
			value := (sum - b.col[j*w+d]*change) / diagonal
			b.movedCol[j*w+d], b.moved[i*w+w-1-d] = value, value
		}
	}
}

// gradient writes the derivative of the trace by C, columns of p numbers.
func (b *bandWork) gradient(out []float64) {
	n, p, w, full := b.n, b.p, b.w, b.full
	for i := range n {
		first := max(0, i-w+1)
		row := b.m[i*w+w-1-(i-first) : (i+1)*w]
		for j := first; j <= i; j++ {
			// By M: 2Σ_k M_ik·slope_kj. M_ij has C_ij and −C_i,j+1.
			x := 2 * dot(row, b.slope[j*full+w-1-(j-first):], i-first+1)
			if i-j < p {
				out[j*p+i-j] += x
			}
			if j+1 <= i {
				out[(j+1)*p+i-j-1] -= x
			}
		}
	}
}

// banded searches the entries of C, whose columns are scaled so that the sensitivity is 1 without
// a constraint. Columns a separation apart have no common row, so that the squared sensitivity is
// the largest sum of squared norms over a pattern of the schema:
//
//   - epochs: each coset j, j+b, … has the sum 1;
//   - a separation: in each block of b steps all columns have one norm, which falls from block
//     to block up to the k-th and stays from there on. The squares of the first k add up to 1: a
//     pattern has at most one column of a block, and at most k;
//   - otherwise all columns have one norm.
func (g *Goal) banded(ctx context.Context) (_ Strategy, unfinished, err error) {
	n, p := g.Steps, g.Bands
	b, k := g.schema()
	w := newBandWork(n, p)
	size := func(j int) int { return min(p, n-j) }
	blocks := 0 // whose norms are searched: after the entries, logarithms of by how much they fall
	if g.Participation.kind == minSeparation && k > 1 {
		blocks = k
	}
	// The start is the best Toeplitz matrix, whose columns weigh (n − j)^⅙: what is best in
	// examples lies near (n − j)^⅓ for the squares of norms.
	x := make([]float64, n*p+blocks)
	root, unfinished, err := g.coefficients(ctx)
	if err != nil || unfinished != nil {
		root = rootStart(p)
	}
	for j := range n {
		scale := math.Pow(float64(n-j), 1./6)
		for d := range size(j) {
			x[j*p+d] = root[d] * scale
		}
	}
	for s := range blocks {
		fall := math.Cbrt(float64(n - s*b))
		if s+1 < blocks {
			fall -= math.Cbrt(float64(n - (s+1)*b))
		}
		x[n*p+s] = xmath.Log(fall)
	}
	norms := make([]float64, n) // what a column is divided by
	sums := make([]float64, n)  // over a coset, by its first column
	share := make([]float64, blocks)
	expand := func(x []float64) {
		total := 0.0
		for s := blocks - 1; s >= 0; s-- {
			share[s] = math.Exp(x[n*p+s])
			if s+1 < blocks {
				share[s] += share[s+1]
			}
			total += share[s]
		}
		clear(sums)
		for j := range n {
			v := x[j*p : j*p+size(j)]
			norms[j] = dot(v, v, len(v))
			sums[j%b] += norms[j]
		}
		for j := range n {
			switch {
			case g.Participation.kind == epochs:
				norms[j] = sums[j%b]
			case blocks > 0:
				norms[j] *= total / share[min(j/b, blocks-1)]
			default:
				norms[j] *= float64(k)
			}
			norms[j] = math.Sqrt(norms[j])
			for d, v := range x[j*p : j*p+size(j)] {
				w.c[j*p+d] = v / norms[j]
			}
		}
		for s := range share {
			share[s] /= total
		}
	}
	if p > 1 || k > 1 {
		tolerance := narrow
		if n > 512 {
			tolerance = wide
		}
		work := 6 * float64(n) * float64(w.w) * float64(w.w) / 100 // products to a term
		x, _, unfinished, err = search(ctx, x, tolerance, work, func(x, out []float64) float64 {
			expand(x)
			trace := w.inverse(true)
			clear(out)
			w.gradient(out[:n*p])
			w.free(g.Participation.kind, b, norms, share, sums, out)
			for i := range out {
				out[i] /= trace
			}
			return xmath.Log(trace)
		})
	}
	if err != nil {
		return Strategy{}, nil, err
	}
	expand(x)
	rows := make([][]float64, n)
	for i := range rows {
		for j := max(0, i-p+1); j <= i; j++ {
			rows[i] = append(rows[i], short(w.c[j*p+i-j]))
		}
	}
	s, err := Rows(rows)
	return s, unfinished, err
}

// free turns the gradient by C into that by the free parameters: what is along a column that has
// a norm of its own, or along the columns of a coset together, goes, and is the derivative of
// the block's norm.
func (w *bandWork) free(schema participationKind, b int, norms, share, along, out []float64) {
	n, p := w.n, w.p
	clear(along)
	first := func(j int) int { // of the columns that share a norm
		if schema == epochs {
			return j % b
		}
		return j
	}
	blocks, total := len(share), 0.0
	for j := range n {
		x := dot(w.c[j*p:], out[j*p:], min(p, n-j))
		along[first(j)] += x
		if blocks > 0 {
			s := min(j/b, blocks-1)
			out[n*p+s] += x / (2 * share[s])
			total += x / 2
		}
	}
	sum := 0.0
	for s := range blocks {
		fall := share[s]
		if s+1 < blocks {
			fall -= share[s+1]
		}
		sum += out[n*p+s]
		out[n*p+s] = fall * (sum - float64(s+1)*total)
	}
	for j := range n {
		m := min(p, n-j)
		c, g := w.c[j*p:j*p+m], out[j*p:j*p+m]
		x := along[first(j)]
		if schema != epochs {
			x /= dot(c, c, m)
		}
		for d := range c {
			g[d] = (g[d] - c[d]*x) / norms[j]
		}
	}
}
