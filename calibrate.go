package accountant

// The value of a quantity at which a plan meets a budget: what can be turned in a plan, the budget
// as a goal, and the answer with both sides of the budget as proof. The search itself, which knows
// no plans, is package internal/calibrate.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/calibrate"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/subsample"
)

// A Quantity is what Calibrate turns.
type Quantity int

// The quantities that Calibrate can turn.
const (
	NoiseMultiplier  Quantity = iota // the smallest that meets the budget
	Count                            // the largest
	Rate                             // the largest Poisson sampling rate
	Batch                            // the largest batch
	RecordsPerPerson                 // the most records that a person may have
)

var quantityNames = []string{"noise-multiplier", "count", "rate", "batch", "records-per-person"}

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
// returns the smallest noise multiplier, or the largest count, rate, batch or number of
// records per person,
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
	ctx, stop := p.Accountant(opts...).opts.within(ctx)
	defer stop()
	k, err := newKnob(p, g)
	if err != nil {
		return nil, err
	}
	if floor := math.Log1p(-g.Delta); g.Epsilon < floor {
		return nil, fmt.Errorf("%w: epsilon %v is below log(1 − δ) = %.6g, which nothing reaches, not even publishing nothing", ErrInfeasible, g.Epsilon, floor)
	}
	s := newSearch(k, p, g, opts)
	if err := s.Run(ctx); err != nil {
		var none *calibrate.Infeasible
		if errors.As(err, &none) {
			err = s.infeasible(ctx, none)
		}
		return nil, err
	}
	asked, _ := s.asked()
	c := &Calibration{Value: s.Meets.Value, Asked: asked, Factor: k.factor, Meets: *probe(s.Meets), Fails: probe(s.Fails), Unlimited: s.Fails == nil,
		Evaluations: s.evals, Accuracy: s.Accuracy}
	if c.Plan, err = k.build(c.Value); err != nil {
		return nil, err
	}
	c.Settings = k.settings(c.Value)
	return c, nil
}

// A search asks for the cost of a plan with its knob turned.
type search struct {
	*calibrate.Search
	k       *knob
	p       *Plan
	g       Goal
	opts    []Option
	asks    settings // with opts
	evals   int
	byDelta bool // δ is compared with the budget, not ε
	fixed   bool // the accuracy was given
	// maxPoints bounds the transforms.
	maxPoints int
}

const (
	certifyAccuracy   = 5e-7
	lawsAccuracy      = 2e-4 // of laws that each evaluation makes anew (profiles.Laws)
	restAccuracy      = 1e-5 // of steps that are not turned
	calibrationPoints = 1 << 20
	evaluationShare   = 4 // of the work of a question goes to each evaluation
)

func newSearch(k *knob, p *Plan, g Goal, opts []Option) *search {
	s := &search{k: k, p: p, g: g, opts: opts, byDelta: g.Epsilon < 0.01 && g.Delta > 0}
	s.asks = p.Accountant(opts...).opts
	var asked settings // zero where the caller does not say
	for _, o := range opts {
		o(&asked)
	}
	final := certifyAccuracy
	if asked.Relative != 0 {
		final, s.fixed = asked.Relative, true
	}
	if s.maxPoints = asked.MaxPoints; s.maxPoints == 0 {
		s.maxPoints = calibrationPoints
	}
	if !s.fixed && hasLaws(p.Steps) {
		final = lawsAccuracy
	}
	_, budget := s.asked()
	goal := calibrate.Goal{Budget: budget, Probability: s.byDelta, Accuracy: final, Fixed: s.fixed, MaxPoints: s.maxPoints}
	s.Search = calibrate.New(k.Knob, goal, s.ask)
	return s
}

// asked is what the answer is called, and the budget that it is compared with.
func (s *search) asked() (name string, budget float64) {
	if s.byDelta {
		return "delta", s.g.Delta
	}
	return "epsilon", s.g.Epsilon
}

// probe returns a probe with its interval, nil for nil.
func probe(p *calibrate.Probe) *Probe {
	if p == nil {
		return nil
	}
	iv, ok := p.Full.(Interval)
	if !ok {
		iv = Interval{Lower: p.Lower, Estimate: p.Estimate, Upper: p.Upper} // out of reach
	}
	return &Probe{p.Value, iv}
}

// ask evaluates at a value of the knob.
func (s *search) ask(ctx context.Context, x, accuracy float64, points int) (calibrate.Answer, error) {
	s.evals++
	progress(s.asks, s.evals, 0)
	plan, err := s.k.build(x)
	if err != nil {
		return calibrate.Answer{}, err
	}
	iv, err := s.answer(ctx, plan, accuracy, points)
	if err != nil {
		if ctx.Err() == nil || context.Cause(ctx) == fourier.ErrTimeLimit {
			err = &calibrate.OutOfReach{Err: err}
		}
		return calibrate.Answer{}, err
	}
	lo, hi := iv.Lower, iv.Upper
	if iv.Gap != nil {
		lo, hi = iv.Gap.Proved.Lower, iv.Gap.Proved.Upper
	}
	scale := math.Abs(hi)
	if !s.byDelta {
		scale = max(scale, 1e-3)
	}
	width := (hi - lo) / scale
	if !s.fixed {
		// Nobody asked for the accuracy that a warning would be about.
		iv.Warnings = nil
		if width > 2.5*calibrate.CoarseAccuracy {
			iv.Warnings = []string{fmt.Sprintf("rounding, or the length of the transforms, does not allow an interval narrower than %.2g of its upper end: the value may be more careful than need be", width)}
		}
	}
	return calibrate.Answer{Lower: iv.Lower, Estimate: iv.Estimate, Upper: iv.Upper, Proved: lo, Width: width, Points: iv.Points, Full: iv}, nil
}

func (s *search) answer(ctx context.Context, plan *Plan, accuracy float64, points int) (Interval, error) {
	a := plan.Accountant(append(slices.Clone(s.opts), func(o *settings) {
		o.Relative, o.Absolute, o.MaxPoints = accuracy, 1e-3*accuracy, points
		o.Work = o.work() / evaluationShare
		o.quiet = true
	})...)
	if err := a.AddPlan(ctx, plan); err != nil {
		return Interval{}, err
	}
	if s.byDelta {
		return a.Delta(ctx, s.g.Epsilon)
	}
	return a.Epsilon(ctx, s.g.Delta)
}

// infeasible says why even the safest value does not do.
func (s *search) infeasible(ctx context.Context, none *calibrate.Infeasible) error {
	p := *probe(&none.Safest)
	asked, budget := s.asked()
	cost := func(iv Interval) string {
		if s.byDelta {
			return fmt.Sprintf("δ ≥ %s at ε = %v, more than %v", digits(iv.Lower), s.g.Epsilon, s.g.Delta)
		}
		return fmt.Sprintf("ε ≥ %s at δ = %v, more than %v", digits(iv.Lower), s.g.Delta, s.g.Epsilon)
	}
	if rest := s.k.rest(); len(rest) > 0 {
		iv, err := s.answer(ctx, s.p.with(rest), restAccuracy, s.maxPoints)
		if err == nil && iv.Lower > budget {
			return fmt.Errorf("%w: the steps that stay as they are cost %s, by themselves", ErrInfeasible, cost(iv))
		}
	}
	if none.Cause != nil {
		return none.Cause // at the safest value, or on the way there
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
	case p.Lower > budget:
		return fmt.Errorf("%w: even %s costs %s", ErrInfeasible, what, cost(p.Interval))
	}
	return fmt.Errorf("%w: even %s is not proved to meet ε ≤ %v at δ = %v: the accountant's interval of %s is [%s, %s]", ErrInfeasible, what,
		s.g.Epsilon, s.g.Delta, asked, digits(p.Lower), digits(p.Upper))
}

func digits(x float64) string { return strconv.FormatFloat(x, 'g', 7, 64) }

// A knob is a quantity of some steps of a plan as one number.
type knob struct {
	calibrate.Knob
	factor   bool // on the values of several steps
	build    func(x float64) (*Plan, error)
	settings func(x float64) []Setting
	rest     func() []Step // the plan without the steps that are turned
}

// newKnob returns the knob of a goal. It is long because of the
// ways in which a quantity of several steps can be turned together, and its errors.
func newKnob(p *Plan, g Goal) (*knob, error) {
	if p == nil || len(p.Steps) == 0 {
		return nil, fault.New("steps", "is empty; must list at least one step")
	}
	if g.Solve < 0 || int(g.Solve) >= len(quantityNames) {
		return nil, fault.New("solve", "%v is not a quantity", g.Solve)
	}
	at, err := findStep(p.Steps, g.Step)
	if err != nil {
		return nil, err
	}
	switch g.Solve {
	case Count:
		return countKnob(p, at), nil
	case RecordsPerPerson:
		if at != "" {
			return nil, fault.New("step", "%s cannot be turned by itself: records-per-person is of the whole plan", nearest.Quote(g.Step))
		}
		return recordsKnob(p), nil
	}
	if g.Solve == Batch && (g.Examples < 0 || g.Examples > maxRuns) {
		return nil, fault.New("examples", "%d is not an integer in [0, 2^53]", g.Examples)
	}
	quantity := map[Quantity]calibrate.Quantity{NoiseMultiplier: calibrate.Noise(p.Neighbors), Rate: calibrate.Rate(), Batch: calibrate.Batch(g.Examples)}[g.Solve]
	// The steps that have the quantity.
	type turned struct {
		path, name string
		calibrate.Turned
	}
	var found []turned
	lo, hi := 0.0, math.Inf(1)
	eachStep(p.Steps, "steps", func(path string, s Step) {
		if s.Mechanism == nil || !within(path, at) {
			return
		}
		t, ok, problem := quantity.Of(s.Mechanism, s.Sampling)
		if problem != nil {
			err = problem
		}
		if !ok {
			return
		}
		lo, hi = max(lo, t.Lo/t.Value), min(hi, t.Hi/t.Value)
		if len(found) > 0 && found[0].Population != t.Population {
			err = fault.New("step", "the steps sample from %d and %d examples; name one step", found[0].Population, t.Population)
		}
		found = append(found, turned{path, s.Name, t})
	})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		where := "the plan"
		if g.Step != "" {
			where = "step " + nearest.Quote(g.Step)
		}
		return nil, fault.New("solve", "%s has no step with a %v that can be turned", where, g.Solve)
	}
	k := &knob{Knob: calibrate.Knob{Lo: lo, Hi: hi, Start: 1, Safer: -1}, factor: len(found) > 1}
	values, largest := map[string]calibrate.Turned{}, found[0].Most
	for _, t := range found {
		values[t.path], largest = t.Turned, min(largest, t.Most)
	}
	value := func(path string, x float64) float64 { return k.Snap(x * values[path].Value) }
	switch {
	case g.Solve == Batch:
		k.Lo, k.Hi, k.Start, k.Integer, k.factor = 1, float64(largest), found[0].Value, true, false
		value = func(_ string, x float64) float64 { return x }
	case !k.factor:
		v := found[0].Value
		k.Lo, k.Hi, k.Start = lo*v, hi*v, v
		value = func(_ string, x float64) float64 { return x }
	}
	if g.Solve == NoiseMultiplier {
		k.Safer = 1
	}
	if !k.Integer {
		// lo·v and hi·v carry rounding: the ends are to be valid values.
		k.Lo, k.Hi = k.Snap(k.Lo*(1+1e-9)), k.Snap(k.Hi)
		if k.Hi*(1+1e-12) > hi && k.factor {
			k.Hi = k.Snap(hi * (1 - 1e-9))
		}
	}
	k.settings = func(x float64) []Setting {
		var out []Setting
		for _, t := range found {
			out = append(out, Setting{t.path, t.name, value(t.path, x)})
		}
		return out
	}
	k.build = func(x float64) (*Plan, error) {
		steps, err := rebuild(p.Steps, "steps", func(path string, s *Step) (err error) {
			if _, ok := values[path]; !ok {
				return nil
			}
			s.Mechanism, s.Sampling, err = quantity.Set(s.Mechanism, s.Sampling, values[path], value(path, x))
			if err != nil {
				err = fault.In(path, err)
			}
			return err
		})
		return p.with(steps), err
	}
	k.rest = func() []Step {
		return without(p.Steps, "steps", func(path string) bool { _, ok := values[path]; return ok })
	}
	return k, nil
}

// countKnob turns the count of the step at a path, or of the whole plan.
func countKnob(p *Plan, at string) *knob {
	k := &knob{Knob: calibrate.Knob{Lo: 1, Integer: true, Safer: -1}}
	if at == "" && len(p.Steps) == 1 {
		at = "steps[0]"
	}
	name, start, inside := "", int64(1), int64(1)
	if at == "" {
		at = "steps"
		inside = runsOf(p.Steps)
	}
	outside := int64(1)
	eachStep(p.Steps, "steps", func(path string, s Step) {
		switch {
		case path == at:
			name, start = s.Name, max(s.Count, 1)
			if s.Selection == nil && s.Mechanism == nil {
				inside = runsOf(s.Steps)
			}
		case within(at, path):
			outside = product(outside, max(s.Count, 1))
		}
	})
	k.Start = float64(start)
	k.Hi = max(1, math.Floor(maxRuns/float64(inside)/float64(outside)))
	if total := runsOf(p.Steps); at != "steps" {
		// The other steps count too.
		others := float64(total) - k.Start*float64(inside)*float64(outside)
		k.Hi = max(1, math.Floor((maxRuns-max(0, others))/float64(inside)/float64(outside)))
	}
	k.build = func(x float64) (*Plan, error) {
		if at == "steps" {
			return p.with([]Step{{Count: int64(x), Steps: p.Steps}}), nil
		}
		steps, err := rebuild(p.Steps, "steps", func(path string, s *Step) error {
			if path == at {
				s.Count = int64(x)
			}
			return nil
		})
		return p.with(steps), err
	}
	k.settings = func(x float64) []Setting { return []Setting{{at, name, x}} }
	k.rest = func() []Step {
		if at == "steps" {
			return nil
		}
		return without(p.Steps, "steps", func(path string) bool { return path == at })
	}
	return k
}

// recordsKnob turns the number of records of a person.
func recordsKnob(p *Plan) *knob {
	k := &knob{Knob: calibrate.Knob{Lo: 1, Hi: subsample.MaxRecords, Start: float64(p.Records()), Integer: true, Safer: -1}}
	k.build = func(x float64) (*Plan, error) {
		return &Plan{p.Neighbors, int64(math.Round(x)), p.Steps}, nil
	}
	k.settings = func(float64) []Setting { return nil }
	k.rest = func() []Step { return nil }
	return k
}
