// Rounding outwards, and the limits within which float64 is exact.

package xmath

import "math"

// RoundUp returns an upper bound on every number within n units of round-off, n·2^−53
// relative, of x ≥ 0; 0 and +Inf stay.
func RoundUp(x, n float64) float64 {
	if x == 0 || math.IsInf(x, 1) {
		return x
	}
	// The product and the sum round once each, which the 2 extra units cover;
	// the extra step serves subnormal numbers.
	return math.Nextafter(x+x*((n+2)*U), math.Inf(1))
}

// Finite returns x, or 0 for an infinite one, whose rounding costs nothing.
func Finite(x float64) float64 {
	if math.IsInf(x, 0) {
		return 0
	}
	return x
}

// MaxCount is the largest number of runs or records: up to it, whole numbers are exact in
// float64.
const MaxCount = 1 << 53

// ExpUp and ExpDown are e^x rounded outwards: math.Exp is good to an ulp, and x to half an ulp of
// itself. The smallest positive number stands above what underflows, and 0 below it.
func ExpUp(x float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	return math.Nextafter(math.Exp(x)*(1+4*U*(1+math.Abs(x))), math.Inf(1))
}

// ExpDown is beside ExpUp.
func ExpDown(x float64) float64 {
	if e := math.Exp(x); math.IsInf(e, 1) && !math.IsInf(x, 1) {
		return math.MaxFloat64
	}
	return max(0, math.Exp(x)*(1-4*U*(1+math.Abs(Finite(x))))-math.SmallestNonzeroFloat64)
}
