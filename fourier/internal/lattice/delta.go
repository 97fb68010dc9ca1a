// δ(ε) by transforms: what the refinement must know about it.
//
// It assumes a finite ε below the largest loss. It returns bounds that are proved by the laws of the passes or by
// a Chernoff bound.

package lattice

import "math"

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
