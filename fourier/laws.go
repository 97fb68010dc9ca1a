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
	lawWidth    = 0.1  // of the width wanted that laws are made for
	lawWork     = 0.2  // of the work limit, on top of what lattices may then take
	lawFloor    = 1e-8 // relative width below which rounding of tails decides
	lawMargin   = 6    // and how deep in any case, below the accuracy: e^−6 of it
	lawRounds   = 4    // refinements of the laws of a question
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
			if x.coarse == nil || x.coarseTo > above || x.coarseTo < above-40 {
				v := m.Vertices(x.profile)
				x.coarse, x.coarseTo = pld.Coarse(x.profile, above-lawDeep, -50, 0.5, v.Stop), above-lawDeep
				v.Spend(len(x.coarse.Loss))
				if v.Cut {
					x.coarseTo = math.Inf(1) // it serves once
				}
				if err := m.Stopped(); err != nil {
					return nil, err
				}
			}
			if err := lattice.Complete(x.coarse); err != nil {
				return nil, err
			}
			t = transform.NewPoints(x.coarse.Loss, x.coarse.LogMass, x.coarse.LogPInf)
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

// wishFor returns what laws must be like for a width of ε. By the error law of
// docs/theory/accuracy.md §4, with the density over δ about θ(θ+1), a cell of width w with the tilted
// mass m moves ε by (θ+1)·T·m·w²/8. n cells with the same T·m·w² = c cover a bell of variance v
// when n³c = 32.6·T·v: with S the sum of the cube roots of 32.6·T·v, all parts together have S·c^(2/3).
func (s *Sum) targetFor(eps, theta, logDelta, width float64) *lawTarget {
	w := &lawTarget{eps: eps, theta: max(0, theta), logDelta: logDelta}
	w.above = logDelta - lawMargin + xmath.Log(min(1, s.opts.Relative)) - xmath.Log(max(1, s.runs))
	sum := 0.0
	for i := range s.factors.list {
		if x := &s.factors.list[i]; x.lacks {
			_, _, v := x.coarse.Tilted(w.theta)
			sum += math.Cbrt(32.6 * float64(x.count) * v)
		}
	}
	w.cell = cellDefault
	if c := math.Pow(8*width/((1+w.theta)*sum), 1.5); c > 0 && !math.IsInf(c, 0) {
		w.cell = c
	}
	return w
}

// laws makes the pair of laws of a part for a wish; nil when they would need too many points,
// or the profile cannot be discretised.
func (s *Sum) laws(m *meter.Meter, x *factor, w *lawTarget) (*lawPair, error) {
	out := &lawPair{}
	if d, ok := x.profile.(*profiles.Discrete); ok {
		out.laws[0], out.laws[1] = pld.OfAtoms(d)
	} else {
		most := min(mostPoints, m.Points/lattice.LawShare)
		price := meter.PerVertexOf(x.profile)
		m.Spend(60 * hook.Cost(x.profile))
		if left := m.Work / price; left < float64(most) {
			most = max(1, int(left))
		}
		g, ok := x.grid(w, most)
		if !ok {
			return nil, nil
		}
		g.Stop = func() bool { return m.Stopped() != nil }
		out.laws[0], out.laws[1] = pld.Discretize(x.profile, g)
		if out.laws[0] == nil {
			m.Spend(float64(most) * price)
			return nil, meter.Cancelled(m.Ctx)
		}
		m.Spend(float64(len(out.laws[0].Loss)) * price)
		if sup := x.profile.Support(); out.laws[0].MaxLoss()+2*g.Step < sup.Max {
			out.laws[1] = lattice.WithoutEnd(out.laws[1], xmath.LogSub(out.laws[0].LogPInf, sup.LogPInf))
		}
	}
	for i, l := range out.laws {
		if len(l.Loss) == 0 || i == 0 && lattice.Complete(l) != nil {
			return nil, nil
		}
		out.points[i] = transform.NewPoints(l.Loss, l.LogMass, l.LogPInf)
	}
	return out, nil
}

// grid returns the grid of a part. Its step is finer than any cell has to be, so that cells
// follow the tilted mass, and an atom between points costs no more than a cell.
func (x *factor) grid(w *lawTarget, most int) (g pld.Grid, ok bool) {
	sup := x.profile.Support()
	lo, hi := pld.Range(x.profile, w.above, -50)
	cell := w.cell / float64(x.count)
	step := math.Exp2(math.Floor(math.Log2(math.Sqrt(cell)))) / 4
	step = max(step, math.Exp2(math.Ceil(math.Log2((hi-lo)*0x1p-45))))
	step = min(step, math.Exp2(math.Floor(math.Log2(0.5/(1+w.theta)))))
	offset := 0.0
	if len(sup.Atoms) > 0 {
		offset = sup.Atoms[0]
	} else if !math.IsNaN(sup.Spike) {
		offset = pld.SpikeOffset(x.profile, step)
	}
	first, last := (lo-offset)/step, (hi-offset)/step
	if !(math.Abs(first) < 1e15 && math.Abs(last) < 1e15) || !((hi-lo)*(1+w.theta) < float64(most)) {
		return g, false
	}
	near := 8 * xmath.U * (math.Abs(offset) + max(math.Abs(lo), math.Abs(hi))) / step
	k, _, _ := x.coarse.Tilted(w.theta)
	g = pld.Grid{Offset: offset, Step: step, Lo: int64(math.Floor(first + near)), Hi: int64(math.Ceil(last - near)),
		Tilt: w.theta, LogNorm: k, Share: cell / (step * step), Most: most}
	if !math.IsInf(sup.LogQInf, -1) {
		g.Lo-- // room for the slope that mass at −∞ leaves
	}
	g.Hi = max(g.Hi, g.Lo+2)
	return g, true
}

// fit makes the laws for a wish, and the compositions with them, and reports whether that
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
	p.target.eps = w.eps
	for i := range p.list {
		x := &p.list[i]
		if !x.lacks || x.laws != nil {
			continue
		}
		var err error
		if x.laws, err = s.laws(m, x, p.target); err != nil || x.laws == nil {
			p.target = nil
			return false, err
		}
	}
	return s.refit(w.logDelta)
}
