package service

import (
	"cmp"
	"context"
	"slices"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
)

// This file turns a quantity of a plan until the plan meets a budget.

// CalibrateRequest asks for the quantity that meets a budget: on ε at a δ, or on membership
// inference, which is the largest advantage of any attack, or its largest true-positive
// rate at a false-positive rate.
type CalibrateRequest struct {
	Plan    PlanText `json:"plan"`
	Epsilon Decimals `json:"epsilon,omitempty" or:"target-advantage,target-tpr,at-fpr,delta" not:"target-advantage,target-tpr,at-fpr" with:"delta" in:"[0, inf)" help:"the budget's {ε}, several with commas between them"`
	Delta   Decimals `json:"delta,omitempty" not:"target-advantage,target-tpr,at-fpr" with:"epsilon" in:"[0, 1)" help:"the budget's {δ}, several with commas between them"`
	AttackTarget
	Solve    string  `json:"solve,omitempty" one:"noise-multiplier,count,rate,batch,records-per-person,epsilon,users" preset:"noise-multiplier" help:"{quantity} to turn: noise-multiplier, count, rate, batch, records-per-person, epsilon (of a local randomizer) or users (of a shuffler)"`
	Step     string  `json:"step,omitempty" help:"{name} of the step or group to turn, or its place such as steps[0]; all steps if left out"`
	Examples Decimal `json:"examples,omitempty" in:"whole [1, 2^53]" help:"number {N} of examples, to turn the batch of Poisson sampling"`
	Narrowing
	Limits
}

// AttackTarget is a budget on membership inference: the largest advantage of any attack, or its
// largest true-positive rate at a false-positive rate. It is empty where the budget is another.
type AttackTarget struct {
	Advantage Decimal `json:"target-advantage,omitempty" not:"target-tpr,noise-multiplier" in:"(0, 1)" help:"the largest {advantage} of any membership-inference attack, its true-positive rate minus its false-positive rate"`
	TPR       Decimal `json:"target-tpr,omitempty" not:"noise-multiplier" with:"at-fpr" in:"(0, 1)" help:"the largest true-positive {rate} of any attack with the false-positive rate --at-fpr"`
	FPR       Decimal `json:"at-fpr,omitempty" with:"target-tpr" in:"[1e-290, 1)" help:"false-positive {rate} of --target-tpr"`
}

// read puts the budget into a goal.
func (t AttackTarget) read(goal *accountant.Goal) {
	if t.Advantage != "" {
		goal.Delta = t.Advantage.float() // an advantage of A at most is (0, A)-privacy
	}
	goal.TruePositive, goal.FalsePositive = t.TPR.float(), t.FPR.float()
}

// put says in a solution what the budget was, if it is this one.
func (t AttackTarget) put(to *Solution, goal accountant.Goal) {
	switch {
	case t.Advantage != "":
		to.Attack = &AttackBudget{Advantage: &to.Budget.Delta}
	case t.TPR != "":
		tpr, fpr := Number(goal.TruePositive), Number(goal.FalsePositive)
		to.Budget, to.Attack = nil, &AttackBudget{TruePositive: &tpr, FalsePositive: &fpr}
	}
}

// Solution is the value that meets a budget, with what is certified there and next to it.
type Solution struct {
	Unit
	// Budget is left out where it is on a true-positive rate.
	Budget      *EpsilonDelta `json:"budget,omitempty"`
	Solve       string        `json:"solve"`
	Value       Number        `json:"value"`
	Factor      bool          `json:"common-factor"`
	Unlimited   bool          `json:"unlimited"`
	Meets       Probe         `json:"meets"`
	Fails       *Probe        `json:"fails"`
	FailsProved bool          `json:"fails-proved"`
	TheoryGap   bool          `json:"theory-gap,omitempty"`
	Steps       []Setting     `json:"steps" py:"settings"`
	Accuracy    Number        `json:"accuracy"`
	Evaluations int           `json:"evaluations"`
	Warnings    []string      `json:"warnings,omitempty"`
	// Attack is the budget where it is on membership inference.
	Attack *AttackBudget `json:"attack,omitempty"`
	// Early says that a limit ended the search: less private values may do as well.
	Early bool `json:"early,omitempty"`

	// CanNarrow says that the recursion over data configurations knows a step.
	CanNarrow bool `json:"-"`
	// Notes are the warnings about Meets, one more where ε is reported as 0.
	Notes []string `json:"-"`
}

// EpsilonDelta is a budget.
type EpsilonDelta struct {
	Epsilon Number `json:"epsilon"`
	Delta   Number `json:"delta"`
}

// AttackBudget is a budget on membership inference: its advantage, which as Budget is (0,
// advantage), or its true-positive rate at a false-positive rate.
type AttackBudget struct {
	Advantage     *Number `json:"advantage,omitempty"`
	TruePositive  *Number `json:"true-positive-rate,omitempty"`
	FalsePositive *Number `json:"false-positive-rate,omitempty"`
}

// Probe is what is certified at a value: ε at the budget's δ, δ at its ε, or the
// true-positive rate at its false-positive rate.
type Probe struct {
	Value        Number  `json:"value"`
	Epsilon      *Bounds `json:"epsilon,omitempty" py:"*"`
	Delta        *Bounds `json:"delta,omitempty" py:"*"`
	TruePositive *Bounds `json:"true-positive-rate,omitempty" py:"*"`
	// Proved is the interval of the proved pair where theory leaves a gap, or nil.
	Proved *Bounds `json:"-"`
}

// Setting is the value of one step.
type Setting struct {
	Path  string `json:"path"`
	Name  string `json:"name,omitempty"`
	Value Number `json:"value"`
	// Quantity is "epsilon" where the mechanism has that in the place of what was turned.
	Quantity string `json:"quantity,omitempty"`

	before float64
}

// goal is what the request asks for.
func (q CalibrateRequest) goal() accountant.Goal {
	goal := accountant.Goal{Solve: cmp.Or(accountant.Quantity(q.Solve), accountant.NoiseMultiplier), Step: q.Step, Epsilon: q.Epsilon.float(), Delta: q.Delta.float(), Examples: q.Examples.whole()}
	q.AttackTarget.read(&goal)
	return goal
}

// quantityOf is "epsilon" where that was turned in the place of noise.
func quantityOf(s accountant.Setting) string {
	if s.Epsilon {
		return "epsilon"
	}
	return ""
}

// calibrate returns the value that meets a budget.
func (s *Service) calibrate(ctx context.Context, q CalibrateRequest) (Solution, error) {
	goal := q.goal()
	plan, opts, err := q.planned(ctx, q.Plan, q.Narrowing)
	if err != nil {
		return Solution{}, err
	}
	c, err := accountant.Calibrate(ctx, plan, goal, opts...)
	if err != nil {
		return Solution{}, err
	}
	out := solution(c, goal, plan.Neighbors)
	out.CanNarrow = canNarrow(plan.Neighbors, plan.Steps)
	q.put(&out, goal)
	return out, nil
}

func solution(c *accountant.Calibration, g accountant.Goal, r profiles.Relation) Solution {
	probe := func(p accountant.Point) Probe {
		b := boundsOf(p.Lower, p.Estimate, p.Upper)
		out := Probe{Value: Number(p.At)}
		switch c.Asked {
		case "delta":
			out.Delta = &b
		case "true-positive-rate":
			out.TruePositive = &b
		default:
			out.Epsilon = &b
		}
		if p.Gap != nil {
			proved := rangeOf(p.Gap.Proved)
			out.Proved = &proved
		}
		return out
	}
	out := Solution{Unit: Unit{r.String(), severalRecords(c.Plan.Records())}, Budget: &EpsilonDelta{Number(g.Epsilon), Number(g.Delta)}, Solve: string(g.Solve),
		Value: Number(c.Value), Factor: c.Factor, Unlimited: c.Unlimited, Early: c.Early, Meets: probe(c.Meets), FailsProved: c.FailsProved, TheoryGap: c.Meets.Gap != nil,
		Accuracy: Number(c.Accuracy), Evaluations: c.Evaluations, Warnings: c.Meets.Warnings, Notes: c.Meets.Warnings}
	if c.Asked == "epsilon" {
		out.Notes = fromZero(c.Meets.Interval).Warnings
	}
	if c.Fails != nil {
		f := probe(*c.Fails)
		out.Fails = &f
	}
	for _, s := range c.Settings {
		out.Steps = append(out.Steps, Setting{Path: s.Path, Name: s.Name, Value: Number(s.Value), Quantity: quantityOf(s), before: s.Before})
	}
	return out
}

// canNarrow reports whether the recursion over data configurations knows a step.
func canNarrow(r profiles.Relation, steps []accountant.Step) bool {
	return r == profiles.Substitute && slices.ContainsFunc(steps, func(s accountant.Step) bool {
		switch {
		case s.Selection != nil:
			return false
		case s.Mechanism == nil:
			return canNarrow(r, s.Steps) || canNarrow(r, s.Disjoint)
		case s.Sampling == nil:
			return false
		}
		scheme := s.Sampling.Name()
		return s.Mechanism.Name() == "gaussian" && (scheme == "without-replacement" || scheme == "with-replacement" || scheme == "must-wo")
	})
}

// Write returns the text of the request's plan with the values of the solution: the same
// numbers that were proved to meet the budget.
func (a Solution) Write(q CalibrateRequest) ([]byte, error) {
	where := map[string]string{"noise-multiplier": ".mechanism.*.noise-multiplier", "rate": ".sampling.*.rate", "batch": ".sampling.*.batch", "count": ".count",
		"epsilon": ".mechanism.*.epsilon", "users": ".sampling.*.users"}
	numbers := map[string]float64{}
	switch {
	case a.Unlimited:
		return nil, fault.New("solve", "nothing limits the %s; there is no value to write", a.Solve)
	case a.Solve == "records-per-person":
		numbers[a.Solve] = float64(a.Value)
	case a.Solve == "count" && q.Step == "":
		return nil, fault.New("step", "is missing; the count that was found is of the whole plan, which has none: name the step to turn")
	default:
		for _, s := range a.Steps {
			at, value := where[a.Solve], float64(s.Value)
			if s.Quantity != "" {
				at = ".mechanism.*." + s.Quantity
			}
			if a.Solve == "noise-multiplier" && s.Quantity == "" {
				for _, key := range []string{"standard-deviation", "scale"} { // of noise with limits on contributions
					if scale, ok := plan.Number(q.Plan, s.Path+".mechanism.*."+key); ok {
						at, value = ".mechanism.*."+key, scale*(value/s.before)*(1+0x1p-50)
					}
				}
			}
			numbers[s.Path+at] = value
		}
	}
	return plan.Set(q.Plan, numbers)
}
