// Differences of tails without cancellation, for log δ where both tails are nearly
// equal.

package profiles

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A TailDifferencer knows the difference of its two tails without cancellation.
// With losses much below 1 it is much below either tail, and a lattice far finer
// than rounding of the tails would allow can be had.
type TailDifferencer interface {
	// LogTailDifference returns log(P(L > ε) − Q(L > ε)), which is also
	// log(Q(L ≤ ε) − P(L ≤ ε)), and a bound on its absolute error, as Tails has it
	// for all arguments within tol of ε. The error is +Inf where nothing is known.
	LogTailDifference(eps, tol float64) (logDiff, err float64)
}

// LogTailDifference implements TailDifferencer:
// P(L > ε) − Q(L > ε) = P(|N(0,1) − ε/μ| < μ/2) up to ends.
func (g Gaussian) LogTailDifference(eps, tol float64) (logDiff, err float64) {
	x := eps / g.mu
	dx := xmath.U*(4*math.Abs(x)+3*g.mu) + tol/g.mu
	logDiff, err = xmath.LogNormalBetween(x, g.mu)
	// The density in the window is at least that at its far end: moving the window
	// by dx changes the logarithm by the mean of |x| there at most, and a width that
	// is off by 3u by no more.
	return logDiff, err + dx*(math.Abs(x)+g.mu/2+dx) + 4*xmath.U*(1+g.mu*(math.Abs(x)+g.mu))
}

// LogTailDifference implements TailDifferencer: with x the output,
// P − Q = rate·P(|N(0,1) − x| < μ).
func (g gaussianPlusMinus) LogTailDifference(eps, tol float64) (logDiff, err float64) {
	x, dx := g.threshold(eps, tol)
	dx += xmath.U * math.Abs(x)
	logDiff, err = xmath.LogNormalBetween(x, 2*g.mu)
	logDiff += g.logRate
	return logDiff, err + dx*(math.Abs(x)+g.mu+dx) + 4*xmath.U*(1+math.Abs(logDiff)+math.Abs(g.logRate)+g.mu*(math.Abs(x)+g.mu))
}

// LogTailDifference implements TailDifferencer: on [−m, m),
// P − Q = 1 − e^{−m/2}cosh(ε/2) = −expm1(−m/2) − 2e^{−m/2}sinh²(ε/4).
func (l Laplace) LogTailDifference(eps, tol float64) (logDiff, err float64) {
	if eps < -l.m || eps >= l.m {
		return math.Inf(-1), 0
	}
	s := math.Sinh(eps / 4)
	a, b := -math.Expm1(-l.m/2), 2*math.Exp(-l.m/2)*s*s
	d := a - b
	// |d/dε e^{−m/2}cosh(ε/2)| = ½e^{−m/2}|sinh(ε/2)| ≤ e^{−m/2}(cosh(ε/4)|sinh(ε/4)|).
	slope := math.Exp(-l.m/2) * math.Cosh(eps/4+tol) * math.Sinh(math.Abs(eps)/4+tol)
	e := (xmath.U*(6+l.m)*(a+b) + slope*tol*(1+1e-9)) / d
	if !(e < 0.5) {
		return xmath.Log(max(d, 0)), math.Inf(1)
	}
	return xmath.Log(d), -math.Log1p(-e) + 2*xmath.U*math.Abs(xmath.Log(d))
}

// LogTailDifference implements TailDifferencer: the masses at or above −ε change
// places.
func (r reversed) LogTailDifference(eps, tol float64) (logDiff, err float64) {
	if d, ok := r.base.(TailDifferencer); ok {
		return d.LogTailDifference(math.Nextafter(-eps, math.Inf(-1)), tol+2*xmath.U*math.Abs(eps))
	}
	return 0, math.Inf(1)
}
