// Transform and its parts: what the contour engine asks of a privacy loss.

package transform

import "context"

// A Transform is the transform M(z) = E_P[e^{zL}; −∞ < L < ∞] of one direction.
// Implementations are immutable and safe for concurrent use.
type Transform interface {
	// Strip returns the open interval of real parts on which M is finite. It
	// contains [−1, 0] or at least its interior.
	Strip() (lo, hi float64)

	// Infinite returns P(L = +∞) and Q(L = −∞), rounded up; 0 if there is none.
	// M(0) = 1 − pInf and M(−1) = 1 − qInf.
	Infinite() (pInf, qInf float64)

	// Real returns K(s) = log M(s) and its derivative K'(s) at a real point of the
	// strip. |K(s) − k| ≤ err is proved; the derivative is only accurate, and steers.
	// err is +Inf where nothing is proved (outside the strip, or where the range
	// of numbers ends). Where M(s) is next to 1 the error is relative to log M(s):
	// a count of 1e12 must not lose digits.
	Real(s float64) (k, slope, err float64)

	// Line prepares the values of M on the line Re z = theta for |Im z| ≤ tMax. The
	// errors of log M there are meant to be at most about tol, a wish and not a promise.
	// It returns an error when theta is outside the strip or the work would be
	// above maxNodes evaluations of the loss (0: those that memory allows), and ctx.Err() soon after ctx is done.
	Line(ctx context.Context, theta, tMax, tol float64, maxNodes int) (Line, error)

	// Reverse returns the transform of (Q, P), M(−1−z), computed from its own
	// positive terms rather than by that substitution where that loses digits.
	Reverse() Transform
}

// A Follower is a Transform that can prepare a line by what served the line of a similar one, nil for none. That saves
// the search, and changes nothing about what is proved.
type Follower interface {
	LineAfter(ctx context.Context, like Line, theta, tMax, tol float64, maxNodes int) (Line, error)
}

// A Releaser is a Transform that keeps work for later calls. Release drops it, which changes no value:
// compositions of thousands of transforms could not hold it all.
type Releaser interface{ Release() }

// A Line is a transform on one line Re z = theta. Implementations are immutable
// and safe for concurrent use.
type Line interface {
	// LogM returns log M(theta + it) = re + i·im for 0 ≤ t ≤ tMax, on any branch of the
	// logarithm. The modulus of its complex error is at most err. With err = +Inf, only
	// |M(theta + it)| ≤ e^re is proved.
	LogM(t float64) (re, im, err float64)

	// Decay returns an upper bound of log |M(theta + it')| that holds for every
	// t' ≥ t, for any t ≥ 0 (also above tMax). It does not increase with t beyond
	// rounding.
	Decay(t float64) float64

	// Terms returns what log M at n equidistant frequencies costs, in terms of a direct sum.
	Terms(n int) float64
}

// A Columner is a Line that knows a cheaper way to many equidistant frequencies.
type Columner interface {
	// Column fills in log M(theta + ikh) for all k, as LogM returns it, and reports whether it did: where single
	// values cost less it does not.
	Column(h float64, re, im, err []float64) bool
}
