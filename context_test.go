package accountant_test

import (
	"context"
	"errors"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
)

// TestCancelled: every long call returns the error of a cancelled context, and
// changes nothing.
func TestCancelled(t *testing.T) {
	plan, err := plan.Parse(t.Context(), []byte("neighbors: add-remove\nsteps: [{mechanism: {laplace: {noise-multiplier: 2}}, sampling: {poisson: {rate: 0.1}}, count: 30}]"))
	if err != nil {
		t.Fatal(err)
	}
	acct := accountant.New(plan.Neighbors)
	if err := acct.AddPlan(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	noise, err := profiles.NewGaussianMechanism(3)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	goal := accountant.Goal{Epsilon: 1, Delta: 1e-5, Solve: accountant.NoiseMultiplier}
	for name, call := range map[string]func() error{
		"Epsilon":      func() error { _, err := acct.Epsilon(ctx, 1e-5); return err },
		"Delta":        func() error { _, err := acct.Delta(ctx, 1); return err },
		"EpsilonCurve": func() error { _, err := acct.EpsilonCurve(ctx, []float64{1e-5}); return err },
		"DeltaCurve":   func() error { _, err := acct.DeltaCurve(ctx, []float64{1}); return err },
		"Risk":         func() error { _, err := acct.Risk(ctx, nil, nil); return err },
		"TradeOff":     func() error { _, err := acct.TradeOff(ctx, []float64{0.1}); return err },
		"Add":          func() error { return acct.Add(ctx, accountant.Step{Mechanism: noise}, 1) },
		"AddPlan":      func() error { return acct.AddPlan(ctx, plan) },
		"Calibrate":    func() error { _, err := accountant.Calibrate(ctx, plan, goal); return err },
		"Compare":      func() error { _, err := plan.Compare(ctx, 1e-5); return err },
		"StepsCurve":   func() error { _, err := plan.StepsCurve(ctx, 1e-5, 5); return err },
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want the context's error", name, err)
		}
	}
	if acct.Runs() != 30 {
		t.Errorf("%d runs after cancelled calls, want 30", acct.Runs())
	}
}
