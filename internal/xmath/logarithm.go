// The logarithm, of subnormal numbers too.

package xmath

import "math"

// Log returns the natural logarithm of x within two units of the last place. It is math.Log where x is a normal number; the assembly of
// math.Log for amd64 (Go 1.26) takes the exponent of a subnormal number for that of the least normal one, and returns −709.1 for
// 5e-324 in place of −744.4.
func Log(x float64) float64 {
	if x < 0x1p-1022 {
		return logSmall(x)
	}
	return math.Log(x)
}

// logSmall is Log below the normal numbers, and at and below 0.
func logSmall(x float64) float64 {
	if !(x > 0) {
		return math.Log(x)
	}
	return math.Log(x*0x1p54) - 54*Ln2
}
