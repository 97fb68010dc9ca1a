// A mixture under one tilt: the nodes that count, and what is left out.
//
// It assumes θ ≥ −½. It returns sums at frequency 0 and the errors that do not depend on the frequency.

package transform

// A Gaussian mixture at one θ: its nodes times e^{θL}, their sums with the errors of rounding,
// quadrature and of what is left out. All masses are in units of e^scale.

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// tilted is a mixture on one line Re z = θ ≥ −½ with the nodes lo..lo+len−1 of one
// level: all that does not depend on t.
type tilted struct {
	m *mixture
	sums
	level  int
	h      float64 // the step in d
	lo, hi int
	nodes  []node

	// Logarithms of what is left out on the right and on the left of the sum of f, and of
	// the error of the sums of P and Q together: quadrature and left out.
	logRight, logLeft float64
	logPiece          float64
	logStrip          float64 // of a bound of ∫f
	logStill          float64 // of the quadrature error of f at t = 0
	stillLine         float64
}

// tilt sums the nodes lo..hi of a level at θ ≥ −½.
func (m *mixture) tilt(theta float64, level, lo, hi int) *tilted {
	s := &tilted{m: m, level: level, h: m.step(level), lo: lo, hi: hi, nodes: m.points(level, lo, hi)}
	s.sums = newSums(s.nodes, theta, s.h/m.inv2, -0.7, 600)
	s.bounds()
	return s
}

// share gives every node its shares, which only lines turn.
func (s *tilted) share() {
	if s.nodes[0].ofP != nil {
		return
	}
	s.nodes = slices.Clone(s.nodes)
	for i := range s.nodes {
		d := float64(s.lo+i) * s.h
		s.nodes[i].ofP, _, _ = s.m.p.at(d)
		s.nodes[i].ofQ, _, _ = s.m.q.at(d)
	}
}

// bounds computes what is left out and the quadrature errors at t = 0.
func (s *tilted) bounds() {
	m, theta := s.m, s.theta
	first, last := &s.nodes[0], &s.nodes[len(s.nodes)-1]
	dLo, dHi := float64(s.lo)*s.h, float64(s.hi)*s.h
	s.logRight = m.logBeyond(theta, dHi, last.logF(theta), true)
	s.logLeft = m.logBeyond(theta, dLo, first.logF(theta), false)
	pieces := []float64{m.logPiece(s.h),
		m.logBeyond(0, dHi, last.logF(0), true), m.logBeyond(-1, dHi, last.logF(-1), true),
		m.logBeyond(0, dLo, first.logF(0), false), m.logBeyond(-1, dLo, first.logF(-1), false)}
	s.logPiece = logSumUp(pieces...)
	var sum xmath.Sum
	for i := 1; i < len(s.w); i++ {
		sum.Add(max(s.w[i-1], s.w[i]))
	}
	s.logStrip = logSumUp(s.scale+xmath.Log(sum.Value())+m.cellGrowth(theta, s.h)+1e-9, s.logRight, s.logLeft)
	s.logStill, s.stillLine = s.still(0, m.width())
	s.pieces = math.Exp(s.logPiece)
	s.quadratureOf(s.logStill)
}

// quadratureOf says what quadrature and left-out nodes do, given the logarithm of the quadrature error of f.
func (s *tilted) quadratureOf(log float64) {
	s.own = math.Exp(log-s.scale) + math.Exp(s.logRight-s.scale) + math.Exp(s.logLeft-s.scale)
}

// logSumUp is log Σe^x, rounded up; +Inf if a term is.
func logSumUp(xs ...float64) float64 {
	top := math.Inf(-1)
	for _, x := range xs {
		top = max(top, x)
	}
	if math.IsInf(top, 0) || math.IsNaN(top) {
		return top
	}
	sum := 0.0
	for _, x := range xs {
		sum += math.Exp(x - top)
	}
	return top + xmath.Log(sum) + 1e-15*(4+math.Abs(top))
}
