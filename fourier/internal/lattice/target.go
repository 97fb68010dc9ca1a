// Where a question is to be computed, and the lattice step that it needs.
//
// It assumes the error law of docs/theory/accuracy.md §4: the width of log δ is about
// T·Δ²·(density over δ)/8 for losses spread evenly over the cells. Nothing here proves anything:
// a step that is too coarse gives a wide interval, one that is too fine takes long.

package lattice

import "math"

// A target is what the coarse laws say about where to compute.
//
// Invariants: theta, density, scale and unit are positive.
type target struct {
	logDelta float64 // of the finite part
	theta    float64 // that the laws are tilted by: the saddle
	density  float64 // of the total loss at ε, over δ
	scale    float64 // tilted standard deviation of one average step
	unit     float64 // by what a width of the answer is to be multiplied to be one of log δ
	wantLog  float64 // width wanted, in log δ
}

// leastTilt stands for a saddle that is none of δ but of 1 − δ. steers: laws for deltas above a half.
const leastTilt = 1e-3

// newTarget returns the target for an aim.
func (q *query) newTarget(a aim) target {
	theta := a.theta
	v := max(a.laws.Curvature(theta), 1e-300)
	full := v + 1/(theta*theta) + 1/((1+theta)*(1+theta))
	p := target{logDelta: a.finiteLog, theta: max(theta, leastTilt), scale: math.Sqrt(v / q.copies), unit: 1, wantLog: q.relative}
	// Near the largest loss single atoms decide and there is no density: the
	// factor, an estimate anyway, is kept in bounds.
	p.density = max(math.Abs(theta*(1+theta))*min(math.Sqrt(full/v), 30), 1e-300)
	if !q.ofDelta {
		p.unit = max(math.Abs(theta), leastTilt)
		p.wantLog = max(q.relative*math.Abs(a.at), q.absolute) * p.unit
	}
	return p
}

// steers: the first step.
const (
	aimed      = 0.7   // of the width wanted that a step is chosen for
	evenWidth  = 0.75  // of the width that Σ T·cost gives: the upper law's share 1/2, the lower one's 1/4
	tiltedStep = 0.7   // a step at most, over 1/(1+θ): e^l is about linear in a cell
	fewAtoms   = 3     // times the width at first where losses have atoms: they come in rare jumps
	fineStep   = 0.005 // of a standard deviation, at 1e-3, that is always fine enough at first
)

// step returns the lattice step at which the error law predicts the width
// wanted. scale is by how much that fell short of the truth so far.
func (s *Sum) step(p target, scale float64) float64 {
	want := p.wantLog / scale
	// Beyond these the law does not hold: the tilted law must be resolved, and
	// e^l be about linear in a cell.
	d := tiltedStep / (1 + p.theta)
	// A tilted law of a single atom has no scale to resolve.
	if p.scale > 1e-3*d {
		d = min(d, p.scale/2)
	}
	for range 100 {
		w := s.width(p, d)
		if !(w > aimed*want*(1+1e-12)) {
			break
		}
		d *= max(0.01, math.Sqrt(aimed*want/w))
	}
	return d
}

// firstScale is about by how much the error law falls short before anything is
// measured: losses with an atom come in rare jumps, for which the saddle-point
// density is too low (2 to 6 times at the settings of docs/reference/benchmarks.md).
func (s *Sum) firstScale() float64 {
	for _, e := range s.entries {
		if len(e.Support.Atoms) > 0 {
			return fewAtoms
		}
	}
	return 1
}

// finest is less than the first step ever needs to be when the coarse laws place ε
// well: for many runs of one profile a width of r·ε takes about 0.15·√(r/1e-3)
// of its standard deviation. Where they do not, a lattice that fine is a waste.
func (q *query) finest() float64 {
	least := math.Inf(1)
	for _, e := range q.entries {
		if _, _, v := e.coarse.Tilted(0); v > 0 {
			least = min(least, math.Sqrt(v))
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return fineStep * math.Sqrt(min(1, q.relative/1e-3)) * least
}

// width predicts the width of log δ at a step.
func (s *Sum) width(p target, step float64) float64 {
	sum := 0.0
	for _, e := range s.entries {
		cost := e.cost(step, p.theta)
		if len(s.entries) > fewCopies { // fitStep meets the ends of few
			cost += e.endCost(step, p.theta)
		}
		sum += float64(e.Count) * cost
	}
	return evenWidth * p.density * sum
}

// finer returns the step at which the width wanted is expected, when a step gave
// the width measured, in log δ.
func (s *Sum) finer(p target, step, measured float64) float64 {
	scale := 1.0
	if w := s.width(p, step); w > 0 {
		scale = measured / w
	}
	return min(0.8*step, max(0.05*step, s.step(p, scale)))
}
