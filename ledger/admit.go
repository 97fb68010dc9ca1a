// Which of the spends that wait are admitted, on top of everything that is there and of one another.

package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// tries is how often a spend is judged without the lock, while others spend, before
// it is judged under the lock; heldLimit bounds that.
const tries = 6

func heldLimit() time.Duration { return lockWait / 2 }

// testHeld is called by tests with the lock held.
var testHeld = func() {}

// move takes a request from one stage to another, if it is there.
func (l *Ledger) move(r *request, from, to stage) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.stage != from {
		return false
	}
	r.stage = to
	return true
}

func (l *Ledger) answer(r *request, err error) {
	if err != nil && r.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = r.ctx.Err() // and not that of the batch
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.stage != gone {
		select {
		case r.done <- err:
		default: // it has its answer
		}
	}
}

// admit counts the requests that fit on top of everything that is there, in their order, and returns their lines. Nobody
// else may write until the lines are there, or the state is taken back.
func (l *Ledger) admit(ctx context.Context, batch []*request, judge bool) (lines []Line, err error) {
	s := l.state
	for _, r := range batch {
		if !l.move(r, waiting, committing) {
			continue
		}
		if judge {
			if r.err = s.judged(ctx, r.entry); r.err != nil && ctx.Err() != nil {
				return nil, r.err
			}
		} else if r.err = s.repeated(r.entry); r.err == nil {
			var a admission
			if a, r.err = s.admission(r.entry); r.err == nil && !s.policy.admits(a.text) {
				l.move(r, committing, waiting) // in the next round
				continue
			}
		}
		if r.err != nil {
			continue
		}
		line, err := newLine(s.head, r.entry)
		if err != nil {
			return nil, err
		}
		if len(line.Content) > maxContent {
			r.err = tooLong()
			continue
		}
		if err := s.count(r.entry, false); err != nil {
			return nil, err
		}
		s.moved(line)
		lines = append(lines, line)
	}
	return lines, nil
}

// overtaken is the error of a spend that others never let through.
func (l *Ledger) overtaken() error {
	return known{fmt.Errorf("%v: others spend, or replace the file, faster than what this costs can be computed; nothing was spent, try again", l), ErrBusy}
}
