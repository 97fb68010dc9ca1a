// Copies of a ledger that are ledgers: all lines, verified while they are written, in a file that is there as a whole
// or not at all.

package ledger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
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
	if _, ok := l.store.(*memory); ok {
		return st, fault.New("ledger", "is in memory, and has no lines to copy")
	}
	if _, err := os.Lstat(path); err == nil {
		return st, fmt.Errorf("%s: exists already", path)
	}
	if err := l.begin(ctx); err != nil {
		return st, err
	}
	defer l.end()
	if st, err = l.status(ctx); err != nil {
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
	head, left := "", l.state.lines // up to the last that was read
	err = l.store.Lines(ctx, 0, func(line Line) (err error) {
		if left > 0 && !line.follows(head) {
			return atLine(l.store, l.state.lines-left+1, errChain)
		}
		if left > 0 {
			left, head = left-1, line.Sum
			_, err = w.Write(line.text())
		}
		return err
	})
	if err == nil && (left > 0 || head != st.Head) {
		err = fmt.Errorf("%v: was replaced or changed while it was copied", l)
	}
	if err != nil {
		return st, err
	}
	draft, err := f.Stat()
	if err = errors.Join(err, w.Flush(), f.Sync(), f.Close()); err != nil {
		return st, problem(path, err)
	}
	// A link is not made over a file that has come up in the meantime.
	if err = os.Link(f.Name(), path); err != nil && !os.IsExist(err) {
		err = os.Rename(f.Name(), path) // not every file system has links
	}
	if err != nil {
		return st, problem(path, err)
	}
	if now, err := os.Lstat(path); err != nil || !os.SameFile(now, draft) {
		return st, fmt.Errorf("%s: was replaced while it was made", path)
	}
	syncFolder(path)
	return st, nil
}
