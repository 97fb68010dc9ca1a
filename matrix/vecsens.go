package matrix

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// This file bounds max Σ_{i,j∈π} |X_ij| over the patterns π of at most k steps of which two
// are at least b apart, from above, and searches patterns from below.

// vecSens returns an upper bound: with r_i the largest Σ_{j∈π} |X_ij| over patterns that
// contain i, it is the largest Σ_{i∈π} r_i. Both by dynamic programming; Choquette-Choo et
// al. 2023 (arXiv:2306.08153), Algorithm 3, but for the condition that i is in π, which
// makes it smaller. The r are returned too. Sums of k terms, twice, are rounded up.
func (g *gram) vecSens(ctx context.Context, b, k int) (float64, []float64, error) {
	n := g.n
	r := make([]float64, n)
	values := make([]float64, n)
	before, now := make([]float64, n+1), make([]float64, n+1)
	left := make([]float64, 0, k)
	for i := range r {
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		// The best patterns of 0, 1, … steps in [0, i−b], and of the rest in [i+b, n).
		left = append(left[:0], 0)
		if m := i - b + 1; m > 0 {
			copy(values, g.x[i][:m])
			left = best(left, values[:m], before, now, b, k-1)
		}
		r[i] = left[len(left)-1]
		if m := n - (i + b); m > 0 {
			for j := range m {
				values[j] = g.x[i+b+j][i]
			}
			right := best([]float64{0}, values[:m], before, now, b, k-1)
			for s := range left {
				r[i] = max(r[i], left[s]+right[min(k-1-s, len(right)-1)])
			}
		}
		r[i] += g.x[i][i]
	}
	most := best([]float64{0}, r, before, now, b, k)
	up := 1 + 4*float64(2*k+8)*xmath.U
	return most[len(most)-1] * up, r, nil
}

// best appends to out the largest sums of at most 1, 2, … most of the values, of which two
// are at least b apart, up to what fits.
func best(out, values, before, now []float64, b, most int) []float64 {
	n := len(values)
	clear(before[:n])
	for k := 1; k <= min(most, (n-1)/b+1); k++ {
		top := 0.0
		for i, v := range values[:min(b, n)] {
			top = max(top, v)
			now[i] = top
		}
		if b < n {
			rest, old, to := values[b:n], before[:n-b], now[b:n]
			for i, v := range rest {
				top = max(top, v+old[i])
				to[i] = top
			}
		}
		out = append(out, top)
		before, now = now, before
	}
	return out
}

// search returns a pattern with a large sum: of some to start from each is improved by
// moving one step at a time to where it counts most.
func (g *gram) search(b, k int, r []float64) []int {
	var most []int
	value := math.Inf(-1)
	for _, start := range [][]int{stride(0, b, k, g.n), stride((g.n-1)%b, b, k, g.n), pick(r, b, k)} {
		p := g.improve(start, b)
		if v := g.boundedSum(p); v > value {
			most, value = p, v
		}
	}
	return most
}

// stride returns {j, j+b, …}, at most k steps below n.
func stride(j, b, k, n int) []int {
	var p []int
	for ; j < n && len(p) < k; j += b {
		p = append(p, j)
	}
	return p
}

// pick returns steps of large r, at least b apart: the largest first.
func pick(r []float64, b, k int) []int {
	order := xmath.Order(len(r), func(i, j int) int { return cmp.Compare(r[j], r[i]) })
	var p []int
	blocked := make([]bool, len(r))
	for _, i := range order {
		if len(p) == k {
			break
		}
		if blocked[i] {
			continue
		}
		p = append(p, i)
		for j := max(0, i-b+1); j < min(len(r), i+b); j++ {
			blocked[j] = true
		}
	}
	slices.Sort(p)
	return p
}

// improve moves steps of a pattern as long as that makes it better.
func (g *gram) improve(p []int, b int) []int {
	p = slices.Clone(p)
	gain := func(s, j int) float64 {
		v := g.x[j][j]
		for t, i := range p {
			if t != s {
				v += 2 * g.at(i, j)
			}
		}
		return v
	}
	for moved, pass := true, 0; moved && pass < 20; pass++ {
		moved = false
		for s := range p {
			lo, hi := 0, g.n-1
			if s > 0 {
				lo = p[s-1] + b
			}
			if s < len(p)-1 {
				hi = p[s+1] - b
			}
			at, most := p[s], gain(s, p[s])
			for j := lo; j <= hi; j++ {
				if v := gain(s, j); v > most*(1+1e-12) {
					at, most = j, v
				}
			}
			if at != p[s] {
				p[s], moved = at, true
			}
		}
	}
	return p
}

// maxExhaustive is the largest number of steps whose patterns are searched exhaustively,
// within maxNodes of them.
const maxExhaustive, maxNodes = 64, 200_000

// exhaust returns a pattern with the largest sum, by branch and bound, and false if that
// took too long: patterns are extended to the right, and what the rest can add is at most
// the best sum of 2Σ_{i∈π} X_ij + r_j over it, where r_j counts patterns of the rest. It
// starts from a pattern to beat. A branch is left if its bound is not above the
// best sum by more than the rounding of sums, slack.
func (g *gram) exhaust(start []int, r []float64, b, k int, slack float64) ([]int, bool) {
	most, value := slices.Clone(start), g.boundedSum(start)
	nodes := 0
	path := make([]int, 0, k)
	before, now := make([]float64, g.n+1), make([]float64, g.n+1)
	var extend func(from int, sum float64, cross []float64) bool
	extend = func(from int, sum float64, cross []float64) bool {
		if nodes++; nodes > maxNodes {
			return false
		}
		if sum > value {
			most, value = slices.Clone(path), sum
		}
		if from >= g.n || len(path) == k {
			return true
		}
		rest := make([]float64, g.n-from)
		for j := range rest {
			rest[j] = 2*cross[from+j] + r[from+j]
		}
		tops := best([]float64{0}, rest, before, now, b, k-len(path))
		if sum+tops[len(tops)-1] <= value*(1+slack) {
			return true
		}
		for j := from; j < g.n; j++ {
			further := slices.Clone(cross)
			for i := j + 1; i < g.n; i++ {
				further[i] += g.x[i][j]
			}
			path = append(path, j)
			if !extend(j+b, sum+g.x[j][j]+2*cross[j], further) {
				return false
			}
			path = path[:len(path)-1]
		}
		return true
	}
	done := extend(0, 0, make([]float64, g.n))
	return most, done
}

// A double is the number hi + lo, |lo| ≤ ulp(hi)/2: about 106 bits. Sums of numbers of one
// sign, products and quotients have a relative error of at most 16u² (Joldes, Muller and
// Popescu, ACM TOMS 2017: at most 3u², 5u²
// and 15u² + O(u³)), as long as nothing
// underflows, which the range of entries excludes (minEntry).
//
// Every sum of this package is reached from exact float64 in at most 2^40 operations one
// after the other, so that 2^40·16·2^-106 = 2^-62 bounds its relative error; where signs
// make it subtract there is a bound of 2^-57 beside the sum. That is less than a tenth
// of an ulp: rounded to a float64 it is within one ulp of the truth.
type double struct{ hi, lo float64 }

// twoSum returns a + b exactly.
func twoSum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

// quick returns hi + lo, normalised, for |hi| ≥ |lo|.
func quick(hi, lo float64) double {
	s := hi + lo
	return double{s, lo - (s - hi)}
}

func (a double) add(b double) double {
	s, t := twoSum(a.hi, b.hi), twoSum(a.lo, b.lo)
	v := quick(s.hi, s.lo+t.hi)
	return quick(v.hi, t.lo+v.lo)
}

func (a double) neg() double         { return double{-a.hi, -a.lo} }
func (a double) sub(b double) double { return a.add(b.neg()) }

func (a double) mul(b double) double {
	p := a.hi * b.hi
	e := math.FMA(a.hi, b.hi, -p)
	return quick(p, e+(math.FMA(a.hi, b.lo, a.lo*b.hi)))
}

// times returns a·x.
func (a double) times(x float64) double {
	p := a.hi * x
	return quick(p, math.FMA(a.lo, x, math.FMA(a.hi, x, -p)))
}

// square returns x² exactly.
func square(x float64) double {
	p := x * x
	return double{p, math.FMA(x, x, -p)}
}

// ratio returns a/x.
func (a double) ratio(x float64) double {
	q := a.hi / x
	return quick(q, (math.FMA(-q, x, a.hi)+a.lo)/x)
}

// over returns a/b.
func (a double) over(b double) double {
	q := a.hi / b.hi
	r := a.sub(b.times(q))
	return quick(q, r.hi/b.hi)
}

// sqrt returns √a for a ≥ 0: one step of Newton's method from the square root of hi.
func (a double) sqrt() double {
	if a.hi == 0 {
		return double{}
	}
	r := math.Sqrt(a.hi)
	return quick(r, a.sub(square(r)).hi/(2*r))
}

func (a double) abs() double {
	if a.hi < 0 {
		return a.neg()
	}
	return a
}

func (a double) compare(b double) int {
	return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo))
}

func (a double) less(b double) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func larger(a, b double) double {
	if a.less(b) {
		return b
	}
	return a
}

// up and down are float64 above and below a quantity that is known to a tenth of an ulp.
func (a double) up() float64   { return xmath.Up(a.hi, 1) }
func (a double) down() float64 { return xmath.Down(a.hi, 1) }
