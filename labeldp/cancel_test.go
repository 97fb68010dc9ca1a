package labeldp

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/random"
)

// Once its context is done a call returns the context's error.
func TestCancelled(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	labels, weights := make([]float64, 50), make([]float64, 50)
	counts := make([]int64, 50)
	for i := range labels {
		labels[i], weights[i], counts[i] = float64(i), math.Exp(-float64(i)/10), 1000
	}
	p, err := NewPrior(labels, weights)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := FeasibleGrid(labels, 1, 200)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"OptimalUnbiased":     func() error { _, _, err := OptimalUnbiased(gone, p, 1); return err },
		"OptimalUnbiasedGrid": func() error { _, _, err := OptimalUnbiasedGrid(gone, p, 1, grid); return err },
		"BiasLimited":         func() error { _, _, err := BiasLimited(gone, p, 1, 0.1, grid); return err },
		"Methods":             func() error { _, _, err := Methods(gone, p, 1); return err },
		"Design": func() error {
			_, _, _, _, err := Plan{Labels: labels, Epsilon: 1}.Design(gone, [][]int64{counts}, random.Seeded(1))
			return err
		},
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
