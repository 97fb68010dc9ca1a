package parallel

import (
	"context"
	"errors"
	"math"
	"sync"
)

// ErrWork is why a call ended that was to take more than the work of its context.
var ErrWork = errors.New("the work limit was reached")

// ErrTimeLimit is the cause of a context that ends a question without making it fail: the best
// that is proved by then is the answer, with a warning.
var ErrTimeLimit = errors.New("the time limit was reached")

// Wider is in every warning that an interval is wider than asked, after the reason, such as one of these errors.
const Wider = "the interval is wider than asked"

type workKey struct{}

// work is what the calls of a context may take, and have taken.
type work struct {
	mu          sync.Mutex
	most, spent float64
	outer       *work // of the context that this one was made of; nil if that had none
}

// WithWork returns a context whose calls may take so much work together, in terms of a sum (about
// 40 ns each), and not in time, so that they end at the same place on every machine. Their work counts
// in every limit that ctx has already. With most = +Inf it only counts.
func WithWork(ctx context.Context, most float64) context.Context {
	outer, _ := ctx.Value(workKey{}).(*work)
	return context.WithValue(ctx, workKey{}, &work{most: most, outer: outer})
}

type memoryKey struct{}

// WithMemory returns a context whose questions take at most so many bytes each.
func WithMemory(ctx context.Context, bytes int64) context.Context {
	return context.WithValue(ctx, memoryKey{}, bytes)
}

// Memory returns how many bytes a question of the context may take, math.MaxInt64 without a limit.
func Memory(ctx context.Context) int64 {
	if bytes, ok := ctx.Value(memoryKey{}).(int64); ok {
		return bytes
	}
	return math.MaxInt64
}

// Spend takes work off what the context has left, and returns ErrWork once that is too little. Limits
// around the innermost one count the work, and return no error.
func Spend(ctx context.Context, amount float64) error {
	w, ok := ctx.Value(workKey{}).(*work)
	if !ok {
		return nil
	}
	over := w.add(amount)
	for w = w.outer; w != nil; w = w.outer {
		w.add(amount)
	}
	if over {
		return ErrWork
	}
	return nil
}

// Take is Spend for work that is not begun where it is more than is left: what is refused is not spent.
func Take(ctx context.Context, amount float64) error {
	if _, left := Work(ctx); amount > left {
		return ErrWork
	}
	return Spend(ctx, amount)
}

// add adds to what was spent, and reports whether that is too much.
func (w *work) add(amount float64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spent += amount
	return w.spent > w.most
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
