package matrix

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/allocation"
	"gonum.org/v1/gonum/blas/blas64"
)

// This file has balls in bins with any non-negative matrix: each record draws one of b bins
// and takes part in the steps j, j+b, … of its bin. The pair that dominates and is attained
// is the average of N(m_j, σ²I) against N(0, σ²I), with m_j the sum of the columns of bin j,
// and depends on their Gram matrix G alone. Its divergence grows with every entry of G
// (Theorem M4 of docs/guide/matrix.md), so that matrices with two values, D on the diagonal and
// κ ≤ D elsewhere, bound it: these are a Gaussian of shift √κ/σ, composed with random
// allocation to one of b steps of shift √(D−κ)/σ.

// A twoValued is such a matrix above the G of a run, or one below.
type twoValued struct{ diagonal, rest double }

// balls returns matrices below and above G: above, the largest value of the diagonal and of
// what is off it; below, the smallest value of the diagonal and of all of G. (The smallest
// off the diagonal may be above the smallest on it, which no two-valued matrix has.)
// exact says that G is the two, which are the same.
func (c Config) balls(ctx context.Context) (lower, upper twoValued, exact bool, err error) {
	n, b := c.Steps, c.Participation.separation
	if c.Strategy.kind == squareRoot && c.Strategy.bands == 1 && n%b == 0 {
		d := twoValued{diagonal: double{float64(n / b), 0}}
		return d, d, true, nil
	}
	var g entries
	if c.Strategy.isToeplitz() {
		g, err = c.toeplitzBins(ctx, b)
	} else {
		g, err = denseBins(ctx, columnsOf(c.Strategy.rows), b)
	}
	if err != nil {
		return twoValued{}, twoValued{}, false, err
	}
	// Entries are sums of at most 2n non-negative products of sums of at most n: relative
	// errors of 4nu, taken twice.
	up, down := 1+8*float64(n+4)*xmath.U, 1-8*float64(n+4)*xmath.U
	value := func(x float64) double { return double{x, 0} }
	if b == 1 {
		g.leastOff, g.mostOff = g.leastOn, g.mostOn // one entry
	}
	lower = twoValued{value(g.leastOn * down), value(min(g.leastOn, g.leastOff) * down)}
	upper = twoValued{value(g.mostOn * up), value(g.mostOff * up)}
	return lower, upper, false, nil
}

// entries are the extremes of G on the diagonal and off it.
type entries struct{ leastOn, mostOn, leastOff, mostOff float64 }

func newEntries() entries { return entries{math.Inf(1), 0, math.Inf(1), 0} }

func (e *entries) see(i, j int, x float64) {
	if i == j {
		e.leastOn, e.mostOn = min(e.leastOn, x), max(e.mostOn, x)
	} else {
		e.leastOff, e.mostOff = min(e.leastOff, x), max(e.mostOff, x)
	}
}

// toeplitzBins: bin j is bin 0, M, moved by j, so that G_{j,j+d} = Σ_{u<n−j−d} M_u·M_{u+d},
// which falls with j: the ends j = 0 and j = b−1−d have the extremes.
func (c Config) toeplitzBins(ctx context.Context, b int) (entries, error) {
	n := c.Steps
	coefficients, _ := c.Strategy.toeplitzCoefficients(n)
	m := make([]float64, n)
	for t := range m {
		if t < len(coefficients) {
			m[t] = coefficients[t].hi
		}
		if t >= b {
			m[t] += m[t-b]
		}
	}
	e := newEntries()
	for d := range b {
		if err := ctx.Err(); err != nil {
			return e, err
		}
		short := dot(m[d:], m, n-b+1)
		e.see(0, d, short)
		e.see(0, d, short+dot(m[n-b+1+d:], m[n-b+1:], b-1-d))
	}
	return e, nil
}

func dot(x, y []float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return blas64.Dot(blas64.Vector{N: n, Data: x, Inc: 1}, blas64.Vector{N: n, Data: y, Inc: 1})
}

func denseBins(ctx context.Context, c columns, b int) (entries, error) {
	n := len(c)
	e := newEntries()
	bins := make([][]float64, b)
	for j := range bins {
		bins[j] = make([]float64, n)
		for i := j; i < n; i += b {
			for r, x := range c[i] {
				bins[j][i+r] += x
			}
		}
		if err := ctx.Err(); err != nil {
			return e, err
		}
		for i := range j + 1 {
			e.see(i, j, dot(bins[i], bins[j], n))
		}
	}
	return e, nil
}

// ballRuns returns the list of runs of the sandwich. A base carries the matrix above in its
// pair and the one below in its attack; each of the two lists is a bound only as a whole.
func ballRuns(sigma float64, bins int, lower, upper twoValued, exact bool) ([]subsample.Run, error) {
	var runs []subsample.Run
	if !exact && (upper.rest.hi > 0 || lower.rest.hi > 0) {
		b, err := gaussian(sigma, squares{lower: lower.rest, upper: upper.rest})
		if err != nil {
			return nil, err
		}
		runs = append(runs, subsample.Run{Mechanism: b, Count: 1})
	}
	// The difference of two float64 within one rounding, and whatever is 0 below.
	own := squares{lower: lower.diagonal.sub(lower.rest), upper: upper.diagonal.sub(upper.rest), exact: exact}
	if own.upper.hi <= 0 {
		return runs, nil
	}
	b, err := gaussian(sigma, own)
	if err != nil {
		return nil, err
	}
	scheme, err := allocation.NewRandom(int64(bins))
	if err != nil {
		return nil, err
	}
	return append(runs, subsample.Run{Mechanism: b, Scheme: scheme, Count: 1}), nil
}
