package selection_test

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
)

const trainingPlan = `neighbors: add-remove
steps:
  - mechanism: {gaussian: {noise-multiplier: 1}}
    sampling: {poisson: {rate: 0.01}}
    count: 1000
`

// Tuning a whole training run and composing the tuning with other mechanisms
// through the Fourier accountant.
func TestCompose(t *testing.T) {
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	plan, err := plan.Parse([]byte(trainingPlan))
	check(err)
	run := accountant.New(plan.Neighbors)
	check(run.AddPlan(t.Context(), plan))
	candidate := selection.FromDelta(func(eps float64) (float64, error) {
		iv, err := run.Delta(t.Context(), eps)
		return iv.Upper, err
	})
	law, err := selection.WithMean(1, 10)
	check(err)
	price := selection.PriceOfBest(law)
	bound, err := price.Profile(context.Background(), candidate)
	check(err)
	want, err := bound.Epsilon(context.Background(), 1e-5)
	check(err)
	if math.Abs(want-2.87097) > 5e-3 { // selection.md §5.8, from another accountant's δ_Q
		t.Errorf("ε(1e-5) = %v, want about 2.87097", want)
	}
	m, err := price.Bounds(context.Background(), "selection", plan.Neighbors, candidate, 1e-3, -40)
	check(err)
	if !m.TheoryGap() {
		t.Error("no attack is known that attains the price")
	}

	one := accountant.New(plan.Neighbors)
	check(one.AddBounds(m, 1))
	iv, err := one.Epsilon(t.Context(), 1e-5)
	check(err)
	if iv.Upper < want*(1-1e-9) || iv.Upper > want+5e-3 {
		t.Errorf("through the accountant ε(1e-5) = %v, directly %v", iv.Upper, want)
	}

	// Three selections and a Gaussian release cost less than their sum, and more
	// than the selections alone.
	all := accountant.New(plan.Neighbors)
	check(all.AddBounds(m, 3))
	three, err := all.Epsilon(t.Context(), 1e-5)
	check(err)
	gauss, err := profiles.NewGaussian(10)
	check(err)
	check(all.AddBounds(profiles.NewBounds("release", plan.Neighbors, gauss), 1))
	more, err := all.Epsilon(t.Context(), 1e-5)
	check(err)
	third, err := bound.Epsilon(context.Background(), 1e-5/3)
	check(err)
	if !(three.Upper < 0.9*3*third && three.Upper > iv.Upper && more.Upper > three.Upper) {
		t.Errorf("three selections: %v (basic composition %v), with a release %v", three.Upper, 3*third, more.Upper)
	}
}
