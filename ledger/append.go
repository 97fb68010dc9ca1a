// Adding lines to a file: only what follows from everything that the file holds at that
// moment, under a lock, and whole or not at all.

package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// underLock appends the lines that change returns, on top of everything that is there. Where there are none it makes what is
// there last: it may be the answer to a key, and who has written it may have been killed before it was on disk.
// done is false if the file is not the one that was read before, which only judge allows, or has entries that take a computation.
func (l *Ledger) underLock(ctx context.Context, judge bool, change func(context.Context) ([]Line, error)) (done bool, err error) {
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
	_, err = l.read(limited, f, !judge || l.state.config.Mode != Planned)
	undo, settle := l.state.mark()
	defer func() {
		if done {
			settle()
		} else {
			undo()
		}
	}()
	missing, from := l.state.missing, l.state.offset
	var lines []Line
	if err == nil {
		l.state.offset += int64(len(missing))
		lines, err = change(limited)
	}
	switch {
	case errors.Is(err, errUnknown):
		return false, nil
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		return false, l.overtaken()
	case err != nil:
		return false, err
	case len(lines) == 0:
		undo() // of the ending that the last line will have
		if err := flush(f); err != nil {
			return false, problem(l.path, err)
		}
		return l.named(info), nil
	}
	return l.writeLines(f, info, from, missing, lines)
}

// writeLines appends lines at an offset, behind what the last line is missing, and looks whether they are where readers look.
func (l *Ledger) writeLines(f *os.File, info os.FileInfo, from int64, missing string, lines []Line) (done bool, err error) {
	var text bytes.Buffer
	text.WriteString(missing)
	for _, line := range lines {
		text.Write(line.text())
	}
	if err := write(f, from, text.Bytes()); err != nil {
		return false, problem(l.path, err)
	}
	if now, err := f.Stat(); err != nil {
		return false, problem(l.path, err)
	} else if now.Size() != from+int64(text.Len()) {
		return false, fmt.Errorf("%s: somebody else has written to it without the lock; do not count on this spend", l.path)
	}
	return l.named(info), nil // else the lines are in a file that nobody will read
}
