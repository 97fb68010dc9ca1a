// δ(ε) by transforms: what the refinement must know about it.
//
// It assumes a finite ε below the largest loss. It returns bounds that are proved by the laws of the passes, by
// a Chernoff bound, or by the reversed profile.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// byReverse narrows best by δ(ε) = 1 − e^ε + e^ε·δ_rev(−ε) where the last term may not matter.
func (q *query) byReverse() (ok bool) {
	least := -math.Expm1(q.eps)
	if !(least > 0.5) {
		return false
	}
	if rest := 0.5 * q.relative * least; rest >= math.Exp(q.eps) {
		q.best = intersect(q.best, Answer{Lower: xmath.Down(least, 4), Estimate: least, Upper: 1})
	} else if q.reversed().Proves(q.m, -q.eps, rest*math.Exp(-q.eps), q.relative) {
		q.best = intersect(q.best, Answer{Lower: xmath.Down(least, 4), Estimate: least, Upper: xmath.Up(least+rest, 4)})
	} else {
		return false
	}
	return true
}

// reach returns coarse laws that reach as far as δ needs, what they say δ is, and the saddle. log δ is
// NaN if they say nothing, and a bound of what is beyond them if that is all of it.
func (q *query) reach(eps float64) (c *cumulant, logDelta, theta float64) {
	logDelta = -10.0
	for range 12 {
		c = q.coarse(q.m, logDelta, q.relative)
		if c.maxLoss() <= eps {
			if logDelta < -1e4 {
				break
			}
			logDelta *= 2
			continue
		}
		theta = c.saddle(eps, max(theta, 1))
		v, _, _ := c.logDelta(eps, theta)
		if math.IsNaN(v) {
			return c, v, theta
		}
		if v > logDelta-3 {
			logDelta = v
			break
		}
		logDelta = max(v, 2*logDelta) - 1
	}
	return c, logDelta, theta
}
