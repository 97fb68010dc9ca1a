// Spends of one process at the same time: those that wait while one is under way go to the disk together, with one
// flush. Each is admitted for itself, on top of those before it, and each gets its own answer.

package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// maxBatch is how many spends go to the disk together, and maxBatchSize of how many bytes of plans.
const (
	maxBatch     = 1000
	maxBatchSize = 1 << 24
)

// spend enters an entry, with others that wait.
func (l *Ledger) spend(ctx context.Context, e entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{ctx: ctx, entry: e, done: make(chan error, 1)}
	l.mu.Lock()
	l.queue = append(l.queue, r)
	l.mu.Unlock()
	cancelled := ctx.Done()
	for {
		select {
		case err := <-r.done:
			if p, ok := err.(panicked); ok {
				panic(p.value)
			}
			return err
		case l.turn <- struct{}{}:
			// In a goroutine, as this call may have to end before those of others do.
			go func() {
				defer l.end()
				batch := l.batch()
				defer func() {
					if p := recover(); p != nil {
						for _, r := range batch {
							l.answer(r, panicked{p})
						}
					}
				}()
				l.spendAll(batch)
			}()
		case <-cancelled:
			if l.move(r, waiting, gone) {
				return ctx.Err()
			}
			cancelled = nil // it is being written: there is an answer soon
		}
	}
}

// A panicked is a panic while spends were under way, which continues in the goroutines of those who spend: there it may be
// recovered, as a server does, while here it would end the process.
type panicked struct{ value any }

func (p panicked) Error() string { return fmt.Sprint(p.value) }

// batch takes requests from the queue, oldest first.
func (l *Ledger) batch() []*request {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, size := 0, 0
	for n < min(len(l.queue), maxBatch) && (n == 0 || size+len(l.queue[n].entry.Plan) <= maxBatchSize) {
		size += len(l.queue[n].entry.Plan)
		n++
	}
	batch := l.queue[:n:n]
	if l.queue = l.queue[n:]; len(l.queue) == 0 {
		l.queue = nil
	}
	return batch
}

// joint returns a context that ends when those of all requests have.
func joint(batch []*request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	var left atomic.Int64
	left.Store(int64(len(batch)))
	stops := make([]func() bool, len(batch))
	for i, r := range batch {
		stops[i] = context.AfterFunc(r.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// spendAll answers all requests. What they cost is computed first, while other processes may spend; then as many of them as
// are admitted by what is known are written, until none is left.
func (l *Ledger) spendAll(batch []*request) {
	ctx, cancel := joint(batch)
	defer cancel()
	fail := func(err error) {
		for _, r := range batch {
			l.answer(r, err)
		}
	}
	for n := 0; len(batch) > 0; n++ {
		judge := n >= tries
		if !judge {
			if err := l.load(ctx); err != nil {
				fail(err)
				return
			}
			batch = l.prepare(ctx, batch)
		} else if err := l.whole(ctx); err != nil { // there is no time for it under the lock
			fail(err)
			return
		}
		left := len(batch)
		rest, err := l.commit(ctx, batch, judge)
		if batch = rest; err != nil {
			fail(err)
			return
		}
		if len(batch) < left {
			n = min(n, tries-1) // there was progress
		} else if n > 2*tries {
			fail(l.overtaken())
			return
		}
	}
}

// prepare computes what a spend takes to be admitted, and answers those that are not. It returns the others, with those that
// were granted before under their key: a line that is read without the lock may be taken back by who is writing it.
func (l *Ledger) prepare(ctx context.Context, batch []*request) []*request {
	s := l.state
	if len(batch) > 1 {
		var all []admission
		for _, r := range batch {
			if a, err := s.admission(r.entry); err == nil && r.ctx.Err() == nil {
				all = append(all, a)
			}
		}
		s.policy.foresee(ctx, all)
	}
	var left []*request
	for _, r := range batch {
		err := l.state.judged(r.ctx, r.entry)
		if errors.Is(err, errWhole) {
			if err = l.whole(r.ctx); err == nil {
				err = l.state.judged(r.ctx, r.entry)
			}
		}
		if err != nil && !errors.Is(err, errGranted) {
			l.answer(r, err)
		} else {
			left = append(left, r)
		}
	}
	return left
}

// commit writes the requests that are admitted, answers them, and returns the others. With judge it computes what is
// not known yet.
func (l *Ledger) commit(ctx context.Context, batch []*request, judge bool) (rest []*request, err error) {
	if len(batch) == 0 {
		return nil, nil
	}
	// Nothing ends the computation of a Rényi curve in time.
	done, err := l.change(ctx, !judge || l.state.config.Mode != Planned, func(ctx context.Context) ([]Line, error) { return l.admit(ctx, batch, judge) })
	for _, r := range batch {
		switch {
		case done && r.err != nil:
			l.answer(r, r.err)
		case done && l.move(r, committing, committing):
			l.answer(r, nil)
		case l.move(r, gone, gone): // nobody waits for it
		default:
			r.err = nil
			l.move(r, committing, waiting)
			rest = append(rest, r)
		}
	}
	return rest, err
}
