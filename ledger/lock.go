package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// Who writes locks a file of its own beside the ledger, "budget.ledger.lock",
// which only they can open who may write the ledger: with read permission alone
// nobody keeps anybody waiting. The holder leaves its name there. Reading takes no
// lock. The file stays; who removes it while it is held lets two holders in.

// lockWait is how long a writer waits for another.
var lockWait = 10 * time.Second

// ErrBusy is what the error of a spend is that others kept from being made: nothing was spent,
// and it may be tried again.
var ErrBusy = errors.New("the ledger is busy")

// A holder is who holds a lock.
type holder struct {
	PID     int    `json:"pid"`
	Host    string `json:"host"`
	Program string `json:"program"`
	Since   string `json:"since"`
}

func (h holder) String() string {
	return fmt.Sprintf("process %d (%s) on host %s since %s", h.PID, printable(h.Program), printable(h.Host), printable(h.Since))
}

// printable is a short text without spaces and control characters.
func printable(s string) string {
	s = fmt.Sprintf("%.64q", s)
	return s[1 : len(s)-1]
}

// A lock is held until release is called.
type lock struct{ file *flock.Flock }

// takeLock locks the ledger at path, which is that of info, against other
// writers.
func takeLock(ctx context.Context, path string, info os.FileInfo) (lock, error) {
	name := path + ".lock"
	timeout := time.NewTimer(lockWait)
	defer timeout.Stop()
	delay := 100 * time.Microsecond
	for {
		if err := ctx.Err(); err != nil {
			return lock{}, err
		}
		if err := makeLock(name, info); err != nil {
			return lock{}, problem(name, err)
		}
		f := flock.New(name, flock.SetFlag(os.O_RDWR), flock.SetPermissions(0))
		held, err := f.TryLock()
		if err != nil && !os.IsNotExist(err) {
			return lock{}, problem(name, err)
		}
		if held {
			// It may have been removed in between; then it locks nothing.
			mine, err := f.Stat()
			if now, err2 := os.Stat(name); err == nil && err2 == nil && os.SameFile(mine, now) {
				l := lock{f}
				l.sign(myself())
				return l, nil
			}
			_ = f.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-timeout.C:
			return lock{}, known{fmt.Errorf("%s: is locked by %s; waited %v, and nothing was spent", path, holderOf(name), lockWait), ErrBusy}
		case <-time.After(delay):
			delay = min(2*delay, 20*time.Millisecond)
		}
	}
}

// makeLock makes the lock file if there is none, for those who may write the
// ledger, and nobody else.
func makeLock(name string, ledger os.FileInfo) error {
	if info, err := os.Stat(name); err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("is not a regular file")
		}
		return nil
	}
	mode := os.FileMode(0o600)
	for _, class := range []os.FileMode{0o060, 0o006} {
		if ledger.Mode()&class&0o222 != 0 {
			mode |= class
		}
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if os.IsExist(err) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	if uid, gid, ok := owner(ledger); ok && f.Chown(uid, gid) != nil {
		_ = f.Chown(-1, gid)
	}
	return f.Chmod(mode) // whatever the umask
}

// sign leaves a note for those who wait, "" when there is nobody to name. It is
// for them to read only, and may be missing, on a full disk say.
func (l lock) sign(note string) {
	if runtime.GOOS == "aix" || runtime.GOOS == "solaris" {
		return // closing a second handle of a file would lose the lock of the first
	}
	if f, err := os.OpenFile(l.file.Path(), os.O_WRONLY|os.O_TRUNC, 0); err == nil {
		_, _ = f.WriteString(note)
		f.Close()
	}
}

func (l lock) release() {
	l.sign("")
	_ = l.file.Unlock()
}

// myself is the note of this process.
func myself() string {
	host, _ := os.Hostname()
	note, _ := json.Marshal(holder{os.Getpid(), host, filepath.Base(os.Args[0]), time.Now().UTC().Format(time.RFC3339)})
	return string(note)
}

// holderOf names who holds a lock.
func holderOf(name string) string {
	var h holder
	f, err := os.Open(name)
	if err == nil {
		defer f.Close()
		note := make([]byte, 1000)
		n, _ := f.Read(note)
		err = strict(bytes.TrimSpace(note[:n]), &h)
	}
	if err != nil {
		return fmt.Sprintf("a program that does not tell its name (on Linux, fuser -v %q does)", name)
	}
	return h.String()
}

// problem words an error of the file system as "path: problem".
func problem(path string, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
