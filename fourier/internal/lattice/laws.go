// The lattice laws of each step, above and below it, made once and kept.
//
// It assumes a step and a target. It returns laws that pld proves to be above and below the
// profile, or the limit that was reached. Which points they have (the tilt, the tail that
// is cut) decides how wide the answer is and how long it takes, and no more.

package lattice

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// steers: which points laws have, and which laws serve again. They prove nothing.
const (
	nearTilt    = 1.25 // times the tilt of kept laws, or one over it, that they serve still
	spare       = 4    // by how much further than asked, in logarithm, upper laws reach, to serve more questions
	spareKept   = 5    // times the spare tail that laws, and coarse ones, may reach further than asked
	tiltedShare = 5e-5 // of the error of a cell that points may be left out for, under the tilt
	mostIndex   = 1e15 // of a lattice point: its loss then still has digits left of the step
)

// serves reports whether kept laws do for a step, a target and a tail that is followed to top.
func (l *lawPair) serves(step float64, p target, top float64) bool {
	return l.step == step && l.above <= top && l.above > top-spareKept*spare && l.tilt >= p.theta/nearTilt && l.tilt <= p.theta*nearTilt
}

// lawsAt returns the laws of e at a step, from the cache if a similar question
// was asked before. The upper tail is followed to the log-probability top.
func (s *Sum) lawsAt(m *meter.Meter, e *entry, step float64, p target, top float64) (lawPair, error) {
	for _, l := range e.laws {
		if l.serves(step, p, top) {
			return l, nil
		}
	}
	l := lawPair{step: step, tilt: p.theta, above: top - spare}
	if d, ok := e.Profile.(*profiles.Discrete); ok {
		l.offset = 0
		if as := d.Atoms(); len(as) > 0 {
			l.offset = as[0].Loss
		}
		if up, lo, ok := pld.OnLattice(d, l.offset, step); ok {
			l.upper, l.lower = up, lo
			s.remember(e, l)
			return l, nil
		}
	} else if anchors := e.anchors(p.theta); len(anchors) > 0 {
		l.offset = anchors[0].at(e, step)
	} else if e.spiked() {
		l.offset = pld.SpikeOffset(e.Profile, step)
	}
	lo, hi := pld.Range(e.Profile, l.above, logBelow)
	k := e.mass(p.theta)
	g := pld.Grid{Offset: l.offset, Step: step, Tilt: min(p.theta, maxTiltStep/step), LogNorm: k + xmath.Log(e.rest(p.theta, l.offset)), Share: tiltedShare}
	var err error
	if l.upper, l.lower, err = e.discretize(m, g, lo, hi, s.freeVertices(e)); err != nil {
		return l, err
	}
	s.remember(e, l)
	return l, nil
}

// Cells returns laws above and below the i-th step, with the upper tail cut at the log-probability above, for a tilt: their cells have
// at most so much of the tilted mass times the square of their width. They have most vertices.
func (s *Sum) Cells(m *meter.Meter, i int, theta, cell, above float64, most int) (upper, lower *pld.Law, err error) {
	e := s.entries[i]
	if d, ok := e.Profile.(*profiles.Discrete); ok {
		upper, lower = pld.OfAtoms(d)
		return upper, lower, complete(upper)
	}
	lo, hi := pld.Range(e.Profile, above, logBelow)
	// Finer than any cell has to be, so that cells follow the tilted mass, and an atom between points costs no more than a cell.
	step := math.Exp2(math.Floor(math.Log2(math.Sqrt(cell)))) / 4
	step = max(step, math.Exp2(math.Ceil(math.Log2((hi-lo)*0x1p-45))))
	step = min(step, math.Exp2(math.Floor(math.Log2(0.5/(1+theta)))))
	k := e.mass(theta)
	g := pld.Grid{Step: step, Tilt: theta, LogNorm: k, Share: cell / (step * step)}
	if len(e.Support.Atoms) > 0 {
		g.Offset = e.Support.Atoms[0]
	} else if !math.IsNaN(e.Support.Spike) {
		g.Offset = pld.SpikeOffset(e.Profile, step)
	}
	return e.discretize(m, g, lo, hi, min(most, m.Points/lawShare))
}

// discretize makes the laws of e on a grid over the losses in [lo, hi], with so many vertices at the most.
func (e *entry) discretize(m *meter.Meter, g pld.Grid, lo, hi float64, most int) (upper, lower *pld.Law, err error) {
	first, last := (lo-g.Offset)/g.Step, (hi-g.Offset)/g.Step
	if !(math.Abs(first) < mostIndex && math.Abs(last) < mostIndex) {
		return nil, nil, fmt.Errorf("the loss of a step spans [%g, %g]: too wide for a lattice step of %g", lo, hi, g.Step)
	}
	if !((hi-lo)*min(1+g.Tilt, 1/g.Step) < float64(most)) {
		return nil, nil, meter.ErrMemory
	}
	// An end that is a lattice point up to rounding is that point.
	near := 8 * xmath.U * (math.Abs(g.Offset) + max(math.Abs(lo), math.Abs(hi))) / g.Step
	g.Lo, g.Hi = int64(math.Floor(first+near)), int64(math.Ceil(last-near))
	if !math.IsInf(e.Support.LogQInf, -1) {
		g.Lo-- // room for the slope that mass at −∞ leaves
	}
	g.Hi = max(g.Hi, g.Lo+2)
	price := meter.PerVertexOf(e.Profile)
	g.Most, err = most, meter.ErrMemory
	m.Spend(60 * hook.Cost(e.Profile))
	if left := m.Work / price; left < float64(most) {
		g.Most, err = max(1, int(left)), meter.ErrWork
	}
	g.Stop = func() bool { return m.Stopped() != nil }
	if upper, lower = pld.Discretize(e.Profile, g); upper == nil {
		if err == meter.ErrWork {
			m.Spend(max(0, m.Work))
		} else {
			m.Spend(float64(most) * price)
		}
		return nil, nil, cmp.Or(m.Stopped(), err)
	}
	m.Spend(float64(len(upper.Loss)) * price)
	return upper, lower, complete(upper)
}

// freeVertices is by how many vertices the laws of an entry may have at the most, next to
// those of the other entries that are in use.
func (s *Sum) freeVertices(e *entry) int {
	used := 0
	for _, o := range s.entries {
		if n := len(o.laws); o != e && n > 0 {
			used += len(o.laws[n-1].upper.Loss)
		}
	}
	return s.maxPoints/lawShare - used
}

// remember keeps the most recent lattices, of all entries as many as there is
// room for.
func (s *Sum) remember(e *entry, l lawPair) {
	const keep = 6
	if len(e.laws) >= keep {
		e.laws = append(e.laws[:0], e.laws[1:]...)
	}
	e.laws = append(e.laws, l)
	used := 0
	for _, o := range s.entries {
		for _, l := range o.laws {
			used += len(l.upper.Loss)
		}
	}
	for _, o := range s.entries {
		for len(o.laws) > 1 && used > s.maxPoints/lawShare {
			used -= len(o.laws[0].upper.Loss)
			o.laws = slices.Delete(o.laws, 0, 1)
		}
	}
}
