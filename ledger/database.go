// How a ledger reads and adds lines through a Store.

package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// loadStore reads the lines of the store that are new.
func (l *Ledger) loadStore(ctx context.Context) error {
	if l.lost != nil {
		return l.lost
	}
	err := l.follow(func(n int64, each func(Line) error) error { return l.store.Lines(ctx, n, each) }, false)
	if err == nil && !l.state.header {
		err = known{fmt.Errorf("%s: has no ledger", l.store), fs.ErrNotExist}
	}
	return err
}

// follow takes over what lines gives. It asks for the last line that was read as well, which must be there unchanged.
func (l *Ledger) follow(lines func(int64, func(Line) error) error, quick bool) error {
	s := l.state
	first := s.header
	from := int64(0)
	if s.header {
		from = int64(s.lines) - 1
	}
	err := lines(from, func(line Line) error {
		if first {
			if first = false; checksum(s.before, line.Content) != s.head || line.Sum != s.head {
				return errGone
			}
			return nil
		}
		if !isHead(line.Sum) || checksum(s.head, line.Content) != line.Sum {
			return s.at(l.store.String(), errChain)
		}
		err := l.accept(tail{line.Content, line.Sum, len(line.Content), ""}, quick)
		if err != nil && !errors.Is(err, errUnknown) {
			err = s.at(l.store.String(), err)
		}
		return err
	})
	if errors.Is(err, errGone) || err == nil && first {
		l.lost = l.hasLost(s.entries)
		return l.lost
	}
	if err == nil {
		err = l.awake()
	}
	return err
}

// errGone is of a line that is not what was read.
var errGone = errors.New("the last line is another one")

// commitStore is commitFile for a store. What it has read stays, as others have committed it; what it admits is taken
// back unless the transaction lasts.
func (l *Ledger) commitStore(ctx context.Context, batch []*request, judge bool) (done bool, err error) {
	limited, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	undo, settle := func() {}, func() {}
	err = l.store.Append(limited, func(lines func(int64, func(Line) error) error) ([]Line, error) {
		testHeld()
		if err := l.follow(lines, !judge || l.state.config.Mode != Planned); err != nil {
			return nil, err
		}
		undo, settle = l.state.mark()
		computing, cancel := context.WithTimeout(limited, heldLimit())
		defer cancel()
		return l.admit(computing, batch, judge)
	})
	if err == nil {
		settle()
		return true, nil
	}
	undo()
	switch {
	case errors.Is(err, errUnknown) || errors.Is(err, ErrConflict):
		return false, nil
	case ctx.Err() == nil && limited.Err() != nil && !errors.Is(err, ErrInDoubt):
		err = known{fmt.Errorf("%v: waited %v for others, and nothing was spent: %w", l.store, lockWait, err), ErrBusy}
	}
	return false, err
}
