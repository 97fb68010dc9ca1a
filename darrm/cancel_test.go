package darrm

import (
	"context"
	"errors"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// Once its context is done a call returns the context's error, also when it was
// not when the call began.
func TestCancelled(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	p := Params{Mechanisms: 11, Epsilon: 0.1, Allowance: 3}
	g := constant(11, 0.1)
	for name, call := range map[string]func() error{
		"Optimize":       func() error { _, err := Optimize(gone, p, Surrogate{0.75}, Options{}); return err },
		"BestConstant":   func() error { _, _, err := BestConstant(gone, p); return err },
		"Certify":        func() error { _, err := Certify(gone, p, g); return err },
		"privacyProfile": func() error { _, err := privacyProfile(gone, 11, 0.1, 0, g); return err },
		"NewMechanism":   func() error { _, err := newMechanism(gone, profiles.AddRemove, 11, 0.1, 0, g); return err },
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	rounds := 0
	_, err := Optimize(ctx, Params{Mechanisms: 101, Epsilon: 0.1, Allowance: 5}, Surrogate{0.75}, Options{Progress: func(int, float64) {
		rounds++
		cancel()
	}})
	if !errors.Is(err, context.Canceled) || rounds != 1 {
		t.Errorf("Optimize: %v after %d rounds", err, rounds)
	}
}
