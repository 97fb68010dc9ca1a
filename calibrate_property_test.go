package accountant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/internal/slow"
)

// judged is the certified upper end that a budget is compared with, computed
// apart from the search: ε at the budget's δ, or δ at its ε.
func judged(t interface {
	Helper()
	Fatal(...any)
}, p *Plan, g Goal, asked string, accuracy float64) Interval {
	t.Helper()
	a := New(p.Neighbors, Options{Accuracy: accuracy})
	if err := a.AddPlan(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	ask, at := a.Epsilon, g.Delta
	if asked == "delta" {
		ask, at = a.Delta, g.Epsilon
	}
	iv, err := ask(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// bracketProblem says which promise of a Calibration does not hold, if any.
func bracketProblem(c *Calibration, g Goal) string {
	asked, budget := g.asked()
	if c.Asked != asked {
		return fmt.Sprintf("%s is compared with the budget, not %s", c.Asked, asked)
	}
	if !(c.Meets.Upper <= budget) || c.Meets.At != c.Value {
		return fmt.Sprintf("%v has an upper end of %v, above the budget %v", c.Meets.At, c.Meets.Upper, budget)
	}
	if c.Unlimited != (c.Fails == nil) {
		return "Unlimited and Fails disagree"
	}
	if c.Unlimited {
		return ""
	}
	if !(c.Fails.Upper > budget) {
		return fmt.Sprintf("%v has an upper end of %v, within the budget %v", c.Fails.At, c.Fails.Upper, budget)
	}
	d, unit := c.Value-c.Fails.At, 1e-6*c.Value
	if cmp.Or(g.Solve, NoiseMultiplier) != NoiseMultiplier {
		d = -d
	}
	if g.Solve == Count || g.Solve == Batch {
		unit = max(1, math.Floor(unit))
	}
	if !(d > 0 && d <= unit*(1+1e-9)) {
		return fmt.Sprintf("%v and %v are %v apart, and not up to %v", c.Value, c.Fails.At, d, unit)
	}
	return ""
}

// TestCalibrateProperties draws plans that have closed forms, so that many can be
// tried: budgets above and below 0.01, where δ decides.
func TestCalibrateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := func(name string, lo, hi float64) float64 {
			return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(t, name))
		}
		kind := rapid.SampledFrom([]string{"gaussian", "laplace", "discrete-laplace"}).Draw(t, "mechanism")
		noise, count := log("noise", 0.3, 300), rapid.IntRange(1, 30).Draw(t, "count")
		if kind != "gaussian" {
			count = 1
		}
		plan := func(noise float64) *Plan {
			p, err := ParsePlan(fmt.Appendf(nil, "neighbors: add-remove\nsteps: [{mechanism: {%s: {noise-multiplier: %v}}, count: %d}]", kind, noise, count))
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		g := Goal{Epsilon: log("epsilon", 1e-3, 20), Delta: log("delta", 1e-12, 1e-2), Solve: NoiseMultiplier}
		if rapid.Bool().Draw(t, "zero") {
			g.Epsilon = 0
		}
		if kind == "gaussian" && rapid.Bool().Draw(t, "solve count") {
			g.Solve = Count
		}
		c, err := Calibrate(t.Context(), plan(noise), g)
		if errors.Is(err, ErrInfeasible) && g.Solve == Count {
			if iv := judged(t, plan(noise), g, "epsilon", 1e-7); count == 1 && g.Epsilon >= 0.01 && iv.Upper <= g.Epsilon {
				t.Fatalf("%v, but one run costs ε ≤ %v", err, iv.Upper)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if why := bracketProblem(c, g); why != "" {
			t.Fatal(why)
		}
		if iv := judged(t, c.Plan, g, c.Asked, 1e-9); c.Asked == "epsilon" && iv.Lower > g.Epsilon || c.Asked == "delta" && iv.Lower > g.Delta {
			t.Fatalf("the plan at %v costs %+v", c.Value, iv)
		}
		// Where the search starts does not matter, and a larger budget asks for no
		// more noise and no fewer runs.
		if g.Solve == NoiseMultiplier {
			other, err := Calibrate(t.Context(), plan(log("start", 0.3, 300)), g)
			if err != nil {
				t.Fatal(err)
			}
			if r := other.Value / c.Value; math.Abs(r-1) > 3e-6 {
				t.Fatalf("%v from one start, %v from another", c.Value, other.Value)
			}
		}
		larger := g
		larger.Epsilon = g.Epsilon*1.01 + 1e-4
		more, err := Calibrate(t.Context(), plan(noise), larger)
		if err != nil {
			t.Fatal(err)
		}
		if g.Solve == NoiseMultiplier && more.Value > c.Value*(1+1e-6) || g.Solve == Count && more.Value < c.Value {
			t.Fatalf("ε = %v asks for %v, ε = %v for %v", g.Epsilon, c.Value, larger.Epsilon, more.Value)
		}
	})
}

// TestCalibrateEveryKind: what is returned meets the budget and the neighbouring
// value does not, for every kind of step and quantity.
func TestCalibrateEveryKind(t *testing.T) {
	slow.Test(t)
	const several = `neighbors: add-remove
steps:
  - {name: statistics, mechanism: {laplace: {noise-multiplier: 20}}, count: 3}
  - {name: training, mechanism: {gaussian: {noise-multiplier: 1.1}}, sampling: {poisson: {rate: 0.01}}, count: 300}
  - name: months
    count: 12
    steps:
      - {name: survey, mechanism: {randomized-response: {probability: 0.9, categories: 4}}, sampling: {poisson: {rate: 0.01}}}
      - {mechanism: {discrete-gaussian: {noise-multiplier: 40}}}
`
	const training = `neighbors: add-remove
steps: [{name: training, mechanism: {gaussian: {noise-multiplier: 1.1}}, sampling: {poisson: {rate: 0.01}}, count: 300}]`
	const fixed = `neighbors: substitute
steps: [{mechanism: {gaussian: {noise-multiplier: 4}}, sampling: {without-replacement: {population: 1000, batch: 10}}, count: 100}]`
	const must = `neighbors: substitute
steps: [{mechanism: {gaussian: {noise-multiplier: 8}}, sampling: {must-ow: {population: 1000, subset: 100, batch: 100}}, count: 20}]`
	const pick = `neighbors: add-remove
steps:
  - {selection: {law: geometric, mean: 3}, steps: [{mechanism: {gaussian: {noise-multiplier: 3}}}]}
  - {mechanism: {gaussian: {noise-multiplier: 3}}, count: 2}`
	const vote = `neighbors: add-remove
steps: [{mechanism: {majority: {mechanisms: 11, epsilon: 0.1, allowance: 3}}, count: 10}]`
	for i, c := range []struct {
		name, plan string
		g          Goal
		accuracy   float64 // 0: as fine as it gets
	}{
		{"all steps", several, Goal{Epsilon: 2, Delta: 1e-5}, 1e-4},
		{"named step", several, Goal{Epsilon: 2, Delta: 1e-5, Step: "training"}, 1e-4},
		{"group", several, Goal{Epsilon: 2, Delta: 1e-5, Step: "months"}, 1e-3},
		{"step of a group", several, Goal{Epsilon: 2, Delta: 1e-5, Step: "steps[2].steps[1]"}, 1e-3},
		{"count of a step", several, Goal{Epsilon: 2, Delta: 1e-5, Solve: Count, Step: "training"}, 0},
		{"count of a group", several, Goal{Epsilon: 2.5, Delta: 1e-5, Solve: Count, Step: "months"}, 0},
		{"count of all", several, Goal{Epsilon: 4, Delta: 1e-5, Solve: Count}, 1e-3},
		{"rates of all", several, Goal{Epsilon: 2, Delta: 1e-5, Solve: Rate}, 1e-4},
		{"rate of a step", several, Goal{Epsilon: 2, Delta: 1e-5, Solve: Rate, Step: "training"}, 1e-5},
		{"batch of a step", several, Goal{Epsilon: 2, Delta: 1e-5, Solve: Batch, Step: "training", Examples: 20000}, 0},
		{"ε near 0", training, Goal{Epsilon: 0, Delta: 0.05, Step: "training"}, 1e-3},
		{"fixed size, noise", fixed, Goal{Epsilon: 0.5, Delta: 1e-5}, 1e-4},
		{"fixed size, batch", fixed, Goal{Epsilon: 0.5, Delta: 1e-5, Solve: Batch}, 0},
		{"fixed size, count", fixed, Goal{Epsilon: 0.5, Delta: 1e-5, Solve: Count}, 0},
		{"MUST, noise", must, Goal{Epsilon: 1, Delta: 1e-5}, 1e-3},
		{"MUST, count", must, Goal{Epsilon: 2, Delta: 1e-5, Solve: Count}, 1e-3},
		{"selection, noise", pick, Goal{Epsilon: 4, Delta: 1e-5}, 2e-2},
		{"selection, count", pick, Goal{Epsilon: 8, Delta: 1e-5, Solve: Count}, 0},
		{"majority, count", vote, Goal{Epsilon: 4, Delta: 1e-5, Solve: Count}, 0},
	} {
		if i%3 == 0 && !slow.All() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			p, err := ParsePlan([]byte(c.plan))
			if err != nil {
				t.Fatal(err)
			}
			var opts []Options
			if c.accuracy > 0 {
				opts = append(opts, Options{Accuracy: c.accuracy})
			}
			got, err := Calibrate(t.Context(), p, c.g, opts...)
			if err != nil {
				t.Fatal(err)
			}
			if why := bracketProblem(got, c.g); why != "" {
				t.Error(why)
			}
			if got.Unlimited {
				t.Error("unlimited")
			}
			// The default accuracy sees the same, if less clearly.
			iv := judged(t, got.Plan, c.g, got.Asked, 1e-3)
			budget := c.g.Epsilon
			if got.Asked == "delta" {
				budget = c.g.Delta
			}
			lower := iv.Lower
			if iv.Gap != nil {
				lower = iv.Gap.Proved.Lower
			}
			if lower > budget || iv.Upper < budget*0.5 {
				t.Errorf("the plan at %v costs %v to %v, budget %v", got.Value, lower, iv.Upper, budget)
			}
			t.Logf("%v, %d evaluations", got.Value, got.Evaluations)
		})
	}
}
