// The linear program of a problem, which learns its rows from violated corners.

package darrm

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/lp"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/queue"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A program is the linear program of one problem, which learns its rows.
//
// The free one has the variables x_j = γ(n+j) in [0, 1]. The monotone one has the
// increments y_0 = x_0, y_j = x_j − x_{j−1} in [0, 1], whose sum is at most 1.
type program struct {
	*checker
	n     int // variables
	first int // the smallest majority
	known map[counts]bool
	order []counts // what is known, as it became so
	most  int64    // the work that is allowed
	total int64    // the work of maximise, when it has ended

	bound    float64 // what no solution exceeds, in units of the objective
	interior bool    // the simplex method has failed
	sweeps   int64   // visits of all corner multisets
	accuracy float64 // to which the other one solves the next program
}

func newProgram(ctx context.Context, p Params, monotone bool) *program {
	return &program{checker: newChecker(ctx, p, monotone), n: free(p.Mechanisms), first: half(p.Mechanisms), known: map[counts]bool{}, most: allowed(ctx), bound: math.Inf(1), accuracy: firstAccuracy}
}

// solver returns the program of maximising c·x without corner rows. Entries of
// c beyond the n of x are those of further variables in [0, 1].
func (pr *program) solver(c []float64) (*lp.Solver, error) {
	c = pr.transform(c)
	ones := slices.Repeat([]float64{1}, len(c))
	s, err := lp.New(c, make([]float64, len(c)), ones)
	if err != nil || !pr.monotone {
		return s, err
	}
	sum := make([]float64, len(c))
	copy(sum, ones[:pr.n])
	return s, s.AddRow(sum, 1)
}

// transform writes a row over x as one over the variables of the program;
// entries beyond the n of x stay.
func (pr *program) transform(a []float64) []float64 {
	if !pr.monotone {
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
	if pr.monotone {
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
		top = max(top, math.Abs(v))
	}
	scaled := make([]float64, len(c))
	for i, v := range c {
		scaled[i] = v / top
	}
	s, err := pr.solver(scaled)
	if err != nil {
		return nil, err
	}
	if pr.seeded() {
		if err := pr.seed(c, s, r, opt); err != nil {
			return nil, err
		}
	}
	defer func() { parallel.Spend(pr.ctx, float64(pr.total)/perTerm) }()
	for {
		v, bound, err := pr.optimum(s)
		if err != nil {
			return nil, err
		}
		// Scaling down, and back, rounds each weight twice.
		pr.bound = min(pr.bound, bound*top+4*xmath.U*top*float64(len(c)))
		x := pr.point(v)
		done, err := pr.separate(x, s, 0, r, opt)
		if err != nil {
			return nil, err
		}
		pr.total = pr.worked(s)
		over := pr.total > pr.most
		if !pr.interior {
			if done || over {
				return x, nil
			}
			continue
		}
		g, err := pr.repair(fromRight(pr.Mechanisms, x))
		if err != nil {
			return nil, err
		}
		value := 0.0
		for j, w := range c {
			value += w * g[pr.first+j]
		}
		gap := (pr.bound - value) / pr.bound
		if over || gap <= interiorGap || done && pr.accuracy <= leastAccuracy {
			return x, nil
		}
		// No need to solve a program well whose rows are not the last ones.
		if pr.accuracy = max(leastAccuracy, min(pr.accuracy, gap/10)); done {
			pr.accuracy = max(leastAccuracy, pr.accuracy/100)
		}
	}
}

// interiorGap is the relative gap at which the interior-point method ends: about
// a tenth of what it can reach before its linear systems lose their digits, which
// would take half of the time for nothing that shows in an answer.
const interiorGap = 1e-6

// firstAccuracy and leastAccuracy are the relative gaps to which the
// interior-point method solves a program that has not got all its rows yet, and
// one that may have.
const (
	firstAccuracy = 1e-3
	leastAccuracy = interiorGap / 5
)

// maxWork limits the multiplications of one call, to some ten seconds with the
// certificates that follow, the most for 1001 mechanisms with a delta: half of them
// to the simplex method, the rest to the other one.
const maxWork = 6e9

// perTerm is how many multiplications are a unit of a context's work (parallel.WithWork).
const perTerm = maxWork / 2.5e8

// allowed returns how many multiplications a program may take: maxWork where the context does not say.
func allowed(ctx context.Context) int64 {
	if _, left := parallel.Work(ctx); !math.IsInf(left, 1) {
		return int64(min(max(left, 0), 1e15) * perTerm)
	}
	return maxWork
}

// worked returns the multiplications of the programs and of the sweeps so far.
func (pr *program) worked(s *lp.Solver) int64 {
	k := int64(pr.Mechanisms)
	sweep := k * k
	if pr.Delta > 0 {
		sweep *= k / 3
	}
	if !pr.monotone {
		sweep = k * k * k
		if pr.Delta > 0 {
			sweep *= k * k / 40
		}
	}
	return s.Work() + pr.sweeps*sweep
}

// optimum returns the solution of the program so far, and an upper bound on its
// value. Where active constraints are all but dependent, as for m = 1, when
// hundreds of them meet in one point, the simplex method fails: then, and from
// then on, it is the interior-point method's.
func (pr *program) optimum(s *lp.Solver) (v []float64, bound float64, err error) {
	// Coefficients of a row err by rel of terms whose sizes sum to 1 + s at most,
	// and by a few roundings more in transform.
	slack := 4 * pr.rel
	if !pr.interior && pr.worked(s) <= pr.most/2 {
		var value float64
		v, value, err = s.Maximize(pr.ctx)
		if err := pr.ctx.Err(); err != nil {
			return nil, 0, err // also if the program was solved just before
		}
		// Multipliers that prove another value are those of no vertex.
		if err == nil && s.Bound(0)-value <= interiorGap*math.Abs(value) {
			return v, s.Bound(slack), nil
		}
	}
	pr.interior = true
	return s.Approximate(pr.ctx, pr.accuracy, slack)
}

const (
	rowsPerRound = 40
	maxRounds    = 1000
)

// separate adds the rows that x violates, and reports that there is none left
// that is violated by more than rounding.
func (pr *program) separate(x []float64, s *lp.Solver, extra int, r *Result, opt Options) (done bool, err error) {
	g := fromRight(pr.Mechanisms, x)
	// The solver is exact to lp's 1e-13 in rows whose right side is s·R ≥ 1 − s;
	// what remains is left to repair. rel is the error of both sides.
	tol := 4*pr.rel + 1e-13
	vs, err := pr.violations(g, tol)
	if err != nil {
		return false, err
	}
	r.Rounds++
	pr.sweeps++
	if pr.interior {
		pr.sweeps += 2 // of repair, in the average
	}
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
		added = true
		if err := pr.add(v.counts, s, extra, r); err != nil {
			return false, err
		}
	}
	// After so many rounds what is left is worth little: Gap tells.
	return !added || r.Rounds >= maxRounds, nil
}

// add adds the row of a family.
func (pr *program) add(at counts, s *lp.Solver, extra int, r *Result) error {
	pr.known[at] = true
	pr.order = append(pr.order, at)
	row := make([]float64, pr.n+extra)
	a, side := pr.row(at)
	copy(row, pr.transform(a))
	r.Rows++
	return s.AddRow(row, side)
}

// seedFrom is the number of mechanisms from which a program with Δ > 0 takes its first
// rows from the pure one, whose sweeps are cheaper by a factor of K.
const seedFrom = 301

// seeded reports that sweeps are too dear to find all rows by them, or to push levels.
func (pr *program) seeded() bool {
	return pr.monotone && pr.Delta > 0 && pr.Mechanisms >= seedFrom && pr.Voters == nil
}

// seed adds the rows that the program with Δ = 0 needed: with (0, 0) read as (Δ, 0) and
// (1, 1) as (1, 1−Δ) they are families of this one, and nearly its worst where Δ is small.
func (pr *program) seed(c []float64, s *lp.Solver, r *Result, opt Options) error {
	p := pr.Params
	p.Delta = 0
	pure := newProgram(pr.ctx, p, true)
	pure.most = pr.most * 2 / 3
	var rounds Result
	if _, err := pure.maximise(c, &rounds, opt); err != nil {
		return err
	}
	r.Rounds = rounds.Rounds
	pr.most = max(0, pr.most*4/5-pure.total) // building their rows anew is work as well
	for _, at := range pure.order {
		at[cornerD0], at[corner00] = at[corner00], 0
		at[corner11mD], at[corner11] = at[corner11], 0
		if err := pr.add(at, s, 0, r); err != nil {
			return err
		}
	}
	return nil
}

// row returns the coefficients of x in s·Φ(p) − Φ(p'), and the right side of the row,
// R·s. (With many labels, Φ is twice what P has beyond its value at γ = 0.)
func (c *checker) row(at counts) (a []float64, side float64) {
	a, rest := c.table.row(at, c.s)
	return a, 2*rest*(1-c.s) + 2*c.s*c.OutputDelta
}

// violations returns the multisets of largest excess above tol, one at most
// from each run, the largest first.
func (pr *program) violations(g Gamma, tol float64) ([]violation, error) {
	sd := pr.s * pr.OutputDelta
	// The least excess first: it is the one that has to go.
	h := queue.New(func(x, y violation) bool { return x.excess < y.excess })
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
		h.Add(violation{r.counts(at), best - sd})
		if h.Len() > rowsPerRound {
			h.Take()
			least = h.First().excess + sd
		}
	})
	out := make([]violation, h.Len())
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = h.Take()
	}
	return out, err
}

// push raises each entry of g, or each level of a monotone g, to the largest
// value that the others leave it: where the objective is all but indifferent
// (its weights span a dozen orders of magnitude) the vertex may be at the wrong
// end of an edge.
func (pr *program) push(g Gamma) error {
	for end := pr.n; end > 0; {
		start, top := end-1, 1.0
		if pr.monotone {
			for start > 0 && g[pr.first+start-1] == g[pr.first+start] {
				start--
			}
			if end < pr.n {
				top = g[pr.first+end]
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
	old := g[pr.first+start]
	set := func(v float64) {
		for j := start; j < end; j++ {
			g[pr.first+j], g[pr.Mechanisms-pr.first-j] = v, v
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
		row, _ := pr.row(w.counts)
		for _, a := range row[start:end] {
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
