package ledger

import (
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
)

// TestSelectionsReplayed: selections spent between other steps, read again from the file, cost
// what a new accountant that holds the same steps says.
func TestSelectionsReplayed(t *testing.T) {
	slow.Test(t)
	const noise = "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 6}}}]\n"
	const search = "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 8}}, selection: {law: geometric, mean: 10}}]\n"
	const pure = "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 0.05}}, selection: {law: logarithmic, mean: 10}, count: 2}]\n"
	path := filepath.Join(t.TempDir(), "budget.ledger")
	l, err := Create(t.Context(), File(path), Config{Neighbors: profiles.AddRemove, Epsilon: 5, Delta: 1e-6, Mode: Planned})
	if err != nil {
		t.Fatal(err)
	}
	fresh := accountant.New(profiles.AddRemove)
	for _, text := range []string{noise, search, pure} {
		if err := l.SpendPlan(t.Context(), []byte(text), ""); err != nil {
			t.Fatal(err)
		}
		p, err := plan.Parse(t.Context(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := fresh.AddPlan(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	again, err := Open(t.Context(), File(path))
	if err != nil {
		t.Fatal(err)
	}
	want, err := fresh.Epsilon(t.Context(), 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for what, l := range map[string]*Ledger{"as spent": l, "read again": again} {
		st, err := l.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// What an accountant was asked before moves digits that it does not certify: the total
		// is asked to a relative 1e-3, and the two agree far closer.
		near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-6*y }
		if got := st.Spent.Epsilon; !near(got.Lower, want.Lower) || !near(got.Upper, want.Upper) || st.Entries != 3 || !(got.Lower > 0 && got.Upper < 5) {
			t.Errorf("%s: %d entries cost [%v, %v], a new accountant says [%v, %v]", what, st.Entries, got.Lower, got.Upper, want.Lower, want.Upper)
		}
	}
	// A search that does not fit is refused and leaves nothing behind.
	const dear = "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 1}}, selection: {law: geometric, mean: 10}}]\n"
	if err := again.SpendPlan(t.Context(), []byte(dear), ""); !errors.Is(err, ErrBudget) {
		t.Errorf("a search that does not fit: %v", err)
	}
	if st, err := again.Status(t.Context()); err != nil || st.Entries != 3 {
		t.Errorf("after a refusal: %d entries, %v", st.Entries, err)
	}
}
