// The optimum on given outputs: which grids admit an unbiased randomizer, and the linear
// program over staircase columns.

package labeldp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// ErrInfeasible is wrapped by errors about an output grid on which no randomizer
// meets the constraints.
var ErrInfeasible = errors.New("infeasible")

// FeasibleGrid returns n ≥ 2 evenly spaced outputs between the extreme outputs
// of debiased randomized response: Algorithm 2 of arXiv:2312.05659. It is wide
// enough for an unbiased randomizer, not always for the best one: the optimum
// may have outputs beyond it at large ε, and uses a small part of it at small ε.
func FeasibleGrid(labels []float64, eps float64, n int) ([]float64, error) {
	ys, err := setUp(labels, eps)
	if err != nil {
		return nil, err
	}
	if n < 2 || n > 1<<20 {
		return nil, fault.New("n", "%d is not in [2, 1048576]", n)
	}
	var below, above xmath.Sum
	first, last := ys[0], ys[len(ys)-1]
	for _, y := range ys {
		below.Add(y - first)
		above.Add(last - y)
	}
	e1 := math.Expm1(eps)
	lo, hi := first-below.Value()/e1, last+above.Value()/e1
	grid := make([]float64, n)
	for i := range grid {
		f := float64(i) / float64(n-1)
		grid[i] = lo*(1-f) + hi*f
	}
	grid[0], grid[n-1] = lo, hi
	return grid, nil
}

// OptimalUnbiasedGrid returns the ε-DP unbiased randomizer of least half-loss
// among those with outputs in grid: Algorithm 1 of arXiv:2312.05659, solved as a
// linear program over staircase columns. The grid must cover minimalRange;
// the error of one that does not wraps ErrInfeasible.
//
// A grid with spacing Δ costs at most Δ²/8 against the best outputs inside its
// hull. [OptimalUnbiased] needs no grid and is faster; use this to reproduce
// the paper's values, or when the outputs are given. Once ctx is done, the error
// is that of ctx. The effort is limited, the same on every machine: where the program
// does not end, the better one of what it has reached and of [OptimalUnbiased],
// rounded at random to the grid, is returned; the certificate's gap tells.
func OptimalUnbiasedGrid(ctx context.Context, p Prior, eps float64, grid []float64) (Randomizer, Certificate, error) {
	return unbiasedOnGrid(ctx, "optimal-unbiased-grid", p, eps, grid)
}

func unbiasedOnGrid(ctx context.Context, name string, p Prior, eps float64, grid []float64) (Randomizer, Certificate, error) {
	q, scaled, err := prepareGrid(p, eps, grid)
	if err != nil {
		return nil, Certificate{}, err
	}
	if q == nil {
		r := identity(name, p.labels, eps)
		return r, r.certify(0, 0), nil
	}
	// The scaled minimal range is [−1, 1].
	lo, hi := scaled[0], scaled[len(scaled)-1]
	const slack = 4e-13
	if lo > -1+slack || hi < 1-slack {
		a, b := minimalRange(p.labels, eps)
		return nil, Certificate{}, fault.New("grid", "%w: outputs in [%v, %v] cannot be unbiased, must reach [%v, %v]",
			ErrInfeasible, slices.Min(grid), slices.Max(grid), a, b)
	}
	s, err := newSimplex(q, scaled, lo, hi)
	if err != nil {
		return nil, Certificate{}, err
	}
	cols, d, err := s.solve(ctx, 1e-12)
	if ctx.Err() != nil {
		return nil, Certificate{}, err
	}
	// A solver that gave up leaves what it has, and the gap tells.
	dual := d.bound(scaled)
	if err != nil {
		o, err := q.find(ctx, p.known)
		if err != nil {
			return nil, Certificate{}, err
		}
		if rounded, ok := onGrid(o.cols, scaled); ok && (!q.exactly(cols) || q.value(rounded) < q.value(cols)) {
			cols = rounded
		}
		dual = max(dual, o.bound)
	}
	return q.finish(name, cols, q.value(cols), dual, s.pivots, 0)
}

// prepareGrid validates, and returns the problem (nil for a single label) and
// the scaled distinct outputs, ascending.
func prepareGrid(p Prior, eps float64, grid []float64) (*problem, []float64, error) {
	if err := cmp.Or(p.check(), checkEpsilon(eps)); err != nil {
		return nil, nil, err
	}
	if len(grid) == 0 || len(grid) > 1<<20 {
		return nil, nil, fault.New("grid", "%d outputs is not in [1, 1048576]", len(grid))
	}
	for i, t := range grid {
		if !(math.Abs(t) <= maxMagnitude) {
			return nil, nil, fault.New(fmt.Sprintf("grid[%d]", i), "%v is not in [-1e100, 1e100]", t)
		}
	}
	if len(p.labels) == 1 {
		return nil, nil, nil
	}
	q := newProblem(p, eps)
	scaled := make([]float64, len(grid))
	q.exact = make(map[float64]float64, len(grid))
	for i, t := range grid {
		scaled[i] = (t - q.mid) / q.sc
		q.exact[scaled[i]] = t
	}
	slices.Sort(scaled)
	scaled = slices.Compact(scaled)
	if m := max(math.Abs(scaled[0]), math.Abs(scaled[len(scaled)-1])); m > 1e6 {
		return nil, nil, fault.New("grid", "reaches %.3g times the width an unbiased randomizer needs, must be at most 1e6", m)
	}
	return q, scaled, nil
}

// BiasLimited returns the ε-DP randomizer of least half-loss among those with
// outputs in grid and |E[ŷ] − y| ≤ bias for every label: Algorithm 1 of
// arXiv:2312.05659 with its equality relaxed. Bias 0 is [OptimalUnbiasedGrid];
// an infinite bias leaves the ε-DP constraint alone, and gives RR-on-bins when
// the grid contains its outputs. Once ctx is done, the error is that of ctx.
//
// The program has three rows for each label, and its effort is limited, the same on
// every machine. Where it does not end (above some 270 labels it is not begun), the
// better one of what it has reached and of [OptimalUnbiased], rounded at random to
// the grid, is returned; the certificate's gap tells.
func BiasLimited(ctx context.Context, p Prior, eps, bias float64, grid []float64) (Randomizer, Certificate, error) {
	const name = "bias-limited"
	if !(bias >= 0) {
		return nil, Certificate{}, fault.New("bias", "%v is not in [0, ∞]", bias)
	}
	if bias == 0 {
		return unbiasedOnGrid(ctx, name, p, eps, grid)
	}
	q, scaled, err := prepareGrid(p, eps, grid)
	if err != nil {
		return nil, Certificate{}, err
	}
	if q == nil {
		best := grid[0]
		for _, t := range grid {
			if math.Abs(t-p.labels[0]) < math.Abs(best-p.labels[0]) {
				best = t
			}
		}
		if math.Abs(best-p.labels[0]) > bias {
			return nil, Certificate{}, fault.New("grid", "%w: no output within %v of label %v", ErrInfeasible, bias, p.labels[0])
		}
		r := newRandomizer(name, p.labels, eps, []atom{{Output: best, Weight: 1}})
		return r, r.certify(0, bias), nil
	}
	// No bias exceeds the distance between an output and a label.
	beta := min(bias/q.sc, 1+max(q.y[q.k-1]-scaled[0], scaled[len(scaled)-1]-q.y[0]))
	cols, dual, pivots, err := q.biased(ctx, scaled, beta)
	if errors.Is(err, errWork) {
		// The best unbiased randomizer, rounded to the grid, is one of those that may
		// be returned.
		var o optimum
		if o, err = q.find(ctx, p.known); err == nil {
			rounded, ok := onGrid(o.cols, scaled)
			if !ok {
				return nil, Certificate{}, fault.New("grid", "%d outputs and %d labels take too long with a bias, and the outputs are too close together for an unbiased randomizer: use fewer labels, or a wider grid", len(scaled), q.k)
			}
			if cols == nil || q.value(rounded) < q.value(cols) {
				cols = rounded
			}
			dual = max(dual, o.duals.biasedBound(scaled, beta))
		}
	}
	if errors.Is(err, ErrInfeasible) {
		return nil, Certificate{}, fault.New("grid", "%w: no %v-DP randomizer on outputs in [%v, %v] has bias at most %v",
			ErrInfeasible, eps, slices.Min(grid), slices.Max(grid), bias)
	}
	if err != nil {
		return nil, Certificate{}, err
	}
	return q.finish(name, cols, q.value(cols), dual, pivots, bias)
}

// biased runs both phases of the simplex method. The error is errWork where the work
// limit was reached: cols are nil when no feasible ones have been found by then.
func (q *problem) biased(ctx context.Context, grid []float64, beta float64) (cols []column, dual float64, pivots int, err error) {
	// Ten pivots for each row are the least that is ever seen.
	if m := float64(3 * q.k); 10*m*pivotWork*m*m > allowed(ctx) {
		return nil, 0, 0, errWork
	}
	s, err := newBiased(q, grid, beta)
	if err != nil {
		return nil, 0, 0, err
	}
	left, err := s.feasible(ctx)
	if err != nil {
		return nil, 0, s.pivots, err
	}
	if left > 1e-10 {
		return nil, 0, s.pivots, ErrInfeasible
	}
	cols, d, err := s.solve(ctx, 1e-12)
	if ctx.Err() != nil {
		return nil, 0, s.pivots, err
	}
	if !errors.Is(err, errWork) {
		err = nil // a solver that gave up leaves what it has, and the gap tells
	}
	return cols, d.biasedBound(grid, beta), s.pivots, err
}

// biasedBound returns a lower bound on the value of every randomizer with outputs in
// grid and a bias of at most beta: bound, less what the bias can gain.
func (d *duals) biasedBound(grid []float64, beta float64) float64 {
	b := d.bound(grid)
	for _, m := range d.mu {
		b -= beta * math.Abs(m)
	}
	return b
}

// onGrid rounds the outputs of columns to the two nearest in grid, at random with
// the same mean, which is post-processing; false if one is outside the grid.
func onGrid(cols []column, grid []float64) ([]column, bool) {
	var out []column
	for _, c := range cols {
		i, found := slices.BinarySearch(grid, c.t)
		switch {
		case found:
			out = append(out, c)
		case i == 0 || i == len(grid):
			return nil, false
		default:
			up := (c.t - grid[i-1]) / (grid[i] - grid[i-1])
			out = append(out, column{grid[i-1], c.c * (1 - up), c.up}, column{grid[i], c.c * up, c.up})
		}
	}
	return out, true
}
