// The simplex method: a dual one with bounds, for rows that are added one at a time.

package lp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Errors of Maximize.
var (
	// ErrInfeasible says that no point of the box satisfies every row.
	ErrInfeasible = errors.New("lp: infeasible")
	// ErrStalled says that the pivot limit was reached.
	ErrStalled = errors.New("lp: no optimum within the pivot limit")
	// ErrSingular says that the active constraints became linearly dependent.
	ErrSingular = errors.New("lp: the active constraints are singular to working precision")
)

// A Solver maximises c·x over a box and the rows added so far. Its zero value
// is not usable; call New or NewAt.
type Solver struct {
	n      int
	c      []float64
	lo, hi []float64 // infinite without a box
	rows   []row

	active []active  // n of them, whose normals are the rows of A
	inv    []float64 // A⁻¹, row-major n×n
	x, y   []float64 // A⁻¹ b and A⁻ᵀ c
	d, u   []float64 // scratch
	free   []bool    // of the active ones, those that Free has given up; nil if none
	fresh  int       // pivots since inv was computed from scratch

	dualTol  float64 // a multiplier this far below zero counts as zero: 1e-13 max|c|
	restarts int
	work     int64
}

type row struct {
	a     []float64 // normalised to max |a| = 1
	b     float64
	scale float64 // what both were divided by
}

// active names a constraint g·x ≤ h that holds with equality at the vertex.
type active struct {
	kind  kind
	index int
}

type kind uint8

const (
	lower kind = iota // −x_i ≤ −lo_i
	upper             // x_i ≤ hi_i
	below             // a·x ≤ b
)

// New returns the problem of maximising c·x over lo ≤ x ≤ hi, without rows.
func New(c, lo, hi []float64) (*Solver, error) {
	n := len(c)
	if n == 0 || len(lo) != n || len(hi) != n {
		return nil, fmt.Errorf("lp: c, lo and hi have %d, %d and %d entries, must have the same positive number", n, len(lo), len(hi))
	}
	for i := range n {
		if !(lo[i] <= hi[i]) || math.IsInf(lo[i], 0) || math.IsInf(hi[i], 0) {
			return nil, fmt.Errorf("lp: variable %d: [%v, %v] is not a bounded interval", i, lo[i], hi[i])
		}
	}
	s, err := newSolver(c)
	if err != nil {
		return nil, err
	}
	copy(s.lo, lo)
	copy(s.hi, hi)
	s.box()
	return s, s.refactor()
}

// NewAt returns the problem of maximising c·x under as many rows a·x ≤ b as there are
// variables, at the vertex where all of them hold with equality and c is a sum of them with
// weights of at least 0, the multipliers. There is no box. It is the problem's dual that
// such callers mean: a row is a column of it, and a multiplier its weight.
func NewAt(c []float64, rows [][]float64, b []float64) (*Solver, error) {
	s, err := newSolver(c)
	if err != nil {
		return nil, err
	}
	for i := range s.n {
		s.lo[i], s.hi[i] = math.Inf(-1), math.Inf(1)
		if err := s.AddRow(rows[i], b[i]); err != nil {
			return nil, err
		}
		s.active[i] = active{kind: below, index: i}
	}
	if len(s.rows) != s.n {
		return nil, ErrSingular
	}
	return s, s.refactor()
}

func newSolver(c []float64) (*Solver, error) {
	n := len(c)
	vec := func() []float64 { return make([]float64, n) }
	s := &Solver{n: n, c: slices.Clone(c), lo: vec(), hi: vec(), active: make([]active, n), inv: make([]float64, n*n), x: vec(), y: vec(), d: vec(), u: vec()}
	for i, v := range c {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("lp: c[%d]: %v is not finite", i, v)
		}
		s.dualTol = max(s.dualTol, 1e-13*math.Abs(v))
	}
	return s, nil
}

// box makes each variable active at the bound that its cost favours.
func (s *Solver) box() {
	for i, v := range s.c {
		s.active[i] = active{kind: lower, index: i}
		if v >= 0 {
			s.active[i].kind = upper
		}
	}
}

// AddRow adds the constraint a·x ≤ b.
func (s *Solver) AddRow(a []float64, b float64) error {
	if len(a) != s.n {
		return fmt.Errorf("lp: row %d has %d entries, must have %d", len(s.rows), len(a), s.n)
	}
	scale := 0.0
	for i, v := range a {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("lp: row %d, entry %d: %v is not finite", len(s.rows), i, v)
		}
		scale = max(scale, math.Abs(v))
	}
	if math.IsNaN(b) || math.IsInf(b, 0) {
		return fmt.Errorf("lp: row %d: right side %v is not finite", len(s.rows), b)
	}
	if scale == 0 {
		if b < 0 {
			return ErrInfeasible
		}
		return nil
	}
	r := row{a: make([]float64, s.n), b: b / scale, scale: scale}
	for i, v := range a {
		r.a[i] = v / scale
	}
	s.rows = append(s.rows, r)
	return nil
}

// feasTol is how far a row (normalised to max |a| = 1) or a bound may be
// exceeded at a vertex that is called feasible. Rows are sums of n terms below
// max(|lo|, |hi|), so that their rounding is of order n·u: 1e-13 for n = 500.
// Callers who need more repair and certify.
const feasTol = 1e-13

// pivotTol is the smallest entry of the ratio test: constraint normals are at
// most 1 and inverses grow like the condition number, so that smaller entries
// are rounding.
const pivotTol = 1e-10

// Maximize returns the optimum. The slice is a copy; rows may be added and
// Maximize called again, which starts from the last vertex. Once ctx is done, the
// error is that of ctx.
func (s *Solver) Maximize(ctx context.Context) (x []float64, value float64, err error) {
	stalled, limit := 0, 2000+50*(s.n+len(s.rows))
	polished := false
	for range limit {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if s.fresh >= 100 {
			if err := s.refresh(); err != nil {
				return nil, 0, err
			}
		}
		bland := stalled > 20+s.n
		enter, excess := s.mostViolated(bland)
		if excess <= feasTol {
			if !polished && s.fresh > 0 {
				// The vertex and its multipliers once more from scratch: an error
				// gathered by the updates shows as a violation and is mended.
				if err := s.refresh(); err != nil {
					return nil, 0, err
				}
				polished = true
				continue
			}
			for i, v := range s.x {
				s.x[i] = min(max(v, s.lo[i]), s.hi[i])
				value += s.c[i] * s.x[i]
			}
			return append([]float64(nil), s.x...), value, nil
		}
		polished = false
		leave, err := s.pivot(enter, excess, bland)
		if err != nil {
			return nil, 0, err
		}
		if s.y[leave]*excess > 0 {
			stalled = 0
		} else {
			stalled++
		}
	}
	return nil, 0, ErrStalled
}

// normal adds t times the normal of a constraint to v.
func (s *Solver) normal(a active, t float64, v []float64) {
	switch a.kind {
	case lower:
		v[a.index] -= t
	case upper:
		v[a.index] += t
	case below:
		for i, w := range s.rows[a.index].a {
			v[i] += t * w
		}
	}
}

func (s *Solver) side(a active) float64 {
	switch a.kind {
	case lower:
		return -s.lo[a.index]
	case upper:
		return s.hi[a.index]
	}
	return s.rows[a.index].b
}

// mostViolated returns the constraint that the vertex exceeds most (with first,
// the first that it exceeds: Bland's rule) and by how much.
func (s *Solver) mostViolated(first bool) (active, float64) {
	var best active
	worst := 0.0
	try := func(a active, excess float64) bool {
		if excess > worst && excess > feasTol {
			best, worst = a, excess
			return first
		}
		return false
	}
	for i, v := range s.x {
		if try(active{kind: lower, index: i}, s.lo[i]-v) || try(active{kind: upper, index: i}, v-s.hi[i]) {
			return best, worst
		}
	}
	for r := range s.rows {
		e := -s.rows[r].b
		for i, w := range s.rows[r].a {
			e += w * s.x[i]
		}
		if try(active{kind: below, index: r}, e) {
			break
		}
	}
	return best, worst
}

// image writes d with Σ d_i g_i, over the active normals, the normal of a constraint.
func (s *Solver) image(a active) {
	clear(s.u)
	s.normal(a, 1, s.u)
	clear(s.d)
	for k, g := range s.u {
		if g != 0 {
			floats.AddScaled(s.d, g, s.inv[k*s.n:(k+1)*s.n])
		}
	}
}

// exchange puts the constraint of image in the place of an active one, with the multiplier
// t, and moves the vertex by the excess.
func (s *Solver) exchange(leave int, enter active, t, excess float64) {
	n, d := s.n, s.d[leave]
	floats.AddScaled(s.y, -t, s.d)
	s.y[leave] = t
	for k := range n {
		r := s.inv[k*n : (k+1)*n]
		c := r[leave] / d
		if c == 0 {
			continue
		}
		floats.AddScaled(r, -c, s.d)
		r[leave] = c
		s.x[k] -= excess * c
	}
	s.active[leave] = enter
	s.fresh++
	s.work += int64(n) * int64(2*n+len(s.rows))
}

// pivot lets the violated constraint enter. Its normal is g = Σ d_i g_i over
// the active ones; giving it the multiplier t costs the others t·d_i, and the
// first one to reach zero leaves. The objective falls by t times the excess.
func (s *Solver) pivot(enter active, excess float64, bland bool) (leave int, err error) {
	s.image(enter)
	leave = -1
	for i := range s.free {
		if a := math.Abs(s.d[i]); s.free[i] && a > 1e-9 && (leave < 0 || a > math.Abs(s.d[leave])) {
			leave = i
		}
	}
	if leave >= 0 {
		s.free[leave] = false
		s.exchange(leave, enter, 0, excess)
		return leave, nil
	}
	if bland {
		// The first constraint in a fixed order among those of smallest ratio,
		// against cycling.
		ratio := math.Inf(1)
		for i, d := range s.d {
			if d <= pivotTol {
				continue
			}
			if r := max(s.y[i], 0) / d; r < ratio || r == ratio && s.active[i].compare(s.active[leave]) < 0 {
				leave, ratio = i, r
			}
		}
	} else {
		// Harris: multipliers may end dualTol below zero, and among the
		// constraints that this lets leave the largest pivot does.
		bound := math.Inf(1)
		for i, d := range s.d {
			if d > pivotTol {
				bound = min(bound, (max(s.y[i], 0)+s.dualTol)/d)
			}
		}
		for i, d := range s.d {
			if d > pivotTol && max(s.y[i], 0)/d <= bound && (leave < 0 || d > s.d[leave]) {
				leave = i
			}
		}
	}
	if leave < 0 {
		return 0, ErrInfeasible
	}
	s.exchange(leave, enter, max(s.y[leave], 0)/s.d[leave], excess)
	return leave, nil
}

// Enter goes to the next vertex of a problem from NewAt by a row that this one exceeds, and
// returns which of the n rows is forgotten for it: for callers with more rows than can be
// listed, who find the one that is exceeded most by themselves.
func (s *Solver) Enter(a []float64, b float64) (place int, err error) {
	if err := s.AddRow(a, b); err != nil {
		return 0, err
	}
	if len(s.rows) == s.n {
		return 0, ErrSingular // a row of zeros
	}
	in := s.rows[s.n]
	place, err = s.pivot(active{kind: below, index: s.n}, floats.Dot(in.a, s.x)-in.b, false)
	s.rows = s.rows[:s.n]
	if err == nil {
		s.rows[place], s.active[place].index = in, place
	}
	return place, err
}

// Refresh computes the vertex of NewAt and Enter from its rows alone.
func (s *Solver) Refresh() error { return s.refactor() }

// Vertex returns the vertex, as the inverse so far and the right sides have it. The slice is
// the solver's.
func (s *Solver) Vertex() []float64 {
	for i, a := range s.active {
		s.u[i] = s.side(a)
	}
	for k := range s.x {
		s.x[k] = floats.Dot(s.inv[k*s.n:(k+1)*s.n], s.u)
	}
	return s.x
}

// Multipliers returns those of the rows of a problem from NewAt, in their places.
func (s *Solver) Multipliers() []float64 {
	y := make([]float64, s.n)
	for i, r := range s.rows {
		y[i] = max(s.y[i], 0) / r.scale
	}
	return y
}

// Restart gives the rows of a problem from NewAt other right sides, and those marked as
// free none: they only complete the vertex, and leave at the first chance.
func (s *Solver) Restart(b []float64, free []bool) error {
	for i := range s.rows {
		s.rows[i].b = b[i] / s.rows[i].scale
	}
	s.free = free
	return s.refactor()
}

// Independent moves weights of columns whose sum is c until the columns that have weight are
// linearly independent: the push phase of a crossover. Most of the weights that it returns
// are 0.
func Independent(c []float64, cols [][]float64, weights []float64) ([]float64, error) {
	n := len(c)
	unit := make([][]float64, n)
	for i := range unit {
		unit[i] = make([]float64, n)
		unit[i][i] = 1
	}
	s, err := NewAt(c, unit, make([]float64, n))
	if err != nil {
		return nil, err
	}
	clear(s.y)
	owner := slices.Repeat([]int{-1}, n) // −1: a unit column, stuck at zero
	weight, order := slices.Clone(weights), make([]int, len(cols))
	for j, a := range cols {
		s.rows = append(s.rows, row{a: a, scale: 1})
		order[j] = j
	}
	column := func(j int) active { return active{kind: below, index: n + j} }
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(weight[j], weight[i]) })
	enter := func(r, j int) {
		if owner[r] >= 0 {
			weight[owner[r]] = 0
		}
		s.exchange(r, column(j), 0, 0)
		s.y[r], owner[r] = weight[j], j
	}
	// Columns enter in place of units while a good pivot exists, the heaviest first; what is
	// left over depends on them and is pushed out.
	for _, good := range []float64{0.1, 1e-2, 1e-3, 1e-4, 1e-5} {
		rest := order[:0]
		for _, j := range order {
			s.image(column(j))
			r, top := -1, 0.0
			for i, a := range s.d {
				top = max(top, math.Abs(a))
				if owner[i] < 0 && (r < 0 || math.Abs(a) > math.Abs(s.d[r])) {
					r = i
				}
			}
			if r < 0 || math.Abs(s.d[r]) <= good*top {
				rest = append(rest, j)
				continue
			}
			enter(r, j)
		}
		order = rest
	}
	for _, j := range order {
		s.image(column(j))
		// Basic weights move by +d per unit taken from j; it goes down to 0, or up,
		// whichever ends first.
		down, up := weight[j], math.Inf(1)
		rDown, rUp := -1, -1
		for i, a := range s.d {
			if owner[i] < 0 || math.Abs(a) < 1e-7 {
				continue
			}
			if step := s.y[i] / math.Abs(a); a < 0 && step < down {
				down, rDown = step, i
			} else if a > 0 && step < up {
				up, rUp = step, i
			}
		}
		step, r := -down, rDown
		if up < down {
			step, r = up, rUp
		}
		for i, a := range s.d {
			s.y[i] = max(s.y[i]-step*a, 0)
		}
		weight[j] += step
		if r < 0 {
			weight[j] = 0
			continue
		}
		enter(r, j)
	}
	if err := s.refactor(); err != nil {
		return nil, err
	}
	clear(weight)
	for i, j := range owner {
		if j >= 0 {
			weight[j] = max(s.y[i], 0)
		}
	}
	return weight, nil
}

func (a active) compare(b active) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.index, b.index))
}

// refresh refactors; an active set that has become singular is given up for
// the box, from which all rows are met anew.
func (s *Solver) refresh() error {
	err := s.refactor()
	if errors.Is(err, ErrSingular) && s.restarts < 10 {
		s.restarts++
		s.box()
		return s.refactor()
	}
	return err
}

// refactor computes inverse, vertex and multipliers from the active set alone.
// The vertex gets one step of iterative refinement with a compensated residual.
func (s *Solver) refactor() error {
	n := s.n
	s.work += int64(n) * int64(n) * int64(n) / 2
	a := mat.NewDense(n, n, nil)
	b := make([]float64, n)
	for i, c := range s.active {
		s.normal(c, 1, a.RawRowView(i))
		b[i] = s.side(c)
	}
	inv := mat.NewDense(n, n, s.inv)
	if err := inv.Inverse(a); err != nil {
		var cond mat.Condition
		if !errors.As(err, &cond) || math.IsInf(float64(cond), 1) {
			return ErrSingular
		}
	}
	x := mat.NewVecDense(n, s.x)
	x.MulVec(inv, mat.NewVecDense(n, b))
	residual := make([]float64, n)
	for i := range n {
		residual[i] = b[i] - dot2(a.RawRowView(i), s.x)
	}
	var fix mat.VecDense
	fix.MulVec(inv, mat.NewVecDense(n, residual))
	x.AddVec(x, &fix)
	mat.NewVecDense(n, s.y).MulVec(inv.T(), mat.NewVecDense(n, s.c))
	s.fresh = 0
	return nil
}

// dot2 is the inner product as if computed in twice the working precision.
func dot2(a, b []float64) float64 {
	hi, lo := 0.0, 0.0
	for i, x := range a {
		p := x * b[i]
		e := math.FMA(x, b[i], -p)
		t := hi + p
		z := t - hi
		lo += (hi - (t - z)) + (p - z) + e
		hi = t
	}
	return hi + lo
}
