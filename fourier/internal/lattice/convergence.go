// When to stop refining: whether finer steps still help.
//
// It assumes the widths that passes had. It returns a step to try next, or that there is none; what
// was proved by then is the answer either way.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A convergence watches whether refining still helps. All widths are in log δ, but those of
// stalled, which may be in any unit.
//
// Invariants: step and width are those of the last pass that record was given, 0 before the
// first; coarsest is the longest step so far.
type convergence struct {
	step, width float64
	coarsest    float64
	worse       int     // finer steps that gave no narrower interval
	back        bool    // the best step for the rounding was tried
	tries       int     // of steps that were too fine
	narrowest   float64 // interval that is proved
	stale       int     // passes since it became narrower
}

// Constants that end a refinement. They steer, and prove nothing.
const (
	narrower   = 0.98 // times the width: a pass that does not reach this is stale
	mostStale  = 4
	mostTries  = 8
	longerStep = 16  // times the step, where the first one was too fine for the limits
	worthwhile = 1.3 // times the coarsest step so far, for a step that is to have less round-off
)

// stalled takes in the width of the proved interval after a pass and reports
// whether passes no longer help.
func (g *convergence) stalled(width float64) bool {
	if g.narrowest == 0 || width < narrower*g.narrowest {
		g.narrowest, g.stale = width, 0
		return false
	}
	g.stale++
	return g.stale >= mostStale
}

// coarser returns a longer step to try when a pass failed, 0 if there is none.
func (g *convergence) coarser(s *Sum, p target, step float64, exact bool, err error) float64 {
	switch {
	case err != meter.ErrMemory && err != meter.ErrWork || exact:
		return 0
	case g.width == 0 && g.tries < mostTries:
		g.tries++
		return longerStep * step
	case g.width == 0 || g.back:
		return 0
	}
	g.back = true
	if step := g.optimal(s, p); step > worthwhile*g.coarsest {
		return step
	}
	return 0
}

// optimal is the step at which a width of about aΔ² + b/Δ is least, b from the last
// pass: Δ³ = b/2a.
func (g *convergence) optimal(s *Sum, p target) float64 {
	return math.Cbrt(g.width * g.step / (2 * s.width(p, g.step) / (g.step * g.step)))
}

// record takes in a pass that was wider than wanted, noise of it by round-off, all in
// log δ. Errors of tails count the more the finer the step, about as 1/Δ, and
// round-off of the transform about as its length: when they decide, stop says so;
// but first the step at which both shares of the width are least is next.
func (g *convergence) record(s *Sum, p target, step, width, noise, want float64) (next float64, stop bool) {
	if g.width > 0 && step < 0.9*g.step && width > 0.9*g.width {
		g.worse++
	}
	g.step, g.width, g.coarsest = step, width, max(g.coarsest, step)
	if !(g.worse >= 2 || noise > 0.7*want && (noise > 0.5*width || g.worse == 1)) {
		return 0, false
	}
	if g.back {
		return 0, true
	}
	g.back = true
	if next = g.optimal(s, p); next > worthwhile*g.coarsest {
		return next, false
	}
	return 0, true
}

// tooMuchCut returns by how much further, in logarithm, tails must be followed when
// the mass above the lattice took a share of the width that was not meant for it:
// δ was less than foreseen.
func tooMuchCut(truncation, want float64) float64 {
	if !(truncation > 0.3*want) {
		return 0
	}
	return min(xmath.Log(truncation/(0.2*want)), 40)
}
