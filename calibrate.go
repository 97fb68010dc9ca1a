package accountant

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
)

// A Quantity is what Calibrate turns.
type Quantity int

// The quantities that Calibrate can turn.
const (
	NoiseMultiplier Quantity = iota // the smallest that meets the budget
	Count                           // the largest
	Rate                            // the largest Poisson sampling rate
	Batch                           // the largest batch
)

var quantityNames = []string{"noise-multiplier", "count", "rate", "batch"}

// String returns the name of the quantity in plan files.
func (q Quantity) String() string {
	if q < 0 || int(q) >= len(quantityNames) {
		return fmt.Sprintf("Quantity(%d)", int(q))
	}
	return quantityNames[q]
}

// ParseQuantity returns the quantity of a name.
func ParseQuantity(s string) (Quantity, error) {
	for i, name := range quantityNames {
		if s == name {
			return Quantity(i), nil
		}
	}
	return 0, fault.New("solve", "%s is not one of %s", nearest.Quote(s), strings.Join(quantityNames, ", "))
}

// A Goal is a budget and the quantity that is to meet it.
type Goal struct {
	Epsilon, Delta float64
	Solve          Quantity
	// Step names the step or group to turn, by its name or its place, such as
	// steps[0].steps[1]; empty: all steps that have the quantity.
	Step string
	// Examples is the size of the data set; needed to turn the batch of Poisson
	// sampling, whose rate is batch over examples.
	Examples int64
}

// ErrInfeasible is wrapped by the error of a budget that no value meets.
var ErrInfeasible = errors.New("infeasible")

// A Probe is what is certified at one value of the quantity: ε at the budget's
// δ, or, when the budget's ε is below 0.01, where ε says next to nothing about
// the noise, δ at the budget's ε.
type Probe struct {
	Value float64
	Interval
}

// A Setting is the value of the quantity at one step.
type Setting struct {
	Path, Name string
	Value      float64
}

// A Calibration is the answer of Calibrate.
type Calibration struct {
	// Value is the value that meets the budget: of the quantity itself, or, when
	// Factor is set, of the common factor on that of several steps.
	Value  float64
	Factor bool
	// Asked is "epsilon" or "delta": what Meets and Fails are intervals of.
	Asked string
	// Meets is the proof: its Upper is at most the budget. Fails is a value
	// at most 1e-6 (relative; 1 for whole numbers below 2e6) away on the other side
	// whose Upper exceeds the budget; nil when Unlimited.
	Meets Probe
	Fails *Probe
	// Unlimited says that the least private value allowed meets the budget.
	Unlimited bool
	Settings  []Setting
	// Plan is the plan at Value.
	Plan        *Plan
	Evaluations int
	// Accuracy is what Meets and Fails were asked with.
	Accuracy float64
}

// FailsProved reports whether Fails is proved to exceed the budget of g. If not,
// numerical width or a theory gap may have cost something.
func (c *Calibration) FailsProved(g Goal) bool {
	if c.Asked == "delta" {
		return c.Fails != nil && c.Fails.Lower > g.Delta
	}
	return c.Fails != nil && c.Fails.Lower > g.Epsilon
}

// Calibrate turns one quantity of a plan until the plan meets a budget: it
// returns the smallest noise multiplier, or the largest count, rate or batch,
// whose certified Upper at g.Delta is at most g.Epsilon, and the bracket that
// shows it. What the plan says of the quantity is where the search starts.
//
// Turned on several steps, noise multipliers and rates keep their ratios (Value
// is a common factor), batches get the same size, and a count is that of runs
// of all those steps together.
//
// That Value is extreme rests on ε being monotone in the quantity; that it meets
// the budget does not.
//
// The last evaluations run at an accuracy of 5e-7, or what transforms of 2^20
// points and rounding allow (WithAccuracy and WithMemory change that): Value is
// noisier than need be by at most what the width of Meets is worth. Where
// neighbouring whole numbers are far apart, less is enough to tell them apart.
func Calibrate(ctx context.Context, p *Plan, g Goal, opts ...Option) (*Calibration, error) {
	if !(g.Delta >= 0 && g.Delta < 1) {
		return nil, fault.New("delta", "%v is not in [0, 1)", g.Delta)
	}
	if math.IsNaN(g.Epsilon) || math.IsInf(g.Epsilon, 0) {
		return nil, fault.New("epsilon", "%v is not a finite number", g.Epsilon)
	}
	ctx, stop := New(p.Neighbors, opts...).opts.within(ctx)
	defer stop()
	k, err := newKnob(p, g)
	if err != nil {
		return nil, err
	}
	if floor := math.Log1p(-g.Delta); g.Epsilon < floor {
		return nil, fmt.Errorf("%w: epsilon %v is below log(1 − δ) = %.6g, which nothing reaches, not even publishing nothing", ErrInfeasible, g.Epsilon, floor)
	}
	s := newSearch(k, p, g, opts)
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	c := &Calibration{Value: s.meets.Value, Asked: s.asked(), Factor: k.factor, Meets: *s.meets, Fails: s.fails, Unlimited: s.fails == nil, Evaluations: s.evals, Accuracy: s.accuracy}
	if c.Plan, err = k.build(c.Value); err != nil {
		return nil, err
	}
	c.Settings = k.settings(c.Value)
	return c, nil
}

// A search looks for the value of a knob. It moves on u = ±log(value), in which
// larger is more private.
type search struct {
	k       *knob
	p       *Plan
	g       Goal
	opts    []Option
	final   float64 // accuracy of what is certified
	evals   int
	slope   float64 // of score in u, negative
	meets   *Probe
	fails   *Probe
	byDelta bool
	fixed   bool // the accuracy was given
	// accuracy is that of meets and fails.
	accuracy float64
	// maxPoints bounds the transforms. Once the search is near, an evaluation may
	// use little more than the last one that reached its accuracy foretells.
	maxPoints int
	near      bool
	points    int     // transform length of that evaluation,
	at        float64 // its accuracy, and
	width     float64 // the width it reached
	worked    bool    // some evaluation did
	failure   error   // of the latest one that did not
}

// The accuracies of the three phases: to find the region, to find the root, to
// certify. The estimates are much better than the interval is wide, so that two
// cheap phases leave two or three evaluations for the last.
const (
	coarseAccuracy    = 1e-3
	fineAccuracy      = 1e-5
	certifyAccuracy   = 5e-7
	calibrationPoints = 1 << 20
	evaluationShare   = 4 // of the work of a question goes to each evaluation
)

func newSearch(k *knob, p *Plan, g Goal, opts []Option) *search {
	s := &search{k: k, p: p, g: g, opts: opts, final: certifyAccuracy, slope: math.NaN(), byDelta: g.Epsilon < 0.01 && g.Delta > 0}
	var asked settings // zero where the caller does not say
	for _, o := range opts {
		o(&asked)
	}
	if asked.Relative != 0 {
		s.final, s.fixed = asked.Relative, true
	}
	if s.maxPoints = asked.MaxPoints; s.maxPoints == 0 {
		s.maxPoints = calibrationPoints
	}
	return s
}

func (s *search) asked() string {
	if s.byDelta {
		return "delta"
	}
	return "epsilon"
}

// budget is what the answer is compared with.
func (s *search) budget() float64 {
	if s.byDelta {
		return s.g.Delta
	}
	return s.g.Epsilon
}

// score is positive where the budget is exceeded: the difference of logarithms,
// nearly linear in log(value), continued by a tangent where the answer is far
// below the budget or negative.
func (s *search) score(answer float64) float64 {
	b := s.budget()
	if b <= 0 || math.IsInf(answer, 1) {
		return answer - b
	}
	c := b / 8
	if s.byDelta {
		c = math.SmallestNonzeroFloat64
	}
	if answer < c {
		return math.Log(c/b) + (answer-c)/c
	}
	return math.Log(answer / b)
}

func (s *search) u(x float64) float64 { return s.k.safer * math.Log(x) }
func (s *search) x(u float64) float64 { return s.k.snap(math.Exp(s.k.safer * u)) }

// ask evaluates at a value, and reports whether the accuracy was reached.
func (s *search) ask(ctx context.Context, x, accuracy float64) (iv Interval, reached bool, err error) {
	s.evals++
	progress(New(s.p.Neighbors, s.opts...).opts, s.evals, 0)
	plan, err := s.k.build(x)
	if err != nil {
		return iv, false, err
	}
	limit := s.maxPoints
	if s.byDelta && !s.near {
		// Where rounding is what limits a tiny loss, points do not help.
		limit /= 8
	}
	if s.near && !s.fixed && s.points > 0 {
		// The length goes with one over the square root of the accuracy.
		n := 1.25 * float64(s.points)
		if accuracy < s.at {
			n *= 2 * math.Sqrt(s.at/accuracy)
		}
		limit = int(min(float64(limit), max(1<<14, n)))
	}
	if iv, err = s.answer(ctx, plan, accuracy, limit); err != nil {
		if !s.worked || ctx.Err() != nil && context.Cause(ctx) != fourier.ErrTimeLimit {
			return iv, false, err
		}
		// Out of reach here, or at this accuracy: nothing is proved.
		s.failure = err
		return Interval{Lower: math.Inf(-1), Estimate: math.Inf(1), Upper: math.Inf(1)}, false, nil
	}
	s.worked = true
	lo, hi := iv.Lower, iv.Upper
	if iv.Gap != nil {
		lo, hi = iv.Gap.Proved.Lower, iv.Gap.Proved.Upper
	}
	scale := math.Abs(hi)
	if !s.byDelta {
		scale = max(scale, 1e-3)
	}
	width := (hi - lo) / scale
	reached = !(width > 2.5*accuracy)
	if reached || s.near && width < s.width/2 {
		// What was only nearly reached is not asked for again.
		s.points, s.at, s.width = iv.Points, max(accuracy, 1.2*width), width
	}
	if !s.fixed {
		// Nobody asked for the accuracy that a warning would be about.
		iv.Warnings = nil
		if width > 2.5*coarseAccuracy {
			iv.Warnings = []string{fmt.Sprintf("rounding, or the length of the transforms, does not allow an interval narrower than %.2g of its upper end: the value may be more careful than need be", width)}
		}
	}
	return iv, reached, nil
}

func (s *search) answer(ctx context.Context, plan *Plan, accuracy float64, points int) (Interval, error) {
	a := New(plan.Neighbors, append(slices.Clone(s.opts), func(o *settings) {
		o.Relative, o.Absolute, o.MaxPoints = accuracy, 1e-3*accuracy, points
		o.Work = o.work() / evaluationShare
	})...)
	if err := a.AddPlan(ctx, plan); err != nil {
		return Interval{}, err
	}
	if s.byDelta {
		return a.Delta(ctx, s.g.Epsilon)
	}
	return a.Epsilon(ctx, s.g.Delta)
}

func (s *search) run(ctx context.Context) error {
	u, err := s.coarse(ctx)
	if err != nil {
		return err
	}
	if u, err = s.fine(ctx, u); err != nil {
		return err
	}
	return s.certify(ctx, u)
}

// coarse brackets the root of the estimate and closes in on it.
func (s *search) coarse(ctx context.Context) (float64, error) {
	accuracy := max(coarseAccuracy, s.final)
	h := func(u float64) (float64, error) {
		iv, _, err := s.ask(ctx, s.x(u), accuracy)
		return s.score(iv.Estimate), err
	}
	lo, hi := s.u(s.k.lo), s.u(s.k.hi)
	lo, hi = min(lo, hi), max(lo, hi)
	u := min(max(s.u(s.k.start), lo), hi)
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

// fine takes secant steps with better and better estimates, and finds out which
// accuracy can be had: memory limits it, and so does rounding where the loss of
// a run is tiny.
func (s *search) fine(ctx context.Context, u float64) (float64, error) {
	s.near = true
	if !(s.slope < 0) || s.points == 0 {
		return u, nil // no transform: every accuracy gives the same
	}
	last := max(fineAccuracy, s.final)
	lo, hi := s.u(s.k.lo), s.u(s.k.hi)
	lo, hi = min(lo, hi), max(lo, hi)
	for a, n := max(coarseAccuracy/10, last), 0; n < 5; n++ {
		iv, reached, err := s.ask(ctx, s.x(u), a)
		if err != nil {
			return 0, err
		}
		if !reached && !s.fixed {
			s.final = max(s.final, s.at)
			break
		}
		y := s.score(iv.Estimate)
		if math.IsInf(y, 1) {
			break
		}
		du := min(max(-y/s.slope, -0.05), 0.05)
		u = min(max(u+du, lo), hi)
		if a == last && math.Abs(du) < 1e-5 {
			break
		}
		a = last
	}
	return u, nil
}

// decide evaluates at a value until it is clear on which side of the budget it
// is, at the finest at the final accuracy.
func (s *search) decide(ctx context.Context, x float64) (iv Interval, ok bool, err error) {
	accuracy := s.final
	if !s.fixed && s.slope < 0 {
		// Neighbouring whole numbers may be far apart.
		accuracy = min(max(accuracy, -s.slope*s.k.relative(x)/4), coarseAccuracy)
	}
	for n := 0; ; n++ {
		next, reached, err := s.ask(ctx, x, accuracy)
		if err != nil {
			return iv, false, err
		}
		if n == 0 || next.Upper < iv.Upper {
			iv = next
			s.accuracy = accuracy
		}
		lower := next.Lower
		if next.Gap != nil {
			lower = next.Gap.Proved.Lower
		}
		switch {
		case iv.Upper <= s.budget():
			return iv, true, nil
		case lower > s.budget():
			return next, false, nil
		case s.fixed:
			return iv, false, nil
		case reached && accuracy > s.final:
			accuracy = max(accuracy/10, s.final)
		case reached || accuracy >= min(s.at, coarseAccuracy):
			return iv, false, nil
		default:
			// What is out of reach costs much and gives nothing.
			s.final = s.at
			accuracy = s.at
		}
	}
}

// certify finds the neighbouring pair of values between which the certified
// upper end crosses the budget.
func (s *search) certify(ctx context.Context, u float64) error {
	// A little on the safe side, so that the value one unit off fails provably.
	const margin = 0.4
	x := s.x(u)
	if !s.k.integer {
		x = s.k.move(x, margin)
	}
	x = s.k.clip(x)
	if !s.fixed {
		// The width in log(value) is that in log(answer) over the slope.
		if s.slope < 0 {
			s.final *= min(max(-s.slope, 0.1), 30)
		}
		if s.points > 0 {
			n := float64(s.points) / (0.8 * float64(s.maxPoints))
			s.final = max(s.final, min(coarseAccuracy, s.at*n*n))
		}
	}
	tries := 0
	for jump := 1.0; ; {
		iv, ok, err := s.decide(ctx, x)
		if err != nil {
			return err
		}
		if ok {
			s.meets = &Probe{x, iv}
		} else {
			s.fails = &Probe{x, iv}
		}
		var next float64
		switch {
		case s.meets != nil && s.fails != nil:
			m, f := s.meets.Value, s.fails.Value
			if math.Abs(m-f) <= s.k.unit(m) {
				return s.proveFailure(ctx)
			}
			if next = s.between(tries); next == m || next == f {
				return nil
			}
			tries++
		case ok && x == s.k.least():
			return nil
		case !ok && x == s.k.safest():
			return s.infeasible(ctx, *s.fails)
		default:
			// As far as the slope says, at least jump units.
			n := jump
			if y := s.score(iv.Upper); s.slope < 0 && !math.IsInf(y, 0) {
				d := math.Abs(y/s.slope) / s.k.relative(x)
				switch {
				case s.k.integer || ok:
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
			next = s.k.clip(s.k.move(x, n))
			jump *= 4
		}
		x = next
	}
}

// between returns the next value to try in the bracket: a little on the safe side
// of where the line through its ends meets the budget, then one unit below that,
// and the middle when that goes on for long.
func (s *search) between(tries int) float64 {
	m, f := s.meets.Value, s.fails.Value
	middle := s.k.snap(m + (f-m)/2)
	ym, yf := s.score(s.meets.Upper), s.score(s.fails.Upper)
	if tries >= 6 || !(yf > ym) || math.IsInf(yf-ym, 0) {
		return middle
	}
	t := -ym / (yf - ym) // from m towards f
	unit := s.k.unit(m) / math.Abs(f-m)
	if t <= 0.9*unit {
		t = 0.995 * unit
	} else {
		t -= 0.4 * unit
	}
	x := s.k.snap(m + t*(f-m))
	if s.k.integer && t <= unit {
		x = m + math.Copysign(s.k.unit(m), f-m)
	}
	if (x-m)*(x-f) < 0 {
		return x
	}
	return middle
}

// proveFailure moves Fails as far away as it may be if it is nearer and not proved
// to exceed the budget.
func (s *search) proveFailure(ctx context.Context) error {
	x := s.k.clip(s.k.move(s.meets.Value, -1))
	if s.k.integer || s.fails.Lower > s.budget() || math.Abs(x-s.meets.Value) <= math.Abs(s.fails.Value-s.meets.Value) {
		return nil
	}
	iv, ok, err := s.decide(ctx, x)
	if err == nil && !ok {
		s.fails = &Probe{x, iv}
	}
	return err
}

// infeasible says why even the safest value does not do.
func (s *search) infeasible(ctx context.Context, p Probe) error {
	cost := func(iv Interval) string {
		if s.byDelta {
			return fmt.Sprintf("δ ≥ %s at ε = %v, more than %v", digits(iv.Lower), s.g.Epsilon, s.g.Delta)
		}
		return fmt.Sprintf("ε ≥ %s at δ = %v, more than %v", digits(iv.Lower), s.g.Delta, s.g.Epsilon)
	}
	if rest := s.k.rest(); len(rest) > 0 {
		iv, err := s.answer(ctx, &Plan{s.p.Neighbors, rest}, fineAccuracy, s.maxPoints)
		if err == nil && iv.Lower > s.budget() {
			return fmt.Errorf("%w: the steps that stay as they are cost %s, by themselves", ErrInfeasible, cost(iv))
		}
	}
	if s.failure != nil {
		return s.failure // at the safest value, or on the way there
	}
	what := fmt.Sprintf("%v %s", s.g.Solve, digits(p.Value))
	if s.k.factor {
		what = fmt.Sprintf("%v times %s", s.g.Solve, digits(p.Value))
	}
	switch {
	case !s.byDelta && math.IsInf(p.Lower, 1) && s.g.Delta == 0:
		return fmt.Errorf("%w: at δ = 0 no ε is finite, whatever the %v: the privacy loss is unbounded", ErrInfeasible, s.g.Solve)
	case !s.byDelta && math.IsInf(p.Lower, 1):
		return fmt.Errorf("%w: even at %s an unlimited loss is likelier than δ = %v: no ε is finite", ErrInfeasible, what, s.g.Delta)
	case p.Lower > s.budget():
		return fmt.Errorf("%w: even %s costs %s", ErrInfeasible, what, cost(p.Interval))
	}
	return fmt.Errorf("%w: even %s is not proved to meet ε ≤ %v at δ = %v: the accountant's interval of %s is [%s, %s]", ErrInfeasible, what,
		s.g.Epsilon, s.g.Delta, s.asked(), digits(p.Lower), digits(p.Upper))
}

func digits(x float64) string { return strconv.FormatFloat(x, 'g', 7, 64) }

// stepHint suggests a step for a name that is none.
func stepHint(name string, names []string) string {
	if len(names) == 0 {
		return "the plan has no named steps; say steps[0], …"
	}
	return nearest.Hint(name, names)
}
