package pate

import (
	"context"
	"errors"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/pate/ballots"
)

// Once its context is done a call returns the context's error, also when it was
// not when the call began.
func TestCancelled(t *testing.T) {
	slow.Test(t)
	v, err := ballots.SynthS1(250, 10, 1000)
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for _, a := range []Aggregator{gnMax{40}, confident{200, 150, 40}, lnMax{0.05}} {
		if _, err := Account(gone, v, a, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("Account with %v: %v", a, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		l, err := Account(ctx, v, a, Options{Progress: func(int, int) { cancel() }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Cost(ctx, Worst, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("Cost with %v: %v", a, err)
		}
		if _, err := l.Cost(context.Background(), Worst, nil); err != nil {
			t.Errorf("Cost with %v, after a cancelled one: %v", a, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	l, err := Account(ctx, v, confident{200, 150, 40}, Options{Progress: func(int, int) { cancel() }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.NewSensitivity(ctx, 14, Worst, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("NewSensitivity: %v", err)
	}
}
