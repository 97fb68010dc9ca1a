// Copies of a ledger that are ledgers: all lines, verified while they are written, in a file that is there as a whole
// or not at all.

package ledger

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dpaccountant/accountant/internal/fault"
)

// Backup writes the ledger to a new file, flushed to disk, and returns what that holds; its Head, kept elsewhere, shows later
// whether the copy is complete. It takes no lock and keeps no spend waiting; one that is under way is in the copy or not. It
// verifies every checksum, leaves out a torn end, and never overwrites a file.
//
// Who goes on with a copy has to enter what was run since: the copy does not know it.
func (l *Ledger) Backup(ctx context.Context, path string) (st Status, err error) {
	if l.path == "" && l.store == nil {
		return st, fault.New("ledger", "is in memory, and has no lines to copy")
	}
	if _, err := os.Lstat(path); err == nil {
		return st, fmt.Errorf("%s: exists already", path)
	}
	if err := l.begin(ctx); err != nil {
		return st, err
	}
	defer l.end()
	if st, err = l.status(ctx, nil); err != nil {
		return st, err
	}
	st.Torn = 0
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return st, problem(path, err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	w := bufio.NewWriterSize(f, readAhead)
	if err = l.copyLines(ctx, w); err != nil {
		return st, err
	}
	if err = errors.Join(w.Flush(), f.Sync(), f.Close()); err != nil {
		return st, problem(path, err)
	}
	// A link is not made over a file that has come up in the meantime.
	if err = os.Link(f.Name(), path); err != nil && !os.IsExist(err) {
		err = os.Rename(f.Name(), path) // not every file system has links
	}
	if err != nil {
		return st, problem(path, err)
	}
	syncFolder(path)
	return st, nil
}

// copyLines writes the lines up to the last that was read.
func (l *Ledger) copyLines(ctx context.Context, w io.Writer) error {
	s, head, left := l.state, "", l.state.lines
	add := func(line Line) error {
		if checksum(head, line.Content) != line.Sum {
			return fmt.Errorf("%v: %w", l, errChain)
		}
		_, err := w.Write(line.text())
		head = line.Sum
		if left--; left == 0 && err == nil {
			err = errCopied
		}
		return err
	}
	var err error
	if l.store != nil {
		err = l.store.Lines(ctx, 0, add)
	} else {
		err = l.fileLines(ctx, add)
	}
	switch {
	case errors.Is(err, errCopied) && head == s.head:
		return nil
	case err == nil || errors.Is(err, errCopied):
		return fmt.Errorf("%v: was replaced or changed while it was copied", l)
	}
	return err
}

// errCopied ends the reading of lines.
var errCopied = errors.New("all lines are copied")

// fileLines calls each with every line of the file that was read.
func (l *Ledger) fileLines(ctx context.Context, each func(Line) error) error {
	f, err := l.openFile(os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	s := l.state
	r := newLineReader(io.NewSectionReader(f, 0, s.offset))
	for n := 1; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		raw, err := r.next()
		if err != nil && err != io.EOF {
			return problem(l.path, err)
		}
		if err == io.EOF {
			if len(raw) == 0 {
				return nil
			}
			raw = append(append([]byte{}, raw...), s.missing...)
		}
		sum, rest, ok := splitLine(raw)
		content, whole := bytes.CutSuffix(rest, []byte(lineSuffix))
		if !ok || !whole {
			return fmt.Errorf("%s: %w", l.path, errChain)
		}
		if err := each(Line{sum, content}); err != nil {
			return err
		}
	}
}
