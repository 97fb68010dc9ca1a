package positive

import (
	"cmp"
	"math"
	"slices"
)

// A Hypotheses is the law of one statistic under three hypotheses about a block of steps: no step
// is special, a uniformly drawn one is special as P has it, or as Q has it. Values ascend.
//
// Values are rounded at random to two neighbouring points of a grid, by the same probabilities
// under all three: that is something that an attacker can do, so that whatever comes out is
// a lower bound, whatever the grid. Masses have the relative error MassErr; rounding of the
// probabilities is in it.
type Hypotheses struct {
	X          []float64
	None, P, Q []float64
	Steps      float64
	MassErr    float64
}

// onto collects values v with masses in the cells of a grid; ends are clamped.
type onto struct {
	grid []float64
	mass [3][]float64 // of each hypothesis
	move [3][]float64 // mass times the share of the way to the next point
}

func newOnto(grid []float64) *onto {
	o := &onto{grid: grid}
	for h := range 3 {
		o.mass[h], o.move[h] = make([]float64, len(grid)), make([]float64, len(grid))
	}
	return o
}

// cell returns the cell of v from k on and the share of the way to its upper end.
func (o *onto) cell(v float64, k int) (int, float64) {
	g := o.grid
	for k+1 < len(g) && v >= g[k+1] {
		k++
	}
	if k+1 == len(g) || v <= g[k] {
		return k, 0
	}
	return k, (v - g[k]) / (g[k+1] - g[k])
}

func (o *onto) put(k int, s, none, p, q float64) {
	o.mass[0][k] += none
	o.mass[1][k] += p
	o.mass[2][k] += q
	o.move[0][k] += none * s
	o.move[1][k] += p * s
	o.move[2][k] += q * s
}

// law returns the rounded law.
func (o *onto) law() (out [3][]float64) {
	for h := range 3 {
		m := make([]float64, len(o.grid))
		for k := range o.grid {
			up := min(o.move[h][k], o.mass[h][k])
			m[k] += o.mass[h][k] - up
			if up > 0 {
				m[k+1] += up
			}
		}
		out[h] = m
	}
	return out
}

// NewHypotheses returns the law of the statistic f of one step: none, p and q are the masses of
// cells of its outcomes, with the relative error err, and values what f is there, one for each.
func NewHypotheses(values, none, p, q []float64, err float64, grid []float64) *Hypotheses {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	o := newOnto(grid)
	k := 0
	for _, i := range order {
		var s float64
		k, s = o.cell(values[i], k)
		o.put(k, s, none[i], p[i], q[i])
	}
	m := o.law()
	return &Hypotheses{X: grid, None: m[0], P: m[1], Q: m[2], Steps: 1, MassErr: err + float64(len(values)+8)*2*u}
}

// Join returns the law of two blocks one after the other: the special step is in either of them,
// by their numbers of steps.
func (a *Hypotheses) Join(b *Hypotheses, grid []float64) *Hypotheses {
	o := newOnto(grid)
	inA := a.Steps / (a.Steps + b.Steps)
	inB := b.Steps / (a.Steps + b.Steps)
	for i, x := range a.X {
		n, p, q := a.None[i], inA*a.P[i], inA*a.Q[i]
		if n == 0 && p == 0 && q == 0 {
			continue
		}
		m := n * inB
		k := 0
		if len(b.X) > 0 {
			k, _ = slices.BinarySearch(grid, x+b.X[0])
			k = max(0, k-1)
		}
		for j, y := range b.X {
			var s float64
			k, s = o.cell(x+y, k)
			o.put(k, s, n*b.None[j], p*b.None[j]+m*b.P[j], q*b.None[j]+m*b.Q[j])
		}
	}
	m := o.law()
	// The share of the way has the same rounding under all hypotheses; sums have their own.
	terms := float64(len(a.X)*2 + len(b.X)*2)
	return &Hypotheses{X: grid, None: m[0], P: m[1], Q: m[2], Steps: a.Steps + b.Steps, MassErr: a.MassErr + b.MassErr + (terms+16)*2*u}
}

// Middle returns the median and half the range from 16 to 84 % without a special step.
func (a *Hypotheses) Middle() (median, wide float64) {
	l := Law{X: a.X, Mass: a.None}
	return l.middle()
}

// Reach returns the range in which any of the laws has more than cut beyond.
func (a *Hypotheses) Reach(cut float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, m := range [][]float64{a.None, a.P, a.Q} {
		sum := 0.0
		for i, x := range a.X {
			if sum += m[i]; sum > cut {
				lo = min(lo, x)
				break
			}
		}
		sum = 0
		for i := len(a.X) - 1; i >= 0; i-- {
			if sum += m[i]; sum > cut {
				hi = max(hi, a.X[i])
				break
			}
		}
	}
	return lo, hi
}

// Spaced returns a grid of n points from lo to hi, about even within a few widths of the middle and
// by constant ratios far out.
func Spaced(lo, hi, middle, wide float64, n int) []float64 {
	if !(wide > 0) {
		wide = (hi - lo) / 10
	}
	a, b := math.Asinh((lo-middle)/wide), math.Asinh((hi-middle)/wide)
	g := make([]float64, 0, n)
	for i := range n {
		x := middle + wide*math.Sinh(a+(b-a)*float64(i)/float64(n-1))
		if k := len(g); k == 0 || x > g[k-1]+1e-13*math.Abs(x) {
			g = append(g, x)
		}
	}
	return g
}
