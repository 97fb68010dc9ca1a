// The optimum by column generation. It assumes a feasible start; what it returns is
// certified apart.

package labeldp

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/lp"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// simplex is the simplex method of internal/lp over staircase columns, which are rows of the
// dual. Its pricing is closed: at a given output the best of the 2^k patterns is the set of
// labels with r_y > 0, so the columns are never listed.
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
	lp      *lp.Solver
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

// A variable is what a place of the solver stands for.
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

var errWork = errors.New("solver: the work limit is reached")

// newSimplex starts from the two-point mechanism on the extreme outputs, at lo
// with the patterns {1..j} and at hi with {j..k}: a basis without a first phase.
func newSimplex(q *problem, grid []float64, lo, hi float64) (*simplex, error) {
	s := &simplex{problem: q, grid: grid, m: 2 * q.k}
	rhs := q.onesAndZeros()
	var cols [][]float64
	var costs []float64
	add := func(t float64, up []bool) {
		v := variable{kind: staircase, t: t, up: up, cost: q.cost(t, up)}
		s.who, costs = append(s.who, v), append(costs, v.cost)
		cols = append(cols, q.vector(t, up, s.m))
	}
	for j := 1; j < q.k; j++ {
		add(lo, interval(q.k, 0, j))
		add(hi, interval(q.k, j, q.k))
	}
	add(lo, nil)
	add(hi, nil)
	var err error
	s.lp, err = lp.NewAt(rhs, cols, costs)
	return s, err
}

// onesAndZeros are the right sides of Σ c s = 1 and Σ c (t − y) s = 0.
func (q *problem) onesAndZeros() []float64 {
	return append(slices.Repeat([]float64{1}, q.k), make([]float64, q.k)...)
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

// duals returns the duals of the current vertex; priced for feasibility only in
// phase one, where staircase columns cost nothing.
func (s *simplex) duals(phaseOne bool) (d *duals, y []float64) {
	y = s.lp.Vertex()
	q := s.problem
	if phaseOne {
		free := *s.problem
		free.p = make([]float64, q.k)
		q = &free
	}
	d = &duals{q, y[:q.k], make([]float64, q.k)}
	for i := range d.mu {
		d.mu[i] = y[q.k+i] * (1 + q.e1)
	}
	return d, y
}

// side returns what a variable costs; in phase one, what it takes from feasibility.
func (v variable) side(phaseOne bool) float64 {
	if !phaseOne {
		return v.cost
	}
	if v.kind == artificial {
		return 1
	}
	return 0
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
	fresh := true
	last, idle := math.MaxFloat64, 0
	most, spent := float64(s.work)+allowed(ctx), s.work
	defer func() { take(ctx, s.work-spent) }()
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		d, y := s.duals(phaseOne)
		obj := 0.0
		for i, w := range s.lp.Multipliers() {
			obj += w * s.who[i].side(phaseOne)
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
		at, err := s.lp.Enter(s.column(in), in.side(phaseOne))
		if err != nil {
			return err
		}
		s.who[at] = in
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
	return s.lp.Refresh()
}

// solve runs phase two and returns the columns with weight and the duals.
func (s *simplex) solve(ctx context.Context, rel float64) ([]column, *duals, error) {
	err := s.run(ctx, false, rel)
	var cols []column
	for i, weight := range s.lp.Multipliers() {
		if w := s.who[i]; w.kind == staircase && weight > 0 {
			cols = append(cols, column{w.t, weight / (1 + s.e1), w.up})
		}
	}
	d, _ := s.duals(false)
	return cols, d, err
}

// newBiased starts from artificial columns, because a grid that is too narrow
// for an unbiased randomizer may be wide enough for a biased one.
func newBiased(q *problem, grid []float64, bias float64) (*simplex, error) {
	s := &simplex{problem: q, grid: grid, bias: bias, biased: true, m: 3 * q.k}
	rhs := make([]float64, s.m)
	for i := range q.k {
		rhs[i], rhs[q.k+i], rhs[2*q.k+i] = 1, bias*(1+q.e1), 2*bias*(1+q.e1)
	}
	cols, costs := make([][]float64, s.m), make([]float64, s.m)
	for i := range cols {
		cols[i], costs[i] = make([]float64, s.m), 1
		cols[i][i] = 1
		s.who = append(s.who, variable{kind: artificial, i: i})
	}
	var err error
	s.lp, err = lp.NewAt(rhs, cols, costs)
	return s, err
}

// feasible runs phase one, makes ready for phase two, and returns the infeasibility that is
// left, in scaled units.
func (s *simplex) feasible(ctx context.Context) (float64, error) {
	if err := s.run(ctx, true, 0); err != nil {
		return 0, err
	}
	left, costs, gone := 0.0, make([]float64, s.m), make([]bool, s.m)
	for i, weight := range s.lp.Multipliers() {
		// An artificial column left at zero must not come back.
		if gone[i] = s.who[i].kind == artificial; gone[i] {
			left += weight
		}
		costs[i] = s.who[i].cost
	}
	return left, s.lp.Restart(costs, gone)
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
