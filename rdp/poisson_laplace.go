// Laplace noise under Poisson sampling, exact but for rounding up.

package rdp

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// poissonLaplace is the exact curve of Laplace noise under Poisson sampling, the
// remove direction: E_Q[g(1 − q + q·e^L)], with Q-masses ½ at L = −m and ½e^{−m}
// at L = m, and between them L = m(2s − 1) with density (m/2)e^{−ms} on (0, 1).
type poissonLaplace struct {
	q, m    float64
	sampled // the binomial sum at integers, and its bound in between
}

func (c poissonLaplace) RDP(alpha float64) float64 {
	v := c.sampled.RDP(alpha)
	if math.IsNaN(v) || alpha > maxOrder || (alpha == math.Trunc(alpha) && alpha <= maxIntegerOrder) {
		return v
	}
	if la, ok := c.quadrature(alpha); ok {
		v = min(v, fromMoment(alpha, la))
	}
	return v
}

// logZ returns log(1 − q + q·e^l), accurate relative to itself.
func (c poissonLaplace) logZ(l float64) float64 {
	if u := c.q * math.Expm1(l); u > -0.5 && l < 30 {
		return math.Log1p(u)
	}
	return xmath.LogAdd(math.Log1p(-c.q), xmath.Log(c.q)+l)
}

// quadrature returns log(e^{(α−1)D} − 1), rounded up: composite Gauss–Legendre
// in s with the error bound of every panel added (see envelope.quadrature).
func (c poissonLaplace) quadrature(alpha float64) (la float64, ok bool) {
	b := min(0.5, min(1/math.Sqrt(alpha), 4/alpha)/(2*ellipseIm*c.m))
	for range 3 {
		n := math.Ceil(0.5 / b)
		if !(n*nodes <= maxPoints/4) {
			return 0, false
		}
		b = 0.5 / n
		terms := make([]float64, 0, int(n)*nodes+2)
		errs := make([]float64, 0, int(n))
		add := func(logQ, l, rel float64) {
			z := c.logZ(l)
			// Losses to 8 u relative, which moves g by α times that.
			e := rel + 16*xmath.U*(2+alpha*(math.Abs(z)+min(1, c.q)*math.Abs(l)))
			terms = append(terms, term(alpha, logQ, z, e, 0))
		}
		add(-math.Ln2, -c.m, 0)
		add(-math.Ln2-c.m, c.m, 2*xmath.U*c.m)
		for i := range int(n) {
			centre := float64(2*i+1) * b
			for j, x := range nodeAt {
				s := centre + b*x
				// Near s = ½ rounding moves the loss by u·m absolutely, and the
				// sum of g by that times g′ ~ α(α−1)q²L: below 1e-13 of the sum,
				// which has losses of all sizes up to m.
				add(xmath.Log(b*nodeWeight[j]*c.m/2)-c.m*s, c.m*(2*s-1), 1e-13+4*xmath.U*c.m)
			}
			errs = append(errs, logRule+xmath.Log(b)+c.largest(alpha, centre, b))
		}
		sum, logE := logSumUp(terms), logSumUp(errs)
		if logE < sum-13*math.Ln10 {
			return xmath.LogAdd(sum, logE), true
		}
		b /= 2
	}
	return 0, false
}

// largest bounds the log of the integrand's modulus in the ellipse around a
// panel: |z − 1| ≤ U by q(e^{|L|} − 1) or q(e^{Re L} + 1), and then g by its
// second-order remainder for U ≤ ½, or term by term.
func (c poissonLaplace) largest(alpha, centre, b float64) float64 {
	low, high, im := centre-ellipseRe*b, centre+ellipseRe*b, ellipseIm*b
	logW := xmath.Log(c.m/2) - c.m*low
	most := c.m*max(math.Abs(2*low-1), math.Abs(2*high-1)) + 2*c.m*im
	right := c.m * (2*high - 1)
	logU := xmath.Log(c.q) + min(logExpm1(most), xmath.LogAdd(right, 0))
	second := math.Inf(1)
	if logU <= -math.Ln2 {
		second = xmath.Log(alpha*(alpha-1)/2) + 2*logU +
			max(alpha-2, 0)*xmath.LogAdd(0, logU) + max(2-alpha, 0)*math.Ln2
	}
	each := logSumUp([]float64{alpha * c.logZ(right), 0, xmath.Log(alpha) + logU})
	return logW + min(second, each) + 1e-9
}
