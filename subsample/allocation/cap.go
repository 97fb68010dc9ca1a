package allocation

// What a cap costs, and which one costs little: hints that steer nothing.

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
)

// A CapCost says what a cap costs, in upper ends of ε(δ) of so many steps.
type CapCost struct {
	Capped, Uncapped float64
	// Vacuous says that the capped one is more than double the uncapped one: the bound is then
	// mostly that of the proof, and no attack is known that comes near it.
	Vacuous bool
	// Smallest is the smallest cap from the mean of a batch on that costs at most 1 % more than none.
	Smallest int64
}

// CapCost returns the cost of the scheme's cap over so many steps of Gaussian noise.
func (s Truncated) CapCost(ctx context.Context, b profiles.Mechanism, r profiles.Relation, steps int64, delta float64) (CapCost, error) {
	var c CapCost
	var err error
	const relative = 1e-3
	if c.Capped, err = s.upper(ctx, s.cap, b, r, steps, delta, relative); err != nil {
		return c, err
	}
	if c.Uncapped, err = s.upper(ctx, s.population, b, r, steps, delta, relative); err != nil {
		return c, err
	}
	c.Vacuous = c.Capped > 2*c.Uncapped
	c.Smallest, err = s.SmallestCap(ctx, b, r, steps, delta, 0.01)
	return c, err
}

// upper returns the upper end of ε(δ) of so many steps with another cap.
func (s Truncated) upper(ctx context.Context, most int64, b profiles.Mechanism, r profiles.Relation, steps int64, delta, relative float64) (float64, error) {
	t, err := s.WithCap(most)
	if err != nil {
		return 0, err
	}
	m, err := t.Apply(b, r)
	if err != nil {
		return 0, err
	}
	worst := math.Inf(-1)
	for d, dir := range m.Directions {
		if d == 1 && r == profiles.Substitute {
			break // symmetric
		}
		sum := fourier.New(fourier.Options{Relative: relative})
		if err := sum.Add(dir.Upper, steps); err != nil {
			return 0, err
		}
		e, err := sum.Epsilon(ctx, delta)
		if err != nil {
			return 0, err
		}
		worst = max(worst, e.Upper)
	}
	return worst, nil
}

// SmallestCap returns the smallest cap, from the mean of a batch on, with which so many steps cost at most (1 + cost) times
// what they cost without a cap, in upper bounds of ε(δ): the hint for a cap that is too low.
func (s Truncated) SmallestCap(ctx context.Context, b profiles.Mechanism, r profiles.Relation, steps int64, delta, cost float64) (int64, error) {
	if !(cost > 0) {
		return 0, fault.New("cost", "%v is not above 0", cost)
	}
	upper := func(most int64) (float64, error) { return s.upper(ctx, most, b, r, steps, delta, min(1e-3, cost/10)) }
	plain, err := upper(s.population)
	if err != nil {
		return 0, err
	}
	// From the mean up, by standard deviations and then by halves.
	mean := s.rate * float64(s.population)
	sd := math.Sqrt(mean*(1-s.rate)) + 1
	lo := int64(max(1, min(mean, float64(s.population))))
	hi := s.population
	for k := 4.0; k < 64; k += 2 {
		x := int64(math.Ceil(mean + k*sd))
		if x >= hi {
			break
		}
		e, err := upper(x)
		if err != nil {
			return 0, err
		}
		if e <= plain*(1+cost) {
			hi = x
			break
		}
		lo = x
	}
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		e, err := upper(mid)
		if err != nil {
			return 0, err
		}
		if e <= plain*(1+cost) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}
