package accountant_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/plan"
)

func TestWithProgress(t *testing.T) {
	plan, err := plan.Parse(t.Context(), []byte("neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 2}}, count: 3}]"))
	if err != nil {
		t.Fatal(err)
	}
	var got [][2]int
	told := accountant.Options{Progress: func(done, total int) { got = append(got, [2]int{done, total}) }}
	acct := accountant.New(plan.Neighbors, told)
	if err := acct.AddPlan(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	counted := func(total int) (all [][2]int) {
		for i := range total + 1 {
			all = append(all, [2]int{i, total})
		}
		return all
	}
	for _, c := range []struct {
		name string
		run  func() error
		want [][2]int
	}{
		{"Epsilon", func() error { _, err := acct.Epsilon(t.Context(), 1e-5); return err }, nil},
		{"DeltaCurve", func() error { _, err := acct.DeltaCurve(t.Context(), []float64{0, 1}); return err }, counted(2)},
		{"StepsCurve, as long as the plan", func() error { _, err := plan.StepsCurve(t.Context(), 1e-5, 5, told); return err }, counted(5)},
		{"TradeOff", func() error { _, err := acct.TradeOff(t.Context(), []float64{0.1, 0.2, 0.3}); return err }, counted(3)},
		{"Risk", func() error { _, err := acct.Risk(t.Context(), []float64{0.1}, []float64{0.5}); return err }, counted(1)},
	} {
		got = nil
		if err := c.run(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	got = nil
	c, err := accountant.Calibrate(t.Context(), plan, accountant.Goal{Epsilon: 2, Delta: 1e-5, Solve: accountant.Count}, told)
	if err != nil {
		t.Fatal(err)
	}
	var want [][2]int
	for i := range c.Evaluations {
		want = append(want, [2]int{i + 1, 0})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Calibrate: %s", diff)
	}
}
