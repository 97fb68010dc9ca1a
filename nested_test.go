package accountant_test

import (
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
)

// TestNestedSearches: a search in a search has a lower end above 0 and a finite upper one within its limit of work, and so
// has one whose candidate takes all that is left for its upper ends.
func TestNestedSearches(t *testing.T) {
	slow.Test(t)
	law := func(name string, mean float64) *selection.Config { return &selection.Config{Law: name, Mean: mean} }
	const limit = 2.5e8 // the default of the command
	gaussian := must(t)(profiles.NewGaussianMechanism(3))
	laplace := must(t)(profiles.NewLaplaceMechanism(3))
	inner := accountant.Step{Selection: law("poisson", 10), Steps: []accountant.Step{gaussian, laplace}, Count: 1}
	for _, k := range []struct {
		name        string
		step        accountant.Step
		least, most float64
	}{
		{name: "two levels", step: accountant.Step{Selection: law("geometric", 10), Steps: []accountant.Step{inner}, Count: 1}, least: 2, most: 7.3},
		// Told as ε ≤ 534,300 before, as no work was left for small δ of the second direction.
		{name: "three levels", step: accountant.Step{Selection: &selection.Config{Law: "binomial", Max: 1000, Mean: 10}, Count: 1, Steps: []accountant.Step{
			{Selection: &selection.Config{Law: "binomial", Max: 1000, Mean: 10}, Steps: []accountant.Step{inner}, Count: 1}}}, least: 1e-3, most: 30},
		// Minutes before, as each value of f' took as long as a million exponentials, and no limit knew.
		{name: "a million runs", step: accountant.Step{Selection: &selection.Config{Law: "geometric", Gamma: 1e-5, Max: 1_000_000}, Steps: []accountant.Step{laplace}, Count: 1}, least: -1e-4, most: 1.01},
	} {
		a := accountant.New(profiles.AddRemove, accountant.Options{WorkLimit: limit})
		ctx := parallel.WithWork(t.Context(), limit)
		if err := a.Add(ctx, k.step, 1); err != nil {
			t.Fatal(err)
		}
		iv, err := a.Epsilon(ctx, 1e-5)
		spent, _ := parallel.Work(ctx)
		if err != nil || !(iv.Lower >= k.least && iv.Upper <= k.most) {
			t.Errorf("%s: [%v, %v], %v; want within [%v, %v]", k.name, iv.Lower, iv.Upper, err, k.least, k.most)
		}
		// A search and the answer have a limit each.
		if spent > 2*limit {
			t.Errorf("%s: %.3g of work, more than %.3g", k.name, spent, 2*limit)
		}
		t.Logf("%s: [%v, %v], work %.3g", k.name, iv.Lower, iv.Upper, spent)
	}
}

// TestTwoSearchesReachWhatTheyCost: rankings that interleave for one ε reach what two searches of ten runs of an (1, 1e-6) candidate cost,
// 19.27545 at δ = 1e-3. Merged rankings and two blocks alone reach 1.98.
func TestTwoSearchesReachWhatTheyCost(t *testing.T) {
	step := must(t)(profiles.NewApproximate(1, 1e-6))
	step.Selection, step.Count = &selection.Config{Law: "fixed", Max: 10}, 2
	a := accountant.New(profiles.Substitute)
	if err := a.Add(t.Context(), step, 1); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Epsilon(t.Context(), 1e-3)
	if err != nil || !(iv.Lower > 19.2754 && iv.Upper < 19.2755) {
		t.Errorf("[%v, %v], %v", iv.Lower, iv.Upper, err)
	}
}
