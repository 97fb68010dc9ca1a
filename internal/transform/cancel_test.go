package transform

import (
	"context"
	"errors"
	"testing"
)

// patience is a context that is cancelled when it was asked so many times.
type patience struct {
	context.Context
	left int
}

func (p *patience) Err() error {
	if p.left--; p.left < 0 {
		return context.Canceled
	}
	return nil
}

// A line that is long in the making ends soon after its context, with the error of that.
func TestLineIsCancelledMidway(t *testing.T) {
	laplace := NewOppositeLaplace(10, 0, 0.01)
	for _, k := range []struct {
		name string
		tr   Transform
	}{
		{"mixture", poisson(1e-4, 1)},
		{"its reverse", poisson(1e-4, 1).Reverse()},
		{"Laplace", laplace},
	} {
		whole := &patience{t.Context(), 1 << 30}
		if _, err := k.tr.Line(whole, 20, 3000, 1e-14, 0); err != nil {
			t.Fatalf("%s: %v", k.name, err)
		}
		asked := 1<<30 - whole.left
		if asked < 1 {
			t.Errorf("%s: the context is not looked at", k.name)
		}
		for i := range min(asked, 3) {
			if _, err := k.tr.Line(&patience{t.Context(), i}, 20, 3000, 1e-14, 0); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: cancelled after %d looks, the error is %v", k.name, i, err)
			}
		}
		t.Logf("%s: %d looks", k.name, asked)
	}
}
