package matrix

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/tables"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// This file has the sensitivities of matrices that are given entry by entry.

// columns are those of a lower triangular matrix: column i has values from row i on,
// without the zeros at the end.
type columns [][]float64

func columnsOf(rows []row) columns {
	n := len(rows)
	last := make([]int, n)
	for i, r := range rows {
		for j := range r.values {
			last[r.from+j] = i
		}
	}
	c := make(columns, n)
	for j := range c {
		c[j] = make([]float64, last[j]-j+1)
	}
	for i, r := range rows {
		for j, x := range r.values {
			c[r.from+j][i-r.from-j] = x
		}
	}
	return c
}

func (c columns) nonNegative() bool {
	return !slices.ContainsFunc(c, negative)
}

func negative(xs []float64) bool {
	return slices.ContainsFunc(xs, func(x float64) bool { return x < 0 })
}

// normsSquared returns all |c_i|².
func (c columns) normsSquared() []double {
	out := make([]double, len(c))
	for i, column := range c {
		for _, x := range column {
			out[i] = out[i].add(square(x))
		}
	}
	return out
}

// patternSquared returns |Σ u_i c_i|² over the pattern, for signs u, nil for all 1. It is
// used where it is at least the square of the norm of one column. Then cancellation makes
// a relative error of at most 32·k²·2^-106·n ≤ 2^-65 of it: the sum has at most k norms.
func (c columns) patternSquared(pattern []int, signs []float64) double {
	if len(pattern) == 0 {
		return double{}
	}
	v := make([]double, len(c)-pattern[0])
	for s, i := range pattern {
		u := 1.0
		if signs != nil {
			u = signs[s]
		}
		at := v[i-pattern[0]:]
		for r, x := range c[i] {
			at[r] = at[r].add(double{u * x, 0})
		}
	}
	return normSquared(v, len(v))
}

// orthogonal returns the sensitivity where columns that are b apart have no row in common:
// the largest sum of norms of a pattern, by F_k[i] = max(F_k[i+1], |c_i|² + F_{k−1}[i+b]).
// Signs do not count.
func orthogonal(norms []double, b, k int) double {
	n := len(norms)
	before, now := make([]double, n+1), make([]double, n+1)
	for range k {
		for i := n - 1; i >= 0; i-- {
			take := norms[i]
			if i+b < n {
				take = take.add(before[i+b])
			}
			now[i] = larger(now[i+1], take)
		}
		before, now = now, before
	}
	return before[0]
}

// cosets returns the patterns {j, j+b, j+2b, …} for j < b.
func cosets(n, b int) [][]int {
	out := make([][]int, b)
	for i := range n {
		out[i%b] = append(out[i%b], i)
	}
	return out
}

// A gram has upper bounds of the |X_ij| = |⟨c_i, c_j⟩|, in the lower triangle.
type gram struct {
	n int
	x [][]float64 // x[j][i] for i ≤ j
}

func newGram(n int) *gram {
	g := &gram{n: n, x: make([][]float64, n)}
	all := make([]float64, n*(n+1)/2)
	for j := range g.x {
		g.x[j], all = all[:j+1:j+1], all[j+1:]
	}
	return g
}

func (g *gram) at(i, j int) float64 {
	if i > j {
		return g.x[i][j]
	}
	return g.x[j][i]
}

// gramOf returns the Gram matrix of columns. A dot product of m numbers has an error of at
// most mu/(1−mu)·Σ|products| ≤ 2mu·|c_i||c_j| (Higham 2002, §3.1, for any order of the sum).
func gramOf(ctx context.Context, c columns, norms []double) (*gram, error) {
	n := len(c)
	g := newGram(n)
	size := make([]float64, n)
	for i := range size {
		size[i] = norms[i].sqrt().up()
	}
	const block = 8 // columns that stay in the cache while all others pass
	for first := 0; first < n; first += block {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := first; j < n; j++ {
			for i := first; i < min(first+block, j+1); i++ {
				if x, m := c.inner(i, j); m > 0 {
					g.x[j][i] = xmath.Up(math.Abs(x)+2*float64(m+4)*xmath.U*size[i]*size[j], 2)
				}
			}
		}
	}
	return g, nil
}

// inner returns ⟨c_i, c_j⟩ for i ≤ j, as a sum of so many products.
func (c columns) inner(i, j int) (sum float64, products int) {
	if products = min(len(c[i])-(j-i), len(c[j])); products > 0 {
		sum = dot(c[i][j-i:], c[j], products)
	}
	return sum, products
}

// boundedSum returns Σ |X_ij| over a pattern, rounded up.
func (g *gram) boundedSum(pattern []int) float64 {
	total := 0.0
	for s, i := range pattern {
		row := 0.0
		for _, j := range pattern[:s] {
			row += g.x[i][j]
		}
		total += g.x[i][i] + 2*row
	}
	return total * (1 + 4*float64(len(pattern)+4)*xmath.U)
}

// maxSigned bounds the patterns whose signs are searched.
const maxSigned = 512

// signs returns contributions ±1 that make |Σ u_i c_i|² large: each is turned as long as
// that helps. It is a guess; what it reaches is computed apart.
func (c columns) signs(pattern []int) []float64 {
	k := len(pattern)
	if k > maxSigned {
		return nil
	}
	x := make([]float64, k*k)
	for s, i := range pattern {
		for t, j := range pattern[:s] {
			d, _ := c.inner(j, i)
			x[s*k+t], x[t*k+s] = d, d
		}
	}
	u := make([]float64, k)
	for s := range u { // each joins those before it
		field := 0.0
		for t := range s {
			field += x[s*k+t] * u[t]
		}
		u[s] = 1
		if field < 0 {
			u[s] = -1
		}
	}
	for turned, pass := true, 0; turned && pass < 50; pass++ {
		turned = false
		for s := range u {
			field := 0.0
			for t := range u {
				field += x[s*k+t] * u[t]
			}
			if field*u[s] < 0 {
				u[s], turned = -u[s], true
			}
		}
	}
	return u
}

// ReadCSV returns the strategy of a file of comma-separated numbers: a lower triangular matrix, as
// Rows takes it, one line for each row; or, as Strategy.WriteCSV has them, a line that begins with
// coefficients, or one with scales and one with decays.
func ReadCSV(r io.Reader) (Strategy, error) {
	rows, names, err := readRows(r, true)
	switch {
	case err != nil:
		return Strategy{}, err
	case len(names) == 0:
		return Rows(rows)
	case len(names) != len(rows):
		return Strategy{}, fault.New("rows", "line %d has no name, as the first has", len(names)+1)
	case len(names) == 1 && names[0] == "coefficients":
		return Toeplitz(rows[0])
	case len(names) == 2 && names[0] == "scales" && names[1] == "decays":
		return BLT(rows[0], rows[1])
	}
	return Strategy{}, fault.New("rows", "has the lines %s, must have coefficients alone, or scales and decays", strings.Join(names, ", "))
}

// ReadRows returns the rows of such a file, without the zeros above the diagonal. It has no header.
func ReadRows(r io.Reader) ([][]float64, error) {
	rows, _, err := readRows(r, false)
	return rows, err
}

// readRows returns the lines of numbers, and the names before them if every line has one and named
// allows it.
func readRows(r io.Reader, named bool) (rows [][]float64, names []string, err error) {
	in := tables.NewReader(r)
	for {
		cells, err := in.Row()
		if err == io.EOF {
			return rows, names, nil
		}
		field, most := fmt.Sprintf("rows[%d]", len(rows)), maxRows
		if err == nil && named && len(names) == len(rows) && slices.Contains([]string{"coefficients", "scales", "decays"}, cells[0]) {
			field, most = cells[0], maxSteps
			names, cells = append(names, cells[0]), cells[1:]
		}
		switch {
		case err != nil:
			return nil, nil, fault.New("rows", "line %d: %w", in.Line(), err)
		case len(rows) == maxRows:
			return nil, nil, fault.New("rows", "has more than %d rows", maxRows)
		case len(cells) > most:
			return nil, nil, fault.New(field, "has %d numbers, must have 1 to %d", len(cells), most)
		}
		row := make([]float64, len(cells))
		for i, text := range cells {
			x, err := decimal.Parse(text)
			if err != nil {
				return nil, nil, fault.New(field, "%s in column %d %v", decimal.Show(text), i, err)
			}
			row[i] = x
		}
		for len(names) == 0 && len(row) > len(rows)+1 && row[len(row)-1] == 0 { // what is above the diagonal
			row = row[:len(row)-1]
		}
		rows = append(rows, row[:len(row):len(row)])
	}
}
