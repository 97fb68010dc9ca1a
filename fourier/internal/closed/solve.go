// A search for the zero of a decreasing function, with a proof at the end that is returned.
//
// Nothing is assumed about the function for that proof: only its signs at the points that were
// tried count. That it is smooth and decreases makes the search quick.

package closed

import "math"

// Solve brackets the zero of a decreasing function f, which returns its value
// and minus its derivative (0 if unknown), and returns the end of the bracket
// that is proved: with above, a point where f ≤ 0 (top if none is found below
// it), else one where f ≥ 0 (floor if there is none). It stops when the bracket
// is narrower than a few ulps. Nothing about f is assumed for the proof.
func Solve(f func(float64) (value, slope float64), floor, top, guess float64, above bool) float64 {
	lo, hi := floor, top // f ≥ 0 at lo and f ≤ 0 at hi, by the caller's word
	x := guess
	for i := range 200 {
		if !(x > lo && x < hi) {
			x = between(lo, hi, floor)
			if !(x > lo && x < hi) {
				break
			}
		}
		v, slope := f(x)
		if v <= 0 {
			hi = x
		}
		if v >= 0 {
			lo = x
		}
		if math.IsNaN(v) {
			// Nothing is known here: it proves neither side.
			if above {
				lo = x
			} else {
				hi = x
			}
		}
		if hi-lo <= 4e-16*math.Abs(x) {
			break
		}
		// Newton, stepping a little too far so that the bracket closes from both
		// sides; bisection when it leaves the bracket or is slow.
		if slope > 0 && !math.IsInf(v, 0) && i < 40 {
			x += 1.001 * v / slope
		} else {
			x = math.NaN()
		}
	}
	if above {
		return hi
	}
	return lo
}

// between returns a point to try between lo and hi, one of which may be
// infinite.
func between(lo, hi, floor float64) float64 {
	switch {
	case math.IsInf(hi, 1):
		return max(2*lo, 2*(lo-floor)+lo, 1e-9)
	case math.IsInf(lo, -1):
		return min(2*hi, -1)
	}
	// Geometric when both ends are positive and far apart.
	if lo > 0 && hi > 4*lo {
		return math.Sqrt(lo) * math.Sqrt(hi)
	}
	return lo + (hi-lo)/2
}
