package darrm

import (
	"container/heap"
	"context"
	"fmt"

	"github.com/dpaccountant/accountant/internal/lp"
)

// Options of Optimize.
type Options struct {
	// Free drops the rule that clearer majorities are answered at least as
	// truthfully. The optimum gains 4.05 % of the objective at 3 mechanisms, ε = 2
	// and allowance 1, the most seen, and nothing or little where ε is small; it
	// loses its shape.
	Free bool
	// Progress, if set, is called after each round of the linear program with the
	// excess of its worst constraint; 0 or less is the end.
	Progress func(round int, excess float64)
}

// A Result is an optimised noise function with its proof.
type Result struct {
	Gamma Gamma
	// Value is the objective of Gamma and Best that of the noise-free majority;
	// for TrueError they are one minus the average error.
	Value, Best float64
	Certificate Certificate
	// Rounds and Rows count the linear programs solved and the corner constraints
	// they needed; zero if none was.
	Rounds, Rows int
}

// Optimize returns the noise function of largest objective among those that
// keep the budget for every family of independent (ε, Δ)-DP mechanisms, and
// among the monotone ones unless Options say otherwise. It is certified: the
// optimum of the linear program of Section 5 of the paper, scaled down by the
// rounding error that the certificate charges. Once ctx is done, the error is that
// of ctx.
func Optimize(ctx context.Context, p Params, o Objective, opt Options) (*Result, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	r := &Result{Gamma: constant(p.Mechanisms, 1)}
	// The noise-free majority, if the budget allows it, is best.
	var err error
	if r.Certificate, err = newChecker(ctx, p, true).certify(r.Gamma); err != nil {
		return nil, err
	}
	if p.majorityIsPrivate() {
		r.Certificate = p.byTheorem(r.Certificate)
	}
	if !r.Certificate.Certified {
		if opt.Free {
			if err := p.checkFree(); err != nil {
				return nil, err
			}
		}
		if err := r.solve(newProgram(ctx, p, !opt.Free), o, opt); err != nil {
			return nil, err
		}
	}
	if t, ok := o.(TrueError); ok {
		r.Value, err = t.Average(r.Gamma)
		r.Value, r.Best = 1-r.Value, 1
	} else {
		r.Value, r.Best, err = Value(o, r.Gamma)
	}
	return r, err
}

func (r *Result) solve(pr *program, o Objective, opt Options) error {
	var x []float64
	var err error
	if t, ok := o.(TrueError); ok {
		x, err = pr.minimiseError(t, r, opt)
	} else {
		var c []float64
		if c, err = o.weights(pr.Mechanisms); err == nil {
			x, err = pr.maximise(c, r, opt)
		}
	}
	if err != nil {
		return err
	}
	g, err := pr.repair(fromRight(x))
	if err != nil {
		return err
	}
	if err := pr.push(g); err != nil {
		return err
	}
	if g, err = pr.repair(g); err != nil {
		return err
	}
	if r.Certificate, err = pr.certify(g); err != nil {
		return err
	}
	r.Gamma = g
	if !r.Certificate.Certified {
		return fmt.Errorf("epsilon: the optimum for %v could not be certified", pr.Epsilon)
	}
	return nil
}

// A program is the linear program of one problem, which learns its rows.
//
// The free one has the variables x_j = γ(n+j) in [0, 1]. The monotone one has the
// increments y_0 = x_0, y_j = x_j − x_{j−1} in [0, 1], whose sum is at most 1.
type program struct {
	*checker
	n     int
	known map[counts]bool
}

func newProgram(ctx context.Context, p Params, monotone bool) *program {
	return &program{checker: newChecker(ctx, p, monotone), n: half(p.Mechanisms), known: map[counts]bool{}}
}

// solver returns the program of maximising c·x without corner rows. Entries of
// c beyond the n of x are those of further variables in [0, 1].
func (pr *program) solver(c []float64) (*lp.Solver, error) {
	c = pr.transform(c)
	lo, hi := make([]float64, len(c)), make([]float64, len(c))
	for i := range hi {
		hi[i] = 1
	}
	s, err := lp.New(c, lo, hi)
	if err != nil || !pr.table.monotone {
		return s, err
	}
	sum := make([]float64, len(c))
	for i := range pr.n {
		sum[i] = 1
	}
	return s, s.AddRow(sum, 1)
}

// transform writes a row over x as one over the variables of the program;
// entries beyond the n of x stay.
func (pr *program) transform(a []float64) []float64 {
	if !pr.table.monotone {
		return a
	}
	out := append([]float64(nil), a...)
	for j := pr.n - 2; j >= 0; j-- {
		out[j] += out[j+1]
	}
	return out
}

// point returns x of a solution.
func (pr *program) point(v []float64) []float64 {
	x := append([]float64(nil), v[:pr.n]...)
	if pr.table.monotone {
		for j := 1; j < pr.n; j++ {
			// Steps below the solver's accuracy are none.
			if x[j] < 1e-13 {
				x[j] = 0
			}
			x[j] += x[j-1]
		}
	}
	for j := range x {
		x[j] = min(x[j], 1)
	}
	return x
}

// maximise solves the program by generating rows: solve, find the multisets
// that the solution violates most, add their rows, until none is violated.
func (pr *program) maximise(c []float64, r *Result, opt Options) ([]float64, error) {
	top := 0.0
	for _, v := range c {
		top = max(top, v)
	}
	scaled := make([]float64, len(c))
	for i, v := range c {
		scaled[i] = v / top
	}
	s, err := pr.solver(scaled)
	if err != nil {
		return nil, err
	}
	for {
		v, _, err := s.Maximize(pr.ctx)
		if err != nil {
			return nil, err
		}
		x := pr.point(v)
		done, err := pr.separate(x, s, 0, r, opt)
		if done || err != nil {
			return x, err
		}
	}
}

const (
	rowsPerRound = 40
	maxRounds    = 1000
)

// separate adds the rows that x violates, and reports that there is none left
// that is violated by more than rounding.
func (pr *program) separate(x []float64, s *lp.Solver, extra int, r *Result, opt Options) (done bool, err error) {
	g := fromRight(x)
	// The solver is exact to lp's 1e-13 in rows whose right side is s·R ≥ 1 − s;
	// what remains is left to repair. rel is the error of both sides.
	tol := 4*pr.rel + 1e-13
	vs, err := pr.violations(g, tol)
	if err != nil {
		return false, err
	}
	r.Rounds++
	excess := 0.0
	if len(vs) > 0 {
		excess = vs[0].excess
	}
	if opt.Progress != nil {
		opt.Progress(r.Rounds, excess/pr.s)
	}
	added := false
	for _, v := range vs {
		if pr.known[v.counts] {
			continue
		}
		pr.known[v.counts], added = true, true
		row := make([]float64, pr.n+extra)
		copy(row, pr.transform(pr.row(v.counts)))
		if err := s.AddRow(row, pr.rowBudget()); err != nil {
			return false, err
		}
		r.Rows++
	}
	if r.Rounds >= maxRounds {
		return false, fmt.Errorf("mechanisms: no optimum for %d within %d rounds", pr.Mechanisms, maxRounds)
	}
	return !added, nil
}

// rowBudget is R·s, the right side of every row.
func (pr *program) rowBudget() float64 { return 1 - pr.s + 2*pr.s*pr.OutputDelta }

// row returns the coefficients of x in s·Φ(p) − Φ(p').
func (pr *program) row(c counts) []float64 {
	a := differences(poissonBinomial(pr.table.votes(c, 0)))
	b := differences(poissonBinomial(pr.table.votes(c, 1)))
	for j := range a {
		a[j] = pr.s*a[j] - b[j]
	}
	return a
}

// violations returns the multisets of largest excess above tol, one at most
// from each run, the largest first.
func (pr *program) violations(g Gamma, tol float64) ([]violation, error) {
	sd := pr.s * pr.OutputDelta
	var h violationHeap
	least := sd + tol
	err := pr.table.visit(pr.ctx, g, func(r *run) {
		best, at := least, -1
		for i, p := range r.P {
			if e := pr.s*p - r.Q[i]; e > best {
				best, at = e, i
			}
		}
		if at < 0 {
			return
		}
		heap.Push(&h, violation{r.counts(at), best - sd})
		if len(h) > rowsPerRound {
			heap.Pop(&h)
			least = h[0].excess + sd
		}
	})
	out := make([]violation, len(h))
	for i := len(h) - 1; i >= 0; i-- {
		out[i] = heap.Pop(&h).(violation)
	}
	return out, err
}

type violationHeap []violation

func (h violationHeap) Len() int           { return len(h) }
func (h violationHeap) Less(i, j int) bool { return h[i].excess < h[j].excess }
func (h violationHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *violationHeap) Push(v any)        { *h = append(*h, v.(violation)) }
func (h *violationHeap) Pop() any {
	v := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return v
}

// push raises each entry of g, or each level of a monotone g, to the largest
// value that the others leave it: where the objective is all but indifferent
// (its weights span a dozen orders of magnitude) the vertex may be at the wrong
// end of an edge.
func (pr *program) push(g Gamma) error {
	for end := pr.n; end > 0; {
		start, top := end-1, 1.0
		if pr.table.monotone {
			for start > 0 && g[pr.n+start-1] == g[pr.n+start] {
				start--
			}
			if end < pr.n {
				top = g[pr.n+end]
			}
		}
		if err := pr.pushLevel(g, start, end, top); err != nil {
			return err
		}
		end = start
	}
	return nil
}

// pushLevel raises γ(n+start..n+end−1), which are equal, to at most top.
func (pr *program) pushLevel(g Gamma, start, end int, top float64) error {
	old := g[pr.n+start]
	set := func(v float64) {
		for j := start; j < end; j++ {
			g[pr.n+j], g[pr.n-1-j] = v, v
		}
	}
	// The constraint is a maximum of lines in this value: Newton from the right,
	// on the line of the worst multiset at each point.
	for v := top; v > old; {
		set(v)
		w, err := pr.worst(g)
		if err != nil {
			return err
		}
		if w.excess <= 0 {
			return nil
		}
		slope := 0.0
		for _, a := range pr.row(w.counts)[start:end] {
			slope += a
		}
		if !(slope > 0) {
			break
		}
		v = min(v-2*w.excess/slope, v*(1-0x1p-50))
	}
	set(old)
	return nil
}
