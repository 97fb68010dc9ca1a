package accountant

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A GDPCalibration is the answer of CalibrateGDP.
type GDPCalibration struct {
	// Value is the value that meets the budget: of the quantity itself, or, when several
	// steps are turned, a factor on what the plan says.
	Value float64
	// Plan has the value, Settings tells it for each step, Meets is its μ.
	Plan     *Plan
	Settings []Setting
	Meets    GDP
}

// gdpLooks bounds how many values CalibrateGDP tries.
const gdpLooks = 80

// CalibrateGDP turns one quantity of a plan, as Calibrate does, until the upper end of its
// μ at a tolerance (see Accountant.GDP) is at most mu; g's Epsilon and Delta are not used.
// That the value meets the budget is proved; that it is extreme, to 1e-6 or to the next
// whole number, rests on μ being monotone in it.
//
// A budget of ρ-zero-concentrated privacy is mu = √(2ρ) with the tolerance 0, for Gaussian
// noise on the whole data set; for sampled plans there is no ρ below that of the same plan
// without sampling (MuOfZCDP).
func CalibrateGDP(ctx context.Context, p *Plan, g Goal, mu, tolerance float64, opts ...Option) (*GDPCalibration, error) {
	if !(mu > 0 && mu <= gdpMaxMu) {
		return nil, fault.New("mu", "%v is not in (0, %v]", mu, float64(gdpMaxMu))
	}
	k, err := newKnob(p, g)
	if err != nil {
		return nil, err
	}
	var best *GDPCalibration
	meets := func(x float64) (bool, error) {
		plan, err := k.build(x)
		if err != nil {
			return false, err
		}
		a := p.Accountant(opts...)
		if err := a.AddPlan(ctx, plan); err != nil {
			return false, err
		}
		found, err := a.GDP(ctx, tolerance)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case errors.Is(err, errNoMu):
			return false, nil
		case err != nil:
			return false, err
		case !(found.Mu.Upper <= mu):
			return false, nil
		}
		best = &GDPCalibration{Value: x, Plan: plan, Settings: k.settings(x), Meets: found}
		return true, nil
	}
	in, err := lookFor(k, gdpLooks, meets)
	if err != nil || best == nil {
		if err == nil {
			err = fmt.Errorf("%w: no value has a μ of at most %v at tolerance %v", ErrInfeasible, mu, tolerance)
		}
		return nil, err
	}
	if best.Value != in { // the value is always the last that was looked at and met it
		_, err = meets(in)
	}
	return best, err
}

// lookFor returns the least careful value of a knob that is found to meet a budget, in so
// many looks; the answer means nothing if none does.
func lookFor(k *knob, most int, meets func(x float64) (bool, error)) (float64, error) {
	// From where the plan is, away until the budget is between two values.
	x := k.Clip(k.Snap(k.Start))
	first, err := meets(x)
	if err != nil {
		return x, err
	}
	in, out := x, x
	looks := 1
	for factor := 2.0; looks < most; factor *= factor {
		next := k.Clip(k.Snap(x * factor))
		if (k.Safer > 0) == first { // down
			next = k.Clip(k.Snap(x / factor))
		}
		if next == x {
			return x, nil // the end of the range
		}
		ok, err := meets(next)
		if err != nil {
			return x, err
		}
		looks++
		if x = next; ok {
			in = next
		} else {
			out = next
		}
		if ok != first {
			break
		}
	}
	for ; looks < most; looks++ {
		mid := k.Snap(math.Sqrt(in) * math.Sqrt(out))
		if mid == in || mid == out || math.Abs(in-out) <= k.Unit(in) {
			break
		}
		ok, err := meets(mid)
		if err != nil {
			return x, err
		}
		if ok {
			in = mid
		} else {
			out = mid
		}
	}
	return in, nil
}

// MuOfZCDP returns the μ of the Gaussian noise that is ρ-zero-concentrated differentially
// private, √(2ρ) (Bun and Steinke, TCC 2016, Proposition 1.6), rounded down. It is a budget for
// Gaussian noise on the whole data set alone. A sampled plan is ρ-private for no ρ below
// that of the plan without sampling: its divergence at order α is at least
// T·log(q)·α/(α−1) + α·μ²/2.
func MuOfZCDP(rho float64) (float64, error) {
	if !(rho > 0 && rho <= gdpMaxMu*gdpMaxMu/2) {
		return 0, fault.New("rho", "%v is not in (0, %v]", rho, gdpMaxMu*gdpMaxMu/2.0)
	}
	return xmath.Down(math.Sqrt(2*rho), 1), nil
}
