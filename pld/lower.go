// The law below a profile, from its tangents.

package pld

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// touch places the tangent of cell i at s, t_i ≤ s ≤ t_{i+1}, and stores its
// depth below h at both ends: integrals of |e^l − a| over the two parts, as
// differences of masses of the same cell. Any s is sound.
func (d *discretizer) touch(i int, s float64) {
	c, a, b := &d.cells[i], &d.pts[i], &d.pts[i+1]
	c.s = s
	at := d.p.Tails(s, 0)
	touch := d.difference(s, 0)
	c.left, c.errL, c.rght, c.errR = 0, 0, 0, 0
	if s > a.t {
		x, e := d.section(a.diff, touch, a.tails, at, a, c.scale)
		c.left, c.errL = max(0, x), e
	}
	if s < b.t {
		x, e := d.section(touch, b.diff, at, b.tails, b, c.scale)
		c.rght, c.errR = max(0, -x), e
	}
}

// section returns P − e^t·Q of the losses between two places, of which one is the vertex at t.
func (d *discretizer) section(da, db difference, from, to profiles.Tails, at *point, scale float64) (x, err float64) {
	p, ep := massP(from, to, -scale)
	q, eq := massQ(from, to, at.t-scale, at.tol)
	x, err = p-q, ep+eq+4*xmath.U*(p+q)
	if d.exact != nil {
		x, err = d.gain(da, db, from, to, at.t, at.tol, scale, x, err)
	}
	return x, err
}

// balance places every tangent a little off the middle of its cell, so that the
// two that meet at a vertex are equally deep there to third order. The deeper
// one counts, so that touching at the middle would add a relative error of first
// order in the step. It returns the places.
//
// With S_A, S_B the integrals of √(PQ) over the half cells, the shift is
// −(w/3)·(S_B − S_A)/(S_A + S_B); where √(PQ) is about exponential with a rate r,
// taken from the neighbouring cells, the ratio is tanh(rw/4). Where the rate
// changes too much from cell to cell that says nothing, and the middle is kept:
// SpikeOffset counts on it.
func (d *discretizer) balance() []float64 {
	n := len(d.cells)
	at := make([]float64, n)
	logRho := make([]float64, n) // of the density of √(PQ), NaN where unknown
	middle := func(i int) float64 { return d.pts[i].t + (d.pts[i+1].t-d.pts[i].t)/2 }
	for i, c := range d.cells {
		logRho[i] = math.NaN()
		if c.p > 0 && !d.pts[i+1].atom {
			logRho[i] = xmath.Log(c.p/c.w) + c.scale - middle(i)/2
		}
	}
	for i := range at {
		at[i] = middle(i)
		if i > 0 && i < n-1 {
			w := d.pts[i+1].t - d.pts[i].t
			r1 := (logRho[i] - logRho[i-1]) / (middle(i) - middle(i-1))
			r2 := (logRho[i+1] - logRho[i]) / (middle(i+1) - middle(i))
			if math.Abs(r2-r1)*w < 0.6 {
				at[i] -= w / 3 * math.Tanh((r1+r2)*w/8)
			}
		}
		d.touch(i, at[i])
	}
	return at
}

// A depth is a length below h, in units of e^scale, with its error.
type depth struct{ x, err, scale float64 }

func (a depth) in(scale float64) depth {
	if a.scale == scale {
		return a
	}
	if a.x == 0 && a.err == 0 {
		return depth{scale: scale}
	}
	f := math.Exp(a.scale - scale)
	return depth{a.x * f, a.err*f + a.x*f*4*xmath.U*(1+math.Abs(a.scale-scale)), scale}
}

func (a depth) log() float64 { return xmath.Log(a.x) + a.scale }

// depthAt is the depth of the lower of the two tangents at interior vertex i.
func (d *discretizer) depthAt(i int) depth {
	l := &d.cells[i-1]
	r := &d.cells[i]
	a := depth{l.rght, l.errR, l.scale}.in(r.scale)
	b := depth{r.left, r.errL, r.scale}
	if a.x > b.x {
		a.err = max(a.err, b.err)
		return a
	}
	b.err = max(a.err, b.err)
	return b
}

// startDepth is h(a_i) − (1 − a_i), the depth of the line 1 − α below h;
// endDepth is h(a_i) − p∞. From lower and from upper tails.
func (d *discretizer) startDepth(i int) depth {
	pt := &d.pts[i]
	return differ(pt.t+pt.tails.QC, pt.tails.PC, pt.tails.ErrC+pt.tol)
}

func (d *discretizer) endDepth(i int) depth {
	pt := &d.pts[i]
	p, e := pt.tails.P, pt.tails.Err
	if !math.IsInf(d.sup.LogPInf, -1) {
		p = xmath.LogSub(p, d.sup.LogPInf)
		e *= 1 + 2*math.Exp(min(40, d.sup.LogPInf-p))
	}
	return differ(p, pt.t+pt.tails.Q, e+pt.tol)
}

// differ returns e^a − e^b ≥ 0 of logarithms with error err.
func differ(a, b, err float64) depth {
	if math.IsInf(a, -1) {
		return depth{}
	}
	scale := 0.0
	if math.Abs(a) > -deep {
		scale = a
	}
	x := math.Exp(a-scale) * -math.Expm1(min(0, b-a))
	return depth{x, math.Exp(a-scale) * (2*rise(err) + xmath.U*(6+3*math.Abs(a)+2*math.Abs(xmath.Finite(b)))), scale}
}

// lower builds the tangent hull, or rounds losses down (first order) when the
// grid does not resolve the loss.
func (d *discretizer) lower() *Law {
	n := len(d.pts)
	place := d.balance()
	a, b := 0, n-1
	// Where Q has mass far below the grid, 1 − α lies far below h at its start.
	// Then what P has below the grid is left out, and the profile starts with the
	// tangent at the first point.
	d.cut = d.startDepth(0).log() > -30 && d.pts[0].tails.PC < -30
	d.spare(place)
	for range 60 {
		if b <= a+1 {
			return d.roundDown()
		}
		if !d.fitStart(a) {
			a++
			continue
		}
		ok, eta := d.fitEnd(b)
		if !ok {
			b--
			continue
		}
		na, nb := a, b
		for i := b - 1; i > a && !d.cut; i-- {
			if d.deeper(i, d.startDepth(i)) {
				na = i
				break
			}
		}
		for i := a + 1; i < b; i++ {
			if d.deeper(i, d.endDepth(i)) {
				nb = i
				break
			}
		}
		if na == a && nb == b {
			if l := d.tangents(a, b, eta); l != nil {
				return l
			}
			return d.roundDown()
		}
		d.touch(a, place[a])
		d.touch(b-1, place[b-1])
		a, b = na, nb
	}
	return d.roundDown()
}

// spare keeps single tangents from passing below p∞ at an inner vertex, which would
// cost everything beyond: where masses fall fast, the tangent on the
// side of the larger one does. It is made to touch at that vertex. place follows.
func (d *discretizer) spare(place []float64) {
	for i := 1; i < len(d.cells); i++ {
		if d.deeper(i, d.endDepth(i)) {
			place[i-1] = d.pts[i].t
			d.touch(i-1, place[i-1])
		}
	}
}

// deeper reports whether the tangents at vertex i pass below an end line whose
// depth is limit: beyond what rounding explains.
func (d *discretizer) deeper(i int, limit depth) bool {
	x := d.depthAt(i)
	if x.x == 0 {
		return false
	}
	limit = limit.in(x.scale)
	return x.x-x.err > limit.x+limit.err
}

// fitStart moves the first tangent down until it lies above 1 − α at vertex a;
// fitEnd moves the last up until it lies above p∞ at vertex b. False: the tangent
// would be the end line itself, so that the profile starts (ends) one vertex
// further in.
func (d *discretizer) fitStart(a int) bool {
	c, t := &d.cells[a], d.pts[a].t
	if d.cut {
		d.touch(a, t)
		return true
	}
	limit := d.startDepth(a).in(c.scale)
	for range 8 {
		if c.left-c.errL <= limit.x+limit.err {
			return true
		}
		d.touch(a, t+(c.s-t)/4)
	}
	d.touch(a, t)
	return !math.IsInf(d.pts[a].tails.PC, -1)
}

// Right below an atom at b the tangent takes the atom's whole kink and meets p∞
// in b exactly. Rounding can hide that: eta bounds how far below p∞ the tangent
// may then lie.
func (d *discretizer) fitEnd(b int) (ok bool, eta float64) {
	c, t := &d.cells[b-1], d.pts[b].t
	limit := d.endDepth(b).in(c.scale)
	for range 8 {
		if c.rght+c.errR <= limit.x-limit.err {
			return true, 0
		}
		d.touch(b-1, t-(t-c.s)/4)
	}
	d.touch(b-1, math.Nextafter(t, math.Inf(-1)))
	if c.rght-c.errR <= limit.x+limit.err {
		return true, max(0, c.rght+c.errR-max(0, limit.x-limit.err)) * math.Exp(c.scale)
	}
	d.touch(b-1, t)
	return limit.x > limit.err, 0
}

// tangents returns the hull over vertices a..b with d_a, d_b the depths of the
// end lines. On segment i the P-tail is D_i = U_i − g_i,
// g_i = d_i + (d_i − d_{i+1})/(e^w − 1), and the mass at or below vertex i is
// W_i + g_i; D is rounded down and the latter up.
//
// Where rounding hides whether the last stretch stays above p∞, by at most eta,
// the polygon would cross p∞ a little below its last vertex. Moving all losses
// down by that little restores domination: it is counted in LossErr. nil: the
// grid does not resolve the loss. It is long because the vertices and the two sums of what
// was rounded grow together in one walk.
func (d *discretizer) tangents(a, b int, eta float64) *Law {
	t := d.newTally()
	center := min(max(d.center, a), b)
	at := func(i int) depth {
		switch i {
		case a:
			if d.cut {
				return depth{}
			}
			// Below both 1 − α and the first tangent.
			x, c := d.startDepth(a), &d.cells[a]
			if y := (depth{c.left, c.errL, c.scale}).in(x.scale); y.x+y.err > x.x+x.err {
				return y
			}
			return x
		case b:
			return d.endDepth(b)
		}
		return d.depthAt(i)
	}
	pinf := d.sup.LogPInf
	if !math.IsInf(pinf, -1) {
		pinf -= 4 * xmath.U * (1 + math.Abs(pinf))
	}
	// Left side, upwards.
	below, belowScale := 0.0, 0.0
	if first := d.pts[a].tails; d.cut && !math.IsInf(first.PC, -1) {
		below, belowScale = 1, first.PC+first.ErrC+4*xmath.U*(1+math.Abs(first.PC))
	}
	lo := at(a)
	for i := a; i < center; i++ {
		hi := at(i + 1)
		c := &d.cells[i]
		x := d.tail(i, i+1 == b, lo, hi)
		dn := rescale(below, belowScale, c.scale)
		t.set(i, x-dn, 4*xmath.U*(math.Abs(x)+math.Abs(dn)*math.Abs(belowScale-c.scale)), c.scale)
		below, belowScale = x, c.scale
		lo = hi
	}
	// Right side, downwards.
	above, aboveScale := 0.0, 0.0
	if !math.IsInf(pinf, -1) {
		above, aboveScale = 1, pinf
	}
	hi := at(b)
	for i := b - 1; i >= center; i-- {
		lo := at(i)
		c := &d.cells[i]
		x := d.tail(i, i+1 == b, lo, hi)
		up := rescale(above, aboveScale, c.scale)
		t.set(i+1, x-up, 4*xmath.U*(math.Abs(x)+math.Abs(up)*math.Abs(aboveScale-c.scale)), c.scale)
		above, aboveScale = x, c.scale
		hi = lo
	}
	t.set(center, 1-above*math.Exp(aboveScale)-below*math.Exp(belowScale), 6*xmath.U, 0)
	for _, m := range t.m[a : b+1] {
		if math.IsNaN(m) || math.IsInf(m, 0) {
			return nil // depths of too different a size
		}
	}
	removed := t.hull(a, b)
	kappa, ok := t.settle(a, b, eta)
	if !ok {
		return nil
	}
	l := t.law(-1, pinf)
	l.SecondOrder = removed < 1e-9
	l.LossErr += kappa
	return l
}

// tail returns D_i (right) or 1 − D_i (left) of tangents, rounded down or up, from the depths at the two ends of cell i;
// at the last vertex the upper end is p∞ itself.
func (d *discretizer) tail(i int, last bool, lo, hi depth) float64 {
	c := &d.cells[i]
	lo = lo.in(c.scale)
	x, y := lo.x+lo.err, hi.x+hi.err
	if last {
		y = max(0, hi.x-hi.err) // the end is p∞ itself; less depth lowers D
	}
	if hi.scale != c.scale {
		// Not more than the depth that the next cell counts with.
		y *= math.Exp(hi.scale-c.scale) * (1 - 4*xmath.U*(1+math.Abs(hi.scale-c.scale)))
	}
	e := math.Expm1(c.w)
	g := x + (x-y)/e
	slack := 8*xmath.U*(x+(x+y)/e) + (d.pts[i].move+d.pts[i+1].move)*(x+y)/e*(1+1/e)*(1+1e-9)
	if i >= d.center {
		u := c.far - c.errFar + c.v - c.errV
		return u - g - slack - 6*xmath.U*(c.far+c.errFar+c.v+c.errV)
	}
	w := c.far + c.errFar + c.p + c.errP - max(0, c.v-c.errV)
	return w + g + slack + 6*xmath.U*(c.far+c.errFar+c.p+c.errP)
}

// settle removes what is left of negative masses and returns by how much losses
// must count as displaced: with m the mass of the highest vertex, the polygon
// reaches p∞ early by at most depth/m, in loss.
func (t *tally) settle(a, b int, eta float64) (kappa float64, ok bool) {
	rest, scale := t.carry(a, b)
	if rest == 0 && eta == 0 {
		return 0, true
	}
	pts := t.d.pts
	top := b
	for top > a && t.m[top] <= 0 {
		top--
	}
	m := t.m[top]
	rest = rescale(rest, scale, t.scl[top])
	eta = rescale(eta, 0, t.scl[top])
	depth := eta + rest*-math.Expm1(pts[top].t-pts[b].t)
	if !(m > 8*(rest+eta)) {
		return 0, false
	}
	t.m[top] -= rest
	return 4 * depth / m, true
}

// hull removes vertices of negative mass from the polygon: the mass is given to
// the neighbours so that P- and Q-mass are kept, which is what deleting the
// vertex does. λ is rounded towards the upper neighbour, the safe side. It
// returns the total mass removed.
func (t *tally) hull(a, b int) (removed float64) {
	stack := make([]int, 0, b-a+1)
	for k := a; k < b; k++ {
		stack = append(stack, k)
		next := k + 1
		for len(stack) >= 2 {
			top, prev := stack[len(stack)-1], stack[len(stack)-2]
			if t.m[top] >= 0 || t.scl[top] != 0 || t.scl[prev] != 0 || t.scl[next] != 0 {
				break
			}
			right, e1 := t.d.width(top, next)
			left, e2 := t.d.width(prev, top)
			up := -math.Expm1(-right)
			lambda := up / (up + math.Expm1(left)) * (1 - 16*xmath.U - 2*(e1+e2)*(1+left))
			lambda = max(0, lambda)
			m := t.m[top]
			removed -= m
			t.m[prev] += lambda * m
			t.m[next] += (1 - lambda) * m * (1 + 4*xmath.U)
			t.err[prev] += 2 * xmath.U * math.Abs(t.m[prev])
			t.err[next] += t.err[top] + 2*xmath.U*math.Abs(t.m[next])
			t.m[top], t.err[top] = 0, 0
			stack = stack[:len(stack)-1]
		}
	}
	return removed
}

// width returns the distance of vertices i < j, and its relative error.
func (d *discretizer) width(i, j int) (w, err float64) {
	if !d.lattice() {
		return d.pts[j].t - d.pts[i].t, xmath.U
	}
	w = float64(d.pts[j].k-d.pts[i].k) * d.g.Step
	return w, xmath.U + (d.pts[i].move+d.pts[j].move)/w
}

// carry subtracts what is left of negative mass from the next higher point: that
// lowers the profile everywhere. It returns what the last point could not bear.
func (t *tally) carry(a, b int) (rest, scale float64) {
	for k := a; k <= b; k++ {
		m := t.m[k] - rescale(rest, scale, t.scl[k])*(1+8*xmath.U)
		rest, scale = 0, t.scl[k]
		if m-t.err[k] < 0 {
			rest = t.err[k] - m
			m, t.err[k] = 0, 0
		}
		t.m[k] = m
	}
	return rest, scale
}

// roundDown moves every loss down to the next vertex: valid always, first order.
// Atoms that sit on a vertex stay there.
func (d *discretizer) roundDown() *Law {
	t := d.newTally()
	n := len(d.pts)
	// below returns the tails just below vertex i.
	below := func(i int) profiles.Tails {
		return d.p.Tails(math.Nextafter(d.pts[i].t, math.Inf(-1)), d.pts[i].tol)
	}
	for i, pt := range d.pts {
		if pt.atom {
			m, err := massP(below(i), pt.tails, 0)
			t.set(i, m-err, 0, 0)
		}
	}
	for i := range d.cells {
		c := &d.cells[i]
		inside := c.p - c.errP
		if d.pts[i+1].atom {
			m, err := massP(d.pts[i].tails, below(i+1), -c.scale)
			inside = m - err
		}
		if t.m[i] > 0 {
			t.m[i] += max(0, inside) * math.Exp(c.scale) * (1 - 1e-12)
		} else {
			t.set(i, inside, 0, c.scale)
		}
	}
	if e := d.endDepth(n - 1); !d.pts[n-1].atom {
		t.set(n-1, e.x-e.err, 0, e.scale) // P(t < L < ∞) − e^t Q(L > t): less than the mass above
	}
	pinf := d.sup.LogPInf
	l := t.law(-1, pinf-4*xmath.U*(1+math.Abs(xmath.Finite(pinf))))
	l.SecondOrder = false
	return l
}

// The mass that connect-the-dots moves up in a cell, and the depth of a tangent,
// are differences P − aQ of the masses of a stretch of losses of about log a. With
// small losses they are small against either, and the errors of the two, about u
// each, displace losses by about u/Δ, however small the losses are. With
// D(ε) = P(L > ε) − Q(L > ε) known to a relative error (hook.TailDifferencer)
//
//	P(s < L ≤ t) − aQ(s < L ≤ t) = D(s) − D(t) − (a−1)·Q(s < L ≤ t)
//
// has errors of u times the loss (docs/theory/accuracy.md §2).

// fine is the lattice step below which that is worth while: T runs displace the
// total loss by about 4uT/Δ without it, and it varies by a few √T·Δ at least.
const fine = 1e-4

func (d *discretizer) difference(t, tol float64) difference {
	if d.exact == nil {
		return difference{}
	}
	l, e := d.exact.LogTailDifference(t, tol)
	if !(e < 0.5) {
		return difference{err: math.Inf(1)}
	}
	x := math.Exp(l)
	return difference{x, x * (rise(e) + xmath.U*(2+2*math.Abs(xmath.Finite(l))))}
}

// gain returns P − aQ of the stretch between two points, a = e^t with t known to
// tol, in units of e^scale: the better one of the given value and that from the
// differences.
func (d *discretizer) gain(da, db difference, a, b profiles.Tails, t, tol, scale, x, err float64) (float64, float64) {
	if scale != 0 || math.IsInf(da.err, 1) || math.IsInf(db.err, 1) {
		return x, err
	}
	q, errQ := massQ(a, b, 0, 0)
	m := math.Expm1(t)
	y := da.x - db.x - m*q
	// Q's mass may be off by errQ, the exponent by tol, and each operation by u.
	e := da.err + db.err + math.Abs(m)*errQ + math.Exp(t)*tol*(1+1e-9)*(q+errQ) + 4*xmath.U*(da.x+db.x+math.Abs(m)*q)
	if e < err {
		return y, e
	}
	return x, err
}

// Theory (docs/theory/accuracy.md §3), as computed.
//
// A vertex with negative mass is deleted (its mass goes to its neighbours so that P- and Q-mass stay); a negative
// remainder at noise level is taken from the next higher vertex.
//
// If Q has mass far below the lattice, P's share of it is left out.
//
// Directly below an atom at the top of the support, rounding can hide whether the last tangent stays above p∞. If it
// may fail by η, and the topmost vertex has mass m, the last segment is p∞ + m(1 − α/a): moving losses down by 4η/m
// lowers it by more than η wherever it was too high. That amount goes into `LossErr`. If a lattice does not resolve
// the loss at all, losses are rounded down to the next vertex.
//
// Where tangents touch matters for the size of the error only. The offset of the lattice puts atoms on it. Where
// masses fall fast from cell to cell, the tangent on the side of the larger mass touches at the vertex. A law of which
// a depth is no number is not used.
