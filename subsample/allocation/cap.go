package allocation

// What a cap costs, and which one costs little: hints that steer nothing.

import (
	"context"
	"errors"
	"math"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
)

// A CapCost says what a cap costs, in upper ends of ε(δ) of so many steps.
type CapCost struct {
	Capped, Uncapped float64
	// Vacuous says that the capped one is more than double the uncapped one, which is above 0: the
	// bound is then mostly that of the proof, and no attack is known that comes near it.
	Vacuous bool
	// Smallest is, of a vacuous cap, the smallest from the mean of a batch on that costs at most 1 % more
	// than none; or the smallest that was found when the work had been used up.
	Smallest int64
}

// CapCost returns the cost of the scheme's cap over so many steps of Gaussian noise. All its
// questions together have the work of one (limits.Work), and each no more points.
func (s Truncated) CapCost(ctx context.Context, b profiles.Mechanism, r profiles.Relation, steps int64, delta float64, limits fourier.Options) (CapCost, error) {
	var c CapCost
	var err error
	limits.Relative = 1e-3
	q := newCapQuestion(ctx, b, r, steps, delta, limits)
	if c.Capped, err = q.upper(s, s.cap); err != nil {
		return c, err
	}
	if c.Uncapped, err = q.upper(s, s.population); err != nil {
		return c, err
	}
	if c.Vacuous = c.Uncapped > 0 && c.Capped > 2*c.Uncapped; c.Vacuous {
		c.Smallest, err = q.smallest(s, c.Uncapped*1.01)
	}
	return c, err
}

// A capQuestion is ε(δ) of so many steps, which is asked of several caps.
type capQuestion struct {
	ctx    context.Context
	base   profiles.Mechanism
	r      profiles.Relation
	steps  int64
	delta  float64
	limits fourier.Options
	left   float64 // work for what is still asked
}

func newCapQuestion(ctx context.Context, b profiles.Mechanism, r profiles.Relation, steps int64, delta float64, limits fourier.Options) *capQuestion {
	if limits.Work <= 0 {
		limits.Work = fourier.DefaultWork(limits.Relative)
	}
	return &capQuestion{ctx, b, r, steps, delta, limits, limits.Work}
}

// A direction of one cap has at most this share of the work, so that a hard one leaves some.
const capShare = 0.1

// errNoWork ends a search for a cap with what it has found.
var errNoWork = errors.New("the work limit is reached")

// upper returns the upper end of ε(δ) with a cap.
func (q *capQuestion) upper(s Truncated, most int64) (float64, error) {
	t, err := s.WithCap(most)
	if err != nil {
		return 0, err
	}
	m, err := t.Apply(q.base, q.r)
	if err != nil {
		return 0, err
	}
	worst := math.Inf(-1)
	for d, dir := range m.Directions {
		if d == 1 && q.r == profiles.Substitute {
			break // symmetric
		}
		if q.left <= 0 {
			return 0, errNoWork
		}
		o := q.limits
		o.Work = min(q.left, capShare*q.limits.Work)
		sum := fourier.New(o)
		if err := sum.Add(dir.Upper, q.steps); err != nil {
			return 0, err
		}
		e, err := sum.Epsilon(q.ctx, q.delta)
		if err != nil {
			return 0, err
		}
		q.left -= sum.Spent()
		worst = max(worst, e.Upper)
	}
	return worst, nil
}

// SmallestCap returns the smallest cap, from the mean of a batch on, with which so many steps cost at most (1 + cost) times
// what they cost without a cap, in upper bounds of ε(δ): the hint for a cap that is too low. Costs are of an ε above 0. All
// questions together have the work of one (limits.Work): the smallest cap that was found by then is returned.
func (s Truncated) SmallestCap(ctx context.Context, b profiles.Mechanism, r profiles.Relation, steps int64, delta, cost float64, limits fourier.Options) (int64, error) {
	if !(cost > 0) {
		return 0, fault.New("cost", "%v is not above 0", cost)
	}
	limits.Relative = min(1e-3, cost/10)
	q := newCapQuestion(ctx, b, r, steps, delta, limits)
	plain, err := q.upper(s, s.population)
	if err != nil {
		return 0, err
	}
	if !(plain > 0) {
		return 0, fault.New("delta", "%v is not below what makes ε(δ) 0", delta)
	}
	return q.smallest(s, plain*(1+cost))
}

// smallest returns the smallest cap, from the mean of a batch on, whose ε is at most so much, as
// that of the whole population is.
func (q *capQuestion) smallest(s Truncated, most float64) (int64, error) {
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
		e, err := q.upper(s, x)
		if err == errNoWork {
			return hi, nil
		}
		if err != nil {
			return 0, err
		}
		if e <= most {
			hi = x
			break
		}
		lo = x
	}
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		e, err := q.upper(s, mid)
		if err == errNoWork {
			return hi, nil
		}
		if err != nil {
			return 0, err
		}
		if e <= most {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}
