// The trade-off curve above all families: the concave hull of their pairs of probabilities,
// rounded outward.

package darrm

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"
	"sort"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A point of the trade-off curve: x ≤ P' and y ≥ P, rounded outward.
type point struct {
	x, y float64
	p, q float64 // as computed
}

// A hull is the part of the trade-off curve from (0, 0) to the antidiagonal
// x + y = 1; the rest is its mirror image (x, y) → (1−y, 1−x).
type hull struct {
	points []point // ascending in x and y
	loose  []point // not yet merged
	rel    float64
	abs    float64
}

const hullBatch = 1 << 16

func newHull(ctx context.Context, t worlds, g Gamma) (*hull, error) {
	h := &hull{points: []point{{}}, rel: t.tableError(), abs: t.underflow()}
	if h.abs > 0 {
		h.points = append(h.points, point{y: 2 * smallest})
	}
	err := t.visit(ctx, g, func(r *run) {
		for i, p := range r.P {
			if q := r.Q[i]; p > q && p+q <= 1+4*h.rel {
				h.add(p, q)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	h.merge()
	return h, nil
}

func (h *hull) add(p, q float64) {
	// Points beyond the antidiagonal are left to their mirror images. One that is
	// on this side has P ≤ 1 − P' ≤ 1 − x, and x keeps its relative accuracy.
	x := q * (1 - h.rel)
	y := min(p*(1+h.rel)+h.abs, xmath.Up(1-x, 1), 1)
	if x < smallest {
		x = 0
	}
	if h.covers(x, y) {
		return
	}
	h.loose = append(h.loose, point{x: x, y: y, p: p, q: q})
	if len(h.loose) >= hullBatch {
		h.merge()
	}
}

// covers reports that (x, y) is not above the curve.
func (h *hull) covers(x, y float64) bool {
	n := len(h.points)
	i := sort.Search(n, func(i int) bool { return h.points[i].x > x })
	a := h.points[i-1] // the last with a.x ≤ x; points[0] has x = 0
	if y <= a.y {
		return true
	}
	if i == n {
		return false
	}
	return below(a, point{x: x, y: y}, h.points[i])
}

// below reports that b is not above the chord from a to c, a.x ≤ b.x ≤ c.x.
//
// It compares slopes, because products of small coordinates would underflow;
// when those agree to rounding, the products, exactly.
func below(a, b, c point) bool {
	if c.x == a.x {
		return true // upright: c is the higher one
	}
	l, r := (b.y-a.y)/(b.x-a.x), (c.y-a.y)/(c.x-a.x)
	if math.Abs(l-r) > 8*xmath.U*max(l, r) {
		return l < r
	}
	left := difference(b.y, a.y)
	right := difference(c.y, a.y)
	return left.Mul(left, difference(c.x, a.x)).Cmp(right.Mul(right, difference(b.x, a.x))) <= 0
}

// difference returns a − b exactly.
func difference(a, b float64) *big.Rat {
	d := new(big.Rat).SetFloat64(a)
	return d.Sub(d, new(big.Rat).SetFloat64(b))
}

// smallest is the least coordinate that is kept: the differences of larger
// ones, and their quotients, are normal numbers. A smaller x counts as 0; where
// Δ > 0 the curve starts at (0, 2·smallest), above every smaller y. (Where
// Δ = 0, y is either 0 or far larger, see Params.underflowSafe.)
const smallest = 1e-290

// merge rebuilds the concave hull.
func (h *hull) merge() {
	all := append(h.points, h.loose...)
	h.loose = nil
	slices.SortFunc(all, func(a, b point) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	out := []point{{}}
	for _, c := range all {
		if c.y <= out[len(out)-1].y {
			continue
		}
		for len(out) >= 2 && below(out[len(out)-2], out[len(out)-1], c) {
			out = out[:len(out)-1]
		}
		out = append(out, c)
	}
	// The curve crosses the antidiagonal with slope 1: points after a smaller
	// slope are under the chord to the mirror image.
	for n := len(out); n >= 2 && out[n-1].y-out[n-2].y < (out[n-1].x-out[n-2].x)*(1-8*xmath.U); n-- {
		out = out[:n-1]
	}
	h.points = out
}

func (h *hull) profile() (*profiles.Discrete, error) {
	var atoms []profiles.Atom
	inf := math.Inf(-1)
	big, bigLoss := 0.0, 0.0
	add := func(loss, p, q float64) {
		lp, lq := xmath.Log(p), xmath.Log(q)
		atoms = append(atoms, profiles.Atom{Loss: loss, LogP: lp, LogQ: lq})
		big, bigLoss = max(big, math.Abs(lp), math.Abs(lq)), max(bigLoss, math.Abs(loss))
	}
	for i := 1; i < len(h.points); i++ {
		a, b := h.points[i-1], h.points[i]
		p, q := b.y-a.y, b.x-a.x
		if q == 0 {
			inf = xmath.LogAdd(inf, xmath.Log(p))
			continue
		}
		loss := xmath.Log(p / q)
		add(loss, p, q)
		add(-loss, q, p)
	}
	// What is left, 1 − x − y, crosses the antidiagonal at loss 0; the rounding of
	// x + y is recovered, so that a small remainder keeps its relative accuracy.
	last := h.points[len(h.points)-1]
	s := last.x + last.y
	if rest := (1 - s) - (last.x - (s - last.y)); rest > 0 {
		add(0, rest, rest)
	}
	return profiles.NewDiscrete(atoms, inf, inf, xmath.U*(4+2*big), xmath.U*(4+2*bigLoss))
}

// attack returns the profile of one family's pair of output laws, rounded
// inward.
func (h *hull) attack() (*profiles.Discrete, error) {
	best, far := point{}, -1.0
	for _, c := range h.points {
		d := math.Pow(math.Sqrt(c.y)-math.Sqrt(c.x), 2) + math.Pow(math.Sqrt(1-c.x)-math.Sqrt(1-c.y), 2)
		if d > far {
			best, far = c, d
		}
	}
	p, q := best.p*(1-2*h.rel), best.q*(1+2*h.rel)+h.abs
	q = min(q, p)
	return profiles.NewFinite([]float64{p, 1 - p}, []float64{q, 1 - q})
}
