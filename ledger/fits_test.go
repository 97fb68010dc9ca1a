package ledger

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
)

// What fits can be spent so many times, and not once more; nothing is spent by the question.
func TestFits(t *testing.T) {
	laplace := []byte("neighbors: add-remove\nsteps: [{mechanism: {laplace: {noise-multiplier: 400}}, count: 60}]\n")
	gaussian := []byte("neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 30}}}]\n")
	dpsgd := []byte("neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 2}}, sampling: {poisson: {rate: 0.01}}, count: 100}]\n")
	for _, c := range []struct {
		mode  Mode
		first []byte
		plan  []byte
	}{
		{Planned, nil, laplace}, {Planned, gaussian, gaussian}, {Planned, laplace, dpsgd},
		{Adaptive, nil, laplace}, {Adaptive, laplace, dpsgd}, {AdaptiveGaussian, nil, gaussian}, {AdaptiveGaussian, gaussian, gaussian},
	} {
		path := filepath.Join(t.TempDir(), "budget.ledger")
		l, err := Create(t.Context(), File(path), Config{Neighbors: profiles.AddRemove, Epsilon: 1, Delta: 1e-6, Mode: c.mode})
		if err != nil {
			t.Fatal(err)
		}
		if c.first != nil {
			if err := l.SpendPlan(t.Context(), c.first, ""); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := os.ReadFile(path)
		n, refusal, err := l.Fits(t.Context(), c.plan, 1e6)
		if err != nil || n < 2 || !errors.Is(refusal, ErrBudget) {
			t.Errorf("%s: %d, %v, %v", c.mode, n, refusal, err)
			continue
		}
		for limit := range int64(3) {
			if m, refusal, err := l.Fits(t.Context(), c.plan, limit+1); m != min(n, limit+1) || err != nil || (m == limit+1) != (refusal == nil) {
				t.Errorf("%s, limit %d: %d, %v, %v", c.mode, limit+1, m, refusal, err)
			}
		}
		if after, _ := os.ReadFile(path); !slices.Equal(before, after) {
			t.Errorf("%s: the file has changed", c.mode)
		}
		for i := range n {
			if err := l.SpendPlan(t.Context(), c.plan, ""); err != nil {
				t.Fatalf("%s: spend %d of %d: %v", c.mode, i+1, n, err)
			}
		}
		if err := l.SpendPlan(t.Context(), c.plan, ""); !errors.Is(err, ErrBudget) {
			t.Errorf("%s: %d fit, and one more does: %v", c.mode, n, err)
		}
		if m, refusal, err := l.Fits(t.Context(), c.plan, 1e6); m != 0 || err != nil || !errors.Is(refusal, ErrBudget) {
			t.Errorf("%s: nothing is left, and %d fit: %v, %v", c.mode, m, refusal, err)
		}
	}
}

// Additions that are rounded one by one stay below what fits took them for.
func TestRepeated(t *testing.T) {
	for _, x := range []float64{0.1, 1.0 / 3, 1e-9, 0x1p-40} {
		total := 1.0
		budget := 2.0
		for n := int64(1); n <= 4000; n++ {
			total = math.Nextafter(total+x, math.Inf(1))
			if sum := math.Nextafter(1+repeated(x, budget, n), math.Inf(1)); total <= budget && sum < total {
				t.Fatalf("%d times %v: %v is less than %v", n, x, sum-1, total-1)
			}
		}
	}
	if got := repeated(0, 1, 1<<40); got != 0 {
		t.Errorf("nothing costs %v", got)
	}
}

func TestFitsRefusesBadInput(t *testing.T) {
	l, err := New(Config{Neighbors: profiles.AddRemove, Epsilon: 1, Mode: Planned})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Fits(t.Context(), []byte("neighbors: substitute\nsteps: [{mechanism: {pure: {epsilon: 1}}}]\n"), 1); err == nil || !strings.Contains(err.Error(), "is not the ledger's relation") {
		t.Error(err)
	}
	var wrong *fault.Error
	if _, _, err := l.Fits(t.Context(), nil, 0); !errors.As(err, &wrong) {
		t.Error(err)
	}
}

// The log has what was spent; a file that is something else is no ledger.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget.ledger")
	l, err := Create(t.Context(), File(path), Config{Neighbors: profiles.AddRemove, Epsilon: 1, Mode: Planned})
	if err != nil {
		t.Fatal(err)
	}
	const text = "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 0.1}}, count: 2}]\n"
	var heads []string
	for i := range 3 {
		if err := l.SpendPlan(t.Context(), []byte(text), fmt.Sprint("number ", i)); err != nil {
			t.Fatal(err)
		}
		st, err := l.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, st.Head)
	}
	var got []Entry
	c, err := Log(t.Context(), File(path), func(e Entry) { got = append(got, e) })
	if err != nil || c.Epsilon != 1 || len(got) != 3 {
		t.Fatalf("%v, %+v, %v", c, got, err)
	}
	for i, e := range got {
		if e.Sum != heads[i] || e.Note != fmt.Sprint("number ", i) || e.Plan != text || e.Runs != 2 || len(e.Steps) != 1 || e.Time == "" {
			t.Errorf("%d: %+v", i, e)
		}
	}
	other := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), File(other)); err == nil || !strings.Contains(err.Error(), "is no ledger: it does not begin as one") {
		t.Error(err)
	}
}

// What fits is admitted without another computation, whose interval might by chance end above the budget: also of a plan
// that is new, and until something else is spent.
func TestFitsIsKept(t *testing.T) {
	l, err := Create(t.Context(), File(filepath.Join(t.TempDir(), "budget.ledger")), Config{Neighbors: profiles.AddRemove, Epsilon: 1, Delta: 1e-6, Mode: Planned})
	if err != nil {
		t.Fatal(err)
	}
	const first, second = "neighbors: add-remove\nsteps:\n- {mechanism: {laplace: {noise-multiplier: 400}}, count: 60}\n", "neighbors: add-remove\nsteps:\n- mechanism: {gaussian: {noise-multiplier: 40}}\n"
	if err := l.SpendPlan(t.Context(), []byte(first), ""); err != nil {
		t.Fatal(err)
	}
	for _, plan := range []string{first, second} {
		n, refusal, err := l.Fits(t.Context(), []byte(plan), 1e6)
		if err != nil || n < 2 || refusal == nil {
			t.Fatal(n, refusal, err)
		}
		a, err := l.state.admission(entry{Plan: storedPlan([]byte(plan))})
		if err != nil {
			t.Fatal(err)
		}
		if !l.state.policy.admits(a) {
			t.Errorf("%d fit, and the first of them is not admitted: %s", n, plan)
		}
		j := l.state.policy.(*planned)
		if got := j.proved.of(j.index[a.text]) - j.counts.of(j.index[a.text]); got != n {
			t.Errorf("%d fit, %d are proved", n, got)
		}
	}
}

// TestRefusalIsNotRefined: a spend that is far above the budget is refused by a rough interval, which the message has as it is and
// which holds what a fine computation finds.
func TestRefusalIsNotRefined(t *testing.T) {
	text := []byte(`{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":1}},"sampling":{"random-allocation":{"steps":50}},"count":3}]}`)
	l, err := New(Config{Neighbors: profiles.AddRemove, Epsilon: 0.5, Delta: 1e-6, Mode: Planned})
	if err != nil {
		t.Fatal(err)
	}
	refusal := l.SpendPlan(t.Context(), text, "")
	if !errors.Is(refusal, ErrBudget) {
		t.Fatal(refusal)
	}
	var lower, upper float64
	_, ends, _ := strings.Cut(refusal.Error(), "ε to between ")
	if _, err := fmt.Sscanf(ends, "%g and %g at", &lower, &upper); err != nil {
		t.Fatalf("%v: %v", refusal, err)
	}
	p, err := plan.Parse(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	acct := p.Accountant()
	if err := acct.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	iv, err := acct.Epsilon(t.Context(), 1e-6)
	// The message has seven digits.
	if err != nil || !(lower <= iv.Upper*(1+1e-6) && upper >= iv.Upper*(1-1e-6) && lower > 0.5 && upper > lower) {
		t.Errorf("%v for %v, %v", refusal, iv, err)
	}
}
