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

// expTail returns e^v − 1 − v for |v| ≤ 2: the 30th term of the series is below 2^−70 of
// the first.
func expTail(v complex128) complex128 {
	sum := complex(1, 0)
	for k := 30; k >= 3; k-- {
		sum = 1 + v*sum/complex(float64(k), 0)
	}
	return v * v / 2 * sum
}

// coshSeries and sinhcSeries are the divisors of cosh x − 1 = y/2·(1 + y/12·(1 + y/30·…))
// and of sinh(x)/x − 1 = y/6·(1 + y/20·…), y = x².
var (
	coshSeries  = []float64{2, 12, 30, 56, 90, 132, 182, 240, 306, 380, 462, 552}
	sinhcSeries = []float64{6, 20, 42, 72, 110, 156, 210, 272, 342, 420, 506, 600}
)

// evenSeries returns the sum of one of these for |y| ≤ 4.
func evenSeries[T float64 | complex128](y T, divisors []float64) T {
	var sum T
	for i := len(divisors) - 1; i >= 0; i-- {
		sum = divided(y, divisors[i]) * (1 + sum)
	}
	return sum
}

func divided[T float64 | complex128](y T, d float64) T {
	switch v := any(y).(type) {
	case complex128:
		return any(v / complex(d, 0)).(T)
	case float64:
		return any(v / d).(T)
	}
	return y
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
