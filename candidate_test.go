package accountant

import (
	"context"
	"errors"
	"testing"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
	"github.com/dpaccountant/accountant/subsample"
)

// training adds runs of sampled Gaussian noise.
func training(t *testing.T, a *Accountant, count int64) {
	t.Helper()
	m, err := profiles.NewGaussianMechanism(1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := subsample.NewPoisson(0.01)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Add(t.Context(), Step{Mechanism: m, Sampling: s}, count); err != nil {
		t.Fatal(err)
	}
}

// TestCandidateEndsWithTheTotal: a candidate has no values of the steps that are added after it, which would be too large for it from below.
func TestCandidateEndsWithTheTotal(t *testing.T) {
	law, err := selection.Config{Law: "geometric", Mean: 10}.Build()
	if err != nil {
		t.Fatal(err)
	}
	price := selection.PriceOfBest(law)
	ask := func(c *selection.Candidate) (lower, upper float64, err error) {
		return price.Epsilon(t.Context(), c, 1e-5, 1e-3)
	}
	a := New(profiles.AddRemove, Options{Accuracy: 1e-3})
	training(t, a, 100)
	few, err := a.Candidate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	training(t, a, 2000)
	if lower, upper, err := ask(few); err == nil {
		t.Errorf("ε of 100 steps in [%v, %v] after more are added", lower, upper)
	}
	many, err := a.Candidate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if lower, upper, err := ask(many); err != nil || !(lower > 3.8 && upper < 3.9) {
		t.Errorf("ε of all steps in [%v, %v] (%v), want [3.870, 3.874]", lower, upper, err)
	}
}

// TestCancelledInquiry: what a cancelled context did not ask, or one without work, is asked under the next one.
func TestCancelledInquiry(t *testing.T) {
	a := New(profiles.AddRemove, Options{Accuracy: 1e-3})
	training(t, a, 100)
	ask := func(ctx context.Context, done float64) error { // with so little work left that far losses are asked first
		ctx = parallel.WithWork(ctx, 1e8)
		if _, err := a.Candidate(ctx); err != nil {
			t.Fatal(err)
		}
		if err := parallel.Spend(ctx, done*1e8); err != nil {
			t.Fatal(err)
		}
		_, err := a.inquiry.delta(a.inquiry.t.upper[0], 0.5)
		return err
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := ask(ctx, 0.7); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v under a cancelled context", err)
	}
	for _, done := range []float64{1, 0.7} {
		if err := ask(t.Context(), done); err != nil {
			t.Fatal(err)
		}
	}
	if far := a.inquiry.known[a.inquiry.t.upper[0]].upper(50); !(far < 1e-12) {
		t.Errorf("δ(50) ≤ %v, with work for the far end", far)
	}
}
