// Sums of terms given by their logarithms, with a bound on the error of the result.

package copies

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// far is how far below a sum, in logarithm, the rest of its terms may be left
// out: e^−48 < 2^−69, counted as an error of leftOut.
const (
	far     = 48
	leftOut = 1e-20
)

// A logSum adds e^t for terms t with absolute errors, and weighs the errors.
type logSum struct{ top, s, e float64 }

func newLogSum() logSum { return logSum{top: math.Inf(-1)} }

func (a *logSum) add(t, err float64) {
	switch {
	case math.IsInf(t, -1):
	case t <= a.top:
		w := math.Exp(t - a.top)
		a.s += w
		a.e += w * err
	default:
		w := math.Exp(a.top - t)
		a.s, a.e, a.top = a.s*w+1, a.e*w+err, t
	}
}

// value returns the logarithm of the sum, at most 0, and its error: that of the
// terms, a rounding per term (n of them) and that of the logarithm.
func (a *logSum) value(n int) (log, err float64) {
	if a.s == 0 {
		return math.Inf(-1), 0
	}
	log = a.top + xmath.Log(a.s)
	return min(0, log), a.e/a.s + xmath.U*(float64(n)+4+2*math.Abs(log)+math.Abs(a.top))
}

// now returns the logarithm that the sum has now.
func (a *logSum) now() float64 { return a.top + xmath.Log(a.s) }

// mean is the mean error of the terms.
func (a *logSum) mean() float64 {
	if a.s == 0 {
		return 0
	}
	return a.e / a.s * (1 + 1e-9)
}

// accumulate adds a term, with a bound on what rounding does to the sum: the
// exponential of a distance d (d u and 2 u, of the sum or of a term e^−d of it),
// product and sum. A distance beyond 40 scales what is no longer seen. A term
// that is far below changes nothing but by less than a rounding.
func (a *logSum) accumulate(t, err float64) {
	r := 1.0
	if d := t - a.top; d > -far {
		r = 4.5
		if d > 0 && a.s > 0 {
			r += min(d, 40)
		}
	}
	a.add(t, err)
	a.e += a.s * xmath.U * r
}

// subtract adds −e^t, which must be far below the sum.
func (a *logSum) subtract(t, err float64) {
	if w := math.Exp(t - a.top); w > 0 {
		a.s -= w
		a.e += w * (err + 8*xmath.U)
	}
}
