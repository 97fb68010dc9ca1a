// Voters that are not alike: the families that can be worst for a monotone noise function
// when each group of mechanisms has its own (ε, Δ), or its own profile.

package darrm

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A group is a number of mechanisms with the same chain, whose corners are numbered from
// first on.
type group struct {
	count, first int
	corners      chain
}

// A panelTable enumerates the corner multisets of unlike voters, for the data sets in one
// order and, where a profile tells them apart, in the other.
type panelTable struct {
	k       int
	orders  [][]group
	charged float64 // absolute error
	flat    [][2]coin
}

// newPanel returns the families of the voters. Each pair of a voter lies below the tangents
// of its profile, so that the polygon of finitely many tangents holds all of them; inner
// takes in their place the polygon of pairs that its attained profile really has. Groups
// that would make too many families together are taken as one: with the larger ε and Δ,
// or the smaller ones if inner.
func newPanel(voters []Voters, inner bool) (*panelTable, error) {
	vs := slices.Clone(voters)
	lines := panelLines(vs)
	for panelFamilies(vs, lines) > maxFamilies {
		i, j := nearestGroups(vs)
		if i < 0 {
			return nil, fault.New("voters", "are too many different ones for %g families", float64(maxFamilies))
		}
		a, b := vs[i], vs[j]
		vs[i] = Voters{Count: a.Count + b.Count, Epsilon: max(a.Epsilon, b.Epsilon), Delta: max(a.Delta, b.Delta)}
		if inner {
			vs[i].Epsilon, vs[i].Delta = min(a.Epsilon, b.Epsilon), min(a.Delta, b.Delta)
		}
		vs = slices.Delete(vs, j, j+1)
	}
	t := &panelTable{}
	ways := 1
	for _, v := range vs {
		if v.Profile != nil && v.Profile.Directions[0] != v.Profile.Directions[1] {
			ways = 2
		}
	}
	for d := range ways {
		t.k = 0
		var groups []group
		for _, v := range vs {
			g := group{count: v.Count, first: len(t.flat)}
			switch {
			case v.Profile == nil:
				c := newCornerTable(1, v.Epsilon, v.Delta, true)
				pairs := c.pairs()
				g.corners = chain{pairs[cornerD0], pairs[cornerAB], pairs[corner11mD]}
				if v.Delta > 0 {
					t.charged = 1e-300
				}
			case inner:
				g.corners, t.charged = innerChain(v.Profile.Directions[d], lines), 1e-300
			default:
				g.corners, t.charged = outerChain(v.Profile.Directions[d].Upper, lines), 1e-300
			}
			t.k += v.Count
			t.flat = append(t.flat, g.corners...)
			groups = append(groups, g)
		}
		t.orders = append(t.orders, groups)
	}
	if len(t.flat) > maxCorners {
		return nil, fault.New("voters", "are of %d kinds, too many", len(vs))
	}
	return t, nil
}

// families is the number of ways to put count mechanisms at corners.
func families(count, corners int) float64 {
	n := 1.0
	for i := 1; i < corners; i++ {
		n *= float64(count+i) / float64(i)
	}
	return n
}

func panelFamilies(vs []Voters, lines int) float64 {
	n := 1.0
	for _, v := range vs {
		c := 3
		if v.Profile != nil {
			c = lines + 1
		}
		n *= families(v.Count, c)
	}
	return n
}

// panelLines returns how many tangents each profile gets.
func panelLines(vs []Voters) int {
	shapes := 0
	for _, v := range vs {
		if v.Profile != nil {
			shapes++
		}
	}
	lines := 2
	for lines < mostLines && panelFamilies(vs, lines+1) <= profileFamilies && 2*(shapes*(lines+3)+3*(len(vs)-shapes)) <= maxCorners {
		lines++
	}
	return lines
}

// nearestGroups returns the two groups without a profile whose ε are closest, −1 if
// there are not two.
func nearestGroups(vs []Voters) (i, j int) {
	i, j = -1, -1
	best := math.Inf(1)
	for a := range vs {
		for b := a + 1; b < len(vs); b++ {
			if vs[a].Profile == nil && vs[b].Profile == nil {
				if d := math.Abs(xmath.Log(vs[a].Epsilon / vs[b].Epsilon)); d < best {
					best, i, j = d, a, b
				}
			}
		}
	}
	return i, j
}

func (t *panelTable) tableError() float64 { return float64(12*t.k+12) * xmath.U }

func (t *panelTable) underflow() float64 { return t.charged }

func (t *panelTable) row(c counts, s float64) ([]float64, float64) {
	return binaryRow(t.flat, c, s), 0.5
}

// only returns the families of one order of the data sets.
func (t *panelTable) only(order int) *panelTable {
	o := *t
	o.orders = t.orders[min(order, len(t.orders)-1):][:1]
	return &o
}

// visit implements worlds. It tosses the coins of one corner after another.
func (t *panelTable) visit(ctx context.Context, g Gamma, f func(*run)) error {
	h := answer(g)
	type sides struct{ v, w []float64 }
	scratch := make([]sides, maxCorners+1)
	for i := range scratch {
		scratch[i] = sides{make([]float64, t.k+1), make([]float64, t.k+1)}
	}
	r := run{}
	seen := 0
	for _, groups := range t.orders {
		var place func(gi, ci, left, depth int, v, w []float64)
		place = func(gi, ci, left, depth int, v, w []float64) {
			at := groups[gi]
			pair, last := at.corners[ci], ci == len(at.corners)-1
			s := scratch[depth]
			v, w = s.v[:copy(s.v, v)], s.w[:copy(s.w, w)]
			for n := 0; n <= left; n++ {
				if n > 0 {
					v, w = toss(v, pair[0]), toss(w, pair[1])
				}
				r.base[at.first+ci] = n
				switch {
				case last && n < left:
				case last && gi == len(groups)-1:
					r.P, r.Q = v, w
					f(&r)
					if seen++; seen%4096 == 0 && ctx.Err() != nil {
						return
					}
				case last:
					place(gi+1, 0, groups[gi+1].count, depth+1, v, w)
				default:
					place(gi, ci+1, left-n, depth+1, v, w)
				}
			}
			r.base[at.first+ci] = 0
		}
		place(0, 0, groups[0].count, 0, h, h)
		if ctx.Err() != nil {
			break
		}
	}
	return ctx.Err()
}

// Polygons around and inside of the pairs of probabilities that a privacy profile allows
// one mechanism: between tangents of the profile, and through pairs that are attained.

// A chain is the part of the boundary of the pairs (p, p') of one mechanism that is
// maximal in p and minimal in p', as a polygon's corners from (·, 0) to (1, ·).
type chain [][2]coin

// upperDelta returns δ(ε) of a profile, rounded up. Losses that are off by LossErr move δ(ε) by at most
// that times P[L ≥ ε], as its slope is −e^ε·Q[L > ε].
func upperDelta(p profiles.Profile, eps float64) float64 {
	t := p.Tails(eps, 0)
	up, down := math.Exp(t.P+t.Err), math.Exp(eps+t.Q-t.Err)
	return min(1, max(0, up*(1+8*xmath.U)-down*(1-(8+math.Abs(eps))*xmath.U))+2*p.Support().LossErr)
}

// leastTurn is the least distance of the ε of two tangents.
const leastTurn = 1e-5

// A tangent is p ≤ e^ε p' + δ.
type tangent struct{ eps, slope, delta float64 }

func newTangent(p profiles.Profile, eps float64) tangent {
	return tangent{eps, math.Exp(eps), upperDelta(p, eps)}
}

// outerChain returns the corners of the polygon of so many tangents of a profile: at first
// two steep ones and then, again and again, the one that cuts off the most of the corner
// that is farthest out.
func outerChain(p profiles.Profile, lines int) chain {
	ts := outerTangents(p, lines)
	out := make(chain, 0, len(ts)+1)
	for i := 0; i <= len(ts); i++ {
		x, y := cross(ts, i)
		out = append(out, [2]coin{{y, 1 - y}, {x, 1 - x}})
	}
	return out
}

func outerTangents(p profiles.Profile, lines int) []tangent {
	edge := 1e-9
	for edge < 64 && upperDelta(p, edge) > 1e-6 && !(edge > p.Support().Max) {
		edge *= 2
	}
	low := 1e-9
	for low < 64 && 1-upperDelta(p, -low) > 1e-6 && !(-low < p.Support().Min) {
		low *= 2
	}
	ts := []tangent{newTangent(p, -low), newTangent(p, edge)}
	for len(ts) < lines {
		at, most, cut := -1, 0.0, tangent{}
		for i := 1; i < len(ts); i++ {
			x, y := cross(ts, i)
			// e^ε x + δ(ε) is convex in e^ε: the section of its minimum.
			var c tangent
			least := math.Inf(1)
			lo, hi := ts[i-1].eps, ts[i].eps
			xmath.GoldenSection(func(eps float64) float64 {
				t := newTangent(p, eps)
				v := t.slope*x + t.delta
				if v < least {
					c, least = t, v
				}
				return v
			}, lo, hi, 4e-9*(hi-lo))
			// Tangents that all but coincide cross anywhere, in floating point.
			if c.eps-ts[i-1].eps < leastTurn || ts[i].eps-c.eps < leastTurn {
				continue
			}
			if d := y - (c.slope*x + c.delta); d > most+1e-7*y {
				at, most, cut = i, d, c
			}
		}
		if at < 0 {
			break
		}
		ts = slices.Insert(ts, at, cut)
	}
	return ts
}

// cross returns corner i of a polygon of tangents, moved outwards by its rounding: x down
// and y up. The first is at p' = 0 on the steepest tangent, the last at p = 1 on the
// flattest.
func cross(ts []tangent, i int) (x, y float64) {
	n := len(ts)
	switch i {
	case n:
		return 0, min(1, ts[n-1].delta)
	case 0:
		x = (1 - ts[0].delta - 4*xmath.U) / ts[0].slope * (1 - 16*xmath.U)
		return min(1, max(0, x)), 1
	}
	a, b := ts[i-1], ts[i] // b is steeper
	d, e := a.delta-b.delta, 4*xmath.U*a.delta
	w := b.slope - a.slope
	// The difference of the slopes errs by 4 u of the larger one.
	f := 4 * xmath.U * b.slope / w
	x = max(0, (d-e)/w) * (1 - 16*xmath.U - f)
	y = a.slope*max(0, (d+e)/w)*(1+16*xmath.U+f) + a.delta*(1+16*xmath.U)
	return min(1, max(0, x)), min(1, y)
}

// innerChain returns pairs that a mechanism of the attained profile has: P and Q of the
// losses above ε, for the ε of the tangents.
func innerChain(d profiles.Direction, lines int) chain {
	zero, one := coin{0, 1}, coin{1, 0}
	out := chain{{zero, zero}, {one, one}}
	if d.Lower == nil {
		return out
	}
	for _, t := range outerTangents(d.Upper, lines) {
		v := d.Lower.Tails(t.eps, 0)
		y, x := min(1, math.Exp(v.P-v.Err)*(1-8*xmath.U)), min(1, math.Exp(v.Q+v.Err)*(1+8*xmath.U))
		if y > x {
			out = append(out, [2]coin{{y, 1 - y}, {x, 1 - x}})
		}
	}
	return out
}
