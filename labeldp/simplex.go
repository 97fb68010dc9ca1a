// The optimum by column generation. It assumes a feasible start; what it returns is
// certified apart.

package labeldp

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// simplex is the revised simplex method over staircase columns. Its pricing is
// closed: at a given output the best of the 2^k patterns is the set of labels
// with r_y > 0, so the columns are never listed.
//
// Rows 0..k−1 are Σ c s = 1 and rows k..2k−1 Σ c (t − y) s = 0, scaled as in
// vector. With a bias bound β the latter become Σ c (t − y) s + u = β with
// 0 ≤ u ≤ 2β, and rows 2k..3k−1 are u + v = 2β.
type simplex struct {
	*problem
	grid    []float64 // nil: outputs anywhere
	bias    float64   // 0: unbiased
	biased  bool
	m       int
	b       *basis
	who     []variable
	pivots  int
	work    int64 // multiplications so far, about
	pointer int
	buf     []float64
}

type kind int

const (
	staircase kind = iota
	slackLow       // u_i
	slackHigh      // v_i
	artificial
)

// A variable is what a basis position stands for.
type variable struct {
	kind kind
	i    int // of a slack or artificial
	t    float64
	up   []bool
	cost float64
}

// maxWork limits the multiplications of one design to some ten seconds: what
// phase two has reached by then is returned, with its gap.
const maxWork = 4e10

// perTerm is how many multiplications are a unit of a context's work (parallel.WithWork).
const perTerm = maxWork / 2.5e8

// take spends multiplications of a context's work, and returns errWork once they are too many.
func take(ctx context.Context, multiplications int64) error {
	if parallel.Spend(ctx, float64(multiplications)/perTerm) != nil {
		return errWork
	}
	return nil
}

// allowed returns how many multiplications a design may take: maxWork where the context does not say.
func allowed(ctx context.Context) float64 {
	if _, left := parallel.Work(ctx); !math.IsInf(left, 1) {
		return max(left, 0) * perTerm
	}
	return maxWork
}

// pivotWork is what a pivot takes in units of m², its share of an inversion included.
const pivotWork = 7

// refactorEach is the number of pivots between two inversions from scratch: one
// inversion costs as much as m of them.
func (s *simplex) refactorEach() int { return max(100, s.m/2) }

var (
	errStalled = errors.New("solver: the simplex method did not converge")
	errWork    = errors.New("solver: the work limit is reached")
)

// newSimplex starts from the two-point mechanism on the extreme outputs, at lo
// with the patterns {1..j} and at hi with {j..k}: a basis without a first phase.
func newSimplex(q *problem, grid []float64, lo, hi float64) (*simplex, error) {
	s := &simplex{problem: q, grid: grid, m: 2 * q.k}
	rhs := make([]float64, s.m)
	for i := range q.k {
		rhs[i] = 1
	}
	var cols [][]float64
	add := func(t float64, up []bool) {
		s.who = append(s.who, variable{kind: staircase, t: t, up: up, cost: q.cost(t, up)})
		cols = append(cols, q.vector(t, up, s.m))
	}
	for j := 1; j < q.k; j++ {
		add(lo, interval(q.k, 0, j))
		add(hi, interval(q.k, j, q.k))
	}
	add(lo, nil)
	add(hi, nil)
	b, err := newBasis(cols, rhs)
	if err != nil {
		return nil, err
	}
	for i := range b.x {
		b.x[i] = max(b.x[i], 0) // −1e-13 when the hull is exactly tight
	}
	s.b = b
	return s, nil
}

// cost returns Σ p_y s_y ½(t − y)² per unit of e^ε c.
func (q *problem) cost(t float64, up []bool) float64 {
	var c xmath.Sum
	for i, y := range q.y {
		s := 1.0
		if up != nil && up[i] {
			s += q.e1
		}
		c.Add(s * q.p[i] * (t - y) * (t - y) / 2)
	}
	return c.Value() / (1 + q.e1)
}

// duals returns the duals of the current basis; priced for feasibility only in
// phase one, where staircase columns cost nothing.
func (s *simplex) duals(phaseOne bool, y, costs []float64) *duals {
	for i, w := range s.who {
		switch {
		case phaseOne && w.kind == artificial:
			costs[i] = 1
		case !phaseOne && w.kind == staircase:
			costs[i] = w.cost
		default:
			costs[i] = 0
		}
	}
	s.b.btran(costs, y)
	q := s.problem
	if phaseOne {
		free := *s.problem
		free.p = make([]float64, q.k)
		q = &free
	}
	d := &duals{q, y[:q.k], make([]float64, q.k)}
	for i := range d.mu {
		d.mu[i] = y[q.k+i] * (1 + q.e1)
	}
	return d
}

// price returns an entering column of positive gain, and whether none was found
// in a full pass.
func (s *simplex) price(d *duals, y []float64, tol float64) (in variable, optimal bool) {
	best := tol
	found := false
	if s.grid == nil {
		f, t, _, buf := d.maximum(s.buf)
		s.buf = buf
		if f > best {
			in, found = variable{kind: staircase, t: t}, true
		}
	} else {
		// Cyclic partial pricing: blocks of interleaved outputs until one has a
		// candidate. A pass over all of them proves optimality.
		blocks := (len(s.grid) + 63) / 64
		for range blocks {
			for i := s.pointer; i < len(s.grid); i += blocks {
				if f := d.value(s.grid[i]); f > best {
					best, in, found = f, variable{kind: staircase, t: s.grid[i]}, true
				}
			}
			s.pointer = (s.pointer + 1) % blocks
			if found {
				break
			}
		}
	}
	if s.biased {
		for i := range s.k {
			u, v := (y[s.k+i]+y[2*s.k+i])*(1+s.e1), y[2*s.k+i]*(1+s.e1)
			if u > best {
				best, in, found = u, variable{kind: slackLow, i: i}, true
			}
			if v > best {
				best, in, found = v, variable{kind: slackHigh, i: i}, true
			}
		}
	}
	if !found {
		return in, true
	}
	if in.kind == staircase {
		in.up = d.pattern(in.t)
		in.cost = s.cost(in.t, in.up)
	}
	return in, false
}

// value is at without the error bound.
func (d *duals) value(t float64) float64 {
	sum, pos := 0.0, 0.0
	for i, y := range d.y {
		x := t - y
		r := d.lambda[i] + x*(d.mu[i]-d.p[i]*x/2)
		sum += r
		pos += max(r, 0)
	}
	return sum + d.e1*pos
}

func (s *simplex) column(v variable) []float64 {
	if v.kind == staircase {
		return s.vector(v.t, v.up, s.m)
	}
	col := make([]float64, s.m)
	switch v.kind {
	case slackLow:
		col[s.k+v.i], col[2*s.k+v.i] = 1, 1
	case slackHigh:
		col[2*s.k+v.i] = 1
	}
	return col
}

// run pivots until no column gains anything, or the certified gap is below rel
// of the objective. (Gains below round-off would go on for ever.)
func (s *simplex) run(ctx context.Context, phaseOne bool, rel float64) error {
	y, costs, alpha := make([]float64, s.m), make([]float64, s.m), make([]float64, s.m)
	fresh := true
	last, idle := math.MaxFloat64, 0
	most, spent := float64(s.work)+allowed(ctx), s.work
	defer func() { take(ctx, s.work-spent) }()
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		d := s.duals(phaseOne, y, costs)
		obj := 0.0
		for i, c := range costs {
			obj += c * s.b.x[i]
		}
		tol := 1e-13
		if !phaseOne {
			tol = max(rel/8*obj, 4*xmath.U)
			if fresh && !s.biased && obj-d.bound(s.grid) <= rel*obj {
				return nil
			}
		}
		if fresh {
			// Thousands of pivots that gain nothing: the rest is round-off, and the
			// caller judges by the certificate.
			if idle++; obj < last-1e-15*math.Abs(last) {
				last, idle = obj, 0
			}
			if idle > 30 {
				return nil
			}
		}
		in, optimal := s.price(d, y, tol)
		if optimal {
			if fresh {
				return nil
			}
			if err := s.refresh(); err != nil {
				return err
			}
			fresh = true
			continue
		}
		if float64(s.work) > most {
			return errWork
		}
		col := s.column(in)
		s.b.ftran(col, alpha)
		r, theta := -1, 0.0
		if !phaseOne {
			// An artificial column left at zero must not come back.
			for i, w := range s.who {
				if w.kind == artificial && math.Abs(alpha[i]) > 1e-9 && (r < 0 || math.Abs(alpha[i]) > math.Abs(alpha[r])) {
					r = i
				}
			}
		}
		if r < 0 {
			r, theta = s.b.ratio(alpha)
		}
		if r < 0 {
			return errStalled
		}
		s.b.pivot(r, theta, col, alpha)
		s.who[r] = in
		s.pivots++
		// ftran, btran and pivot; pricing a block of the grid.
		s.work += 3*int64(s.m)*int64(s.m) + 256*int64(s.k)
		fresh = false
		if s.pivots%s.refactorEach() == 0 {
			if err := s.refresh(); err != nil {
				return err
			}
			fresh = true
		}
	}
}

func (s *simplex) refresh() error {
	s.work += 2 * int64(s.m) * int64(s.m) * int64(s.m)
	if err := s.b.refactor(); err != nil {
		return err
	}
	for i, x := range s.b.x {
		s.b.x[i] = max(x, 0)
	}
	return nil
}

// solve runs phase two and returns the columns with weight and the duals.
func (s *simplex) solve(ctx context.Context, rel float64) ([]column, *duals, error) {
	err := s.run(ctx, false, rel)
	var cols []column
	for i, w := range s.who {
		if w.kind == staircase && s.b.x[i] > 0 {
			cols = append(cols, column{w.t, s.b.x[i] / (1 + s.e1), w.up})
		}
	}
	y, costs := make([]float64, s.m), make([]float64, s.m)
	return cols, s.duals(false, y, costs), err
}

// newBiased starts from artificial columns, because a grid that is too narrow
// for an unbiased randomizer may be wide enough for a biased one.
func newBiased(q *problem, grid []float64, bias float64) (*simplex, error) {
	s := &simplex{problem: q, grid: grid, bias: bias, biased: true, m: 3 * q.k}
	rhs := make([]float64, s.m)
	for i := range q.k {
		rhs[i], rhs[q.k+i], rhs[2*q.k+i] = 1, bias*(1+q.e1), 2*bias*(1+q.e1)
	}
	cols := make([][]float64, s.m)
	for i := range cols {
		cols[i] = make([]float64, s.m)
		cols[i][i] = 1
		s.who = append(s.who, variable{kind: artificial, i: i})
	}
	b, err := newBasis(cols, rhs)
	if err != nil {
		return nil, err
	}
	s.b = b
	return s, nil
}

// feasible runs phase one and returns the infeasibility that is left, in scaled
// units.
func (s *simplex) feasible(ctx context.Context) (float64, error) {
	if err := s.run(ctx, true, 0); err != nil {
		return 0, err
	}
	left := 0.0
	for i, w := range s.who {
		if w.kind == artificial {
			left += s.b.x[i]
		}
	}
	return left, nil
}

// The inverse of a simplex basis, and the step from an optimum to a vertex. It assumes
// columns of bounded size; results are checked by the certificate.

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
