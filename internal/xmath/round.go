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
