package plan

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// countdown is a context that is cancelled once it was looked at so many times.
type countdown struct {
	context.Context
	looks, left int
}

func (c *countdown) Err() error {
	c.looks++
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func (c *countdown) Done() <-chan struct{}       { return nil }
func (c *countdown) Deadline() (time.Time, bool) { return time.Time{}, false }

// TestParseContext: reading ends at the look at its context at which that is done, wherever it is, and looks at every step.
func TestParseContext(t *testing.T) {
	const steps = 300
	text := []byte("neighbors: add-remove\nsteps:\n" + strings.Repeat("  - {mechanism: {pure: {epsilon: 1}}}\n", steps))
	whole := &countdown{t.Context(), 0, 1 << 30}
	if _, err := Parse(whole, text); err != nil || whole.looks < steps {
		t.Fatalf("%v after %d looks at the context of %d steps", err, whole.looks, steps)
	}
	for left := range whole.looks {
		c := &countdown{t.Context(), 0, left}
		if _, err := Parse(c, text); !errors.Is(err, context.Canceled) || c.looks > left+2 {
			t.Fatalf("%v, after %d looks at a context that was done at look %d", err, c.looks, left+1)
		}
	}
}
