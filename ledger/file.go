package ledger

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/gofrs/flock"
)

// A file is the store of a ledger in a file. Its lines are read without a lock. To add some the lock is taken, and only if the
// path still leads to the same file are they written, flushed, and looked at once more.
type file struct {
	path  string
	fresh bool  // Append makes the file, which nobody has made before
	last  place // of the last line that was read
	torn  int64 // how many bytes are behind it, of a spend that never was
}

// A place is that of a line in a file.
type place struct {
	in         os.FileInfo
	line       int64 // its number; 0 is before the first line
	start, end int64
	missing    string // what it lacks of its ending
	before     string // the checksum of the line before
}

// File returns the store of a ledger in a file, which Create makes.
func File(path string) Store { return &file{path: path} }

func (f *file) String() string { return f.path }

// looks is how often a file that does not look right is looked at again: a writer may be at it.
var looks = 5

// Lines reads lines; see Store.
func (f *file) Lines(ctx context.Context, n int64, each func(Line) error) (err error) {
	defer locate(f.path, &err)
	for times := 0; ; times++ {
		r, err := openLinked(f.path, os.O_RDONLY)
		if err != nil {
			return err
		}
		before, err := f.read(ctx, r, n, func(l Line) error {
			err := each(l)
			if err == nil {
				n++
			}
			return err
		})
		r.Close()
		if err == nil && f.torn == 0 || before == nil || times >= looks {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(2 * time.Millisecond << times): // longer each time
		}
		if now, gone := os.Stat(f.path); gone == nil && os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime()) {
			return err
		}
	}
}

// read calls each with the lines of r after the first n. It begins with the last one that was read earlier, or the first, and verifies
// the checksums of the lines before them. It returns how the file was before.
func (f *file) read(ctx context.Context, r *os.File, n int64, each func(Line) error) (info os.FileInfo, err error) {
	if info, err = r.Stat(); err != nil {
		return nil, err
	}
	at, prev := place{in: info}, ""
	if k := f.last; n >= k.line-1 && os.SameFile(k.in, info) && info.Size() >= k.end {
		at.line, at.end, prev = k.line-1, k.start, k.before
	}
	f.torn = 0
	scan := bufio.NewScanner(io.NewSectionReader(r, at.end, info.Size()-at.end))
	scan.Buffer(make([]byte, readAhead), maxLine)
	scan.Split(func(data []byte, atEOF bool) (int, []byte, error) { // lines with their line feed, the last one perhaps without
		n := bytes.IndexByte(data, '\n') + 1
		if n == 0 && atEOF {
			n = len(data)
		}
		if n == 0 {
			return 0, nil, nil
		}
		return n, data[:n], nil
	})
	for i := 1; scan.Scan(); i++ {
		if i%256 == 0 && ctx.Err() != nil {
			return info, ctx.Err()
		}
		raw := scan.Bytes()
		if at.line == 0 && !bytes.HasPrefix(raw, []byte(linePrefix)[:min(len(raw), len(linePrefix))]) {
			return info, known{fmt.Errorf("%s: is no ledger: it does not begin as one; accountant ledger init makes a new file", f.path), errChain}
		}
		line, missing, err := decodeLine(raw)
		switch {
		case err == errTorn:
			f.torn = int64(len(raw))
			return info, nil
		case err != nil:
			return info, atLine(f, at.line+1, err)
		case at.line < n && !line.follows(prev):
			return info, atLine(f, at.line+1, errChain)
		case at.line >= n:
			if err := each(line); err != nil {
				return info, err
			}
		}
		at = place{in: info, line: at.line + 1, start: at.end, end: at.end + int64(len(bytes.TrimRight(raw, "\x00"))), missing: missing, before: prev}
		f.last, prev = at, line.Sum
	}
	if errors.Is(scan.Err(), bufio.ErrTooLong) {
		return info, atLine(f, at.line+1, fmt.Errorf("has a line of more than %d bytes", maxLine))
	}
	return info, scan.Err()
}

// Append adds lines; see Store. Where there are none it makes what is there last: it may be the answer to a key, and who has written
// it may have been killed before it was on disk.
func (f *file) Append(ctx context.Context, change func(lines func(n int64, each func(Line) error) error) ([]Line, error)) (err error) {
	defer locate(f.path, &err)
	r, made, err := f.open()
	if err != nil {
		return err
	}
	defer r.Close()
	name, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		return err
	}
	info, err := r.Stat()
	if err != nil {
		return err
	}
	if _, _, n, _ := owner(info); n > 1 {
		return fmt.Errorf("%s: has %d names (hard links), and who uses another one would not see this lock; keep one", f.path, n)
	}
	held, err := takeLock(ctx, name, info)
	if err != nil {
		return err
	}
	defer held.release()
	replaced := fmt.Errorf("%s: was replaced: %w", f.path, ErrConflict)
	// While this waited, the name may have been given to another file.
	if now, err := filepath.EvalSymlinks(f.path); err != nil || now != name || !f.named(info) {
		return replaced
	}
	added, err := change(func(n int64, each func(Line) error) error {
		_, err := f.read(ctx, r, n, each)
		return err
	})
	if err != nil {
		return err
	}
	if err := f.write(r, added); err != nil {
		if made {
			_ = os.Remove(f.path)
		}
		return problem(f.path, err)
	}
	if f.fresh {
		syncFolder(f.path)
		f.fresh = false
	}
	if !f.named(info) { // the lines are in a file that nobody will read
		return replaced
	}
	return nil
}

// write adds lines behind the last one that was read, and what that is missing, in place of what is torn, and flushes them. When it
// fails the file is as it was, or ends in a beginning of them, if that cannot be cut off either.
func (f *file) write(r *os.File, added []Line) error {
	if len(added) == 0 {
		return flush(r)
	}
	end := f.last.end
	text := bytes.NewBufferString(f.last.missing)
	for _, line := range added {
		text.Write(line.text())
	}
	info, err := r.Stat()
	if err == nil && info.Size() > end {
		err = r.Truncate(end)
	}
	if err != nil {
		return err
	}
	if _, err = r.Seek(end, io.SeekStart); err == nil {
		if _, err = appendTo(r, text.Bytes()); err == nil {
			err = flush(r)
		}
	}
	if err != nil {
		_ = r.Truncate(end)
		return err
	}
	if info, err = r.Stat(); err == nil && info.Size() != end+int64(text.Len()) {
		err = errors.New("somebody else has written to it without the lock; do not count on this spend")
	}
	return err
}

// open opens the file to write to it, and says whether it has made it. A fresh one is not opened through a link, and must be no more
// than the beginning of a header, which a Create that was killed leaves.
func (f *file) open() (r *os.File, made bool, err error) {
	if !f.fresh {
		r, err = openLinked(f.path, os.O_RDWR|appending)
		return r, false, err
	}
	r, err = os.OpenFile(f.path, os.O_RDWR|appending|os.O_CREATE|os.O_EXCL, 0o666)
	if made = !os.IsExist(err); made {
		return r, made, err
	}
	if r, err = openPlain(f.path, os.O_RDWR|appending); err != nil {
		return nil, false, err
	}
	data, err := io.ReadAll(io.NewSectionReader(r, 0, maxHeader+1))
	if err == nil && (len(data) > maxHeader || !beginsHeader(data)) {
		err = errExists(f)
	}
	if err != nil {
		r.Close()
	}
	return r, false, err
}

// beginsHeader reports whether data is no more than the beginning of a header.
func beginsHeader(data []byte) bool {
	const begin = `{"ledger":`
	line, _, err := decodeLine(data)
	n := min(len(line.Content), len(begin))
	return err == errTorn && string(line.Content[:n]) == begin[:n] && !bytes.HasSuffix(data, []byte{0})
}

// openLinked opens a ledger file, also through a symbolic link.
func openLinked(path string, flag int) (*os.File, error) {
	name, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	return openPlain(name, flag)
}

// named reports whether the path still leads to a file.
func (f *file) named(info os.FileInfo) bool {
	now, err := os.Stat(f.path)
	return err == nil && os.SameFile(now, info)
}

// syncFolder makes the name of a file last, which it does once the directory is on disk; not every file
// system can be asked for that.
func syncFolder(path string) {
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// appendTo fails in tests as a disk does that is full.
var appendTo = func(f *os.File, data []byte) (int, error) { return f.Write(data) }

// flush fails in tests as a disk does that is broken.
var flush = (*os.File).Sync

// Copies of a ledger that are ledgers: all lines, verified while they are written, in a file that is there as a whole
// or not at all.

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
	n, head := int64(0), ""
	err = l.store.Lines(ctx, 0, func(line Line) error {
		switch {
		case n == l.state.lines: // who copies has read no more
			return nil
		case !line.follows(head):
			return atLine(l.store, n+1, errChain)
		}
		n, head = n+1, line.Sum
		_, err := w.Write(line.text())
		return err
	})
	if err == nil && head != st.Head {
		err = fmt.Errorf("%v: was replaced or changed while it was copied", l)
	}
	if err != nil {
		return st, err
	}
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
	syncFolder(path)
	return st, nil
}

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
	write := ledger.Mode() & 0o022
	mode := 0o600 | write | write<<1
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if os.IsExist(err) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	if uid, gid, _, ok := owner(ledger); ok && f.Chown(uid, gid) != nil {
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
	uid, gid, n, ok := owner(file)
	of, group, _, known := owner(ledger)
	switch {
	case n > 1:
		return fmt.Errorf("has %d names (hard links), and is written to; remove it, and the next spend makes another", n)
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
		return nil, &os.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	f, err := os.OpenFile(name, flag|plainly, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, &os.PathError{Op: "open", Path: name, Err: cmp.Or(err, errNotRegular)}
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

// The file.
//
// One JSON object a line:
//
//	{"chain":"<64 hexadecimal digits>","entry":{…}}
//
// The first entry is the header (ledger: 1, the format; neighbors, epsilon, delta, mode, the orders of
// an adaptive ledger, time); each other one is a checkpoint or a spend (time, note, the key
// of a spend that has one, and plan: JSON as it is, YAML as a string). chain is the SHA-256 of the previous
// line's chain (empty before the first), a line feed, and the entry as it stands in the line.
//
// A spend is written and flushed to disk, line feed included, before it is reported. So what comes after the last
// line feed is of a spend that was never reported:
//
//	the file ends in | then
//	the beginning of a line, its content not whole; zeros that a file system has left | it does not count; status says so, check has exit status 5, the next spend cuts it off
//	a line with the whole of its content, the ending (} and the line feed) missing or in part | it counts, and the next spend completes it: that is never too little
//	a line with the whole of its content and another ending; anything else | an error (exit status 1), and nothing is spent from then on
//
// init makes a ledger of a file that is not there, is empty, or is as a whole the beginning of a header, which an
// init that was killed has left. Any other file stays as it is.
