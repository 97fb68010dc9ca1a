package selection_test

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/slow"
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
	slow.Test(t)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	plan, err := plan.Parse(t.Context(), []byte(trainingPlan))
	check(err)
	run := accountant.New(plan.Neighbors)
	check(run.AddPlan(t.Context(), plan))
	candidate := selection.FromDelta(func(eps float64) (float64, error) {
		iv, err := run.Delta(t.Context(), eps)
		return iv.Upper, err
	})
	law, err := selection.Config{Law: "geometric", Mean: 10}.Build()
	check(err)
	price := selection.PriceOfBest(law)
	one0, err := run.Candidate(t.Context())
	check(err)
	_, direct, err := price.Epsilon(t.Context(), one0, 1e-5, 1e-5)
	check(err)
	bound, err := price.Profile(context.Background(), candidate)
	check(err)
	want, err := bound.Epsilon(context.Background(), 1e-5)
	check(err)
	if math.Abs(want-2.87097) > 5e-3 { // selection.md §5.8, from another accountant's δ_Q
		t.Errorf("ε(1e-5) = %v, want about 2.87097", want)
	}
	m, err := price.Bounds(context.Background(), "selection", plan.Neighbors, one0, 1e-3, -40)
	check(err)
	if !m.TheoryGap() || m.Directions[0].Lower == nil {
		t.Error("one ranking for all ε leaves a gap, but there is one")
	}

	one := accountant.New(plan.Neighbors)
	check(one.AddBounds(m, 1))
	iv, err := one.Epsilon(t.Context(), 1e-5)
	check(err)
	if iv.Upper < direct*(1-1e-6) || iv.Upper > direct+1e-3 || !(iv.Lower > 0.98*iv.Upper) {
		t.Errorf("through the accountant ε(1e-5) = [%v, %v], directly %v", iv.Lower, iv.Upper, direct)
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

// TestCertifiedTraining: the table of selection-exact.md, section 0, of DP-SGD with noise
// multiplier 1, rate 0.01 and 1000 steps (estimates there, from a loss lattice with an error
// of about 1e-3 that both ends share).
func TestCertifiedTraining(t *testing.T) {
	p, err := plan.Parse(t.Context(), []byte(trainingPlan))
	if err != nil {
		t.Fatal(err)
	}
	run := accountant.New(p.Neighbors)
	if err := run.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	one, err := run.Candidate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	law := func(l selection.Law, err error) selection.Law {
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, c := range []struct {
		name       string
		law        selection.Law
		lower, top float64
	}{
		{"geometric 10", law(selection.Config{Law: "geometric", Mean: 10}.Build()), 2.6753, 2.6757},
		{"geometric 100", law(selection.Config{Law: "geometric", Mean: 100}.Build()), 3.4791, 3.4797},
		{"shape ½ 10", law(selection.Config{Law: "negative-binomial", Shape: 0.5, Mean: 10}.Build()), 2.6203, 2.6206},
		{"Poisson 10", law(selection.Config{Law: "poisson", Mean: 10}.Build()), 3.2952, 3.2964},
	} {
		lo, hi, err := selection.PriceOfBest(c.law).Epsilon(t.Context(), one, 1e-5, 1e-5)
		if err != nil || !(lo <= hi && math.Abs(lo-c.lower) < 1.5e-3 && math.Abs(hi-c.top) < 1.5e-3 && hi-lo < 1.5e-3) {
			t.Errorf("%s: [%v, %v], %v; want [%v, %v]", c.name, lo, hi, err, c.lower, c.top)
		}
		t.Logf("%s [%.6f, %.6f]", c.name, lo, hi)
	}
}
