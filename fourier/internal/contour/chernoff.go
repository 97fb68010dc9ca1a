package contour

// Chernoff's bound with the weight of Theorem 1: δ − (1−m₀) = I_s(ε) ≤ w(s)M(s)e^{−sε}
// for every s > 0.

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// Bound returns an upper bound of log δ(ε), by Chernoff's method at a good s; +Inf
// where there is none. It costs no table.
func (c *Composition) Bound(eps float64) float64 {
	if len(c.factors) == 0 {
		return math.Inf(1)
	}
	s := c.sample().saddle(right, eps, 0)
	var sum xmath.Sum
	var abs float64
	for _, f := range c.factors {
		x := float64(f.Count) * realBound(f.Transform, s, 0)
		if math.IsNaN(x) || math.IsInf(x, 1) {
			return math.Inf(1)
		}
		sum.Add(x)
		abs += math.Abs(x)
	}
	w := logWeight(s)
	bound := w + sum.Value() - s*eps
	bound += 8 * xmath.U * (abs + math.Abs(w) + math.Abs(s*eps) + 1)
	if m0, _ := c.finite(); m0 != (mass{}) {
		_, _, rest := m0.infinite()
		bound = xmath.LogAdd(bound, rest)
		bound += 4 * xmath.U * (1 + math.Abs(bound))
	}
	if math.IsNaN(bound) {
		return math.Inf(1)
	}
	return bound
}
