// ε(δ) and δ(ε) of one profile, from its tails.
//
// What it returns holds for the losses as the profile has them: how far rounding displaced
// them is Support().LossErr.

package closed

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Epsilon returns bounds of ε(δ) of a profile. The answer is known to lie in [floor, top].
func Epsilon(p profiles.Profile, logDelta, floor, top float64) (lower, upper float64) {
	lastEps, lastV, slope := math.NaN(), math.NaN(), 0.0
	f := func(sign float64) func(float64) (float64, float64) {
		return func(eps float64) (float64, float64) {
			v, e := profiles.LogDelta(p, eps)
			if math.IsInf(e, 1) {
				// No correct digit: δ ≤ P(L > ε) above and 0 below.
				if sign > 0 {
					t := p.Tails(eps, 0)
					return t.P + t.Err - logDelta, 0
				}
				return math.Inf(-1), 0
			}
			// log δ is smooth and falls: the secant of two values is about its slope, but of values next to
			// each other it is that of their errors.
			if v -= logDelta; !(math.Abs(eps-lastEps) <= 1e-9*math.Abs(eps)) && !math.IsInf(v, 0) {
				if slope = (lastV - v) / (eps - lastEps); !(slope > 0) || math.IsInf(slope, 0) {
					slope = 0
				}
				lastEps, lastV = eps, v
			}
			return v + sign*e, slope
		}
	}
	lower = Solve(f(-1), floor, top, floor, false)
	return lower, Solve(f(+1), floor, top, max(floor, lower), true)
}

// Delta returns log δ(ε) of a profile as computed, and bounds of it where losses are displaced
// by move at most.
func Delta(p profiles.Profile, eps, move float64) (lower, value, upper float64) {
	v, e := profiles.LogDelta(p, eps)
	lo, el := profiles.LogDelta(p, eps+move)
	hi, eh := profiles.LogDelta(p, eps-move)
	if math.IsInf(el, 1) {
		lo, el = math.Inf(-1), 0
	}
	t := p.Tails(eps-move, 0)
	if math.IsInf(eh, 1) || math.IsInf(e, 1) {
		hi, eh = t.P, t.Err
	}
	// P − e^εQ takes the ratio of the masses, which is within move of the loss: an
	// atom within that of ε may count for up to 2·move of its mass too little.
	if move > 0 {
		hi = xmath.LogAdd(hi, xmath.Log(2*move)+t.P+t.Err)
	}
	return lo - el, v, hi + eh
}
