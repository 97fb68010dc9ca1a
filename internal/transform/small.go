// Functions of small arguments, without a difference of near-equal numbers.
//
// They assume arguments as their comments say, and return values good to a few u.

package transform

// Arithmetic near 0 and 1: series for what would cancel, logarithms with their errors, and the check of
// a line that all transforms share.

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// checkLine returns an error unless the line Re z = theta up to tMax is in the strip.
func checkLine(m Transform, theta, tMax float64) error {
	lo, hi := m.Strip()
	if !(theta > lo && theta < hi) || math.IsInf(theta, 0) {
		return fmt.Errorf("theta: %v is not in (%v, %v)", theta, lo, hi)
	}
	if !(tMax >= 0) || math.IsInf(tMax, 0) {
		return fmt.Errorf("tMax: %v is not in [0, ∞)", tMax)
	}
	return nil
}

// logOfSum returns log(1 + x + iy) for an x + iy known to wrong, with a relative
// error of a few roundings of the result however small it is.
func logOfSum(x, y, wrong float64) (re, im, err float64) {
	r2 := 2*x + (x*x + y*y)
	if r2 <= -0.3 {
		return logOf(1+x, y, wrong)
	}
	re, im = 0.5*math.Log1p(r2), math.Atan2(y, 1+x)
	// r2 loses digits where it cancels; then the logarithm is mostly imaginary. Over
	// r2 > −0.3 its error of u(2|x| + 3|x + iy|²)/(2 + 2·r2) is below 8 u of the modulus
	// of the logarithm.
	return closeLog(re, im, wrong*math.Exp(-re))
}

// logOf returns log(x + iy) for an x + iy known to wrong.
func logOf(x, y, wrong float64) (re, im, err float64) {
	size := math.Hypot(x, y)
	if size == 0 {
		return xmath.Log(wrong), 0, math.Inf(1)
	}
	re, im = xmath.Log(size), math.Atan2(y, x)
	return closeLog(re, im, wrong/size+4*xmath.U) // 1 + x and hypot round
}

// closeLog returns a logarithm and its error when the number has the relative error r:
// −log(1 − r), and 12 roundings of its modulus. With half of the digits gone
// only the modulus of the number is bounded.
func closeLog(re, im, r float64) (float64, float64, float64) {
	round := 12 * xmath.U * math.Hypot(re, im)
	if !(r < 0.5) {
		return re + math.Log1p(r) + round, im, math.Inf(1)
	}
	return re, im, -math.Log1p(-r) + round
}
