package fourier

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
)

// A cumulant is Σ_j T_j K_j of coarse laws: used to choose the tilt, the step
// and the length, and for Chernoff bounds. Nothing it says is taken as exact.
type cumulant []term

// at returns ΣTK and its first two derivatives.
func (c cumulant) at(theta float64) (k, d1, d2 float64) {
	for _, t := range c {
		a, b, v := t.law.Tilted(theta)
		k += t.count * a
		d1 += t.count * b
		d2 += t.count * v
	}
	return k, d1, d2
}

// maxLoss returns ΣT·(largest finite loss).
func (c cumulant) maxLoss() float64 {
	m := 0.0
	for _, t := range c {
		m += t.count * t.law.MaxLoss()
	}
	return m
}

const minTilt, maxTilt = 1e-12, 1e12

// rootLog finds where the increasing function f changes sign, in log θ from a
// first guess, to a relative precision of about 1e-3.
func rootLog(f func(theta float64) float64, guess float64) float64 {
	lo, hi := guess, guess
	if f(guess) < 0 {
		for hi < maxTilt {
			hi *= 4
			if f(hi) >= 0 {
				break
			}
			lo = hi
		}
	} else {
		for lo > minTilt {
			lo /= 4
			if f(lo) < 0 {
				break
			}
			hi = lo
		}
	}
	for hi/lo > 1.001 {
		m := math.Sqrt(lo * hi)
		if f(m) < 0 {
			lo = m
		} else {
			hi = m
		}
	}
	return math.Sqrt(lo * hi)
}

// saddle returns the θ that minimises TK(θ) − θε − log(θ(1+θ)).
func (c cumulant) saddle(eps, guess float64) float64 {
	return rootLog(func(t float64) float64 {
		_, d1, _ := c.at(t)
		return d1 - eps - 1/t - 1/(1+t)
	}, guess)
}

// logDelta returns the saddle-point value of log δ(ε) at the saddle θ, the
// density over δ, and the tilted variance of the sum.
func (c cumulant) logDelta(eps, theta float64) (logDelta, g, variance float64) {
	k, _, v := c.at(theta)
	full := v + 1/(theta*theta) + 1/((1+theta)*(1+theta))
	logDelta = k - theta*eps - math.Log(theta*(1+theta)) - 0.5*math.Log(2*math.Pi*full)
	// Near the largest loss single atoms decide and there is no density: the
	// factor, an estimate anyway, is kept in bounds.
	return min(logDelta, 0), theta * (1 + theta) * min(math.Sqrt(full/max(v, 1e-300)), 30), v
}

// chernoff returns the ε at which the Chernoff bound of log δ falls to the given
// value, an upper bound of ε(δ) up to rounding, and the tilt that gives it:
// ε_C = min_θ (TK(θ) + θ log θ − (1+θ) log(1+θ) − log δ)/θ.
func (c cumulant) chernoff(logDelta float64) (eps, theta float64) {
	theta = rootLog(func(t float64) float64 {
		k, d1, _ := c.at(t)
		a := k + t*math.Log(t) - (1+t)*math.Log1p(t) - logDelta
		return t*(d1+math.Log(t)-math.Log1p(t)) - a
	}, 1)
	k, _, _ := c.at(theta)
	return (k + theta*math.Log(theta) - (1+theta)*math.Log1p(theta) - logDelta) / theta, theta
}

// epsilon returns an approximation of ε(δ), good to a few percent, and its
// saddle.
func (c cumulant) epsilon(logDelta float64) (eps, theta float64) {
	eps, theta = c.chernoff(logDelta)
	top := c.maxLoss()
	for range 6 {
		theta = c.saddle(eps, theta)
		v, _, _ := c.logDelta(eps, theta)
		step := (v - logDelta) / theta
		if next := eps + step; next < top {
			eps = next
		} else {
			eps = (eps + top) / 2
		}
		if math.Abs(step) < 1e-3*math.Abs(eps) {
			break
		}
	}
	return eps, theta
}

// like reports whether a tilt finds nearly the same in both.
func (c cumulant) like(d cumulant, theta float64) bool {
	a, _, _ := c.at(theta)
	b, _, _ := d.at(theta)
	return math.Abs(a-b) < 0.5
}

// A window is a tilt and a length of the transform in units of loss.
type window struct {
	theta, width float64
	s            float64 // where the Chernoff bound of the right tail is best
}

// window chooses tilt and width together (docs/accuracy.md §6): the saddle is not the
// best tilt when the tilted law has rare big jumps. tol is the share of δ that
// may alias.
func (c cumulant) window(eps, logDelta, saddle, maxTheta, tol float64) window {
	best := window{width: math.Inf(1)}
	var refS float64
	for _, rho := range []float64{1, 1.15, 0.9, 0.8, 0.7, 0.6, 0.5} {
		th := min(rho*saddle, maxTheta)
		k, _, v := c.at(th)
		logS := logDelta - k + th*eps
		if rho == 1 {
			refS = logS
		} else if refS-logS > math.Log(1e3) || th == maxTheta && rho != 1 {
			continue
		}
		left := (-math.Log(tol) - logDelta) / th
		logW := th*math.Log(th) - (1+th)*math.Log1p(th)
		right, s := math.Inf(1), 0.0
		// Geometric trial of s around the Gaussian optimum.
		need := logW - logS - math.Log(tol)
		s0 := math.Sqrt(2*max(need, 1)/max(v, 1e-300)) / 8
		for f := 1.0; f < 40; f *= 1.35 {
			ks, _, _ := c.at(th + s0*f)
			if r := (ks-k+need)/(s0*f) - eps; r < right {
				right, s = r, s0*f
			} else if r > 2*right {
				break
			}
		}
		if w := max(left, right); w < best.width {
			best = window{th, w, s}
		}
	}
	return best
}

// farMargin is how far below δ the mass of a run is followed, in logarithm; what
// lies above counts as +∞: a millionth of the width wanted.
func (s *Sum) farMargin() float64 { return 14 - math.Log(min(1, s.opts.Relative)) }

// nearMargin is how far it must be followed: what is left then takes about a tenth
// of the width wanted. Where tails fall more slowly than any exponential, the far
// end has all the mass under a tilt: no tilt then brings the mass to ε, and
// round-off is relative to all of it (docs/accuracy.md §6).
func (s *Sum) nearMargin() float64 { return 3 - math.Log(min(1, s.opts.Relative)) }

// coarse returns the cumulant of terms whose laws resolve the tails down to
// what matters for a total of log δ.
func (s *Sum) coarse(logDelta float64) cumulant {
	c := make(cumulant, len(s.entries))
	above := logDelta - s.farMargin() - math.Log(s.copies)
	for i, e := range s.entries {
		if e.coarse == nil || e.coarseTo > above || e.coarseTo < above-12 {
			e.coarse = pld.Coarse(e.profile, above-4, -50, 0.5)
			e.coarseTo = above - 4
		}
		c[i] = term{e.coarse, float64(e.count)}
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
func (c cumulant) bound(eps float64) float64 {
	keep := 0.0
	for _, t := range c {
		if len(t.law.Loss) == 0 || complete(t.law) != nil {
			return 0
		}
		keep += t.count * math.Log1p(-math.Exp(t.law.LogPInf)) * (1 + 1e-9)
	}
	bound := math.Inf(-1)
	if eps < c.maxLoss() {
		theta := c.saddle(eps, 1)
		sum := 0.0
		for _, t := range c {
			k, err := t.law.K(theta)
			sum += t.count * (k + err)
		}
		bound = sum - theta*eps + theta*math.Log(theta) - (1+theta)*math.Log1p(theta)
		bound += 1e-12 * (math.Abs(sum) + math.Abs(theta*eps) + 1)
	}
	if keep < 0 {
		bound = xmath.LogAdd(bound, xmath.Log1mExp(keep))
	}
	if math.IsNaN(bound) {
		return 0
	}
	return min(0, bound+1e-15)
}

// proves reports whether the Chernoff bound shows log δ(ε) ≤ logDelta.
func (c cumulant) proves(eps, logDelta float64) bool { return c.bound(eps) < logDelta }

// complete returns an error unless the law has a P-mass of 1, as an upper law
// must: tails without a correct digit would have spoiled it.
func complete(l *pld.Law) error {
	mass := math.Exp(l.LogPInf)
	for _, m := range l.LogMass {
		mass += math.Exp(m)
	}
	if !(math.Abs(mass-1) < 1e-6) {
		return fmt.Errorf("the tails of a profile are too inexact: its upper law has a mass of %v instead of 1", mass)
	}
	return nil
}

// Proves reports whether a Chernoff bound alone shows δ(eps) ≤ delta. It costs
// far less than Delta; false says nothing.
func (s *Sum) Proves(eps, delta float64) bool {
	if !(delta > 0) || math.IsInf(eps, 0) || math.IsNaN(eps) || len(s.entries) == 0 {
		return false
	}
	if logInf, infErr, top := s.ends(); eps-s.lossErr() >= top {
		return logInf+infErr <= math.Log(delta)*(1+8*xmath.U)
	}
	if proved, ok := s.chernoff(eps-s.lossErr(), math.Log(delta)); ok {
		return proved
	}
	return s.coarse(math.Log(delta)).proves(eps-s.lossErr(), math.Log(delta))
}
