package service

import (
	"strings"
	"testing"
)

// TestPanic: a defect is an answer, not the end.
func TestPanic(t *testing.T) {
	s := New(nil)
	s.ledgers = nil // opening one panics now
	a := s.Answer(t.Context(), []byte(`{"id": 1, "op": "ledger-create", "neighbors": "add-remove", "epsilon": 1, "delta": 0, "mode": "planned"}`))
	if !strings.Contains(a.Stack, "LedgerCreate") {
		t.Errorf("the stack is %q", a.Stack)
	}
	data, err := Marshal(a)
	if err != nil || strings.Contains(string(data), "tack") || !strings.Contains(string(data), `"kind":"internal"`) {
		t.Errorf("%s, %v", data, err)
	}
}
