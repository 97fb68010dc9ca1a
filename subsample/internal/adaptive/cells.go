// Cells of places of the other records, and bounds of the profiles in them (§10).

package adaptive

import (
	"math"
	"slices"
	"sync"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A cell is a rectangle of the distances s = |x − z| and t = |x' − z|, in a ball
// of radius 1. The configurations that matter have s² + t² ≥ 4: any other is dominated,
// at every α and in both directions, by the one at which z has moved away from the line
// through x and x' to the unit circle (docs/theory/subsampling.md §10).
type cell struct{ s0, s1, t0, t1 float64 }

func (c cell) mirror() cell { return cell{s0: c.t0, s1: c.t1, t0: c.s0, t1: c.s1} }

// empty reports whether nothing of the cell matters, or the mirror image of other cells.
func (c cell) empty() bool {
	return c.s1*c.s1+c.t1*c.t1 < 4*(1-8*xmath.U) || c.t0 > c.s1
}

// largestR is the largest |x − x'| of the triangles that fill the unit ball,
// with sides s and t or longer ones.
func largestR(s, t float64) float64 {
	if s*s+t*t <= 4 {
		return 2
	}
	r := s*math.Sqrt(max(0, 1-t*t/4)) + t*math.Sqrt(max(0, 1-s*s/4))
	return min(2, r*(1+8*xmath.U)+1e-15)
}

// worst returns the triangle whose bound for α ≥ 1 is at least that of every
// configuration of the cell: excess grows in s and r and falls in t.
func (c cell) worst() triangle { return triangle{c.s1, c.t0, largestR(c.s0, c.t0)} }

// split halves the cell across its relatively longer side, as seen from the
// corner where z is x', and cuts off what is within the unit circle.
func (c cell) split() [2]cell {
	half := func(lo, hi float64) float64 { return math.Sqrt(max(lo, hi/4) * hi) }
	a, b := c, c
	if (c.s1-c.s0)/max(2-c.s0, 0.002) > 2*(c.t1-c.t0)/max(c.t1, 0.05) {
		s := 2 - half(2-c.s1, 2-c.s0)
		a.s1, b.s0 = s, s
	} else {
		t := half(c.t0, c.t1)
		a.t1, b.t0 = t, t
	}
	// side is at most the least other side with s² + t² ≥ 4.
	side := func(s float64) float64 {
		return math.Sqrt(max(0, (2-s)*(2+s))) * (1 - 8*xmath.U)
	}
	out := [2]cell{a, b}
	for i := range out {
		c := &out[i]
		c.s0 = max(c.s0, side(c.t1))
		c.t0 = max(c.t0, side(c.s1))
	}
	return out
}

// A bounded is a cell with bounds of its configurations' profiles at the nodes,
// up for α ≥ 1 and down that of the reverse. Bounds start as those of the cell that it is
// a part of; fresh ones are its own.
type bounded struct {
	cell
	up, down           []float64
	freshUp, freshDown []bool
}

// part returns a cell within b, with its bounds.
func (b *bounded) part(c cell) *bounded {
	return &bounded{cell: c, up: slices.Clone(b.up), down: slices.Clone(b.down), freshUp: make([]bool, len(b.up)), freshDown: make([]bool, len(b.up))}
}

// mirror is b with the roles of x and x' exchanged; what is sharpened in one is in both.
func (b *bounded) mirror() *bounded {
	return &bounded{cell: b.cell.mirror(), up: b.down, down: b.up, freshUp: b.freshDown, freshDown: b.freshUp}
}

// whole is the cell of all configurations: bounds are the largest of all.
func (p *palette) whole() *bounded {
	b := &bounded{cell: cell{s0: 0, s1: 2, t0: 0, t1: 2}}
	for _, ways := range p.ways {
		b.up = append(b.up, p.bound.at(ways, triangle{2, 0, 2}))
	}
	b.down = slices.Clone(b.up)
	return b
}

// sharpen makes the bound at a node fresh, up or down, and reports whether it was not.
func (p *palette) sharpen(b *bounded, node int, up bool) bool {
	at, bounds, fresh := b.cell.mirror(), b.down, b.freshDown
	if up {
		at, bounds, fresh = b.cell, b.up, b.freshUp
	}
	if fresh[node] {
		return false
	}
	bounds[node], fresh[node] = min(bounds[node], p.known.at(p, at.worst(), node)), true
	return true
}

// known keeps bounds of triangles, which most covers share. It is safe for concurrent use.
type known struct {
	mu sync.Mutex
	of map[triangle][]float64 // by node; 0 is not known
}

func newKnown() *known { return &known{of: map[triangle][]float64{}} }

func (k *known) at(p *palette, g triangle, node int) float64 {
	k.mu.Lock()
	row := k.of[g]
	if row == nil {
		row = make([]float64, len(p.x))
		k.of[g] = row
	}
	v := row[node]
	k.mu.Unlock()
	if v == 0 {
		v = p.bound.at(p.ways[node], g)
		k.mu.Lock()
		row[node] = v
		k.mu.Unlock()
	}
	return v
}

// Proof (docs/theory/subsampling.md §10): which triangles are to be covered.
//
// Which triangles. Enlarging a triangle only increases every divergence (it is less noise in proportion), so its
// smallest enclosing ball may be taken to be the unit ball. If it is not acute its longest side is then 2. If r = 2, `s²
// + t² ≤ 4` and s + t ≥ 2. If s = 2, `r² ≤ 4 − t²`, and likewise for t = 2. If it is acute its circumscribed circle is
// the unit circle, and `r = s√(1−t²/4) + t√(1−s²/4)`. In all cases s, t ≤ 2, and r is at most `ρ(s,t) = 2` where `s² +
// t² ≤ 4` and that root expression elsewhere; ρ falls in s and t.
//
// *Inside the circle nothing is to be covered.* Let r = 2 and z be inside the unit disc. Move z away from the line
// through x and x', at a right angle to it, until it is on the circle: r stays and s² and t² both grow, by the same w.
// Along the way the bracket in the proof of Theorem C, with shares a_x, a_z of P and b_x', b_z of Q at a point, changes
// at the rate of `(a_z − b_z)²` per w in WOR, where both weights of z are the same in P and Q, and of `b_z(1 − b_x') =
// b_z²` for Φ with any masses a, b: never negative. So at every α at once, in both directions and in every scheme below,
// the point of the circle with the same `s² − t²` dominates, and only the lens `s² + t² ≥ 4`, s, t ≤ 2 is left. (An
// independent program tried 5,378 divergences against it and found no violation.)
//
// A rectangle `[s0,s1] × [t0,t1]` is bounded for α ≥ 1 by the triangle `(s1, t0, ρ(s0,t0))`, and for α < 1 by `(t1, s0,
// ρ(s0,t0))` with x and x' exchanged. Where no such triangle exists it is enlarged in the directions in which Φ grows.
