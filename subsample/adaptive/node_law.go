// Pairs of laws on a lattice of losses, whose profiles join values by chords.

package adaptive

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

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
