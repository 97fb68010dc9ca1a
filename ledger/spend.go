package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"unicode/utf8"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
)

// Spends of one process at the same time: those that wait while one is under way go to the disk together, with one
// flush. Each is admitted for itself, on top of those before it, and each gets its own answer.

// maxBatch is how many spends go to the disk together: each is judged on top of those before it, so that a batch takes the square of
// their number. maxBatchSize is of about how many bytes of plans: all of them are remembered together, so that none is read again under
// the lock.
const (
	maxBatch     = 250
	maxBatchSize = maxPlanText / 4
)

// tries is how often a spend is judged without the lock, while others spend, before
// it is judged under the lock, for half of what others wait.
const tries = 6

// testHeld is called by tests with the lock held.
var testHeld = func() {}

// A request is a spend that has no answer yet.
type request struct {
	ctx   context.Context
	entry entry
	done  chan error // gets one answer, unless it is withdrawn
	stage atomic.Int32
	err   error // a refusal that is answered when what it rests on is on disk
}

// How far a request is.
const (
	waiting    = iota
	committing // it is being written, and cannot be withdrawn
	gone       // its context has ended, and nobody waits for an answer
)

// answer is heard once, if somebody waits for it.
func (r *request) answer(err error) {
	if r.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = r.ctx.Err() // and not that of the batch
	}
	select {
	case r.done <- err:
	default:
	}
}

// A panicked is a panic while spends were under way, which continues in the goroutines of those who spend: there it may be
// recovered, as a server does, while here it would end the process.
type panicked struct{ value any }

func (p panicked) Error() string { return fmt.Sprint(p.value) }

// spend enters an entry, with others that wait.
func (l *Ledger) spend(ctx context.Context, e entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(e.Note) > maxNote || !utf8.ValidString(e.Note) {
		return fault.New("note", "is not UTF-8 text of at most %d bytes", maxNote)
	}
	e.Time = now()
	r := &request{ctx: ctx, entry: e, done: make(chan error, 1)}
	select {
	case l.queue <- r:
	case <-ctx.Done():
		return ctx.Err()
	}
	go l.serve() // as this call may have to end before those of others do
	var err error
	select {
	case err = <-r.done:
	case <-ctx.Done():
		if r.stage.CompareAndSwap(waiting, gone) {
			return ctx.Err()
		}
		err = <-r.done // it is being written: there is an answer soon
	}
	if p, ok := err.(panicked); ok {
		panic(p.value)
	}
	return err
}

// serve answers the requests that wait when it has its turn.
func (l *Ledger) serve() {
	l.turn <- struct{}{}
	defer l.end()
	batch := l.batch()
	defer func() {
		if p := recover(); p != nil {
			for _, r := range batch {
				r.answer(panicked{p})
			}
		}
	}()
	l.spendAll(batch)
}

// batch takes requests from the queue, oldest first.
func (l *Ledger) batch() (batch []*request) {
	for size := 0; len(batch) < maxBatch && size < maxBatchSize; {
		select {
		case r := <-l.queue:
			batch = append(batch, r)
			size += len(r.entry.Plan)
		default:
			return batch
		}
	}
	return batch
}

// joint returns a context that ends when those of all requests have, with as much memory for a question as one of them has.
func joint(batch []*request) (context.Context, context.CancelFunc) {
	memory := int64(0)
	for _, r := range batch {
		memory = max(memory, parallel.Memory(r.ctx))
	}
	ctx, cancel := context.WithCancel(parallel.WithMemory(context.Background(), memory))
	go func() {
		for _, r := range batch {
			select {
			case <-r.ctx.Done():
			case <-ctx.Done():
			}
		}
		cancel()
	}()
	return ctx, cancel
}

// spendAll answers all requests. What they cost is computed first, while other processes may spend; then as many of them as
// are admitted by what is known are written, until none is left.
func (l *Ledger) spendAll(batch []*request) {
	ctx, cancel := joint(batch)
	defer cancel()
	for n := 0; len(batch) > 0; n++ {
		left := len(batch)
		err := l.load(ctx)
		judge := n >= tries
		if err == nil && judge {
			err = l.whole(ctx) // there is no time for it under the lock
		} else if err == nil {
			batch = l.prepare(ctx, batch)
			left = len(batch)
		}
		if err == nil && left > 0 {
			batch, err = l.commit(ctx, batch, judge)
		}
		switch {
		case len(batch) < left:
			n = min(n, tries-1) // there was progress
		case err == nil && n > 2*tries:
			err = l.overtaken()
		}
		if err != nil {
			for _, r := range batch {
				r.answer(err)
			}
			return
		}
	}
}

// prepare computes what a spend takes to be admitted, and answers those that are not. It returns the others, with those that
// were granted before under their key: a line that is read without the lock may be taken back by who is writing it.
func (l *Ledger) prepare(ctx context.Context, batch []*request) (left []*request) {
	if len(batch) > 1 {
		var all []*admission
		for _, r := range batch {
			if a, err := l.state.admission(r.entry); err == nil && r.ctx.Err() == nil {
				all = append(all, a)
			}
		}
		_ = l.state.policy.fits(ctx, 1, all...) // one proof for all of them, where there is one
	}
	for _, r := range batch {
		err := l.state.judged(r.ctx, r.entry)
		if errors.Is(err, ErrBudget) && l.state.until > 0 && l.config.Mode == Planned { // the entries may cost less than a checkpoint says
			if err = l.whole(r.ctx); err == nil {
				err = l.state.judged(r.ctx, r.entry)
			}
		}
		if err != nil && !errors.Is(err, errGranted) {
			r.answer(err)
		} else {
			left = append(left, r)
		}
	}
	return left
}

// commit writes the requests that are admitted, answers them, and returns the others. With judge it computes what is
// not known yet.
func (l *Ledger) commit(ctx context.Context, batch []*request, judge bool) (rest []*request, err error) {
	done, err := l.change(ctx, func(ctx context.Context) ([]Line, error) { return l.admit(ctx, batch, judge) })
	for _, r := range batch {
		switch stage := r.stage.Load(); {
		case stage == gone: // nobody waits for it
		case done && (r.err != nil || stage == committing):
			r.answer(r.err)
		default:
			r.err = nil
			r.stage.CompareAndSwap(committing, waiting) // or gone by now
			rest = append(rest, r)
		}
	}
	return rest, err
}

// admit returns the lines of the requests that fit, in their order, on top of everything that is there. Nobody else may write until
// the lines are there.
func (l *Ledger) admit(ctx context.Context, batch []*request, judge bool) (lines []Line, err error) {
	s := l.state
	head, runs, keys := s.head, s.runs, map[string]bool{"": false}
	var admitted []*admission
	for _, r := range batch {
		if !r.stage.CompareAndSwap(waiting, committing) {
			continue
		}
		var a *admission
		if a, r.err = s.asked(r.entry); r.err != nil {
			continue
		}
		all := append(admitted, a)
		if keys[r.entry.Key] || a.runs > maxRuns-runs || !judge && !s.policy.admits(all...) {
			r.stage.Store(waiting) // until the next round
			continue
		}
		if judge {
			if r.err = s.policy.fits(ctx, 1, all...); r.err != nil && ctx.Err() != nil {
				return nil, r.err
			} else if r.err != nil {
				continue
			}
		}
		line, err := newLine(head, r.entry)
		if err != nil {
			return nil, err
		}
		if len(line.text()) > maxLine {
			r.err = fault.New("plan", "makes a line of more than %d bytes", maxLine)
			continue
		}
		lines, head, runs, admitted = append(lines, line), line.Sum, runs+a.runs, all
		keys[r.entry.Key] = r.entry.Key != ""
	}
	return lines, nil
}

// overtaken is the error of a spend that others never let through.
func (l *Ledger) overtaken() error {
	return known{fmt.Errorf("%v: others spend, or replace the file, faster than what this costs can be computed; nothing was spent, try again", l), ErrBusy}
}
