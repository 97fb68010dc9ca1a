// The roc of a profile, as a polygon above it, or, for discrete ones, below it, too.

package subsample

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// rocOf returns the roc of p: of a discrete profile its own, of any other a polygon of
// tangents above it, so that outward must be 1.
func rocOf(p profiles.Profile, outward float64) roc {
	if d, ok := p.(*profiles.Discrete); ok {
		return rocOfDiscrete(d, outward)
	}
	return rocOfTangents(p)
}

// rocOfDiscrete has a corner after each atom, the largest loss first. Masses have errors,
// and an error of a loss is one of P against Q.
func rocOfDiscrete(d *profiles.Discrete, outward float64) roc {
	r := roc{outward: outward}
	s := d.Support()
	at := func(t profiles.Tails) {
		e := 1.01*t.Err + s.LossErr + 4*xmath.U
		// Next to (1, 1) the rest is known better than the sum.
		x, y := math.Exp(t.Q), math.Exp(t.P)
		r.kinks = append(r.kinks, kink{min(1, x*(1-outward*e)), min(1, y*(1+outward*e))})
	}
	at(d.Tails(math.Inf(1), 0))
	atoms := d.Atoms()
	for i := len(atoms) - 1; i >= 0; i-- {
		at(d.Tails(math.Nextafter(atoms[i].Loss, math.Inf(-1)), 0))
	}
	if outward > 0 {
		r.close(atoms)
	}
	r.kinks[0].x = 0
	return r.clean()
}

// close ends a polygon that lies above at (x, 1), where the last outcome that P has ends.
func (r *roc) close(atoms []profiles.Atom) {
	if n := len(r.kinks) - 1; len(atoms) > 0 {
		r.kinks[n].y = 1
	} else {
		r.kinks = append(r.kinks, kink{1, 1})
	}
}

// A point of a roc with its tangent, whose slope is e^eps: rates rounded to the left and up,
// and what is left of P.
type tangentPoint struct{ eps, x, y, left float64 }

// Constants that only steer.
const (
	firstTangents = 64
	mostTangents  = 1500
	tangentFloor  = -700 // of log P(L > ε) at the last tangent
	tangentRest   = -45  // of log P(L ≤ ε) at the first
	tangentWidth  = 1e-6 // how far above the roc a corner may be, relative to its root
)

// rocOfTangents returns the polygon of the tangents at finitely many slopes: the roc lies
// below each of them. Cells between slopes are halved where the corner is far above the roc.
func rocOfTangents(p profiles.Profile) roc {
	s := p.Support()
	point := func(eps float64) tangentPoint {
		t := p.Tails(eps, s.LossErr)
		e := 1.01*t.Err + 4*xmath.U
		return tangentPoint{eps, math.Exp(t.Q) * (1 - e), min(1, math.Exp(t.P)*(1+e)), math.Exp(t.PC) * (1 + 1.01*t.ErrC + 4*xmath.U)}
	}
	lo, hi := tangentRange(p, s)
	ps := []tangentPoint{}
	for i := range firstTangents + 1 {
		ps = append(ps, point(lo+(hi-lo)*float64(i)/firstTangents))
	}
	if !math.IsNaN(s.Spike) && s.Spike > lo && s.Spike < hi {
		ps = inserted(ps, point(s.Spike))
	}
	for _, a := range s.Atoms {
		// Both sides of an atom, so that no cell has it and more.
		w := s.LossErr + 8*xmath.U*(1+math.Abs(a))
		for _, eps := range []float64{a - w, a + w} {
			if eps > lo && eps < hi {
				ps = inserted(ps, point(eps))
			}
		}
	}
	for before := 0; len(ps) < mostTangents && len(ps) != before; {
		before = len(ps)
		out := ps[:1:1]
		for _, b := range ps[1:] {
			a := out[len(out)-1]
			if mid := a.eps + (b.eps-a.eps)/2; mid > a.eps && mid < b.eps && b.eps-a.eps > smallCell*(1+math.Abs(a.eps)) && excess(b, a) > tangentWidth {
				out = append(out, point(mid))
			}
			out = append(out, b)
		}
		ps = out
	}
	r := roc{outward: 1}
	top := ps[len(ps)-1]
	r.kinks = append(r.kinks, kink{0, max(0, math.Nextafter(top.y-math.Exp(top.eps)*top.x, 1)+4*xmath.U*top.y)})
	if top.x == 0 || !(r.kinks[0].y < top.y) {
		r.kinks[0].y = top.y
	}
	r.kinks = append(r.kinks, kink{top.x, top.y})
	for i := len(ps) - 1; i > 0; i-- {
		r.kinks = append(r.kinks, corners(ps[i], ps[i-1])...)
	}
	// Beyond the last tangent point at its slope, until P has nothing left, rounded down: e^{−ε} may be above all numbers.
	end := ps[0]
	rest := 0.0
	if t := p.Tails(end.eps, s.LossErr); t.PC > math.Inf(-1) {
		rest = max(0, math.Exp(t.PC-end.eps)*(1-1.01*t.ErrC-(8+2*math.Abs(t.PC)+2*math.Abs(end.eps))*xmath.U))
	}
	r.kinks = append(r.kinks, kink{end.x, end.y}, kink{min(1, end.x+rest), 1}, kink{1, 1})
	return r.clean()
}

// tangentRange returns slopes, as losses, beyond which next to nothing is.
func tangentRange(p profiles.Profile, s profiles.Support) (lo, hi float64) {
	reach := func(sign, end float64, enough func(eps float64) bool) float64 {
		if !math.IsInf(end, 0) {
			return end
		}
		x := sign
		for !enough(x) && math.Abs(x) < 1e6 {
			x *= 1.5
		}
		return x
	}
	hi = reach(1, s.Max, func(eps float64) bool {
		t := p.Tails(eps, 0)
		return t.P <= max(tangentFloor, s.LogPInf+1e-6)
	})
	lo = reach(-1, s.Min, func(eps float64) bool { return p.Tails(eps, 0).PC <= tangentRest })
	pad := s.LossErr + 8*xmath.U*(1+max(math.Abs(lo), math.Abs(hi)))
	return lo - pad, hi + pad
}

func inserted(ps []tangentPoint, q tangentPoint) []tangentPoint {
	for i, p := range ps {
		if q.eps <= p.eps {
			if q.eps == p.eps {
				return ps
			}
			out := append(append([]tangentPoint{}, ps[:i]...), q)
			return append(out, ps[i:]...)
		}
	}
	return ps
}

// smallCell is the width of a cell whose tangents are too much alike for their crossing.
const smallCell = 1e-9

// corners returns where the tangents of b, at the larger slope, and of a cross, or, in a small
// cell and where numbers end, where that of b is as high as a: beyond, the roc is no higher up to a.
//
// From (b.x, b.y) the crossing is t to the right, (y_a − y_b) − e^{ε_a}(x_a − x_b) over e^{ε_b} − e^{ε_a}.
// Rounding t up, the corner goes on along the tangent at b, which is above that at a there.
func corners(b, a tangentPoint) []kink {
	dx, dy := max(0, a.x-b.x), max(0, a.y-b.y)
	if dx == 0 && dy == 0 {
		return []kink{{a.x, a.y}}
	}
	low, high := math.Exp(a.eps), math.Exp(b.eps)
	box := []kink{{min(a.x, (b.x+dy/high*(1-(4+2*math.Abs(b.eps))*xmath.U))*(1-4*xmath.U)), a.y}, {a.x, a.y}}
	if math.IsInf(high, 1) || high == 0 {
		box[0].x = b.x
		return box
	}
	if b.eps-a.eps <= smallCell*(1+math.Abs(a.eps)) {
		return box
	}
	gap := low * math.Expm1(b.eps-a.eps)
	noise := 16 * xmath.U * (a.y + b.y + low*(a.x+b.x))
	t := (dy - low*dx + noise) / gap * (1 + 8*xmath.U)
	if !(t < dx) { // also where nothing is known of t
		return box
	}
	t = max(t, 0)
	x, y := b.x+t, b.y+t*high
	return []kink{{x * (1 - 4*xmath.U), min(1, y*(1+8*xmath.U))}}
}

// excess is how far the corner of a cell is above the chord, for what the roc has there.
func excess(b, a tangentPoint) float64 {
	c := corners(b, a)[0]
	dx, dy := a.x-b.x, a.y-b.y
	if !(dx > 0) || !(dy > 0) {
		return 0
	}
	chord := b.y + (c.x-b.x)/dx*dy
	return (c.y - chord) / math.Sqrt(c.y*min(1, 1-b.x+1e-12))
}
