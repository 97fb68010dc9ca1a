package plan_test

import (
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/selection"
)

func parse(t *testing.T, text string) *accountant.Plan {
	t.Helper()
	p, err := plan.Parse(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The best of a geometric number of pure candidates costs what package
// selection says in closed form: at δ far below every mass, its pure ε.
func TestSelectionStepPure(t *testing.T) {
	p := parse(t, `
neighbors: add-remove
steps:
  - selection: {law: geometric, mean: 10}
    mechanism: {pure: {epsilon: 1}}
`)
	acct := accountant.New(p.Neighbors)
	if err := acct.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	law, err := selection.Config{Law: "geometric", Mean: 10}.Build()
	if err != nil {
		t.Fatal(err)
	}
	want, err := selection.PriceOfBest(law).Pure(1)
	if err != nil {
		t.Fatal(err)
	}
	iv, err := acct.Epsilon(t.Context(), 1e-20)
	if err != nil {
		t.Fatal(err)
	}
	// Chords cost up to 1e-3 of ε (selectionAccuracy).
	if !(iv.Upper >= want-1e-12 && iv.Upper <= want+1e-3) {
		t.Errorf("upper ε = %v, want %v", iv.Upper, want)
	}
	if iv.Gap == nil || !(iv.Lower > want-5e-3 && iv.Lower <= want) {
		t.Errorf("lower ε = %v, want it attained to 5e-3 by one ranking", iv.Lower)
	}
}

// A tuned DP-SGD run, the candidate being a whole sub-plan: the price of
// selection.md §5.8's setting (σ = 1, q = 0.01, 1000 steps, geometric law of mean
// 10, δ = 1e-5): at most 2.6757 by Theorem U1 from the candidate's exact profile, against 4.103 from
// its Rényi curve (Papernot and Steinke 2022). It composes with other steps, and
// two selections cost more than one.
func TestSelectionOfASubPlan(t *testing.T) {
	slow.Test(t)
	const text = `
neighbors: add-remove
steps:
  - selection: {law: geometric, mean: 10}
    steps:
      - mechanism: {gaussian: {noise-multiplier: 1}}
        sampling: {poisson: {rate: 0.01}}
        count: 1000
`
	upper := func(text string) float64 {
		p := parse(t, text)
		acct := accountant.New(p.Neighbors)
		if err := acct.AddPlan(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		iv, err := acct.Epsilon(t.Context(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		return iv.Upper
	}
	one := upper(text)
	// As a profile it costs a chord more, 1e-3.
	if !(one > 2.6753 && one < 2.6757+1.5e-3) {
		t.Errorf("ε = %v, want about 2.676", one)
	}
	more := upper(text + "  - mechanism: {laplace: {noise-multiplier: 20}}\n")
	if !(more > one && more < one+0.05+1e-3) {
		t.Errorf("with one Laplace step of ε = 0.05 it is %v, alone %v", more, one)
	}
	p := parse(t, text)
	c, err := p.RDP()
	if err != nil {
		t.Fatal(err)
	}
	viaRDP, _, err := rdp.Epsilon(c, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if !(viaRDP > one && viaRDP < 4.1029) {
		t.Errorf("by Rényi accounting ε = %v, want it above %v and below 4.1029", viaRDP, one)
	}
}

func TestSelectionStepErrors(t *testing.T) {
	for _, c := range []struct{ selection, want string }{
		{"{law: geometric, mean: 0.5}", "line 4: steps[0].selection.mean: 0.5 is not in [1, 1e+15]"},
		{"{law: geometic}", `line 4: steps[0].selection.law: "geometic" is not one of geometric, logarithmic, negative-binomial, poisson, binomial, fixed; did you mean "geometric"?`},
		{"{law: foo}", `line 4: steps[0].selection.law: "foo" is not one of geometric, logarithmic, negative-binomial, poisson, binomial, fixed`},
		{"{mean: 3}", "line 4: steps[0].selection: law is missing; must be geometric, logarithmic, negative-binomial, poisson, binomial or fixed"},
		{"{law: poisson, mean: 3, max: 2}", "line 4: steps[0].selection.max: 2 is set, not allowed with law poisson"},
		{"{law: geometric}", "line 4: steps[0].selection: mean, gamma: exactly one must be set for law \"geometric\""},
		{"{law: geometric, mean: 3, means: 2}", "line 4: steps[0].selection: unknown key \"means\"; did you mean \"mean\"?"},
		{"[1]", "line 4: steps[0].selection: a list is not a selection such as {law: geometric, mean: 10}"},
	} {
		_, err := plan.Parse(t.Context(), []byte("\nneighbors: add-remove\nsteps:\n  - selection: "+c.selection+"\n    mechanism: {pure: {epsilon: 1}}\n"))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.selection, err, c.want)
		}
	}
}
