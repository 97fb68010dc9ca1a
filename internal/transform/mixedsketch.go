// A sketch of a bounded loss: its atoms, and a few nodes on its pieces, of which a certified sum has as many as the
// line that it is on needs.

package transform

import "math"

// A mixedSketch has nodes of the law as P sees it, for θ ≥ −½, and as Q sees the reversed one.
type mixedSketch struct {
	plainSketch
	pInf, qInf float64
	sides      [2][]node
}

// newMixedSketch returns nil for pieces that are too long for a rule.
func newMixedSketch(m *Mixed) Sketch {
	r := newRule(m, 0, 0, true)
	if err := r.rough(); err != nil {
		return nil
	}
	s := &mixedSketch{plainSketch: plainSketch{m}, pInf: m.pInf, qInf: m.qInf}
	s.sides[0] = r.nodes
	for _, n := range r.nodes {
		n.reverse()
		n.fill()
		s.sides[1] = append(s.sides[1], n)
	}
	return s
}

// Real implements Sketch.
func (r *mixedSketch) Real(s float64) (k, slope float64) {
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return math.Inf(1), 0
	}
	if s < -0.5 {
		k, slope = roughReal(r.sides[1], -1-s, 1, r.qInf, r.pInf)
		return k, -slope
	}
	return roughReal(r.sides[0], s, 1, r.pInf, r.qInf)
}
