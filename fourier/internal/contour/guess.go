// Where a question lies, for callers that must build a factor for it: guesses by the
// cumulants alone, without a table. Nothing here is proved.
//
// It assumes factors whose sketches say something of the bulk of the losses.

package contour

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// Guess returns about where ε(δ) is, and the saddle there. ok is false where the mass at
// infinity leaves nothing to look for.
func (c *Composition) Guess(ctx context.Context, logDelta float64) (eps, theta float64, ok bool) {
	if len(c.factors) == 0 || !(logDelta < 0) || math.IsInf(logDelta, 0) {
		return 0, 0, false
	}
	d, logX := right, c.finitePart(right, logDelta)
	if logDelta > -math.Ln2 {
		d, logX = middle, xmath.Log(-math.Expm1(logDelta))
	}
	if !(logX > math.Inf(-1)) {
		return 0, 0, false
	}
	q := c.cumulant()
	eps, theta = q.start(d, logX)
	if d == right {
		at := q.locate(ctx, &budget{work: math.MaxInt64}, logX, eps, theta)
		eps, theta = at.eps, at.theta
	}
	return eps, theta, xmath.Finite(eps) == eps && xmath.Finite(theta) == theta && eps == eps && theta == theta
}

// Curvature returns about the second derivative of log M at theta.
func (c *Composition) Curvature(theta float64) float64 { return c.cumulant().curvature(theta) }

// GuessDelta returns about what log δ(ε) is, the mass at infinity left out, and the saddle.
func (c *Composition) GuessDelta(eps float64) (logDelta, theta float64, ok bool) {
	if len(c.factors) == 0 {
		return 0, 0, false
	}
	q := c.cumulant()
	d := q.sideAt(eps)
	theta = q.saddle(d, eps, 0)
	x := q.approximate(theta, eps)
	if d == middle {
		x = xmath.Log1mExp(math.Min(x, -1e-300))
	}
	return math.Min(x, -1e-300), theta, !math.IsNaN(x + theta)
}

// approximate returns the saddle-point approximation of the logarithm of the quantity of theta's side.
func (q *cumulant) approximate(theta, eps float64) float64 {
	kk := q.curvature(theta) + 1/(theta*theta) + 1/((1+theta)*(1+theta))
	return q.at(theta).k - theta*eps - logPoles(theta) - 0.5*xmath.Log(2*math.Pi*math.Max(kk, 1e-300))
}

// littleDelta is δ below which it is computed itself, and not 1 − δ, where ε is below the mean loss. steers: digits of δ.
const littleDelta = 0.1

// sideAt returns the side on which δ(ε) is to be computed.
func (q *cumulant) sideAt(eps float64) side {
	mean := q.at(0).slope
	if math.IsInf(mean, 0) {
		mean = 0 // 0 is at the end of the strip
	}
	if eps >= mean || q.approximate(q.saddle(right, eps, 0), eps) < xmath.Log(littleDelta) {
		return right
	}
	return middle // more likely than not, the loss is above ε
}
