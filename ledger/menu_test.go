package ledger

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const menuText = `neighbors: add-remove
budget: {units: 9, delta: 0.02}
menu:
  - {name: a, cost: 1, steps: [{mechanism: {pure: {epsilon: 0.1}}}]}
  - {name: b, cost: 4, steps: [{mechanism: {gaussian: {noise-multiplier: 10}}, sampling: {poisson: {rate: 0.1}}, count: 3}]}
`

func menuLedger(t *testing.T, path string) *Ledger {
	t.Helper()
	l, err := Create(t.Context(), File(path), Config{Mode: AdaptiveMenu, Menu: &MenuConfig{Text: menuText}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestMenu: types and dominated plans are charged in units, refused where they are not left, and the file has all that decides.
func TestMenu(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.ledger")
	l := menuLedger(t, path)
	if c := l.Config(); c.Menu.Units != 9 || len(c.Menu.Odometer) != 9 || c.Epsilon != c.Menu.Odometer[8].Epsilon || c.Delta != 0.02 {
		t.Fatalf("%+v", c.Menu)
	}
	dominated := `{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":11}},"sampling":{"poisson":{"rate":0.05}},"count":2}]}`
	louder := strings.Replace(dominated, "11", "9", 1)
	often := strings.Replace(dominated, `"count":2`, `"count":4`, 1)
	for _, c := range []struct {
		spend string
		fits  bool
		used  int
	}{{`{"type":"b"}`, true, 4}, {dominated, true, 8}, {`{"type":"b"}`, false, 8}, {`{"type":"a"}`, true, 9}, {`{"type":"a"}`, false, 9}} {
		err := l.SpendPlan(t.Context(), []byte(c.spend), "")
		if (err == nil) != c.fits || err != nil && !errors.Is(err, ErrBudget) {
			t.Fatalf("%s: %v", c.spend, err)
		}
		st, err := l.Status(t.Context())
		if err != nil || st.Spent.Units != c.used || st.Left != float64(9-c.used) {
			t.Errorf("%s: %+v, %v left, want %d (%v)", c.spend, st.Spent, st.Left, c.used, err)
		}
	}
	for _, refused := range []string{louder, often, `{"type":"c"}`, `{"type":"a","count":2}`, strings.Replace(dominated, "add-remove", "substitute", 1)} {
		if err := l.SpendPlan(t.Context(), []byte(refused), ""); err == nil || errors.Is(err, ErrBudget) {
			t.Errorf("%s: %v", refused, err)
		}
	}
	again, err := Open(t.Context(), File(path))
	if err != nil {
		t.Fatal(err)
	}
	if st, err := again.Status(t.Context()); err != nil || st.Spent.Units != 9 || st.Entries != 3 {
		t.Errorf("read again: %+v (%v)", st, err)
	}
	if err := again.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Spent.Units != 9 {
		t.Errorf("checked: %+v (%v)", st, err)
	}
}

// TestMenuChecked: a first line with more units than the budget allows is found by Verify.
func TestMenuChecked(t *testing.T) {
	m := &memory{}
	c := Config{Mode: AdaptiveMenu, Menu: &MenuConfig{Text: menuText}}
	if err := c.price(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Menu.Units = 12
	line, err := firstLine(&c)
	if err != nil {
		t.Fatal(err)
	}
	m.lines, m.last = 1, line
	if _, err := Verify(t.Context(), m, ""); err == nil || !strings.Contains(err.Error(), "12 units cost δ of at least") {
		t.Errorf("12 units: %v", err)
	}
	c.Menu.Units = 1<<53 + 1
	if _, err := firstLine(&c); err == nil || !strings.Contains(err.Error(), "within 9007199254740993 units") {
		t.Errorf("units that are not exact: %v", err)
	}
}

// TestMenuSpendIsFast: a spend takes at most 5 ms once the menu is priced, on the median.
func TestMenuSpendIsFast(t *testing.T) {
	l, err := New(Config{Mode: AdaptiveMenu, Menu: &MenuConfig{Text: strings.Replace(menuText, "units: 9", "units: 120", 1)}})
	if err != nil {
		t.Fatal(err)
	}
	fast := 0
	for range 101 {
		begin := time.Now()
		if err := l.SpendPlan(t.Context(), TypeText("a"), ""); err != nil {
			t.Fatal(err)
		}
		if time.Since(begin) < 5*time.Millisecond {
			fast++
		}
	}
	if fast < 51 {
		t.Errorf("%d of 101 spends within 5 ms", fast)
	}
}
