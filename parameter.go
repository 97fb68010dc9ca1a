package accountant

// What can be turned in a plan: a quantity, the budget that it is to meet, and the quantity of
// several steps as one number. Nothing here asks what a plan costs.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/internal/calibrate"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/subsample"
)

// A Quantity is what Calibrate turns.
type Quantity string

// The quantities that Calibrate can turn.
const (
	NoiseMultiplier  Quantity = "noise-multiplier"   // the smallest that meets the budget
	Count            Quantity = "count"              // the largest
	Rate             Quantity = "rate"               // the largest Poisson sampling rate
	Batch            Quantity = "batch"              // the largest batch
	RecordsPerPerson Quantity = "records-per-person" // the most records that a person may have
	LocalEpsilon     Quantity = "epsilon"            // the largest parameter ε, of a local randomizer or of pure
	Users            Quantity = "users"              // the fewest users of a shuffler
)

var quantities = []string{string(NoiseMultiplier), string(Count), string(Rate), string(Batch), string(RecordsPerPerson), string(LocalEpsilon), string(Users)}

// A Goal is a budget and the quantity that is to meet it.
type Goal struct {
	Epsilon, Delta float64
	// TruePositive, where it is not 0, is the budget in the place of Epsilon and Delta,
	// which are 0 then: the largest true-positive rate, in (0, 1), that any test between
	// neighbours of the false-positive rate FalsePositive may have.
	TruePositive, FalsePositive float64
	Solve                       Quantity // "" is NoiseMultiplier
	// Step names the step or group to turn, by its name or its place, such as
	// steps[0].steps[1]; empty: all steps that have the quantity.
	Step string
	// Examples is the size of the data set; needed to turn the batch of Poisson
	// sampling, whose rate is batch over examples.
	Examples int64
}

// ErrInfeasible is wrapped by the error of a budget that no value meets.
var ErrInfeasible = errors.New("infeasible")

// What a budget is compared with.
const (
	askedEpsilon = "epsilon"
	askedDelta   = "delta"
	askedPower   = "true-positive-rate"
)

// asked is what is compared with the budget: ε, or δ where ε says next to nothing about
// the noise, or the true-positive rate of an attack.
func (g Goal) asked() (name string, budget float64) {
	switch {
	case g.TruePositive != 0:
		return askedPower, g.TruePositive
	case g.Epsilon < 0.01 && g.Delta > 0:
		return askedDelta, g.Delta
	}
	return askedEpsilon, g.Epsilon
}

// words are what is compared with the budget, and where, for messages.
func (g Goal) words() (name, at string) {
	switch asked, _ := g.asked(); asked {
	case askedPower:
		return "the true-positive rate", fmt.Sprintf("a false-positive rate of %v", g.FalsePositive)
	case askedDelta:
		return "δ", fmt.Sprintf("ε = %v", g.Epsilon)
	}
	return "ε", fmt.Sprintf("δ = %v", g.Delta)
}

// check returns what is wrong with the numbers of the budget.
func (g Goal) check() error {
	switch {
	case g.TruePositive == 0 && g.FalsePositive != 0:
		return fault.New("false-positive-rate", "%v is for a budget on the true-positive rate", g.FalsePositive)
	case g.TruePositive != 0:
		if !(g.TruePositive > 0 && g.TruePositive < 1) {
			return fault.New("true-positive-rate", "%v is not in (0, 1)", g.TruePositive)
		}
		if g.Epsilon != 0 || g.Delta != 0 {
			return fault.New("true-positive-rate", "%v is a budget in the place of epsilon and delta, which must be 0", g.TruePositive)
		}
		return checkAlpha(g.FalsePositive)
	case !(g.Delta >= 0 && g.Delta < 1):
		return fault.New("delta", "%v is not in [0, 1)", g.Delta)
	case math.IsNaN(g.Epsilon) || math.IsInf(g.Epsilon, 0):
		return fault.New("epsilon", "%v is not a finite number", g.Epsilon)
	}
	return nil
}

// reachable returns the error of a budget that not even publishing nothing meets.
func (g Goal) reachable() error {
	switch floor := math.Log1p(-g.Delta); {
	case g.TruePositive != 0 && g.TruePositive <= g.FalsePositive:
		return fmt.Errorf("%w: a true-positive rate of %v is not above the false-positive rate %v, which guessing reaches", ErrInfeasible, g.TruePositive, g.FalsePositive)
	case g.TruePositive == 0 && g.Epsilon < floor:
		return fmt.Errorf("%w: epsilon %v is below log(1 − δ) = %.6g, which nothing reaches, not even publishing nothing", ErrInfeasible, g.Epsilon, floor)
	}
	return nil
}

// A Setting is the value of the quantity at one step.
type Setting struct {
	Path, Name string
	Value      float64
	Before     float64 // in the plan that was given
	// Epsilon says that Value is the ε of a mechanism that has no noise multiplier.
	Epsilon bool
}

// A parameter is a quantity of some steps of a plan as one number.
type parameter struct {
	calibrate.Parameter
	factor   bool // on the values of several steps
	build    func(x float64) (*Plan, error)
	settings func(x float64) []Setting
	rest     func() []Step // the plan without the steps that are turned
}

// prepare finds what lists of runs, such as those of a matrix mechanism, keep of themselves: NoiseRange, which has no context, then finds it
// there. An error other than that of ctx shows where the runs are asked for.
func prepare(ctx context.Context, p *Plan, g Goal) error {
	if p == nil || g.Solve != NoiseMultiplier {
		return nil
	}
	eachStep(p.Steps, "steps", func(_ string, s Step) {
		if list, ok := s.Mechanism.(subsample.Sequence); ok && ctx.Err() == nil {
			_, _ = list.Runs(ctx, p.Neighbors)
		}
	})
	return ctx.Err()
}

// newParameter returns the parameter of a goal. It is long because of the
// ways in which a quantity of several steps can be turned together, and its errors.
func newParameter(p *Plan, g Goal) (*parameter, error) {
	if p == nil || len(p.Steps) == 0 {
		return nil, fault.New("steps", "is empty; must list at least one step")
	}
	if !slices.Contains(quantities, string(g.Solve)) {
		return nil, fault.New("solve", "%s is not one of %s", nearest.Quote(string(g.Solve)), strings.Join(quantities, ", "))
	}
	at, err := findStep(p.Steps, g.Step)
	if err != nil {
		return nil, err
	}
	switch g.Solve {
	case Count:
		return countParameter(p, at), nil
	case RecordsPerPerson:
		if at != "" {
			return nil, fault.New("step", "%s cannot be turned by itself: records-per-person is of the whole plan", nearest.Quote(g.Step))
		}
		return recordsParameter(p), nil
	}
	if g.Solve == Batch && (g.Examples < 0 || g.Examples > maxRuns) {
		return nil, fault.New("examples", "%d is not an integer in [0, 2^53]", g.Examples)
	}
	quantity := map[Quantity]calibrate.Quantity{NoiseMultiplier: calibrate.Noise(p.Neighbors), Rate: calibrate.Rate(), Batch: calibrate.Batch(g.Examples),
		LocalEpsilon: calibrate.LocalEpsilon(), Users: calibrate.Users()}[g.Solve]
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
	k := &parameter{Parameter: calibrate.Parameter{Lo: lo, Hi: hi, Start: 1, Safer: -1}, factor: len(found) > 1}
	values, largest := map[string]calibrate.Turned{}, found[0].Most
	for _, t := range found {
		values[t.path], largest = t.Turned, min(largest, t.Most)
	}
	switch {
	case g.Solve == Batch:
		k.Lo, k.Hi, k.Start, k.Integer, k.factor = 1, float64(largest), found[0].Value, true, false
	case g.Solve == Users:
		// All shufflers get the same number.
		k.Lo, k.Hi, k.Start, k.Integer, k.factor = 0, math.Inf(1), found[0].Value, true, false
		for _, t := range found {
			k.Lo, k.Hi = max(k.Lo, t.Lo), min(k.Hi, t.Hi)
		}
	case !k.factor:
		v := found[0].Value
		k.Lo, k.Hi, k.Start = lo*v, hi*v, v
	}
	value := func(path string, x float64) float64 {
		if k.factor {
			return k.Snap(x * values[path].Value)
		}
		return x
	}
	if g.Solve == NoiseMultiplier || g.Solve == Users {
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
			at := Setting{Path: t.path, Name: t.name, Value: value(t.path, x), Before: t.Value, Epsilon: t.Inverse}
			if t.Inverse {
				at.Value, at.Before = 1/at.Value, 1/at.Before
			}
			out = append(out, at)
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

// countParameter is the count of the step at a path, or of the whole plan.
func countParameter(p *Plan, at string) *parameter {
	k := &parameter{Parameter: calibrate.Parameter{Lo: 1, Integer: true, Safer: -1}}
	shown := at
	if at == "" {
		if at, shown = "steps[0]", "steps[0]"; len(p.Steps) > 1 {
			p, shown = p.with([]Step{{Count: 1, Steps: p.Steps}}), "steps"
		}
	}
	name, start, inside, outside := "", int64(1), int64(1), int64(1)
	eachStep(p.Steps, "steps", func(path string, s Step) {
		switch {
		case path == at:
			name, start = s.Name, max(s.Count, 1)
			if s.Selection == nil && s.Mechanism == nil {
				s.Count = 1
				inside = runsOf([]Step{s})
			}
		case within(at, path):
			outside = product(outside, max(s.Count, 1))
		}
	})
	k.Start = float64(start)
	// The other steps count too.
	others := float64(runsOf(p.Steps)) - k.Start*float64(inside)*float64(outside)
	k.Hi = max(1, math.Floor((maxRuns-max(0, others))/float64(inside)/float64(outside)))
	k.build = func(x float64) (*Plan, error) {
		steps, err := rebuild(p.Steps, "steps", func(path string, s *Step) error {
			if path == at {
				s.Count = int64(x)
			}
			return nil
		})
		return p.with(steps), err
	}
	k.settings = func(x float64) []Setting { return []Setting{{Path: shown, Name: name, Value: x}} }
	k.rest = func() []Step {
		return without(p.Steps, "steps", func(path string) bool { return path == at })
	}
	return k
}

// recordsParameter is the number of records of a person.
func recordsParameter(p *Plan) *parameter {
	k := &parameter{Parameter: calibrate.Parameter{Lo: 1, Hi: noiserange.MaxRecords, Start: float64(p.Records()), Integer: true, Safer: -1}}
	k.build = func(x float64) (*Plan, error) {
		return &Plan{p.Neighbors, int64(math.Round(x)), p.Steps}, nil
	}
	k.settings = func(float64) []Setting { return nil }
	k.rest = func() []Step { return nil }
	return k
}
