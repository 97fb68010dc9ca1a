// Functions of small arguments, without a difference of near-equal numbers.
//
// They assume arguments as their comments say, and return values good to a few u.

package transform

// Arithmetic near 0: series for what would cancel, and the check of a line that all transforms share.

import (
	"fmt"
	"math"
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
