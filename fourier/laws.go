// Laws for steps without a transform (docs/theory/contour.md, "Lattice laws as factors").
//
// They assume that some other step has a transform that decays: those of laws are almost periodic.
// They return laws above and below, proved by pld. All that is chosen here, the tilt, the cells, how deep
// tails are followed, decides the width and the work only.

package fourier

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/fourier/internal/lattice"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// steers: time for width.
const (
	lawWidth    = 0.1 // of the width wanted that laws are made for
	lawWork     = 0.2 // of the work limit, on top of what lattices may then take
	lawMargin   = 6   // and how deep in any case, below the accuracy: e^−6 of it
	lawRounds   = 4   // refinements of the laws of a question, or of the bump beside finite ones
	mostPoints  = 1 << 15
	cellDefault = 1e-3
)

// sketch returns the composition of all transforms, with those of coarse laws in place
// of the missing ones: it guesses, and proves nothing.
func (s *Sum) sketch(m *meter.Meter, logDelta float64) (*contour.Composition, error) {
	above := logDelta - lattice.FarMargin(s.opts.Relative) - xmath.Log(max(1, s.runs))
	c, err := contour.New()
	if err != nil {
		return nil, err
	}
	if s.factors.finite() {
		c.Smooth(transform.NewBump(1)) // any
	}
	for i := range s.factors.list {
		x := &s.factors.list[i]
		var t transform.Transform
		if x.lacks {
			l, err := s.lattices.Coarse(m, s.stepOf[i], above)
			if err != nil {
				return nil, err
			}
			t = transform.NewPoints(l.Loss, l.LogMass, l.LogPInf)
		} else if d, ok := x.profile.(*profiles.Discrete); ok {
			l, _ := pld.OfAtoms(d) // cheaper than the transform
			t = transform.NewPoints(l.Loss, l.LogMass, l.LogPInf)
		} else {
			t, _ = hook.TransformsOf(x.profile, s.factors.mass)
		}
		if _, err := c.Add(contour.Factor{Transform: t, Count: x.count}); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// targetFor returns what laws must be like for a width of ε. By the error law of
// docs/theory/accuracy.md §4, with the density over δ about θ(θ+1), a cell of width w with the tilted
// mass m moves ε by (θ+1)·T·m·w²/8. n cells with the same T·m·w² = c cover a bell of variance v
// when n³c = 32.6·T·v: with S the sum of the cube roots of 32.6·T·v, all parts together have S·c^(2/3).
func (s *Sum) targetFor(theta, logDelta, width float64) *lawTarget {
	w := &lawTarget{theta: max(0, theta), logDelta: logDelta}
	w.above = logDelta - lawMargin + xmath.Log(min(1, s.opts.Relative)) - xmath.Log(max(1, s.runs))
	sum := 0.0
	for i := range s.factors.list {
		if x := &s.factors.list[i]; x.lacks {
			sum += math.Cbrt(32.6 * float64(x.count) * s.lattices.Variance(s.stepOf[i], w.theta))
		}
	}
	w.cell = cellDefault
	if c := math.Pow(8*width/((1+w.theta)*sum), 1.5); c > 0 && !math.IsInf(c, 0) {
		w.cell = c
	}
	return w
}

// laws makes the pair of laws of a part for a target; nil when they would need too many points,
// or the profile cannot be discretised.
func (s *Sum) laws(m *meter.Meter, i int, w *lawTarget) (*lawPair, error) {
	out := &lawPair{}
	var err error
	if out.laws[0], out.laws[1], err = s.lattices.Cells(m, s.stepOf[i], w.theta, w.cell/float64(s.factors.list[i].count), w.above, mostPoints); err != nil {
		return nil, meter.Cancelled(m.Ctx)
	}
	for end, l := range out.laws {
		if len(l.Loss) == 0 {
			return nil, nil
		}
		out.points[end] = transform.NewPoints(l.Loss, l.LogMass, l.LogPInf)
	}
	return out, nil
}

// fit makes the laws for a target, and the compositions with them, and reports whether that
// succeeded.
func (s *Sum) fit(m *meter.Meter, w *lawTarget) (bool, error) {
	p := &s.factors
	if p.target == nil || !p.target.serves(w) {
		for i := range p.list {
			p.list[i].laws = nil
		}
		made := *w
		if p.grew {
			made.cell /= 4 // for the steps to come
		}
		p.target, p.upper, p.lower = &made, nil, nil
	}
	for i := range p.list {
		x := &p.list[i]
		if !x.lacks || x.laws != nil {
			continue
		}
		var err error
		if x.laws, err = s.laws(m, i, p.target); err != nil || x.laws == nil {
			p.target = nil
			return false, err
		}
	}
	return s.refit(w.logDelta)
}
