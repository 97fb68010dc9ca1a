// Upper bounds that need no transform: Chernoff's on coarse laws, and total variation.
//
// They assume upper laws that are complete and total variations with their errors; they hold in
// floating point. They are what an answer falls back on when a transform would be too long.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// steers: coarse laws: how much deeper than asked they reach (and may reach, to be taken again),
// and the change of log-odds in one of their cells. Bounds from them hold for any.
const (
	spareCoarse = 4
	mostCoarse  = 12
	coarseRes   = 0.5
)

// coarse returns the cumulant of terms whose laws resolve the tails down to
// what matters for a total of log δ at a relative accuracy. A law that the limits of m cut short serves once.
func (s *Sum) coarse(m *meter.Meter, logDelta, relative float64) *cumulant {
	c := newCumulant(len(s.entries))
	above := logDelta - FarMargin(relative) - xmath.Log(s.copies)
	for i, e := range s.entries {
		if e.coarse == nil || e.coarseTo > above || e.coarseTo < above-mostCoarse {
			v := m.Vertices(e.Profile)
			e.coarse = pld.Coarse(e.Profile, above-spareCoarse, logBelow, coarseRes, v.Stop)
			v.Spend(len(e.coarse.Loss))
			if e.coarseTo = above - spareCoarse; v.Cut {
				e.coarseTo = math.Inf(1)
			}
		}
		c.terms[i] = term{e.coarse, float64(e.Count), m}
	}
	return c
}

// bound returns the Chernoff bound of log δ(ε) on the coarse laws, which is
// rigorous: for any θ > 0, with w(l) = (1 − e^{ε−l})₊ ≤ w_max·e^{θ(l−ε)},
// w_max = θ^θ/(1+θ)^{1+θ} the maximum of (1 − e^{−x})e^{−θx},
//
//	δ(ε) ≤ p∞ + w_max·e^{ΣTK(θ) − θε}.
//
// It is 0 where nothing is known.
func (c *cumulant) bound(eps float64) float64 {
	var infinite xmath.Union
	for _, t := range c.terms {
		if len(t.law.Loss) == 0 || Complete(t.law) != nil {
			return 0
		}
		infinite.Add(t.law.LogPInf, t.count, 0)
	}
	bound := math.Inf(-1)
	if eps < c.maxLoss() {
		theta := c.saddle(eps, 1)
		sum := 0.0
		for _, t := range c.terms {
			k, err := t.law.K(theta)
			sum += t.count * (k + err)
		}
		bound = sum - theta*eps + theta*xmath.Log(theta) - (1+theta)*math.Log1p(theta)
		bound += 1e-12 * (math.Abs(sum) + math.Abs(theta*eps) + 1)
	}
	logInf, infErr := infinite.Log()
	if !math.IsInf(logInf, -1) {
		bound = xmath.LogAdd(bound, logInf+infErr+1e-9)
	}
	if math.IsNaN(bound) {
		return 0
	}
	return min(0, bound+1e-15)
}

// proves reports whether the Chernoff bound shows log δ(ε) ≤ logDelta.
func (c *cumulant) proves(eps, logDelta float64) bool { return c.bound(eps) < logDelta }

// Proves reports whether a Chernoff bound alone shows δ(eps) ≤ delta; false says nothing.
// relative is the accuracy of the questions beside it, with which it shares coarse laws.
func (s *Sum) Proves(m *meter.Meter, eps, delta, relative float64) bool {
	if !(delta > 0) || math.IsInf(eps, 0) || math.IsNaN(eps) || len(s.entries) == 0 {
		return false
	}
	steps := s.steps()
	eps -= steps.LossErr()
	if logInf, infErr, top := steps.Ends(); eps >= top {
		return logInf+infErr <= xmath.Log(delta)*(1+8*xmath.U)
	}
	return s.coarse(m, xmath.Log(delta), relative).proves(eps, xmath.Log(delta))
}

// reversed returns the sum of the reversed profiles.
func (s *Sum) reversed() *Sum {
	r := New(s.maxPoints, s.transform)
	for i, step := range s.steps() {
		step.Profile = profiles.Reverse(step.Profile)
		step.Support = step.Profile.Support()
		r.Set(i, step, false)
	}
	return r
}

// variation bounds ε(δ) by total variation: with τ = ΣT_j·TV_j the reversed
// profile is at most τ, so δ(ε) ≤ 1 − e^ε(1−τ) for ε ≤ 0. It is +Inf unless
// τ ≤ δ.
func (s *Sum) variation(logDelta float64) float64 {
	tau := 0.0
	for _, e := range s.entries {
		v, err := profiles.LogDelta(e.Profile, 0)
		tau += float64(e.Count) * math.Exp(v+err)
	}
	tau *= 1 + 1e-12
	if delta := math.Exp(logDelta); tau <= delta*(1-1e-12) {
		// The difference of two numbers below 2δ, each good to (2 + |log δ|)u.
		return math.Log1p(-delta) - math.Log1p(-tau) + 8*xmath.U*(2+math.Abs(logDelta))*-math.Log1p(-delta)
	}
	return math.Inf(1)
}
