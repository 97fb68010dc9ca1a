// A search for the zero of a decreasing function, with a proof at the end that is returned.
//
// Nothing is assumed about the function for that proof: only its signs at the points that were
// tried count. That it is smooth and decreases makes the search quick.

package closed

import "math"

// newtonSteps is after how many steps outwards, all of them Newton's perhaps, the search goes on by doubling: where
// the slope is far too large, as it is where round-off decides, Newton's method hardly moves. It
// proves nothing.
const newtonSteps = 20 // steers: time

// Solve brackets the zero of a decreasing function f, which returns its value
// and minus its derivative (0 if unknown), and returns the end of the bracket
// that is proved: with above, a point where f ≤ 0 (top if none is found below
// it), else one where f ≥ 0 (floor if there is none). It stops when the bracket
// is narrower than tol, or a few ulps. Nothing about f is assumed for the proof.
//
// With reach > 0, f says something near guess only: far away it may have either
// sign. Then the search goes out from guess by steps of reach, doubling, and
// starts from the first change of sign.
func Solve(f func(float64) (value, slope float64), floor, top, guess, reach, tol float64, above bool) float64 {
	lo, hi := floor, top // f ≥ 0 at lo and f ≤ 0 at hi, by the caller's word
	x := guess
	if reach > 0 && guess > floor && guess < top {
		v, slope := f(x)
		first := reach
		for i, up := 0, v > 0; up == (v > 0) && !math.IsNaN(v); i, reach = i+1, 2*reach {
			if i == newtonSteps {
				reach = first
			}
			step := math.Copysign(reach, v)
			// Newton's step, a little longer, where it stays within reach.
			if n := 1.01 * v / slope; i < newtonSteps && math.Abs(n) < 16*reach && !math.IsNaN(n) {
				step = n + math.Copysign(tol, v)
			}
			if up {
				lo = x
			} else {
				hi = x
			}
			if x += step; !(x > floor && x < top) {
				break
			}
			v, slope = f(x)
		}
		if x > floor && x < top && !math.IsNaN(v) {
			if v > 0 {
				lo = x
			} else {
				hi = x
			}
			x += v / slope
		}
	}
	step := 0.0
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
		if hi-lo <= max(tol, 4e-16*math.Abs(x)) {
			break
		}
		// Newton, stepping a little too far so that the bracket closes from both
		// sides; bisection when it leaves the bracket or is slow.
		next := math.NaN()
		if slope > 0 && !math.IsInf(v, 0) && i < 40 {
			step = v / slope
			over := max(0.3*tol, 1e-3*math.Abs(step))
			if v > 0 {
				next = x + step + over
			} else {
				next = x + step - over
			}
		}
		x = next
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
