package parallel

import (
	"context"
	"errors"
	"math"
	"sync"
)

// ErrWork is why a call ended that was to take more than the work of its context.
var ErrWork = errors.New("the work limit was reached")

type workKey struct{}

// work is what the calls of a context may take, and have taken.
type work struct {
	mu          sync.Mutex
	most, spent float64
}

// WithWork returns a context whose calls may take so much work together, in terms of a sum (about
// 40 ns each), and not in time, so that they end at the same place on every machine.
func WithWork(ctx context.Context, most float64) context.Context {
	return context.WithValue(ctx, workKey{}, &work{most: most})
}

// Spend takes work off what the context has left, and returns ErrWork once that is too little.
func Spend(ctx context.Context, amount float64) error {
	w, ok := ctx.Value(workKey{}).(*work)
	if !ok {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.spent += amount; w.spent > w.most {
		return ErrWork
	}
	return nil
}

// Work returns what the calls of the context have taken, and what is left: negative once a call has ended
// for it, +Inf without a limit.
func Work(ctx context.Context) (spent, left float64) {
	w, ok := ctx.Value(workKey{}).(*work)
	if !ok {
		return 0, math.Inf(1)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.spent, w.most - w.spent
}
