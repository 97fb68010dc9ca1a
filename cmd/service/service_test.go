package service

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/dpaccountant/accountant"
)

// TestPanic: a defect is an answer, not the end.
func TestPanic(t *testing.T) {
	s := New(nil)
	s.ledgers = nil // opening one panics now
	a := s.Answer(t.Context(), []byte(`{"id": 1, "op": "ledger-create", "neighbors": "add-remove", "epsilon": 1, "delta": 0, "mode": "planned"}`))
	if !strings.Contains(a.Stack, "ledgerCreate") {
		t.Errorf("the stack is %q", a.Stack)
	}
	data, err := Marshal(a)
	if err != nil || strings.Contains(string(data), "tack") || !strings.Contains(string(data), `"kind":"internal"`) {
		t.Errorf("%s, %v", data, err)
	}
}

// TestSharedPlans: at a shared door a question about a plan that others ask about does not wait for their turn, while it keeps a
// place from everybody else.
func TestSharedPlans(t *testing.T) {
	const plan = "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 1}}}]"
	s := NewShared(nil)
	sv, err := s.served(t.Context(), PlanText(plan), Limits{}, Narrowing{})
	if err != nil {
		t.Fatal(err)
	}
	sv.turn <- struct{}{} // another one is asking, without an end
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if err := sv.ask(ctx, func(a *accountant.Accountant) error {
		_, err := a.Epsilon(ctx, 1e-5)
		return err
	}); err != nil {
		t.Errorf("a question beside another one: %v", err)
	}
	if sv.acct != nil {
		t.Error("the accountant of the other one was replaced")
	}
}
