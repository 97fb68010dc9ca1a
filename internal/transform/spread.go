// How fast a transform falls near the real axis.
//
// Let S be a set of losses of width R, of tilted mass m and, within S, of variance v. For
// two independent losses of S, |φ_S(t)|² = E cos(t(L − L')), and because (1 − cos x)/x² falls
// up to π,
//
//	1 − |φ_S(t)|² ≥ 2v·(1 − cos(tR))/R²   for tR ≤ π,
//
// which grows with t. Hence |M(θ+it')| ≤ M(θ) − m(1 − √(1 − 2v(1 − cos tR)/R²)) for every t' from
// t to π/R. Smaller sets go on from there, each for one octave, until the bound by the
// variation of the density has become small.
//
// It assumes atoms and pieces, and log M(θ) rounded up. It returns bounds of |M| that fall with t.

package transform

import (
	"cmp"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A spread holds one such set for each octave.
type spread []octave

type octave struct {
	from, to float64 // frequencies
	mass     float64 // m over M(θ), rounded down
	rate     float64 // 2v/R², rounded down
	width    float64 // R
}

// at returns log of the bound, over M(θ), from t on up to o.to.
func (o *octave) at(t float64) float64 {
	x := o.rate * (1 - math.Cos(t*o.width))
	if y := t * o.width; y < 0.5 {
		// 1 − cos y = y²/2 − y⁴/24 + …, rounded down.
		x = o.rate * y * y / 2 * (1 - y*y/12)
	}
	x = min(1, x*(1-1e-12))
	return math.Log1p(-o.mass * (x / (1 + math.Sqrt(1-x))) * (1 - 1e-12))
}

// bound returns log of a bound of |M(θ+it')|/M(θ) for all t' ≥ t, given one, tail, that
// holds from its argument on.
func (s spread) bound(t float64, tail func(t float64) float64) float64 {
	best, seen := tail(t), math.Inf(-1)
	for i := range s {
		if s[i].to < t {
			continue
		}
		seen = max(seen, s[i].at(max(t, s[i].from)))
		best = min(best, max(seen, tail(s[i].to)))
	}
	return best
}

// A cell is a range of losses with its tilted mass, over e^top.
type cell struct {
	lo, hi    float64
	nodes     []tiltedMass
	quad      float64 // error of the sums of 1 and (L − c)² over squares up to size
	size      float64
	mass      float64
	sum, sum2 float64 // mass times L and L²
}

type tiltedMass struct{ w, l, e, dl float64 }

const octaves = 9

// newSpread returns the sets for the tilted law of the atoms and pieces, M(θ) ≤ e^top.
func newSpread(m *Mixed, theta, top float64) spread {
	cells := spreadCells(m, theta, top)
	if len(cells) < 2 {
		return nil
	}
	slices.SortStableFunc(cells, func(a, b cell) int { return cmp.Compare(a.lo, b.lo) })
	first, last := cells[0].lo, cells[0].hi
	for _, c := range cells {
		last = max(last, c.hi)
	}
	width := last - first
	if !(width > 0) || math.IsInf(width, 0) {
		return nil
	}
	var out spread
	from := 0.0
	for k := range octaves {
		r := math.Ldexp(width, -k)
		i, j := bestWindow(cells, r)
		o := octave{from: from, to: math.Pi / r * (1 - 1e-9), width: r}
		o.mass, o.rate = windowRate(cells[i:j], r)
		out = append(out, o)
		from = o.to
	}
	return out
}

// bestWindow returns the range of cells within a width r that promises most.
func bestWindow(cells []cell, r float64) (from, to int) {
	// A window that starts later may reach as far: one pass over both ends.
	best := -1.0
	var m, s, s2 float64
	j := 0
	for i := range cells {
		for ; j < len(cells) && cells[j].hi-cells[i].lo <= r*(1+1e-12); j++ {
			c := &cells[j]
			m, s, s2 = m+c.mass, s+c.sum, s2+c.sum2
		}
		if j <= i {
			m, s, s2, j = 0, 0, 0, i+1
			continue
		}
		if m > 0 {
			if v := s2 - s*s/m; v > best {
				best, from, to = v, i, j
			}
		}
		c := &cells[i]
		m, s, s2 = m-c.mass, s-c.sum, s2-c.sum2
	}
	return from, to
}

// windowRate returns the mass and 2v/r² of a set of cells within a width r(1 + 1e-12), both
// rounded down; 0 if rounding leaves nothing.
func windowRate(cells []cell, r float64) (mass, rate float64) {
	var most, mean float64
	for _, c := range cells {
		mass += c.mass
		mean += c.sum
	}
	if !(mass > 0) {
		return 0, 0
	}
	center := mean / mass
	mass = 0
	var second, wrong, shift float64
	for _, c := range cells {
		for _, n := range c.nodes {
			d := n.l - center
			shift += n.w * (n.e*math.Abs(d) + n.dl*(1+n.e))
			mass += n.w * (1 - n.e)
			most += n.w * (1 + n.e)
			second += n.w * d * d
			wrong += n.w * (n.e*d*d + 2*n.dl*math.Abs(d) + n.dl*n.dl)
		}
		mass -= c.quad
		most += c.quad
		reach := c.size + math.Abs(center)
		wrong += c.quad * reach * reach
		shift += c.quad * reach
	}
	if !(wrong < second/1000) || !(mass > 0) {
		return 0, 0
	}
	// The errors move the mean off the centre by shift/mass, and the rounding of the centre
	// by far less than 1e-6 of the deviation: the variance is smaller by the square of both.
	second -= wrong + 2*shift*shift/mass
	if !(second > 0) {
		return 0, 0
	}
	return mass * (1 - 1e-12), 2 * second / most / (r * r) * (1 - 2e-9)
}

// spreadCells cuts the law into cells: the atoms, and parts of the pieces.
func spreadCells(m *Mixed, theta, top float64) []cell {
	r := newRule(m, theta, 0, false)
	r.atoms()
	if len(r.nodes) > 1000 {
		return nil // a long list of points does not fall anyway
	}
	var cells []cell
	tilt := func(n node) tiltedMass {
		l := n.logF(theta)
		return tiltedMass{w: math.Exp(l - top), l: n.loss, dl: n.errLoss,
			e: n.relative(theta) + 2*(theta+1)*n.errLoss + u*(4*math.Abs(l)+4*math.Abs(top))}
	}
	put := func(c cell) {
		for _, n := range c.nodes {
			c.mass += n.w
			c.sum += n.w * n.l
			c.sum2 += n.w * n.l * n.l
		}
		cells = append(cells, c)
	}
	for _, n := range r.nodes {
		put(cell{lo: n.loss - n.errLoss, hi: n.loss + n.errLoss, nodes: []tiltedMass{tilt(n)}})
	}
	for i := range m.pieces {
		p := &m.pieces[i]
		parts, fine := 24.0, 8.0
		if len(m.pieces) > 4 {
			parts, fine = 6, 2
		}
		n := int(min(128, max(parts, fine*(p.To-p.From))))
		for k := range n {
			v0, v1 := p.From+(p.To-p.From)*float64(k)/float64(n), p.From+(p.To-p.From)*float64(k+1)/float64(n)
			if !(v0 < v1) {
				continue
			}
			at := len(r.nodes)
			const size = 8
			r.add(i, v0, v1, size, 0)
			const height = 1.7
			b, logRho := r.ellipse(p, v0, v1, height)
			logErr := b - 2*size*logRho
			c := cell{quad: math.Exp(logErr - top + 1e-9)}
			// On the ellipse |L| is at most that of the ends and 4: the real part of v moves by at most
			// 1.7, and log|g| by no more, or by −log cos(0.85) < 0.5; and |arg g| ≤ 1.7.
			left, leftErr := p.logRatio(v0, xmath.U*(3*math.Abs(v0)+8)+p.ScaleErr*math.Abs(v0))
			right, rightErr := p.logRatio(v1, xmath.U*(3*math.Abs(v1)+8)+p.ScaleErr*math.Abs(v1))
			c.size = max(math.Abs(left), math.Abs(right)) + 4 + (v1 - v0)
			c.lo, c.hi = left-leftErr, right+rightErr
			if p.Reversed {
				c.lo, c.hi = -c.hi, -c.lo
			}
			for _, x := range r.nodes[at:] {
				c.nodes = append(c.nodes, tilt(x))
			}
			put(c)
		}
	}
	return cells
}
