// Mixtures on the real axis: M(s) and its derivative.
//
// It assumes s in the strip. It returns log M with a proved error, for bounds and for the search.

package transform

// The transform of a Gaussian mixture at real s: K(s) = log M(s), its slope, and bounds.

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// maxRealNodes bounds the work of Real, and that of a table of a sketch.
const maxRealNodes = 1 << 16 // steers: memory

// divergence returns a rough KL(P‖Q) > 0, the size of log M near s = 0.
func (m *mixture) divergence() float64 {
	m.divergenceOnce.Do(func() {
		level := (m.levelFor(m.stillStep(0, sketchDepth)) + 1) &^ 1
		m.divergenceLowerBound = 1e-300
		if lo, hi, ok := m.cut(0, level, ends{-44, -44}, -44, maxRealNodes); ok {
			if _, kl := roughReal(m.points(level, lo, hi), 0, m.step(level)/m.inv2, 0, 0); kl > 0 {
				m.divergenceLowerBound = kl
			}
		}
	})
	return m.divergenceLowerBound
}

// Real implements Transform. Below −½ it is that of the reverse, whose terms are
// positive there.
func (m *mixture) Real(s float64) (k, slope, err float64) {
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return math.NaN(), math.NaN(), math.Inf(1)
	}
	if s < -0.5 {
		k, slope, err = m.rev.Real(-1 - s)
		return k, -slope, err
	}
	kl := m.divergence()
	if s == 0 {
		return 0, kl, 0
	}
	// log M(s) is about s·kl or larger for s > 0, and at least that by Jensen's inequality.
	t := m.realTilt(s, xmath.Log(1e-18*min(1, max(math.Abs(s), 1e-8)*kl))+min(0, s*kl))
	if t == nil {
		return 0, 0, math.Inf(1)
	}
	return t.real()
}

// realTilt returns nodes at s ≥ −½ such that the errors of quadrature are about e^goal, or as much larger as M(s)
// is; nil if that takes too many.
func (m *mixture) realTilt(s, goal float64) *tilted {
	pieces := goal - xmath.Log(2+2*math.Abs(s))
	// Every second level, so that different s share their nodes, which are the dear part.
	for level := (m.levelFor(m.stillStep(s, -goal)) + 1) &^ 1; level <= maxLevel; level += 2 {
		lo, hi, ok := m.cut(s, level, ends{goal, goal}, pieces, maxRealNodes)
		if !ok {
			return nil
		}
		t := m.tilt(s, level, lo, hi)
		// A large M(s) may have an error as much larger.
		if t.logStill <= goal+t.size() {
			return t
		}
	}
	return nil
}
