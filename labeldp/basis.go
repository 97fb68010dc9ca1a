// The inverse of a simplex basis, and the step from an optimum to a vertex. It assumes
// columns of bounded size; results are checked by the certificate.

package labeldp

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// A basis is a dense basis inverse of a linear program with m equality rows,
// with the columns and values that belong to it.
type basis struct {
	m    int
	inv  [][]float64 // inv[i] is the row of B⁻¹ of basis position i
	cols [][]float64
	x    []float64
	rhs  []float64
}

func newBasis(cols [][]float64, rhs []float64) (*basis, error) {
	b := &basis{m: len(rhs), cols: cols, rhs: rhs, x: make([]float64, len(rhs))}
	data := make([]float64, b.m*b.m)
	for i := range b.m {
		b.inv = append(b.inv, data[i*b.m:(i+1)*b.m])
	}
	return b, b.refactor()
}

var errSingular = errors.New("solver: the basis is singular")

// refactor recomputes the inverse and the values from the columns.
func (b *basis) refactor() error {
	m := b.m
	a := blas64.General{Rows: m, Cols: m, Stride: m, Data: make([]float64, m*m)}
	for j, col := range b.cols {
		for i, v := range col {
			a.Data[i*m+j] = v
		}
	}
	piv := make([]int, m)
	if !lapack64.Getrf(a, piv) {
		return errSingular
	}
	work := []float64{0}
	lapack64.Getri(a, piv, work, -1)
	work = make([]float64, int(work[0]))
	if !lapack64.Getri(a, piv, work, len(work)) {
		return errSingular
	}
	for i := range m {
		copy(b.inv[i], a.Data[i*m:(i+1)*m])
		b.x[i] = floats.Dot(b.inv[i], b.rhs)
	}
	return nil
}

// ftran writes B⁻¹ col into alpha.
func (b *basis) ftran(col, alpha []float64) {
	for i := range alpha {
		alpha[i] = floats.Dot(b.inv[i], col)
	}
}

// btran writes Σ cost_i B⁻¹_i into y, the duals of the rows.
func (b *basis) btran(cost, y []float64) {
	clear(y)
	for i, c := range cost {
		if c != 0 {
			floats.AddScaled(y, c, b.inv[i])
		}
	}
}

// pivot lets col, with ftran image alpha, replace position r at step theta.
func (b *basis) pivot(r int, theta float64, col, alpha []float64) {
	for i, a := range alpha {
		if i != r {
			b.x[i] = max(b.x[i]-theta*a, 0)
		}
	}
	b.x[r] = theta
	b.cols[r] = col
	floats.Scale(1/alpha[r], b.inv[r])
	for i, a := range alpha {
		if i != r && a != 0 {
			floats.AddScaled(b.inv[i], -a, b.inv[r])
		}
	}
}

// ratio returns the position that leaves when the column with image alpha
// enters, by Harris's two passes: among the positions that would be driven
// below −tol the largest pivot. It returns −1 if nothing limits the step.
func (b *basis) ratio(alpha []float64) (r int, theta float64) {
	const tol, small = 1e-11, 1e-9
	limit := math.Inf(1)
	for i, a := range alpha {
		if a > small {
			limit = min(limit, (b.x[i]+tol)/a)
		}
	}
	r = -1
	for i, a := range alpha {
		if a > small && b.x[i]/a <= limit && (r < 0 || a > alpha[r]) {
			r = i
		}
	}
	if r < 0 {
		return -1, 0
	}
	return r, max(b.x[r]/alpha[r], 0)
}

// purify moves weights of cols, all at fixed outputs, until the columns with
// weight are linearly independent (a vertex of the optimal face): the push phase
// of a crossover. It returns the weights, most of them zero. The value must not
// depend on the weights by more than round-off, as it does not when cols come
// from an interior optimum; it is needed when that optimum is not unique,
// because an interior method then returns a mixture of all optima. It is long because the
// elimination and the push share one basis.
func (q *problem) purify(cols []column) ([]float64, error) {
	m, e := 2*q.k, 1+q.e1
	b := &basis{m: m, x: make([]float64, m), cols: make([][]float64, m), rhs: make([]float64, m)}
	owner := make([]int, m) // −1: an artificial column, stuck at zero
	for i := range m {
		row := make([]float64, m)
		row[i] = 1
		b.inv = append(b.inv, row)
		b.cols[i] = slices.Clone(row)
		owner[i] = -1
		if i < q.k {
			b.rhs[i] = 1
		}
	}
	weight := make([]float64, len(cols))
	order := make([]int, len(cols))
	for j, c := range cols {
		weight[j], order[j] = c.c*e, j
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(weight[j], weight[i]) })
	alpha := make([]float64, m)
	enter := func(r, j int, col []float64) {
		if owner[r] >= 0 {
			weight[owner[r]] = 0
		}
		b.pivot(r, 0, col, alpha)
		b.x[r], owner[r] = weight[j], j
	}
	// Columns enter in place of artificial ones while a good pivot exists, the
	// heaviest first; what is left over depends on them and is pushed out.
	for _, good := range []float64{0.1, 1e-2, 1e-3, 1e-4, 1e-5} {
		rest := order[:0]
		for _, j := range order {
			col := q.vector(cols[j].t, cols[j].up, m)
			b.ftran(col, alpha)
			r, top := -1, 0.0
			for i, a := range alpha {
				top = max(top, math.Abs(a))
				if owner[i] < 0 && (r < 0 || math.Abs(a) > math.Abs(alpha[r])) {
					r = i
				}
			}
			if r < 0 || math.Abs(alpha[r]) < good*top {
				rest = append(rest, j)
				continue
			}
			enter(r, j, col)
		}
		order = rest
	}
	for _, j := range order {
		col := q.vector(cols[j].t, cols[j].up, m)
		b.ftran(col, alpha)
		// Basic weights move by +α per unit taken from j; it goes down to 0, or up,
		// whichever ends first.
		down, up := weight[j], math.Inf(1)
		rDown, rUp := -1, -1
		for i, a := range alpha {
			if owner[i] < 0 || math.Abs(a) < 1e-7 {
				continue
			}
			if step := b.x[i] / math.Abs(a); a < 0 && step < down {
				down, rDown = step, i
			} else if a > 0 && step < up {
				up, rUp = step, i
			}
		}
		step, r := -down, rDown
		if up < down {
			step, r = up, rUp
		}
		for i, a := range alpha {
			b.x[i] = max(b.x[i]-step*a, 0)
		}
		weight[j] += step
		if r < 0 {
			weight[j] = 0
			continue
		}
		enter(r, j, col)
	}
	if err := b.refactor(); err != nil {
		return nil, err
	}
	clear(weight)
	for i, j := range owner {
		if j >= 0 {
			weight[j] = max(b.x[i], 0) / e
		}
	}
	return weight, nil
}

// vector returns the column of output t and pattern up over m rows, zero beyond
// the first 2k. Weights are e^ε c and the mean rows are centred at their label
// and multiplied by e^ε: for large ε outputs come within e^−ε of labels, and
// this keeps the entries that tell them apart at size 1.
//
//	Σ (e^ε c) s_y/e^ε = 1,  Σ (e^ε c) s_y (t − y) = 0
func (q *problem) vector(t float64, up []bool, m int) []float64 {
	col := make([]float64, m)
	for i, y := range q.y {
		s := 1.0
		if up != nil && up[i] {
			s += q.e1
		}
		col[i], col[q.k+i] = s/(1+q.e1), s*(t-y)
	}
	return col
}
