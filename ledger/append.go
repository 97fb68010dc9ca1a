// Adding a line to a ledger: only what follows from everything that the file holds at that
// moment, under a lock, and whole or not at all.

package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dpaccountant/accountant/internal/fault"
)

// tries is how often a spend is judged without the lock, while others spend, before
// it is judged under the lock; heldLimit bounds that.
const tries = 6

func heldLimit() time.Duration { return lockWait / 2 }

// append spends an entry, after everything that others have spent.
func (l *Ledger) append(ctx context.Context, e entry) error {
	for n := 0; ; n++ {
		if n < tries {
			if _, err := l.load(ctx, nil); err != nil {
				return err
			}
			if _, err := l.state.judged(ctx, e); err != nil {
				return err
			}
		}
		done, err := l.appendLocked(ctx, e, n >= tries)
		if done || err != nil {
			return err
		}
		if n > 2*tries {
			return l.overtaken()
		}
	}
}

// overtaken is the error of a spend that others never let through.
func (l *Ledger) overtaken() error {
	return busy{fmt.Errorf("%s: others spend, or replace the file, faster than what this costs can be computed; nothing was spent, try again", l.path)}
}

// testHeld is called by tests with the lock held.
var testHeld = func() {}

// appendLocked spends an entry that was judged, if the judgement still holds; it
// may judge again if so told. done is false if the file is not what was judged.
func (l *Ledger) appendLocked(ctx context.Context, e entry, judge bool) (done bool, err error) {
	path, err := filepath.EvalSymlinks(l.path)
	if err != nil {
		return false, problem(l.path, err)
	}
	f, err := l.openFile(os.O_RDWR | appending)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, problem(l.path, err)
	}
	if n := names(info); n > 1 {
		return false, fmt.Errorf("%s: has %d names (hard links), and who uses another one would not see this lock; keep one", l.path, n)
	}
	held, err := takeLock(ctx, path, info)
	if err != nil {
		return false, err
	}
	defer held.release()
	testHeld()
	// While this waited, the name may have been given to another file.
	if now, err := filepath.EvalSymlinks(l.path); err != nil || now != path || !l.named(info) || !os.SameFile(l.state.file, info) && !judge {
		return false, nil
	}
	limited, cancel := context.WithTimeout(ctx, heldLimit())
	defer cancel()
	// Nothing ends the computation of a Rényi curve in time.
	_, err = l.read(limited, f, nil, !judge || l.state.config.Mode != Planned)
	var a admission
	if err == nil && judge {
		a, err = l.state.judged(limited, e)
	} else if err == nil {
		if err = l.state.repeated(e); err == nil {
			a, err = l.state.admission(e)
		}
		if err == nil && !l.state.judge.admits(a.text) {
			err = errUnknown
		}
	}
	switch {
	case errors.Is(err, errUnknown):
		return false, nil
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		return false, l.overtaken()
	case err != nil:
		return false, err
	}
	s := l.state
	line, sum, err := encodeLine(s.head, e)
	if err != nil {
		return false, err
	}
	if len(line) > maxLine {
		return false, fault.New("plan", "makes a line of more than %d bytes", maxLine)
	}
	missing := s.missing
	if err := write(f, s.offset, append([]byte(missing), line...)); err != nil {
		return false, problem(l.path, err)
	}
	end := s.offset + int64(len(missing)+len(line))
	if now, err := f.Stat(); err != nil {
		return false, problem(l.path, err)
	} else if now.Size() != end {
		return false, fmt.Errorf("%s: somebody else has written to it without the lock; do not count on this spend", l.path)
	}
	if !l.named(info) {
		return false, nil // the line is in a file that nobody will read
	}
	s.offset += int64(len(missing))
	s.count(e, a)
	s.moved(sum, int64(len(line)), "")
	return true, nil
}
