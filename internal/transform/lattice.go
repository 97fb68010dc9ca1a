// The points at which mixtures are evaluated, made once and shared by all lines.
//
// It assumes a mixture; its points are exact multiples of a step. It returns log P and log Q at them.

package transform

// Nodes of the trapezoidal rule for mixtures, kept for the next question. The steps of
// levels are on a ladder, and what a lattice returns does not depend on what it holds.

import (
	"math"
	"sync"
)

// Steps are on a ladder: level k has the step 2^{−k/2}·top, of at most 30
// significant bits, so that every point j·step is exact and lines share their points.
const (
	maxLevel = 60 // steers: nodes for accuracy
	// maxCached bounds the points that a lattice keeps.
	maxCached = 1 << 15
)

// step returns the step of a level in units of d; see mixture. The sum of a Gaussian
// density at steps of 2πσ/√(2c) in x has error e^{−c}, so that levels start
// above the widest step of use, 4σ in x.
func (m *mixture) step(level int) float64 {
	return roundDown(4/m.sigma*math.Exp2(-float64(level)/2), 30)
}

// roundDown returns x > 0 cut to so many significant bits.
func roundDown(x float64, bits int) float64 {
	frac, exp := math.Frexp(x)
	return math.Ldexp(math.Floor(math.Ldexp(frac, bits)), exp-bits)
}

// levelFor returns the coarsest level whose step is at most h.
func (m *mixture) levelFor(h float64) int {
	l := int(math.Ceil(2 * math.Log2(4/(m.sigma*h)) * (1 - 1e-12)))
	l = min(max(l, 0), maxLevel)
	for l < maxLevel && m.step(l) > h {
		l++
	}
	return l
}

// A lattice holds the nodes of one level that were asked for. What it returns
// does not depend on what it holds.
type lattice struct {
	mu    sync.Mutex
	lo    int
	nodes []node
}

// points returns the nodes lo..hi of a level.
func (m *mixture) points(level, lo, hi int) []node {
	h := m.step(level)
	l := &m.lattices[level]
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.nodes); n > 0 && l.lo <= lo && hi < l.lo+n {
		return l.nodes[lo-l.lo : hi-l.lo+1]
	}
	from, to := lo, hi
	if n := len(l.nodes); n > 0 {
		from, to = min(lo, l.lo), max(hi, l.lo+n-1)
		if to-from >= maxCached {
			from, to = lo, hi
		}
	}
	out := make([]node, to-from+1)
	for i := range out {
		j := from + i
		if k := j - l.lo; k >= 0 && k < len(l.nodes) {
			out[i] = l.nodes[k]
		} else {
			out[i] = m.at(float64(j) * h)
		}
	}
	if len(out) <= maxCached {
		l.lo, l.nodes = from, out
	}
	return out[lo-from : hi-from+1]
}

// Release drops the nodes that the transform keeps between calls, which are the largest part of it. It
// changes no value.
func (m *mixture) Release() {
	for i := range m.lattices {
		l := &m.lattices[i]
		l.mu.Lock()
		l.lo, l.nodes = 0, nil
		l.mu.Unlock()
	}
}
