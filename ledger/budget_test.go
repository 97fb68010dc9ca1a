package ledger

import (
	"errors"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
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
	refused["filter"] = f.Spend(c)
	for who, err := range refused {
		if !errors.Is(err, ErrBudget) || !errors.Is(err, rdp.ErrBudget) {
			t.Errorf("%s: %v is not ErrBudget of both packages", who, err)
		}
	}
}
