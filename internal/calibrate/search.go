// The search: from a bracket of the estimate to a value whose certified cost meets the
// target. It assumes a cost that is monotone in the value.

package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// An Answer is what is certified at one value: the cost is in [Lower, Upper].
type Answer struct {
	fourier.Range
	// Proved is a lower end of what Upper is an upper end of: where it is above the budget no
	// better accuracy helps. It is Lower unless theory leaves a gap between the two.
	Proved float64
	Width  float64 // relative, of what a better accuracy narrows
	Full   any     // what the caller wants back
}

// A Probe is the answer at a value.
type Probe struct {
	Value float64
	Answer
}

// An Ask evaluates the cost at a value, to an accuracy.
type Ask func(ctx context.Context, value, accuracy float64) (Answer, error)

// An OutOfReach error of an Ask says that there is no answer at this value or accuracy, and
// that there may be at others.
type OutOfReach struct{ Err error }

func (e *OutOfReach) Error() string { return e.Err.Error() }

// An Infeasible error says that even the safest value does not meet the budget.
type Infeasible struct {
	Safest Probe
	Cause  error // why the last value that has no answer has none, nil if all had
}

func (e *Infeasible) Error() string {
	return fmt.Sprintf("even %v does not meet the budget", e.Safest.Value)
}

// A Goal is what a search is to reach.
type Goal struct {
	Budget      float64
	Probability bool    // of the cost: it may be tiny
	Accuracy    float64 // of what is certified
	Fixed       bool    // whether no other accuracy will do
}

// A Search looks for the value of a parameter. It moves on u = ±log(value), in which
// larger is more private.
type Search struct {
	// Meets is a value that meets the budget, Fails a neighbour that is not proved to; nil
	// if the least private value meets it.
	Meets, Fails *Probe
	Accuracy     float64 // of the latest answer

	parameter Parameter
	goal      Goal
	eval      Ask
	worked    bool  // some evaluation did
	failure   error // of the latest one that did not
	// The Illinois rule halves the weight of an end that stays where it is twice.
	side        int // the end that moved last, 1 for Meets
	meets, fail float64
}

// CoarseAccuracy is that of the first evaluations. It steers, and proves nothing.
const CoarseAccuracy = 1e-3

// New returns a search.
func New(k Parameter, g Goal, ask Ask) *Search {
	return &Search{parameter: k, goal: g, eval: ask}
}

// score is positive where the budget is exceeded: the difference of logarithms,
// nearly linear in log(value), continued by a tangent where the answer is far
// below the budget or negative.
func (s *Search) score(answer float64) float64 {
	b := s.goal.Budget
	if b <= 0 || math.IsInf(answer, 1) {
		return answer - b
	}
	c := b / 8
	if s.goal.Probability {
		c = math.SmallestNonzeroFloat64
	}
	if answer < c {
		return xmath.Log(c/b) + (answer-c)/c
	}
	return xmath.Log(answer / b)
}

func (s *Search) u(x float64) float64 { return s.parameter.Safer * xmath.Log(x) }
func (s *Search) x(u float64) float64 {
	return s.parameter.Clip(s.parameter.Snap(math.Exp(s.parameter.Safer * u)))
}

// Run finds Meets and Fails. The error is an *Infeasible, or that of an evaluation.
func (s *Search) Run(ctx context.Context) error {
	x := s.parameter.Clip(s.parameter.Snap(s.parameter.Start))
	accuracy := CoarseAccuracy
	for step, y := firstStep, math.NaN(); ; {
		ok, err := s.decide(ctx, x, accuracy)
		if err != nil {
			return err
		}
		if s.Meets != nil && s.Fails != nil {
			break
		}
		end, sign, next := s.parameter.Safest(), 1.0, s.fail
		if ok {
			end, sign, next = s.parameter.Least(), -1, s.meets
		}
		switch {
		case x != end:
		case ok:
			return nil
		default:
			return &Infeasible{*s.Fails, s.failure}
		}
		// A little beyond where the line through the last two values meets the budget.
		if to := 1.2 * step * math.Abs(next/(y-next)); to > 0 && to < longestStep {
			step = max(to, shortestStep)
		} else if !math.IsNaN(y) {
			step = min(2*step, longestStep)
		}
		y, x = next, s.x(s.u(x)+sign*step)
	}
	for tries := 0; math.Abs(s.Meets.Value-s.Fails.Value) > s.parameter.Unit(s.Meets.Value); tries++ {
		x, accuracy = s.between(tries)
		if (x-s.Meets.Value)*(x-s.Fails.Value) >= 0 {
			return nil // no value is between them
		}
		if _, err := s.decide(ctx, x, accuracy); err != nil {
			return err
		}
	}
	// A neighbour that is nearer than it may be need not be proved to exceed the budget.
	x = s.parameter.Clip(s.parameter.Move(s.Meets.Value, -1))
	if s.parameter.Integer || s.Fails.Lower > s.goal.Budget || math.Abs(x-s.Meets.Value) <= math.Abs(s.Fails.Value-s.Meets.Value) {
		return nil
	}
	meets, fails := s.Meets, s.Fails
	ok, err := s.decide(ctx, x, s.goal.Accuracy)
	if ok {
		s.Meets, s.Fails = meets, fails
	}
	return err
}

// Steps in u until the budget is between two values, and how many guesses are made between them before it is halved.
const firstStep, shortestStep, longestStep, mostGuesses = 0.5, 0.05, 8.0, 10

// slope is that of the score in u, between Meets and Fails.
func (s *Search) slope() float64 {
	return (s.score(s.Fails.Upper) - s.score(s.Meets.Upper)) / (s.u(s.Fails.Value) - s.u(s.Meets.Value))
}

// accuracies are that to begin with at a value and the best that is worth while: the width in log(value) is that in log(answer)
// over the slope, and neighbouring whole numbers may be far apart.
func (s *Search) accuracies(x, wanted float64) (first, finest float64) {
	if s.goal.Fixed {
		return s.goal.Accuracy, s.goal.Accuracy
	}
	steep := 1.0
	if s.Meets != nil && s.Fails != nil && s.slope() < 0 {
		steep = min(max(-s.slope(), 0.1), 30)
	}
	finest = min(steep*s.goal.Accuracy, CoarseAccuracy)
	return max(wanted, finest, min(steep*s.parameter.Relative(x)/2, CoarseAccuracy)), finest
}

// decide makes a value Meets or Fails: it evaluates, at the finest at the final accuracy, until it is clear on which side of the
// budget it is.
func (s *Search) decide(ctx context.Context, x, accuracy float64) (ok bool, err error) {
	accuracy, finest := s.accuracies(x, accuracy)
	var a Answer
	for first := true; ; first = false {
		next, err := s.ask(ctx, x, accuracy)
		if err != nil {
			return false, err
		}
		if first || next.Upper < a.Upper || next.Proved > s.goal.Budget {
			a, s.Accuracy = next, accuracy
		}
		if ok = a.Upper <= s.goal.Budget; ok || next.Proved > s.goal.Budget || next.Width > 2.5*accuracy || accuracy <= finest {
			break
		}
		accuracy = max(min(accuracy/10, math.Abs(s.score(next.Estimate))), finest)
	}
	// Estimates are much better than intervals are wide.
	y := s.score(a.Estimate)
	if ok != (y <= 0) {
		y = s.score(a.Upper)
	}
	if ok {
		if s.Meets, s.meets = (&Probe{x, a}), y; s.side > 0 {
			s.fail /= 2
		}
		s.side = 1
	} else {
		if s.Fails, s.fail = (&Probe{x, a}), y; s.side < 0 {
			s.meets /= 2
		}
		s.side = -1
	}
	return ok, nil
}

// ask evaluates at a value.
func (s *Search) ask(ctx context.Context, x, accuracy float64) (a Answer, err error) {
	a, err = s.eval(ctx, x, accuracy)
	var far *OutOfReach
	switch {
	case err == nil:
		s.worked = true
	case !errors.As(err, &far):
	case !s.worked:
		err = far.Err
	default:
		// Out of reach here, or at this accuracy: nothing is proved.
		s.failure = far.Err
		return Answer{Range: fourier.Range{Lower: math.Inf(-1), Estimate: math.Inf(1), Upper: math.Inf(1)}, Proved: math.Inf(-1), Width: math.Inf(1)}, nil
	}
	return a, err
}

// between returns the next value to try between Meets and Fails: a little on the safe side of where the line through them
// meets the budget, then one unit below that, and the middle when that goes on for long. The accuracy is a part of how far it is
// from either.
func (s *Search) between(tries int) (x, accuracy float64) {
	m, f := s.u(s.Meets.Value), s.u(s.Fails.Value)
	t := -s.meets / (s.fail - s.meets) // from m towards f
	if tries >= mostGuesses || math.IsInf(s.fail-s.meets, 0) || !(t >= 0 && t <= 1) {
		t = 0.5
	} else if unit := s.parameter.Relative(s.Meets.Value) / (m - f); t <= 0.9*unit {
		t = 0.995 * unit
	} else {
		t -= 0.4 * unit
	}
	accuracy = min(t, 1-t) * (m - f) / 16
	if x = s.x(m + t*(f-m)); s.parameter.Integer && x == s.Meets.Value {
		x -= s.parameter.Safer * s.parameter.Unit(x)
	} else if s.parameter.Integer && x == s.Fails.Value {
		x += s.parameter.Safer * s.parameter.Unit(x)
	}
	return x, min(accuracy, CoarseAccuracy)
}

// What can be turned of a mechanism on its sample: its noise, its sampling rate, its batch.

// A Turned is the value of a quantity, and the range in which it can be turned.
type Turned struct {
	Value, Lo, Hi float64
	// Inverse says that Value is one over the ε of a mechanism without noise.
	Inverse bool
	// Of batches: the number of records, and the largest batch of them.
	Population, Most int64
}

// A Quantity is a number of a mechanism on its sample that can be set. Of returns false where
// there is none; an error is about one that cannot be turned. Set takes what Of returned.
type Quantity struct {
	Of  func(m profiles.Mechanism, s subsample.Scheme) (t Turned, ok bool, err error)
	Set func(m profiles.Mechanism, s subsample.Scheme, t Turned, x float64) (profiles.Mechanism, subsample.Scheme, error)
}

// mostInverse is one over the least ε that a search goes to: mechanisms that keep keys at random have tables as long.
const mostInverse = 1e4

// A chooser is a mechanism that turns its ε in place of a noise multiplier.
type chooser interface {
	profiles.EpsilonSetter
	hook.Chooser
}

// Noise is the noise multiplier under a relation, or one over the ε of what has no noise.
func Noise(r profiles.Relation) Quantity {
	return Quantity{
		Of: func(m profiles.Mechanism, s subsample.Scheme) (t Turned, ok bool, err error) {
			if e, ok := m.(chooser); ok {
				return Turned{Value: 1 / e.Epsilon(), Lo: 1. / noiserange.MaxExponential, Hi: mostInverse, Inverse: true}, true, nil
			}
			b, ok := m.(profiles.NoiseScaler)
			if !ok {
				return t, false, nil
			}
			t.Value = b.NoiseMultiplier()
			if _, fixed := s.(subsample.BatchSetter); fixed {
				t.Lo, t.Hi = b.NoiseRange(profiles.Substitute) // a batch of fixed size replaces a record by another
			} else {
				t.Lo, t.Hi = b.NoiseRange(r)
			}
			return t, true, nil
		},
		Set: func(m profiles.Mechanism, s subsample.Scheme, t Turned, x float64) (profiles.Mechanism, subsample.Scheme, error) {
			if t.Inverse {
				m, err := m.(profiles.EpsilonSetter).WithEpsilon(1 / x)
				return m, s, err
			}
			m, err := m.(profiles.NoiseScaler).WithNoiseMultiplier(x)
			return m, s, err
		},
	}
}

// minRate is the smallest sampling rate that a search goes to.
const minRate = 1e-15

// A rateSetter is a scheme whose sampling rate can be set.
type rateSetter interface {
	subsample.Scheme
	Rate() float64
	WithRate(rate float64) (subsample.Scheme, error)
}

// Rate is the sampling rate.
func Rate() Quantity {
	return Quantity{
		Of: func(_ profiles.Mechanism, s subsample.Scheme) (Turned, bool, error) {
			c, ok := s.(rateSetter)
			if !ok || c.Rate() == 0 {
				return Turned{}, false, nil
			}
			return Turned{Value: c.Rate(), Lo: minRate, Hi: 1}, true, nil
		},
		Set: func(m profiles.Mechanism, s subsample.Scheme, _ Turned, x float64) (profiles.Mechanism, subsample.Scheme, error) {
			s, err := s.(rateSetter).WithRate(x)
			return m, s, err
		},
	}
}

// LocalEpsilon is the parameter ε of a mechanism.
func LocalEpsilon() Quantity {
	return Quantity{
		Of: func(m profiles.Mechanism, _ subsample.Scheme) (Turned, bool, error) {
			e, ok := m.(profiles.EpsilonSetter)
			if !ok || !(e.Epsilon() > 0 && e.Epsilon() <= maxEpsilon) {
				return Turned{}, false, nil
			}
			_, problem := e.WithEpsilon(e.Epsilon())
			return Turned{Value: e.Epsilon(), Lo: minEpsilon, Hi: maxEpsilon}, problem == nil, nil
		},
		Set: func(m profiles.Mechanism, s subsample.Scheme, _ Turned, x float64) (profiles.Mechanism, subsample.Scheme, error) {
			m, err := m.(profiles.EpsilonSetter).WithEpsilon(x)
			return m, s, err
		},
	}
}

// minEpsilon and maxEpsilon are the ends of a search for a parameter ε.
const minEpsilon, maxEpsilon = 1e-6, 50

// A userSetter is a scheme among whose users each one hides, and whose number can be set.
type userSetter interface {
	subsample.Scheme
	Users() int64
	WithUsers(users int64) (subsample.Scheme, error)
}

// Users is the number of users of a shuffler.
func Users() Quantity {
	return Quantity{
		Of: func(_ profiles.Mechanism, s subsample.Scheme) (Turned, bool, error) {
			c, ok := s.(userSetter)
			if !ok || c.Users() == 0 {
				return Turned{}, false, nil
			}
			t := Turned{Value: float64(c.Users())}
			// The fewest that a cohort and colluding users leave, and the most: no value between is refused.
			t.Lo, t.Hi = 2, t.Value
			allowed := func(x float64) bool { _, err := c.WithUsers(int64(x)); return err == nil }
			if !allowed(t.Lo) {
				_, t.Lo = xmath.Bisect(t.Lo, t.Value, 64, func(x float64) bool { return !allowed(math.Ceil(x)) })
				t.Lo = math.Ceil(t.Lo)
			}
			for t.Hi < mostUsers && allowed(2*t.Hi) {
				t.Hi *= 2
			}
			if t.Hi < mostUsers && allowed(mostUsers) {
				t.Hi = mostUsers
			}
			return t, true, nil
		},
		Set: func(m profiles.Mechanism, s subsample.Scheme, _ Turned, x float64) (profiles.Mechanism, subsample.Scheme, error) {
			s, err := s.(userSetter).WithUsers(int64(x))
			return m, s, err
		},
	}
}

// mostUsers is where a search for users ends.
const mostUsers = 1e10

// Batch is the size of a batch, of so many examples where the sampling has a rate.
func Batch(examples int64) Quantity {
	return Quantity{
		Of: func(_ profiles.Mechanism, s subsample.Scheme) (t Turned, ok bool, err error) {
			t.Hi = math.Inf(1) // Most says it
			switch c := s.(type) {
			case subsample.BatchSetter:
				t.Value, t.Population, t.Most = float64(c.Batch()), c.Population(), c.MaxBatch()
			case rateSetter:
				if examples == 0 {
					err = fault.New("examples", "is missing; the batch of %s sampling is rate times the number of examples", c.Name())
				}
				t.Value, t.Population, t.Most = max(1, math.Round(c.Rate()*float64(examples))), examples, examples
			default:
				return t, false, nil
			}
			return t, true, err
		},
		Set: func(m profiles.Mechanism, s subsample.Scheme, t Turned, x float64) (profiles.Mechanism, subsample.Scheme, error) {
			var err error
			if c, ok := s.(subsample.BatchSetter); ok {
				s, err = c.WithBatch(int64(x))
			} else {
				s, err = s.(rateSetter).WithRate(x / float64(t.Population))
			}
			return m, s, err
		},
	}
}

// A Parameter is a positive quantity as one number between Lo and Hi, from which a search starts
// at Start.
type Parameter struct {
	Lo, Hi, Start float64
	Integer       bool
	Safer         float64 // +1: a larger value costs less; −1: a smaller one
}

// unitSize is the relative distance of neighbouring values; a bit below 1e-6, so
// that values rounded to ten digits are at most 1e-6 apart.
const unitSize = 0.999e-6

// Relative is the distance of neighbouring values relative to x.
func (p *Parameter) Relative(x float64) float64 {
	if p.Integer {
		return max(1, math.Floor(1e-6*x)) / x
	}
	return unitSize
}

// Unit is the distance at which a bracket is closed.
func (p *Parameter) Unit(x float64) float64 {
	if p.Integer {
		return max(1, math.Floor(1e-6*x))
	}
	return 1e-6 * x
}

// Snap rounds x to a value that people can write: ten digits, or a whole number.
func (p *Parameter) Snap(x float64) float64 {
	if p.Integer {
		return math.Round(x)
	}
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 9, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// Clip returns the value of the range next to x.
func (p *Parameter) Clip(x float64) float64 { return min(max(x, p.Lo), p.Hi) }

// Move goes n units to the safe side.
func (p *Parameter) Move(x, n float64) float64 {
	if p.Integer {
		return x + p.Safer*n*p.Unit(x)
	}
	return p.Snap(x * math.Exp(p.Safer*n*unitSize))
}

// Safest returns the end of the range that is most private.
func (p *Parameter) Safest() float64 {
	if p.Safer > 0 {
		return p.Hi
	}
	return p.Lo
}

// Least returns the other end.
func (p *Parameter) Least() float64 {
	if p.Safer > 0 {
		return p.Lo
	}
	return p.Hi
}
