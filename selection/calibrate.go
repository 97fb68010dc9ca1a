// The inverse of a price: the guarantee of one run, or its noise, at which a search
// costs what it may. What is returned was seen to meet the target.

package selection

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
)

// CalibratePure returns an ε for one run, rounded down, whose pure price is at
// most target and within about 1e-12 of it: the inverse of [Price.Pure].
func (p Price) CalibratePure(target float64) (float64, error) {
	if err := checkApprox(target, 0); err != nil {
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

// Calibrate returns a noise multiplier (or any parameter that the candidate's ε
// decreases in) in [lo, hi] at which the selection was seen to cost at most target at
// delta, within 1e-8 of target where that is continuous; lo when even that is cheap
// enough. It refuses a target that hi does not meet. candidate returns the bound of one
// run. Once ctx is done, the error is that of ctx.
func (p Price) Calibrate(ctx context.Context, candidate func(noise float64) (Bound, error), delta, target, lo, hi float64) (float64, error) {
	if !(lo > 0 && lo < hi && !math.IsInf(hi, 1)) {
		return 0, fault.New("lo, hi", "%v, %v are not 0 < lo < hi < +Inf", lo, hi)
	}
	if math.IsNaN(target) {
		return 0, fault.New("target", "is NaN")
	}
	cost := func(noise float64) (float64, error) {
		one, err := candidate(noise)
		if err != nil {
			return 0, err
		}
		all, err := p.Profile(ctx, one)
		if err != nil {
			return 0, err
		}
		return all.Epsilon(ctx, delta)
	}
	if c, err := cost(lo); err != nil || c <= target {
		return lo, err
	}
	c, err := cost(hi)
	if err != nil {
		return 0, err
	}
	if !(c <= target) {
		return 0, fault.New("target", "%v is below %v, the cost at %v", target, c, hi)
	}
	for range 200 {
		if target-c <= 1e-8 {
			break
		}
		mid := math.Sqrt(lo) * math.Sqrt(hi)
		if mid <= lo || mid >= hi {
			break
		}
		v, err := cost(mid)
		if err != nil {
			return 0, err
		}
		if v <= target {
			hi, c = mid, v
		} else {
			lo = mid
		}
	}
	return hi, nil
}
