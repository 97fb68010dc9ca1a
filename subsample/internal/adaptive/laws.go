// The laws that are mixed to dominate every place of the other records (§10).

package adaptive

import (
	"context"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A palette is the laws of one step on a lattice of losses, of which a family mixes its
// members. Nothing need be true of them: that a mixture is above a cell is compared value
// by value.
type palette struct {
	bound stepBound
	step  float64
	node  []int     // lattice indices of losses, ascending from 0
	x     []float64 // node·step
	ways  [][]share // of the bound, at each node
	laws  []nodeLaw
	known *known // bounds of cells
}

// The laws by index. near has all other records at the substitute, worst the larger
// of near and its reverse at every α; right has them at a right angle to both. Edge laws
// have them at distance 2 from the record and edgeAt from the substitute, with the right
// angle there: no mixture of the other four is close to what is to be dominated. Their
// reverses are not needed: where z is nearer to x than to x', adversaries lose so much that
// reverse with some of worst is as good.
const (
	near = iota
	reverse
	worst
	right
)

// edgeAt are the distances of the edge laws: where the linear program's value was largest
// without them (docs/theory/subsampling.md §10).
var edgeAt = [...]float64{0.4, 0.75, 1.15}

const (
	nodeGrowth = 0.03    // of the distance between nodes, for losses above 1/growth steps
	maxReach   = 1 << 15 // largest node
	inflation  = 2e-4    // of the laws' θ, so that excess's own error hardly matters
	perNode    = 6e4     // what a node takes, measured, in the unit of parallel.WithWork
)

// A grid is the nodes of a palette, with the profiles of near there.
type grid struct {
	palette
	wide stepBound
	rest [][]share // the ways of wide
	u, v []float64
}

// newGrid returns the losses up to where one step exceeds with probability e^logTop. It takes a small part of what
// the laws there do.
func newGrid(ctx context.Context, step Step, theta, logTop float64) (*grid, error) {
	a := &grid{palette: palette{bound: step(theta), known: newKnown()}, wide: step(theta * (1 + inflation))}
	g, err := profiles.NewGaussian(1 / a.wide.theta)
	if err != nil {
		return nil, err
	}
	if a.step = latticeStep(a.bound); !(a.step > 1e-12) {
		return nil, fmt.Errorf("a lattice step of %v is too small", a.step)
	}
	for i := 0; ; i += max(1, int(float64(i)*nodeGrowth)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i > maxReach {
			return nil, fmt.Errorf("the loss of one step spans more than %d lattice steps", maxReach)
		}
		eps := float64(i) * a.step
		ways := a.wide.shares(eps)
		u, v := a.wide.corner(g, ways)
		a.node, a.x, a.ways = append(a.node, i), append(a.x, eps), append(a.ways, a.bound.shares(eps))
		a.rest, a.u, a.v = append(a.rest, ways), append(a.u, u), append(a.v, v)
		if i > 0 && xmath.Log(u) < logTop {
			return a, nil
		}
	}
}

// newPalette returns the laws on losses up to where one step exceeds with
// probability e^logTop.
func newPalette(ctx context.Context, step Step, theta, logTop float64) (*palette, error) {
	a, err := newGrid(ctx, step, theta, logTop)
	if err != nil {
		return nil, err
	}
	shapes := []triangle{{math.Sqrt2, math.Sqrt2, 2}}
	for _, t := range edgeAt {
		r := math.Sqrt(4 - t*t)
		shapes = append(shapes, triangle{2, t, r}, triangle{t, 2, r})
	}
	values := make([][]float64, len(shapes))
	for i, ways := range a.rest {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := parallel.Spend(ctx, perNode); err != nil {
			return nil, err
		}
		for n, shape := range shapes {
			m := min(a.u[i], a.wide.estimate(ways, shape))
			if i == 0 && shape.r == 2 {
				m = a.u[i]
			}
			values[n] = append(values[n], m)
		}
	}
	p, n := a.palette, newNodeLaw(a.x, a.u, a.v)
	p.laws = []nodeLaw{n, n.reverse(), n.worse(), newNodeLaw(p.x, values[0], values[0])}
	for i := 1; i < len(values); i += 2 {
		p.laws = append(p.laws, newNodeLaw(p.x, values[i], values[i+1]))
	}
	return &p, nil
}

// estimate is at as a plain number: no bound.
func (s stepBound) estimate(ways []share, g triangle) float64 {
	g = triangle{g.s * s.theta / 2, g.t * s.theta / 2, g.r * s.theta / 2}
	h := math.Inf(1)
	for _, w := range ways {
		h = min(h, s.p1*g.estimate(w.logA, w.logB)+w.rest)
	}
	return h
}

// latticeStep returns the distance of lattice points. Chords between them add to one
// step's loss a variance of at most a quarter of its square, so that what it costs is
// measured by the standard deviation of that loss, about copies·√(e^{θ²} − 1): a
// twentieth of it where θ is small, more than a quarter where it is large and the largest
// losses, which the lattice must hold, are many standard deviations. A finer lattice also has
// nodes at smaller losses, where mixtures have less to spare and cost more. Any step is valid.
func latticeStep(s stepBound) float64 {
	square := s.theta * s.theta
	return min(deviation(s)/(2+18/(1+square*square)), max(s.copies*s.theta/20, 0.02))
}

// deviation is about the standard deviation of one step's loss, for θ up to 2.
func deviation(s stepBound) float64 {
	return s.copies * math.Sqrt(math.Expm1(min(s.theta*s.theta, 4)))
}

// tilted returns E_P[e^{cL}] of each law, relative to the largest of the factors. Infinite
// losses count as the top of the lattice.
func (p *palette) tilted(c float64) []float64 {
	top := p.x[len(p.x)-1]
	out := make([]float64, len(p.laws))
	for j, l := range p.laws {
		m := l.masses(p.node, p.x)
		// The mass at 0 is what is left; Σ p·(e^{cL} − 1) does not lose digits to it.
		out[j] = m.inf * -math.Expm1(-c*top)
		for n, mass := range m.mass {
			x := float64(m.index[n]) * p.step
			out[j] += mass * (math.Exp(c*(x-top)) - math.Exp(-c*top))
		}
	}
	return out
}

// slope is the saddle point of k steps at eps, about the slope of −log δ there.
func (p *palette) slope(k, eps, rough float64) float64 {
	law := p.laws[near].masses(p.node, p.x)
	mean := func(c float64) float64 { // of the loss tilted by e^{cx}
		base := c * p.x[len(p.x)-1] // keeps exponents in range
		var sum, first, rest float64
		rest = 1 - law.inf
		for i, m := range law.mass[1:] {
			x := float64(law.index[i+1]) * p.step
			w := m * math.Exp(c*x-base)
			sum += w
			first += x * w
			rest -= m
		}
		return first / (sum + max(0, rest)*math.Exp(-base))
	}
	c, _ := xmath.BisectLog(rough/64, 4*rough, 40, func(c float64) bool { return k*mean(c) < eps })
	return c
}

// Pairs of laws on a lattice of losses, whose profiles join values by chords.

// A nodeLaw is a pair of laws on the nodes of a lattice and their negatives:
// P-masses at the positive losses, Q-masses at the negative ones, P-mass at +∞,
// Q-mass at −∞, and what is left at 0. up is its profile at the nodes, for
// α = e^x, and down that of its reverse.
type nodeLaw struct {
	right, left []float64 // index 0 is unused
	infP, infQ  float64
	up, down    []float64
}

// newNodeLaw joins the values at the nodes by chords: u for α ≥ 1, v the
// reverse's.
func newNodeLaw(x, u, v []float64) nodeLaw {
	var l nodeLaw
	l.right, l.up, l.infP = xmath.Chords(x, u, false)
	l.left, l.down, l.infQ = xmath.Chords(x, v, false)
	// Both sides have the same value at α = 1.
	if d := l.up[0] - l.down[0]; d > 0 {
		l.infQ += d
		for i := range l.down {
			l.down[i] += d
		}
	} else {
		l.infP -= d
		for i := range l.up {
			l.up[i] -= d
		}
	}
	return l
}

// reverse is the law with the roles of P and Q exchanged.
func (l nodeLaw) reverse() nodeLaw {
	return nodeLaw{right: l.left, left: l.right, infP: l.infQ, infQ: l.infP, up: l.down, down: l.up}
}

// worse is the law with the positive side of l on both sides.
func (l nodeLaw) worse() nodeLaw {
	return nodeLaw{right: l.right, left: l.right, infP: l.infP, infQ: l.infP, up: l.up, down: l.up}
}

// A massLaw is a law on lattice losses: P-masses at indices, and at +∞.
type massLaw struct {
	index []int
	mass  []float64
	inf   float64
}

// masses returns the law's P-masses; what is left is at 0, under Q as well.
//
// For α ≥ 1 that mass does not matter. For α < 1 the profile is P − αQ + α·down(1/α)
// with the totals P and Q, equal but for the rounding of up and down, some u of
// their values. Where down(1/α) > down(1)/10 the slack of dominates covers that;
// elsewhere 1 − α ≥ down(1)/3, the slope of down being at least −1, and P is above
// 1 by so much that P − αQ ≥ 1 − α.
func (l nodeLaw) masses(node []int, x []float64) massLaw {
	m := massLaw{index: []int{0}, mass: []float64{0}, inf: l.infP}
	var rest xmath.Sum
	rest.Add(1)
	rest.Add(-l.infP)
	for i := 1; i < len(x); i++ {
		q := l.left[i] * math.Exp(-x[i])
		rest.Add(-l.right[i])
		rest.Add(-q)
		m.index = append(m.index, node[i], -node[i])
		m.mass = append(m.mass, l.right[i], q)
	}
	m.mass[0] = max(0, rest.Value()) + 4e-12
	return m
}

// Proof (docs/theory/subsampling.md §10): sampling with replacement, and MUST.OW.
//
// Sampling with replacement. In the coupling of section 4 the samples with at most one copy differ in one position only,
// whose other record is `z = w_1`: Y_0, Y_1 and Y'_1 form the triangle above. Let T be at most the threshold of R at α,
// and i the end of its block. Give the first copy the Q-mass `a·p_1` of Y_0 and `b·p_1` of Y'_1, where `b = min(α,
// r_1(T))` and `a = max(0, r_1(T) − α)`; by Hall's condition for R, what remains of Q_0, …, Q_i suffices for the copies
// 2..i at the threshold T, and every further copy has its own. So
//
//	h(α) ≤ p_1Φ(s,t,r; a,b) + Σ_{2≤u≤i} p_u[Φ̄(T−uθ) − r_u(T)Φ̄(T)] + Σ_{u>i} p_uδ_u(α),
//
// where only the first term depends on the configuration; with z = x' it is R. Giving all of Q_0 to the first copy is
// another bound, better near z = x; the smaller one is taken. From here on all is as before. (MUST.WO has the law of
// WR.)
//
// MUST.OW. In section 5's form, `P − αQ = (b/n)[L_x − αL_x' − (α'−α)L_z]` with `α' = 1 + (α−1)n/b`. The samples with at
// most one draw of the place in question have four centres: x, x', z, and w, the record drawn otherwise. Their masses
// are `s_1` at x, `−αs_1` at x', and `−A` at z and w together, divided in a proportion that does not depend on α, since
// both parts are multiples of α − 1. The integrand `[p·N(x) − A(λN(z) + (1−λ)N(w)) − b·N(x')]₊` is at most the same
// mixture of `[p·N(x) − A·N(z) − b·N(x')]₊` and of that with w: a public choice between two triangles. So WR's bound
// holds with the law s, the rate b/n in front, `a` at most `(α'−1)s_0/s_1 + (α'−α)`, and T the threshold of R[s] at α'.
// This gains where a record is rarely drawn twice (m < b); at the paper's setting (m/b = 1.7) the lattice would have to
// be too long, and the product stays.
