// What all Gaussian and Laplace profiles here share: a law of copies, each of which moves
// the mean by theta.

package copies

import (
	"math"
	"sort"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// copies is the law of the number of copies, given that there is one or not, in
// the form that the Gaussian pairs use: noise 1, and theta the shift per copy.
type shifts struct {
	Law
	theta float64
}

// exponent returns uθx − u²θ²/2, the logarithm of the likelihood ratio of
// N(uθ,1) to N(0,1) at x.
func (c *shifts) Exponent(u int, x float64) float64 {
	s := float64(u) * c.theta
	return s * (x - s/2)
}

// last is the largest u of the table.
func (c *shifts) Last() int { return len(c.LogP) - 1 }

// What a number of copies takes of a limit of work, measured: in a mixture against none, against the opposite shifts,
// and in a coupling. Few copies take next to nothing.
const (
	perCopy     = 25
	perOpposite = 50
	fewCopies   = 16
)

// cost returns what the tails at one ε take, for so much a number of copies that counts: one that is not rarer than e^−60.
func (c *shifts) cost(each float64) float64 {
	return each * max(0, float64(counted(c.LogAbove)-fewCopies))
}

// counted returns how many masses of what is left, in descending order, are not negligible.
func counted(logAbove []float64) int {
	return sort.Search(len(logAbove), func(i int) bool { return logAbove[i] < -60 })
}

// mixedTail returns log Σ_u p_u Φ̄(x − sign·uθ), and its error when x is known to
// dx; the terms beyond the table are left out.
//
// The terms are added from the largest mass on, upwards and then downwards, until the mass of those that are left, times
// the largest tail among them, is far below the sum, whose logarithm is that of its largest term at least. Tails fall
// upwards where sign is −1 and downwards where it is 1: the last one that was added bounds the others there.
func (c *shifts) mixedTail(x, dx, sign float64) (log, err float64) {
	s := newLogSum()
	n := 0
	add := func(u int) (bound float64) {
		y := x - sign*float64(u)*c.theta
		t := xmath.LogNormalTail(y)
		d := dx + xmath.U*(math.Abs(x)+2*math.Abs(y))
		e := normalErr(t, y, d)
		s.add(c.LogP[u]+t, c.Err[u]+e)
		n++
		if e > 0.1 {
			return 0
		}
		return min(0, t+e)
	}
	largest := 0.0 // logarithm of the largest tail that is left
	for u := c.peak; u < len(c.LogP) && !(u > c.peak && c.LogAbove[u]+largest+far < s.top); u++ {
		if last := add(u); sign < 0 {
			largest = last
		}
	}
	largest = 0
	for u := c.peak - 1; u >= 0 && !(c.LogBelow[u+1]+largest+far < s.top); u-- {
		if last := add(u); sign > 0 {
			largest = last
		}
	}
	log, err = s.value(n)
	return log, err + 2*leftOut
}

// normalErr bounds the error of t = log Φ̄(y), y known to d: 5 u of LogNormalTail
// and the hazard times d.
func normalErr(t, y, d float64) float64 {
	if math.IsInf(t, 0) {
		return 0
	}
	return 5*xmath.U*(1+math.Abs(t)) + xmath.NormalHazard(y+d)*d
}

// Sums of terms given by their logarithms, with a bound on the error of the result.

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
