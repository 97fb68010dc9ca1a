// Searches in one variable.

package xmath

import "math"

// Bisect halves the interval between in, where a property holds, and out, where it does not, until the ends have no
// number between them, at most so many times, and returns the ends. holds is not asked at in and out.
func Bisect(in, out float64, halvings int, holds func(float64) bool) (float64, float64) {
	for range halvings {
		lo, hi := min(in, out), max(in, out)
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if holds(mid) {
			in = mid
		} else {
			out = mid
		}
	}
	return in, out
}

// BisectLog is Bisect on the logarithms of positive ends.
func BisectLog(in, out float64, halvings int, holds func(float64) bool) (float64, float64) {
	for range halvings {
		mid := math.Sqrt(in) * math.Sqrt(out)
		if mid <= min(in, out) || mid >= max(in, out) {
			break
		}
		if holds(mid) {
			in = mid
		} else {
			out = mid
		}
	}
	return in, out
}

// GoldenSection evaluates f on ever smaller sections around a minimum between a
// and b, until they are narrower than tol. It returns nothing: f keeps what it
// wants of the values it saw, which is all that callers need for whom every
// value of f is a valid bound.
func GoldenSection(f func(float64) float64, a, b, tol float64) {
	const r = 0.6180339887498949
	x1, x2 := b-r*(b-a), a+r*(b-a)
	y1, y2 := f(x1), f(x2)
	for b-a > tol {
		if y1 <= y2 {
			b, x2, y2 = x2, x1, y1
			x1 = b - r*(b-a)
			y1 = f(x1)
		} else {
			a, x1, y1 = x1, x2, y2
			x2 = a + r*(b-a)
			y2 = f(x2)
		}
	}
}
