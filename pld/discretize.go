// From a profile to lattice laws above and below it: where vertices stand, what lies between
// them, and the law above. It assumes tails with bounds of their errors, which move masses to the
// safe side.

package pld

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Discretize returns the upper and the lower law of p on the grid.
//
// Upper: the polygon through the profile's values, P- and Q-mass of each cell
// preserved (Doroshenko et al., PoPETs 2022, connect the dots); what is above
// the grid goes to +∞ and what is below up to the first point. Lower: one
// tangent per cell, touching at its middle, and the hull of the lower of the two
// tangents at every grid point (docs/theory/accuracy.md §3). Masses come from tails, never
// from second differences of δ, and every rounding error is moved to the safe
// side (docs/theory/accuracy.md §2, §3). Both are nil when the grid would need more
// vertices than it may have, or was stopped.
func Discretize(p profiles.Profile, g Grid) (upper, lower *Law) {
	d := newDiscretizer(p, g)
	if d == nil {
		return nil, nil
	}
	upper = d.upper()
	if g.Stop != nil && g.Stop() {
		return nil, nil
	}
	return upper, d.lower()
}

func newDiscretizer(p profiles.Profile, g Grid) *discretizer {
	d := &discretizer{p: p, g: g, sup: p.Support()}
	if t, ok := p.(*profiles.Discrete); ok {
		d.sup.Atoms = notable(t.Atoms())
	}
	if g.Step < fine {
		d.exact, _ = p.(hook.TailDifferencer)
	}
	if t, ok := p.(*profiles.Discrete); ok && len(t.Atoms()) > fewAtoms && len(t.Atoms()) <= maxBracketed {
		if d.bracket(t.Atoms()); len(d.pts) >= g.most() {
			return nil
		}
	} else if g.Share > 0 {
		if !d.thin() {
			return nil
		}
	} else if g.Hi-g.Lo >= int64(g.most()) {
		return nil
	} else {
		for k := g.Lo; k <= g.Hi; k++ {
			d.pts = append(d.pts, d.at(k))
		}
	}
	d.settleEnds()
	d.prune()
	d.fill()
	return d
}

// settleEnds adds a vertex beyond an end at which a tail is not known, one lattice
// step out, where the support is over and every tail exact: a lattice point within
// rounding of the end of the support tells nothing.
func (d *discretizer) settleEnds() {
	if len(d.pts) == 0 {
		return
	}
	const known = 1e-3
	if first := d.pts[0]; first.tails.ErrC > known && !first.atom {
		if pt := d.at(first.k - 1); pt.tails.ErrC <= known {
			d.pts = slices.Insert(d.pts, 0, pt)
		}
	}
	if last := d.pts[len(d.pts)-1]; last.tails.Err > known && !last.atom {
		if pt := d.at(last.k + 1); pt.tails.Err <= known {
			d.pts = append(d.pts, pt)
		}
	}
}

// prune drops inner vertices at which a profile knows its smaller tail only
// within a factor e, as at the end of a support where the loss is flat: their
// errors, which may overflow, would count as mass. The polygon through the other
// vertices bounds the profile as well.
func (d *discretizer) prune() {
	n := 0
	for i, pt := range d.pts {
		t := pt.tails
		err := t.Err
		if t.PC < t.P {
			err = t.ErrC
		}
		if err <= 1 || pt.atom || i == 0 || i == len(d.pts)-1 {
			d.pts[n] = pt
			n++
		}
	}
	d.pts = d.pts[:n]
}

// fewAtoms are met by vertices themselves where they can be.
const fewAtoms = 64

// notable returns the losses of atoms that vertices should meet: all of a few,
// the two ends of many.
func notable(atoms []profiles.Atom) []float64 {
	var out []float64
	for i, a := range atoms {
		if len(atoms) <= fewAtoms || i == 0 || i == len(atoms)-1 {
			out = append(out, a.Loss)
		}
	}
	return out
}

// at evaluates the profile at lattice index k; at an atom, when the point stands
// for one.
func (d *discretizer) at(k int64) point {
	x := float64(k) * d.g.Step
	t := d.g.Offset + x
	tol := 2 * xmath.U * (math.Abs(d.g.Offset) + math.Abs(x))
	if d.g.Offset == 0 && math.FMA(float64(k), d.g.Step, -x) == 0 {
		tol = 0
	}
	near := 4*tol + 4*xmath.U*math.Abs(t)
	if _, ok := d.p.(*profiles.Discrete); ok {
		// An atom so close may lie on the other side of the true lattice point.
		d.moved = max(d.moved, 2*tol)
	}
	for _, a := range d.sup.Atoms {
		if move := math.Abs(a - t); move <= near {
			d.moved = max(d.moved, move+tol)
			return point{k: k, t: a, tol: tol, tails: d.p.Tails(a, tol), diff: d.difference(a, tol), atom: true, move: move + tol}
		}
	}
	return point{k: k, t: t, tol: tol, tails: d.p.Tails(t, tol), diff: d.difference(t, tol)}
}

// maxBracketed is the largest number of atoms of which each gets its own vertices,
// where there are more than fewAtoms.
const maxBracketed = 1 << 13

// bracket places a vertex on either side of every atom: between atoms the profile
// is a line, as a function of e^ε, and needs none.
func (d *discretizer) bracket(atoms []profiles.Atom) {
	g := d.g
	index := []int64{g.Lo, g.Hi}
	for _, a := range atoms {
		k := int64(math.Floor(max((a.Loss-g.Offset)/g.Step, float64(g.Lo)-2)))
		for i := k; i <= k+1; i++ {
			if i > g.Lo && i < g.Hi {
				index = append(index, i)
			}
		}
	}
	slices.Sort(index)
	for _, k := range slices.Compact(index) {
		d.pts = append(d.pts, d.at(k))
	}
}

// thin places vertices by bisection; false when they are too many.
func (d *discretizer) thin() bool {
	g := d.g
	atom := make([]int64, len(d.sup.Atoms))
	for i, a := range d.sup.Atoms {
		atom[i] = int64(math.Round((a - g.Offset) / g.Step))
	}
	holds := func(lo, hi int64) bool { // an atom strictly inside
		return slices.ContainsFunc(atom, func(a int64) bool { return lo < a && a < hi })
	}
	most := g.most()
	var split func(a, b point)
	split = func(a, b point) {
		if len(d.pts)%64 == 0 && g.Stop != nil && g.Stop() {
			most = 0
		}
		n := float64(b.k - a.k)
		m := tiltedMass(a, b, g)
		wide := n*g.Step*(1+g.Tilt) > 1
		if n > 1 && len(d.pts) < most && (holds(a.k, b.k) || wide || m*n*n > g.Share) {
			mid := d.at(a.k + (b.k-a.k)/2)
			split(a, mid)
			split(mid, b)
			return
		}
		d.pts = append(d.pts, b)
	}
	a := d.at(g.Lo)
	d.pts = append(d.pts, a)
	split(a, d.at(g.Hi))
	return len(d.pts) < most
}

// fill computes the cells between the vertices.
func (d *discretizer) fill() {
	n := len(d.pts)
	d.cells = make([]cell, n-1)
	d.center = n - 1
	for i := range d.cells {
		c := &d.cells[i]
		a, b := &d.pts[i], &d.pts[i+1]
		c.w = b.t - a.t
		if d.lattice() {
			c.w = float64(b.k-a.k) * d.g.Step
		}
		if a.tails.P < b.tails.PC && d.center == n-1 {
			d.center = i
		}
		right := i >= d.center
		small := b.tails.PC
		if right {
			small = a.tails.P
		}
		if small < deep && !math.IsInf(small, -1) {
			c.scale = small
		}
		var q, errQ float64
		c.p, c.errP = massP(a.tails, b.tails, -c.scale)
		q, errQ = massQ(a.tails, b.tails, a.t-c.scale, a.tol)
		one := -math.Expm1(-c.w)
		x, errX := c.p-q, c.errP+errQ+8*xmath.U*(c.p+q)
		if d.exact != nil {
			x, errX = d.gain(a.diff, b.diff, a.tails, b.tails, a.t, a.tol, c.scale, x, errX)
		}
		c.errV = (errX / one) * (1 + 16*xmath.U)
		c.v = min(max(0, x/one), max(0, c.p+c.errP)) // p itself may be known less well
		// At an atom the vertex is not quite where the lattice has it.
		c.errV += c.v * (a.move + b.move) / math.Expm1(c.w) * (1 + 1e-9)
		if right {
			c.far = math.Exp(b.tails.P - c.scale)
			c.errFar = within(c.far, b.tails.P-c.scale, b.tails.Err+xmath.U*(3+2*math.Abs(xmath.Finite(b.tails.P))), a.tails.P+a.tails.Err-c.scale)
		} else {
			c.far = math.Exp(a.tails.PC - c.scale)
			c.errFar = within(c.far, a.tails.PC-c.scale, a.tails.ErrC+xmath.U*(3+2*math.Abs(xmath.Finite(a.tails.PC))), b.tails.PC+b.tails.ErrC-c.scale)
		}
	}
}

// upper builds connect-the-dots. With U_i the P-mass strictly above vertex i and
// W_i that at or below it, the masses are U_{i−1} − U_i right of the centre and
// W_i − W_{i−1} left of it: relative accuracy on both sides. U is rounded up and
// W down, so that every tail of the float masses is at least the exact one;
// rounding of a difference is added to the mass (excess is sound).
func (d *discretizer) upper() *Law {
	n := len(d.pts)
	t := d.newTally()
	// Right side, from the top.
	last := d.pts[n-1].tails.P
	pinf := last + d.pts[n-1].tails.Err + 4*xmath.U*(1+math.Abs(xmath.Finite(last)))
	if n > 1 { // there is another loss below
		if before := d.pts[n-2].tails; !(pinf <= before.P+before.Err) {
			pinf = before.P + before.Err + 4*xmath.U*(1+math.Abs(xmath.Finite(before.P)))
		}
	}
	prev, prevScale := 0.0, 0.0
	if !math.IsInf(last, -1) {
		prevScale = pinf
		prev = 1
		if pinf > deep {
			prev, prevScale = math.Exp(pinf), 0
		}
	}
	for i := n - 2; i >= d.center; i-- {
		c := &d.cells[i]
		v := min(c.p+c.errP, c.v+c.errV)
		u := (c.far + c.errFar + v) * (1 + 4*xmath.U)
		up := rescale(prev, prevScale, c.scale)
		u = max(u, up)
		if c.scale == 0 {
			u = min(u, 1)
		}
		t.set(i+1, u-up, xmath.U*(2*u+2*up*math.Abs(prevScale-c.scale)), c.scale)
		prev, prevScale = u, c.scale
	}
	rest := prev * math.Exp(prevScale)
	// Left side. W from right to left, each at most the next.
	w := make([]float64, d.center)
	cap0, capScale := 1.0, 0.0
	for i := d.center - 1; i >= 0; i-- {
		c := &d.cells[i]
		v := min(c.p+c.errP, c.v+c.errV)
		x := max(0, c.far-c.errFar) + max(0, c.p-c.errP-v)
		w[i] = min(x*(1-4*xmath.U), cap0*math.Exp(capScale-c.scale)*(1-4*xmath.U*(1+math.Abs(capScale-c.scale))))
		cap0, capScale = w[i], c.scale
	}
	low, lowScale := 0.0, 0.0
	for i := range w {
		c := &d.cells[i]
		dn := rescale(low, lowScale, c.scale)
		t.set(i, w[i]-dn, xmath.U*(2*w[i]+2*dn*math.Abs(lowScale-c.scale)), c.scale)
		low, lowScale = w[i], c.scale
	}
	t.set(d.center, 1-rest-low*math.Exp(lowScale), 4*xmath.U, 0)
	return t.law(+1, pinf)
}
