package calibrate

// The whole search, and its last phase: neighbouring values on both sides of the budget, with the proof of each.

import (
	"context"
	"math"
)

// Run finds Meets and Fails. The error is an *Infeasible, or that of an evaluation.
func (s *Search) Run(ctx context.Context) error {
	u, err := s.coarse(ctx)
	if err != nil {
		return err
	}
	return s.certify(ctx, u)
}

// decide evaluates at a value until it is clear on which side of the budget it
// is, at the finest at the final accuracy.
func (s *Search) decide(ctx context.Context, x float64) (a Answer, ok bool, err error) {
	accuracy := s.final
	if !s.goal.Fixed && s.slope < 0 {
		// Neighbouring whole numbers may be far apart.
		accuracy = min(max(accuracy, -s.slope*s.parameter.Relative(x)/4), CoarseAccuracy)
	}
	for n := 0; ; n++ {
		next, reached, err := s.ask(ctx, x, accuracy)
		if err != nil {
			return a, false, err
		}
		if n == 0 || next.Upper < a.Upper {
			a = next
			s.Accuracy = accuracy
		}
		switch {
		case a.Upper <= s.goal.Budget:
			return a, true, nil
		case next.Proved > s.goal.Budget:
			return next, false, nil
		case s.goal.Fixed:
			return a, false, nil
		case reached && accuracy > s.final:
			accuracy = max(accuracy/10, s.final)
		case reached || accuracy >= min(s.at, CoarseAccuracy):
			return a, false, nil
		default:
			// What is out of reach costs much and gives nothing.
			s.final = s.at
			accuracy = s.at
		}
	}
}

// certify finds the neighbouring pair of values between which the certified
// upper end crosses the budget.
func (s *Search) certify(ctx context.Context, u float64) error {
	s.near = true
	// A little on the safe side, so that the value one unit off fails provably.
	const margin = 0.4
	x := s.x(u)
	if !s.parameter.Integer {
		x = s.parameter.Move(x, margin)
	}
	x = s.parameter.Clip(x)
	if !s.goal.Fixed {
		// The width in log(value) is that in log(answer) over the slope.
		if s.slope < 0 {
			s.final *= min(max(-s.slope, 0.1), 30)
		}
		if s.points > 0 {
			n := float64(s.points) / (0.8 * float64(s.goal.MaxPoints))
			s.final = max(s.final, min(CoarseAccuracy, s.at*n*n))
		}
	}
	tries := 0
	for jump := 1.0; ; {
		a, ok, err := s.decide(ctx, x)
		if err != nil {
			return err
		}
		if ok {
			s.Meets = &Probe{x, a}
		} else {
			s.Fails = &Probe{x, a}
		}
		var next float64
		switch {
		case s.Meets != nil && s.Fails != nil:
			m, f := s.Meets.Value, s.Fails.Value
			if math.Abs(m-f) <= s.parameter.Unit(m) {
				return s.proveFailure(ctx)
			}
			if next = s.between(tries); next == m || next == f {
				return nil
			}
			tries++
		case ok && x == s.parameter.Least():
			return nil
		case !ok && x == s.parameter.Safest():
			return &Infeasible{*s.Fails, s.failure}
		default:
			// As far as the slope says, at least jump units.
			n := jump
			if y := s.score(a.Upper); s.slope < 0 && !math.IsInf(y, 0) {
				d := math.Abs(y/s.slope) / s.parameter.Relative(x)
				switch {
				case s.parameter.Integer || ok:
					n = max(n, math.Ceil(d))
				case jump == 1:
					n = d + margin
				default:
					n = max(n, d+margin)
				}
			}
			if ok {
				n = -n
			}
			next = s.parameter.Clip(s.parameter.Move(x, n))
			jump *= 4
		}
		x = next
	}
}

// between returns the next value to try in the bracket: a little on the safe side
// of where the line through its ends meets the budget, then one unit below that,
// and the middle when that goes on for long.
func (s *Search) between(tries int) float64 {
	m, f := s.Meets.Value, s.Fails.Value
	middle := s.parameter.Snap(m + (f-m)/2)
	ym, yf := s.score(s.Meets.Upper), s.score(s.Fails.Upper)
	if tries >= 6 || !(yf > ym) || math.IsInf(yf-ym, 0) {
		return middle
	}
	t := -ym / (yf - ym) // from m towards f
	unit := s.parameter.Unit(m) / math.Abs(f-m)
	if t <= 0.9*unit {
		t = 0.995 * unit
	} else {
		t -= 0.4 * unit
	}
	x := s.parameter.Snap(m + t*(f-m))
	if s.parameter.Integer && t <= unit {
		x = m + math.Copysign(s.parameter.Unit(m), f-m)
	}
	if (x-m)*(x-f) < 0 {
		return x
	}
	return middle
}

// proveFailure moves Fails as far away as it may be if it is nearer and not proved
// to exceed the budget.
func (s *Search) proveFailure(ctx context.Context) error {
	x := s.parameter.Clip(s.parameter.Move(s.Meets.Value, -1))
	if s.parameter.Integer || s.Fails.Lower > s.goal.Budget || math.Abs(x-s.Meets.Value) <= math.Abs(s.Fails.Value-s.Meets.Value) {
		return nil
	}
	a, ok, err := s.decide(ctx, x)
	if err == nil && !ok {
		s.Fails = &Probe{x, a}
	}
	return err
}
