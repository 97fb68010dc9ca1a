package darrm

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// patience is a context that is cancelled when it was asked so many times.
type patience struct {
	context.Context
	left atomic.Int64
}

func patient(ctx context.Context, left int64) *patience {
	p := &patience{Context: ctx}
	p.left.Store(left)
	return p
}

func (p *patience) Err() error {
	if p.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Whenever a context ends, Optimize returns its error: once, when it ended just after the
// program had been solved, there was neither a solution nor an error, and the next step panicked.
func TestOptimizeIsCancelledMidway(t *testing.T) {
	p := Params{Mechanisms: 11, Epsilon: 0.1, Allowance: 3}
	whole := patient(t.Context(), 1<<30)
	if _, err := Optimize(whole, p, Surrogate{0.75}, Options{}); err != nil {
		t.Fatal(err)
	}
	asked := 1<<30 - whole.left.Load()
	for i := range asked {
		if r, err := Optimize(patient(t.Context(), i), p, Surrogate{0.75}, Options{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled after %d looks of %d: %v, %v", i, asked, r, err)
		}
	}
	t.Logf("%d looks", asked)
}
