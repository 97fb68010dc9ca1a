// How a step is adapted to atoms, so that they lie on the lattice: off it they cost first order in
// the step, other losses second (docs/theory/accuracy.md §4).
//
// It assumes the step that target.go wants, and returns one near it, mostly a shorter one. It
// proves nothing: laws on any lattice are above and below.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// Regular reports whether all entries are finite laws that lie exactly on one lattice, and its step.
func (s *Sum) Regular() (step float64, ok bool) {
	step = math.Inf(1)
	for _, e := range s.entries {
		d, ok := e.Profile.(*profiles.Discrete)
		if !ok {
			return 0, false
		}
		_, sp, ok := pld.Spacing(d, 1<<22)
		if !ok {
			return 0, false
		}
		if sp > 0 {
			step = min(step, sp)
		}
	}
	if math.IsInf(step, 1) {
		return 1, true // one atom lies on every lattice
	}
	// One spacing serves all only if every other one is a multiple of it.
	for _, e := range s.entries {
		if d := e.Profile.(*profiles.Discrete); len(d.Atoms()) > 0 {
			if _, _, ok := pld.OnLattice(d, d.Atoms()[0].Loss, step); !ok {
				return 0, false
			}
		}
	}
	return step, true
}

// fitStep adapts a wanted step to the atoms of the entries: the first entry, by
// count, whose atoms fit a lattice decides. exact says that all entries lie on
// the lattice exactly.
func (s *Sum) fitStep(d float64, p target) (step float64, exact bool) {
	var lead *entry
	leadSpan := 0.0
	discrete := true
	for _, e := range s.entries {
		span, regular := 0.0, false
		if t, ok := e.Profile.(*profiles.Discrete); ok {
			if _, sp, ok := pld.Spacing(t, 1<<22); ok && (sp == 0 || sp >= d/16) {
				span, regular = sp, true
				if sp == 0 {
					continue // one atom lies on every lattice
				}
			} else {
				discrete = false
				if n := len(t.Atoms()); n > 1 && n <= 4096 {
					span = t.Atoms()[n-1].Loss - t.Atoms()[0].Loss
				}
			}
		} else {
			discrete = false
			if anchors := e.anchors(p.theta); len(anchors) > 1 {
				span = math.Abs(anchors[1].loss - anchors[0].loss)
			}
		}
		// A loss far below the step is not resolved anyway.
		if (regular || span > d/2) && span > 0 && (lead == nil || e.Count > lead.Count) {
			lead, leadSpan = e, span
		}
	}
	if discrete {
		if step, ok := s.Regular(); ok {
			return step, true
		}
	}
	if lead == nil {
		return ladder(d), false
	}
	if _, ok := lead.Profile.(*profiles.Discrete); !ok {
		return lead.divide(d, p.theta), false
	}
	k := max(1, math.Ceil(leadSpan/d*(1-1e-12)))
	return s.bestDivision(leadSpan, k, p.theta), false
}

// mostLooks is how many atoms may be looked at for a step. steers: time for width.
const mostLooks = 1 << 16

// bestDivision returns span/k', k ≤ k' < 1.2k + 2, for which the atoms of all lists cost least.
func (s *Sum) bestDivision(span, k, theta float64) float64 {
	var lists []list
	atoms := 0
	for _, e := range s.entries {
		if d, ok := e.Profile.(*profiles.Discrete); ok && len(d.Atoms()) > 1 {
			l := e.list(d, theta)
			lists = append(lists, l)
			atoms += len(l.at)
		}
	}
	best, least := span/k, math.Inf(1)
	for m := k; m < 1.2*k+2 && (m-k)*float64(atoms) < mostLooks && least > 0; m++ {
		step, cost := span/m, 0.0
		for _, e := range lists {
			cost += float64(e.Count) * (e.cost(step) + e.endCost(step, theta))
		}
		if cost < least*(1-1e-9) {
			best, least = step, cost
		}
	}
	return best
}

// divide returns a step of at most d, and not much less, on whose lattices from
// the first anchor the other ones lie best.
func (e *entry) divide(d, theta float64) float64 {
	anchors := e.anchors(theta)
	if anchors[1].end { // both ends: they decide
		step := d
		for range 4 { // a spike moves with the step
			span := math.Abs(anchors[1].at(e, step) - anchors[0].at(e, step))
			next := span / max(1, math.Ceil(span/d*(1-1e-12)))
			if math.Abs(next-step) < 1e-12*step {
				break
			}
			step = next
		}
		return step
	}
	from := anchors[0].at(e, d)
	best := ladder(d)
	least := e.cost(best, theta) / (best * best)
	for _, m := range anchors[1:min(len(anchors), 4)] {
		span := math.Abs(m.loss - from)
		for k := math.Ceil(span / d * (1 - 1e-12)); k <= 1.5*span/d && k < span/d+16; k++ {
			step := span / k
			if c := e.cost(step, theta) / (step * step); c < least*(1-1e-9) {
				best, least = step, c
			}
		}
	}
	return best
}
