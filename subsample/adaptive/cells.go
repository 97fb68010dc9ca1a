// The comparison of §10: laws that together dominate every place of the other records,
// found cell by cell. The search steers; cover proves.

package adaptive

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A family is a finite set of pairs on a lattice of losses such that every pair
// of neighbouring data sets is dominated, in one step, by one of its members: an
// upper bound for an adversary who places the other records anew at every step
// (docs/theory/subsampling.md §10). The single pair that dominates all of them, which Apply
// returns, must be the worst at every threshold at once; no data set is.
//
// A member is a mixture, a public choice, of four laws: near (all other records
// at the substitute), its reverse, right (at a right angle to both) and worst
// (worse of near and its reverse everywhere). Whatever the laws are, the proof
// that the family covers everything is the comparison of cover.
type family struct {
	step float64
	node []int     // lattice indices of losses, ascending from 0
	x    []float64 // node·step

	near, right nodeLaw
	gain        *gains
}

type member struct{ near, reverse, right, worst float64 }

func (m member) mirror() member { return member{m.reverse, m.near, m.right, m.worst} }

const (
	nodeGrowth = 0.03    // of the distance between nodes, for losses above 1/growth steps
	maxReach   = 1 << 15 // largest node
	maxCells   = 800
	inflation  = 5e-4 // of the laws' θ, so that excess's own error does not matter
)

// newFamily builds a family on losses up to where one step exceeds with
// probability e^logTop.
func newFamily(step Step, theta, logTop float64) (*family, error) {
	s, wide := step(theta), step(theta*(1+inflation))
	g, err := profiles.NewGaussian(1 / wide.theta)
	if err != nil {
		return nil, err
	}
	f := &family{step: latticeStep(s)}
	if !(f.step > 1e-12) {
		return nil, fmt.Errorf("a lattice step of %v is too small", f.step)
	}
	var u, v, w []float64
	for i := 0; ; i += max(1, int(float64(i)*nodeGrowth)) {
		if i > maxReach {
			return nil, fmt.Errorf("the loss of one step spans more than %d lattice steps", maxReach)
		}
		eps := float64(i) * f.step
		f.node, f.x = append(f.node, i), append(f.x, eps)
		ways := wide.shares(eps)
		a, b := wide.corner(g, ways)
		m := math.Inf(1)
		for _, way := range ways {
			side := wide.theta / math.Sqrt2
			m = min(m, wide.p1*triangle{side, side, wide.theta}.estimate(way.logA, way.logB)+way.rest)
		}
		if i == 0 {
			m = a
		}
		u, v, w = append(u, a), append(v, b), append(w, min(m, a))
		if i > 0 && math.Log(a) < logTop {
			break
		}
	}
	f.near, f.right = newNodeLaw(f.x, u, v), newNodeLaw(f.x, w, w)
	return f, f.cover(s)
}

// latticeStep returns the distance of lattice points. Chords between them add to one
// step's loss a variance of at most a quarter of its square, so that what it costs is
// measured by the standard deviation of that loss, about copies·√(e^{θ²} − 1): a
// twentieth of it where θ is small, an eighth where it is large and the largest losses,
// which the lattice must hold, are many standard deviations. Any step is valid.
func latticeStep(s stepBound) float64 {
	deviation := math.Sqrt(math.Expm1(min(s.theta*s.theta, 4)))
	square := s.theta * s.theta
	step := s.copies * deviation / (8 + 12/(1+square*square))
	return min(step, max(s.copies*s.theta/20, 0.02))
}

// A cell is a rectangle of the distances s = |x − z| and t = |x' − z|, in a ball
// of radius 1. The configurations that matter fill the ball: s + t ≥ 2.
type cell struct{ s0, s1, t0, t1 float64 }

func (c cell) mirror() cell { return cell{c.t0, c.t1, c.s0, c.s1} }

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
// corner where z is x', and cuts off what does not fill the ball.
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
	out := [2]cell{a, b}
	for i := range out {
		c := &out[i]
		c.s0 = max(c.s0, (2-c.t1)*(1-4*xmath.U))
		c.t0 = max(c.t0, (2-c.s1)*(1-4*xmath.U))
	}
	return out
}

// A covered is a cell with bounds of its configurations' profiles at the nodes,
// up for α ≥ 1 and down that of the reverse, and the member that dominates them.
// Bounds start as those of the cell that it is a part of; fresh ones are its own.
type covered struct {
	cell
	up, down           []float64
	freshUp, freshDown []bool
	member             member
	excess             float64 // of the weight of worst over what is harmless; +Inf without a member
}

// cover finds members that dominate every configuration, or returns an error.
func (f *family) cover(s stepBound) error {
	ways := make([][]share, len(f.x))
	first := &covered{cell: cell{0, 2, 0, 2}, excess: math.Inf(1)}
	for i, x := range f.x {
		ways[i] = s.shares(x)
		first.up = append(first.up, s.at(ways[i], triangle{2, 0, 2})) // the largest of all
	}
	first.down = first.up
	var members []member
	queue := []*covered{first}
	for n := 0; len(queue) > 0; n++ {
		// The worst first, so that the limit on cells costs least.
		worst := 0
		for i, c := range queue {
			if c.excess > queue[worst].excess {
				worst = i
			}
		}
		c := queue[worst]
		// A half that is dropped leaves their number: hence the limit on n.
		if len(members)+len(queue) > maxCells || n > 4*maxCells {
			if math.IsInf(c.excess, 1) {
				return fmt.Errorf("the configurations of the other records need more than %d cells", maxCells)
			}
			for _, c := range queue {
				members = append(members, c.member)
			}
			break
		}
		queue = slices.Delete(queue, worst, worst+1)
		var halves [2]*covered // nil: empty, or the mirror image of others
		split := c.split()
		parallel.Do(2, func(i int) {
			half := split[i]
			if half.s1+half.t1 < 2 || half.t0 > half.s1 {
				return
			}
			h := &covered{cell: half, up: slices.Clone(c.up), down: slices.Clone(c.down),
				freshUp: make([]bool, len(f.x)), freshDown: make([]bool, len(f.x))}
			f.improve(h, s, ways)
			halves[i] = h
		})
		for _, h := range halves {
			switch {
			case h == nil:
			case h.excess <= 0:
				members = append(members, h.member)
			default:
				queue = append(queue, h)
			}
		}
	}
	f.gain = newGains(members)
	return nil
}

// improve fits a member to h and sharpens the bounds that stand in its way.
func (f *family) improve(h *covered, s stepBound, ways [][]share) {
	for {
		i, j := f.fit(h)
		if h.excess <= 0 || (i < 0 || h.freshUp[i]) && (j < 0 || h.freshDown[j]) {
			return
		}
		if i >= 0 && !h.freshUp[i] {
			h.up[i], h.freshUp[i] = min(h.up[i], s.at(ways[i], h.worst())), true
		}
		if j >= 0 && !h.freshDown[j] {
			h.down[j], h.freshDown[j] = min(h.down[j], s.at(ways[j], h.mirror().worst())), true
		}
	}
}

// harmless is a weight of worst that hardly raises the result when the rest is
// as in m: adversaries lose by leaving the corners. Found by experiment; it
// decides how fine the cells are, not whether they are covered.
func harmless(m member) float64 {
	c := m.right + min(m.near, m.reverse)
	return 0.005 + 0.4*c*(1-0.7*c)
}

// fit finds the member that dominates c with the least excess. i and j are the
// nodes where better bounds of c would help most, −1 if none does.
//
// With weights 1−ρ−w−e, ρ, w, e and the laws' values b, r, m, b at a node:
// up ≤ b − ρ(b−r) − w(b−m) and down ≤ r + (ρ+e)(b−r) + w(m−r).
func (f *family) fit(c *covered) (i, j int) {
	const steps = 32
	type limit struct {
		rho, need float64 // ρ ≤ rho, ρ + e ≥ need
		i, j      int
	}
	try := func(l limit, w float64) (m member, cost float64, ok bool) {
		if l.rho < 0 || l.need > 1-w {
			return m, 1 + max(-l.rho, l.need-1+w), false
		}
		e := max(0, l.need-l.rho)
		rho := (max(0, l.need-e) + min(l.rho, 1-w-e)) / 2
		m = member{1 - rho - w - e, rho, w, e}
		return m, e - harmless(m), true
	}
	least := math.Inf(1)
	c.excess = math.Inf(1)
	for n := range steps + 1 {
		w := float64(n) / steps
		all := limit{1 - w, 0, -1, -1}
		sure := all // by the cell's own bounds alone
		for k := range f.x {
			b, r, m := f.near.up[k], f.near.down[k], f.right.up[k]
			d := max(b-r, 1e-13*b)
			x, y := (b-w*(b-m)-c.up[k])/d, (c.down[k]-r-w*(m-r))/d
			if x < all.rho {
				all.rho, all.i = x, k
			}
			if y > all.need {
				all.need, all.j = y, k
			}
			if c.freshUp[k] {
				sure.rho = min(sure.rho, x)
			}
			if c.freshDown[k] {
				sure.need = max(sure.need, y)
			}
		}
		if m, x, ok := try(all, w); ok && x < c.excess {
			if m, ok = f.dominates(m, c); ok {
				c.member, c.excess = m, x
			}
		}
		if _, x, _ := try(sure, w); x < least {
			least, i, j = x, all.i, all.j
		}
	}
	return i, j
}

// dominates checks a member against c, after moving a little weight to the worst,
// so that rounding does not decide. Values that are no numbers fail.
//
// The laws are those of a θ larger by inflation and can spare the slack. It is for
// rounding: of the laws' values, of α = e^{x} at the nodes, and of the sides of
// triangles, each some u times at most a thousand, what log δ moves by.
func (f *family) dominates(m member, c *covered) (member, bool) {
	const shift = 1e-7
	for _, w := range []*float64{&m.near, &m.reverse, &m.right} {
		d := min(max(0, *w), shift)
		*w = max(0, *w) - d
		m.worst += d
	}
	m.worst = min(1, max(m.worst, 1-m.near-m.reverse-m.right)+4*xmath.U)
	for k := range f.x {
		b, r, w := f.near.up[k], f.near.down[k], f.right.up[k]
		const down = 1 - 1e-11
		up, rev := m.near*b+m.reverse*r+m.right*w+m.worst*b, m.near*r+m.reverse*b+m.right*w+m.worst*b
		if !(up*down >= c.up[k] && rev*down >= c.down[k]) {
			return m, false
		}
	}
	return m, true
}
