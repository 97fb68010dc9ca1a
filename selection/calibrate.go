// The inverse of a price: the guarantee of one run, or its noise, at which a search
// costs what it may. What is returned was seen to meet the target.

package selection

import (
	"cmp"
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// CalibratePure returns an ε for one run, rounded down, whose pure price is at
// most target and within about 1e-12 of it: the inverse of [Price.Pure].
func (p Price) CalibratePure(target float64) (float64, error) {
	if err := cmp.Or(p.ready(), checkApprox(target, 0)); err != nil {
		return 0, err
	}
	// The price is at least one run's, so ε ≤ target. The wanted parameter, 1/ε,
	// must make the price small, as noise does.
	if p.pure(p.law, target) <= target {
		return target, nil
	}
	lo, hi := 0.0, target
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if c := p.pure(p.law, mid); c <= target {
			if lo = mid; target-c <= 1e-12*target {
				break
			}
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// calibrateAccuracy is what reading a candidate from its table may cost in ε.
const calibrateAccuracy = 1e-5

// Calibrate returns a noise multiplier (or any parameter that the candidate's ε decreases in)
// in [lo, hi] at which the search was seen to cost at most target at delta, by the upper end of
// [Price.Epsilon], which is returned with its lower end; lo when even that is cheap enough. The
// upper end is within about 1e-5 of target where that is continuous, within a relative 1e-3
// where Theorem E makes it. It refuses a target that hi does not meet. candidate returns one
// run. Once ctx is done, the error is that of ctx.
func (p Price) Calibrate(ctx context.Context, candidate func(noise float64) (*Candidate, error), delta, target, lo, hi float64) (noise, lower, upper float64, err error) {
	if !(lo > 0 && lo < hi && !math.IsInf(hi, 1)) {
		return 0, 0, 0, fault.New("lo, hi", "%v, %v are not 0 < lo < hi < +Inf", lo, hi)
	}
	if !(target >= 0 && target <= 1e4) {
		return 0, 0, 0, fault.New("target", "%v is not in [0, 1e4]", target)
	}
	both := func(noise float64) (lower, upper float64, err error) {
		one, err := candidate(noise)
		if err != nil {
			return 0, 0, err
		}
		return p.Epsilon(ctx, one, delta, calibrateAccuracy)
	}
	quick := func(noise float64) (float64, error) {
		one, err := candidate(noise)
		if err != nil {
			return 0, err
		}
		return p.quickEpsilon(ctx, one, delta, calibrateAccuracy)
	}
	if lower, upper, err = both(lo); err != nil || upper <= target {
		return lo, lower, upper, err
	}
	c, err := quick(hi)
	if err != nil {
		return 0, 0, 0, err
	}
	if c <= target {
		// Without Theorem E and attacks, which take long, first.
		if _, hi, err = narrow(quick, target, 1e-5, lo, hi, upper, c); err != nil {
			return 0, 0, 0, err
		}
	}
	if lower, upper, err = both(hi); err != nil {
		return 0, 0, 0, err
	}
	if !(upper <= target) {
		return 0, 0, 0, fault.New("target", "%v is below %v, the cost at %v", target, upper, hi)
	}
	if target-upper > openGap*target {
		full := func(noise float64) (float64, error) {
			_, u, err := both(noise)
			return u, err
		}
		if _, hi, err = narrow(full, target, openGap*target, max(lo, hi/2), hi, math.Inf(1), upper); err != nil {
			return 0, 0, 0, err
		}
		lower, upper, err = both(hi)
	}
	return hi, lower, upper, err
}

// narrow returns lo and hi where cost, clo > target at lo and chi ≤ target at hi, passes target,
// chi having come within tol of it, or the two being next to each other.
func narrow(cost func(float64) (float64, error), target, tol, lo, hi, clo, chi float64) (float64, float64, error) {
	for i := 0; i < 200 && target-chi > tol; i++ {
		// Every second step follows the chord of the logarithms: cost is nearly a power of noise.
		share := 0.5
		if i%2 == 0 && target > tol && chi > 0 && !math.IsInf(clo, 1) {
			share = xmath.Log(clo/(target-tol/2)) / xmath.Log(clo/chi)
			share = min(max(share, 1.0/64), 1-1.0/64)
		}
		mid := math.Exp(xmath.Log(lo) + share*(xmath.Log(hi)-xmath.Log(lo)))
		if mid <= lo || mid >= hi {
			break
		}
		c, err := cost(mid)
		if err != nil {
			return 0, 0, err
		}
		if c <= target {
			hi, chi = mid, c
		} else {
			lo, clo = mid, c
		}
	}
	return lo, hi, nil
}
