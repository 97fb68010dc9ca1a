// §4 without errors, for the search that §6 makes: it steers and proves nothing.

package copies

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// at returns log P_j and log Q_j at the threshold t, without the mass given
// away, with log α_j and its slope.
func (c *GaussianWR) at(t, dt float64) (logP, logQ, logAlpha, slope, err float64) {
	logAlpha, slope, i, size := c.average(t)
	logP, logQ, err = c.tails(t, dt, i, logAlpha, slope*dt+size)
	return logP, logQ, logAlpha, slope, err
}

// slope returns log Q_j at the threshold t, its derivative, log α_j and its
// derivative: at without the P side and without errors. It is for the search only.
func (c *GaussianWR) slope(t float64) (logQ, dLogQ, logAlpha, dLogAlpha float64) {
	if logQ, dLogQ, logAlpha, dLogAlpha, ok := c.quickSlope(t); ok {
		return logQ, dLogQ, logAlpha, dLogAlpha
	}
	logAlpha, dLogAlpha, i := c.roughAverage(t)
	none := xmath.LogNormalTail(t)
	h := xmath.NormalHazard(t)
	plain := 1 / roughTail(t)
	// In units of Φ̄(t): Pr[U ≤ i] and the further copies, each at most p_u.
	sum, down := c.upTo[i], c.upTo[i]*h
	for u := i + 1; u <= c.Last(); u++ {
		if c.upTo[c.Last()]-c.upTo[u-1] < 1e-15*sum {
			break
		}
		s := float64(u) * c.theta
		x := s/2 + logAlpha/s
		var w float64
		if x < 30 && t < 30 {
			w = c.P[u] * roughTail(x) * plain
		} else {
			w = c.P[u] * math.Exp(xmath.LogNormalTail(x)-none)
		}
		sum += w
		down += w * xmath.NormalHazard(x) * dLogAlpha / s
	}
	return none + xmath.Log(sum), -down / sum, logAlpha, dLogAlpha
}

// quickSlope is slope in plain numbers.
func (c *GaussianWR) quickSlope(t float64) (logQ, dLogQ, logAlpha, dLogAlpha float64, ok bool) {
	v, ok := c.quickAverage(t)
	if !ok {
		return 0, 0, 0, 0, false
	}
	w := c.fast
	down := c.upTo[v.i] * xmath.NormalDensity(t)
	q := down * w.ratio.At(t)
	for u := v.i + 1; u <= c.Last(); u++ {
		s := float64(u) * c.theta
		x := s/2 + v.log/s
		density := xmath.NormalDensity(x)
		tail := density * w.ratio.At(x)
		if w.above[u]*tail < 1e-16*q {
			break
		}
		q += c.P[u] * tail
		down += c.P[u] * density * v.slope / s
	}
	return xmath.Log(q), -down / q, v.log, v.slope, q > 1e-290
}

// roughTail is Φ̄(x) with a relative error of x²u.
func roughTail(x float64) float64 { return 0.5 * math.Erfc(x*(1/math.Sqrt2)) }

// roughAverage is average without the error: the likelihood ratios r_u come from
// one another, r_{u+1} = r_u·g_u with g_{u+1} = g_u·e^{−θ²}, as differences from 1.
func (c *GaussianWR) roughAverage(t float64) (logAlpha, slope float64, i int) {
	if !(t*t/2 < 600 && c.LogNone > -600) {
		logAlpha, slope, i, _ = c.average(t)
		return logAlpha, slope, i
	}
	shrink := math.Expm1(-c.theta * c.theta) // e^{−θ²} − 1
	g := math.Expm1(c.theta * (t - c.theta/2))
	var r, a, w float64 // r_u − 1, Σ p(r−1), Σ p·u·r
	m := c.P[0]
	for u := 1; u <= c.Last(); u++ {
		r += g + r*g
		g += shrink + g*shrink
		p := c.P[u]
		if c.LogP[u] < -740 {
			if u > 1 && c.P[u-1] > 0 {
				break
			}
			continue
		}
		if m > 0 && !(r*m > a) {
			break
		}
		a += p * r
		m += p
		w += p * (r + 1) * float64(u)
		i = u
	}
	if m == 0 {
		return 0, 0, 0
	}
	y := a / m
	return math.Log1p(y), c.theta * w / m / (1 + y), i
}

// reach moves t until log Q_j is logKappa, by Newton's method.
func (c *GaussianWR) reach(t, least, logKappa float64) (at, dLogQ, logAlpha, dLogAlpha float64) {
	for range 40 {
		q, dq, a, da := c.slope(t)
		step := (logKappa - q) / dq
		next := max(least, t+step)
		if math.Abs(next-t) < 1e-13*(1+t) {
			return next, dq, a, da
		}
		t = next
	}
	_, dLogQ, logAlpha, dLogAlpha = c.slope(t)
	return t, dLogQ, logAlpha, dLogAlpha
}
