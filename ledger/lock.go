package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofrs/flock"
)

// Who writes locks a file of its own beside the ledger, "budget.ledger.lock",
// which only they can open who may write the ledger: with read permission alone
// nobody keeps anybody waiting. The holder leaves its name there. Reading takes no
// lock. The file stays; who removes it while it is held lets two holders in.

// lockWait is how long a writer waits for another.
var lockWait = 10 * time.Second

// A lock is held until release is called.
type lock struct {
	file *flock.Flock
	info os.FileInfo // of the file that is locked
}

// takeLock locks the ledger at path, which is that of info, against other
// writers.
func takeLock(ctx context.Context, path string, info os.FileInfo) (lock, error) {
	name := path + ".lock"
	for delay := 100 * time.Microsecond; ; delay = min(2*delay, 20*time.Millisecond) {
		if l, err := tryLock(name, info); err != nil {
			return l, problem(name, err)
		} else if l.file != nil {
			l.sign(myself())
			return l, nil
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			if context.Cause(ctx) == ErrBusy {
				return lock{}, known{fmt.Errorf("%s: is locked by %s; waited %v, and nothing was spent", path, holderOf(name), lockWait), ErrBusy}
			}
			return lock{}, ctx.Err()
		}
	}
}

// tryLock returns a lock without a file if somebody else has it.
func tryLock(name string, ledger os.FileInfo) (lock, error) {
	if err := makeLock(name, ledger); err != nil {
		return lock{}, err
	}
	f := flock.New(name, flock.SetFlag(os.O_RDWR|plainly), flock.SetPermissions(0))
	if held, err := f.TryLock(); !held {
		if os.IsNotExist(err) {
			err = nil
		}
		return lock{}, err
	}
	mine, err := f.Stat()
	if err == nil {
		err = lockable(mine, ledger)
	}
	// It may have been removed in between; then it locks nothing.
	if now, wrong := os.Lstat(name); err == nil && wrong == nil && os.SameFile(mine, now) {
		return lock{f, mine}, nil
	}
	_ = f.Unlock()
	return lock{}, err
}

// makeLock makes the lock file if there is none, for those who may write the
// ledger, and nobody else.
func makeLock(name string, ledger os.FileInfo) error {
	if info, err := os.Lstat(name); err == nil {
		return lockable(info, ledger)
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

// errNotRegular is of a name that is not a plain file's.
var errNotRegular = errors.New("is not a regular file")

// lockable returns an error unless a file may be the lock of a ledger: a regular file with one name, made by somebody who may
// write the ledger. The note of the holder overwrites it, so it must not be anybody's data.
func lockable(file, ledger os.FileInfo) error {
	if !file.Mode().IsRegular() {
		return errNotRegular
	}
	if n := names(file); n > 1 {
		return fmt.Errorf("has %d names (hard links), and is written to; remove it, and the next spend makes another", n)
	}
	uid, gid, ok := owner(file)
	of, group, known := owner(ledger)
	switch {
	case !ok || !known, uid == of, uid == 0, uid == os.Geteuid():
		return nil
	case ledger.Mode()&0o002 != 0, ledger.Mode()&0o020 != 0 && gid == group:
		return nil
	}
	return fmt.Errorf("belongs to user %d, and the ledger to user %d; remove it, and the next spend makes another", uid, of)
}

// openPlain opens a regular file, and nothing that a symbolic link of that name leads to.
func openPlain(name string, flag int) (*os.File, error) {
	// Only a look beforehand keeps a device from being opened, which may do something, or a link where there is no flag for it.
	if info, err := os.Lstat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := os.OpenFile(name, flag|plainly, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, cmp.Or(err, errNotRegular)
	}
	return f, nil
}

// sign leaves a note for those who wait, "" when there is nobody to name. It is
// for them to read only, and may be missing, on a full disk say.
func (l lock) sign(note string) {
	if runtime.GOOS == "aix" || runtime.GOOS == "solaris" {
		return // closing a second handle of a file would lose the lock of the first
	}
	f, err := openPlain(l.file.Path(), os.O_WRONLY)
	if err != nil {
		return
	}
	defer f.Close()
	// The name may have been given to another file since, which is nobody's to cut.
	if info, err := f.Stat(); err == nil && os.SameFile(info, l.info) && f.Truncate(0) == nil {
		_, _ = f.WriteString(note)
	}
}

func (l lock) release() {
	l.sign("")
	_ = l.file.Unlock()
}

// myself is the note of this process.
func myself() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("process %d (%.64s) on host %.64s since %s", os.Getpid(), filepath.Base(os.Args[0]), host, time.Now().UTC().Format(time.RFC3339))
}

// holderOf names who holds a lock, by a note of that form.
func holderOf(name string) string {
	note := make([]byte, 300)
	if f, err := openPlain(name, os.O_RDONLY); err == nil {
		defer f.Close()
		n, _ := f.Read(note)
		if text := string(note[:n]); strings.HasPrefix(text, "process ") && strings.IndexFunc(text, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) < 0 {
			return text
		}
	}
	return fmt.Sprintf("a program that does not tell its name (on Linux, fuser -v %q does)", name)
}

// problem words an error of the file system as "path: problem".
func problem(path string, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%.4096s: %w", path, err) // no system has longer paths
}

// locate does so with an error as the file system has it.
func locate(path string, err *error) {
	var pe *os.PathError
	if errors.As(*err, &pe) {
		*err = problem(path, *err)
	}
}
