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
	Points int     // length of the transforms that it took, 0 if none
	Full   any     // what the caller wants back
}

// A Probe is the answer at a value.
type Probe struct {
	Value float64
	Answer
}

// An Ask evaluates the cost at a value, to an accuracy, with transforms of at most so many
// points.
type Ask func(ctx context.Context, value, accuracy float64, points int) (Answer, error)

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
	MaxPoints   int     // of transforms
}

// A Search looks for the value of a parameter. It moves on u = ±log(value), in which
// larger is more private.
type Search struct {
	// Meets is a value that meets the budget, Fails a neighbour that is not proved to; nil
	// if the least private value meets it.
	Meets, Fails *Probe
	Accuracy     float64 // of both

	parameter Parameter
	goal      Goal
	eval      Ask
	final     float64 // accuracy of what is certified
	slope     float64 // of score in u, negative
	// Once the search is near, an evaluation may use little more points than the last one
	// that reached its accuracy foretells.
	near    bool
	points  int     // transform length of that evaluation,
	at      float64 // its accuracy, and
	width   float64 // the width it reached
	worked  bool    // some evaluation did
	failure error   // of the latest one that did not
}

// CoarseAccuracy is that of the first of the two phases: to find the root, and to certify. Its estimates are much better
// than the interval is wide. It steers, and proves nothing.
const CoarseAccuracy = 1e-3

// New returns a search.
func New(k Parameter, g Goal, ask Ask) *Search {
	return &Search{parameter: k, goal: g, eval: ask, final: g.Accuracy, slope: math.NaN()}
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
func (s *Search) x(u float64) float64 { return s.parameter.Snap(math.Exp(s.parameter.Safer * u)) }

// ask evaluates at a value, and reports whether the accuracy was reached.
func (s *Search) ask(ctx context.Context, x, accuracy float64) (a Answer, reached bool, err error) {
	limit := s.goal.MaxPoints
	if s.goal.Probability && !s.near {
		// Where rounding is what limits a tiny loss, points do not help.
		limit /= 8
	}
	if s.near && !s.goal.Fixed && s.points > 0 {
		// The length goes with one over the square root of the accuracy.
		n := 1.25 * float64(s.points)
		if accuracy < s.at {
			n *= 2 * math.Sqrt(s.at/accuracy)
		}
		limit = int(min(float64(limit), max(1<<14, n)))
	}
	if a, err = s.eval(ctx, x, accuracy, limit); err != nil {
		var far *OutOfReach
		switch {
		case !errors.As(err, &far):
			return a, false, err
		case !s.worked:
			return a, false, far.Err
		}
		// Out of reach here, or at this accuracy: nothing is proved.
		s.failure = far.Err
		return Answer{Range: fourier.Range{Lower: math.Inf(-1), Estimate: math.Inf(1), Upper: math.Inf(1)}, Proved: math.Inf(-1)}, false, nil
	}
	s.worked = true
	reached = !(a.Width > 2.5*accuracy)
	if reached || s.near && a.Width < s.width/2 {
		// What was only nearly reached is not asked for again.
		s.points, s.at, s.width = a.Points, max(accuracy, 1.2*a.Width), a.Width
	}
	return a, reached, nil
}

// coarse brackets the root of the estimate and closes in on it. It is long because both
// share the values seen so far, which every step of either narrows.
func (s *Search) coarse(ctx context.Context) (float64, error) {
	accuracy := max(CoarseAccuracy, s.final)
	h := func(u float64) (float64, error) {
		found, _, err := s.ask(ctx, s.x(u), accuracy)
		return s.score(found.Estimate), err
	}
	lo, hi := s.u(s.parameter.Lo), s.u(s.parameter.Hi)
	lo, hi = min(lo, hi), max(lo, hi)
	u := min(max(s.u(s.parameter.Start), lo), hi)
	y, err := h(u)
	if err != nil {
		return 0, err
	}
	// a exceeds the budget, b meets it.
	a, b := u, u
	ya, yb := y, y
	for step := 0.5; ; {
		v := u
		if y > 0 {
			v = min(u+step, hi)
		} else {
			v = max(u-step, lo)
		}
		if s.x(v) == s.x(u) {
			if v == lo || v == hi {
				return u, nil // an end; certify says which
			}
			step *= 2
			continue
		}
		z, err := h(v)
		if err != nil {
			return 0, err
		}
		if (z > 0) != (y > 0) {
			a, ya, b, yb = u, y, v, z
			if y <= 0 {
				a, ya, b, yb = v, z, u, y
			}
			break
		}
		s.slope = (z - y) / (v - u)
		u, y = v, z
		// A little beyond where the line through the last two points ends.
		if step = min(2*step, 8); s.slope < 0 {
			step = min(max(1.2*math.Abs(y/s.slope), 0.05), 8)
		}
	}
	wa, wb, side := ya, yb, 0 // weights of the Illinois rule, and the end that moved last
	for range 60 {
		if b-a < 1e-4 || s.x(a) == s.x(b) {
			break
		}
		m := a + (b-a)/2
		if !math.IsInf(wa, 1) && !math.IsInf(wb, 0) {
			s.slope = (yb - ya) / (b - a)
			m = a + (b-a)*wa/(wa-wb)
			// Not onto an end: the secant would stand still.
			m = min(max(m, a+0.01*(b-a)), b-0.01*(b-a))
		}
		if m = s.u(s.x(m)); m <= a || m >= b {
			break
		}
		z, err := h(m)
		if err != nil {
			return 0, err
		}
		if math.Abs(z) < 1e-5 {
			return m, nil
		}
		if z > 0 {
			if side > 0 {
				wb /= 2
			}
			a, ya, wa, side = m, z, z, 1
		} else {
			if side < 0 {
				wa /= 2
			}
			b, yb, wb, side = m, z, z, -1
		}
	}
	return b, nil
}

// A search for budgets that are met or not, without a number for how nearly.

// Look returns the least careful value of the parameter that is found to meet a budget, in so
// many looks; the answer means nothing if none does.
func (p *Parameter) Look(most int, meets func(x float64) (bool, error)) (float64, error) {
	// From where the plan is, away until the budget is between two values.
	x := p.Clip(p.Snap(p.Start))
	first, err := meets(x)
	if err != nil {
		return x, err
	}
	in, out := x, x
	looks := 1
	for factor := 2.0; looks < most; factor *= factor {
		next := p.Clip(p.Snap(x * factor))
		if (p.Safer > 0) == first { // down
			next = p.Clip(p.Snap(x / factor))
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
		mid := p.Snap(math.Sqrt(in) * math.Sqrt(out))
		if mid == in || mid == out || math.Abs(in-out) <= p.Unit(in) {
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

// Noise is the noise multiplier under a relation, or one over the ε of what has no noise.
func Noise(r profiles.Relation) Quantity {
	return Quantity{
		Of: func(m profiles.Mechanism, s subsample.Scheme) (t Turned, ok bool, err error) {
			if e, ok := m.(profiles.Chooser); ok {
				return Turned{Value: 1 / e.Epsilon(), Lo: 1. / profiles.MaxExponential, Hi: mostInverse, Inverse: true}, true, nil
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
				m, err := m.(profiles.Chooser).WithEpsilon(1 / x)
				return m, s, err
			}
			m, err := m.(profiles.NoiseScaler).WithNoiseMultiplier(x)
			return m, s, err
		},
	}
}

// minRate is the smallest sampling rate that a search goes to.
const minRate = 1e-15

// Rate is the sampling rate.
func Rate() Quantity {
	return Quantity{
		Of: func(_ profiles.Mechanism, s subsample.Scheme) (Turned, bool, error) {
			c, ok := s.(subsample.RateSetter)
			if !ok || c.Rate() == 0 {
				return Turned{}, false, nil
			}
			return Turned{Value: c.Rate(), Lo: minRate, Hi: 1}, true, nil
		},
		Set: func(m profiles.Mechanism, s subsample.Scheme, _ Turned, x float64) (profiles.Mechanism, subsample.Scheme, error) {
			s, err := s.(subsample.RateSetter).WithRate(x)
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

// Users is the number of users of a shuffler.
func Users() Quantity {
	return Quantity{
		Of: func(_ profiles.Mechanism, s subsample.Scheme) (Turned, bool, error) {
			c, ok := s.(subsample.UserSetter)
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
			s, err := s.(subsample.UserSetter).WithUsers(int64(x))
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
			case subsample.RateSetter:
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
				s, err = s.(subsample.RateSetter).WithRate(x / float64(t.Population))
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
