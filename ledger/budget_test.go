package ledger

import (
	"errors"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/subsample"
)

// A refusal is the same error whoever refuses: a ledger of either mode or a filter.
func TestErrBudgetIsTheFilters(t *testing.T) {
	refused := map[string]error{}
	for _, mode := range []Mode{Planned, Adaptive} {
		l, err := New(Config{Neighbors: profiles.AddRemove, Epsilon: 1, Delta: 1e-5, Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		refused[string(mode)] = l.SpendPlan(t.Context(), []byte(`neighbors: add-remove
steps: [{mechanism: {laplace: {noise-multiplier: 0.1}}}]`), "")
	}
	f, err := rdp.NewFilter(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	laplace, err := profiles.NewLaplaceMechanism(0.1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := rdp.Of(laplace, nil, profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	refused["filter"] = f.Fits(c)
	for who, err := range refused {
		if !errors.Is(err, ErrBudget) || !errors.Is(err, rdp.ErrBudget) {
			t.Errorf("%s: %v is not ErrBudget of both packages", who, err)
		}
	}
}

// TestDeepGroups: what is refused for its depth is refused by its name, and what is not reads back.
func TestDeepGroups(t *testing.T) {
	m, err := profiles.NewGaussianMechanism(1)
	if err != nil {
		t.Fatal(err)
	}
	s := accountant.Step{Mechanism: m, Count: 1}
	for depth := range maxDepth + 2 {
		_, err := planText(s, Config{Neighbors: profiles.AddRemove})
		if depth <= maxDepth && err != nil || depth > maxDepth && (err == nil || !strings.Contains(err.Error(), "nested more than")) {
			t.Fatalf("%d groups: %v", depth, err)
		}
		s = accountant.Step{Steps: []accountant.Step{s}, Count: 1}
	}
}

// TestNoStep: a step that no plan can say is refused, and not written down as another one.
func TestNoStep(t *testing.T) {
	m, err := profiles.NewGaussianMechanism(1)
	if err != nil {
		t.Fatal(err)
	}
	sample, err := subsample.NewPoisson(0.1)
	if err != nil {
		t.Fatal(err)
	}
	inner := []accountant.Step{{Mechanism: m}}
	for name, s := range map[string]accountant.Step{
		"nothing": {}, "no mechanism": {Count: 2}, "negative": {Mechanism: m, Count: -1}, "both": {Mechanism: m, Steps: inner},
		"sampled group": {Sampling: sample, Steps: inner}, "sampling alone": {Sampling: sample}, "inner": {Steps: []accountant.Step{{}}},
	} {
		if text, err := planText(s, Config{Neighbors: profiles.AddRemove}); err == nil {
			t.Errorf("%s: written as %s", name, text)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}
