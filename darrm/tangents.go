// Polygons around and inside of the pairs of probabilities that a privacy profile allows
// one mechanism: between tangents of the profile, and through pairs that are attained.

package darrm

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

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
			lo, hi := ts[i-1].eps, ts[i].eps
			for range 40 {
				a, b := lo+(hi-lo)*0.382, lo+(hi-lo)*0.618
				if math.Exp(a)*x+upperDelta(p, a) < math.Exp(b)*x+upperDelta(p, b) {
					hi = b
				} else {
					lo = a
				}
			}
			c := newTangent(p, (lo+hi)/2)
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
