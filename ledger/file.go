package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// How a spend gets into the file. What is new there is read and what the spend
// costs is computed without a lock. Then the lock is taken, and only if the file
// is still the one that was judged is the line appended, flushed, and looked at
// once more. Otherwise all of it is done again.
//
// A handle never forgets the last line it has read: a file that does not have it
// any more, where it was, has lost entries, and is not spent from again.

// Create makes a new ledger file. It fails if there is a file already, except for
// one that is empty or nothing but the beginning of a header, which a Create that
// was killed has left behind.
func Create(path string, c Config) (*Ledger, error) {
	line, err := firstLine(&c)
	if err != nil {
		return nil, err
	}
	f, made, err := vacant(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, problem(path, err)
	}
	ctx := context.Background()
	name, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, problem(path, err)
	}
	held, err := takeLock(ctx, name, info)
	if err != nil {
		return nil, err
	}
	defer held.release()
	// Somebody else may have been first.
	if now, err := os.Lstat(path); err != nil || !os.SameFile(now, info) {
		return nil, fmt.Errorf("%s: was replaced while it was made", path)
	}
	if err := checkVacant(path, f); err != nil {
		return nil, err
	}
	if err := write(f, 0, line.text()); err != nil {
		if made {
			_ = os.Remove(path)
		}
		return nil, problem(path, err)
	}
	syncFolder(path)
	l := open(path)
	if _, err := l.read(ctx, f, false); err != nil {
		return nil, err
	}
	return l.opened(), nil
}

// syncFolder makes the name of a file last, which it does once the directory is on disk; not every file
// system can be asked for that.
func syncFolder(path string) {
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// vacant opens a file that may become a ledger, and says whether it has made it.
func vacant(path string) (f *os.File, made bool, err error) {
	f, err = os.OpenFile(path, os.O_RDWR|appending|os.O_CREATE|os.O_EXCL, 0o666)
	if !os.IsExist(err) {
		if err != nil {
			err = problem(path, err)
		}
		return f, true, err
	}
	if f, err = openPlain(path, os.O_RDWR|appending); err != nil {
		return nil, false, problem(path, err)
	}
	if err := checkVacant(path, f); err != nil {
		f.Close()
		return nil, false, err
	}
	return f, false, nil
}

// checkVacant returns an error if the file is more than the beginning of a header.
func checkVacant(path string, f *os.File) error {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxHeader+1))
	if err != nil {
		return problem(path, err)
	}
	if len(data) > maxHeader || !startsLine(data, `{"ledger":`) {
		return fmt.Errorf("%s: exists already", path)
	}
	return nil
}

// appendTo fails in tests as a disk does that is full.
var appendTo = func(f *os.File, data []byte) (int, error) { return f.Write(data) }

// flush fails in tests as a disk does that is broken.
var flush = (*os.File).Sync

// write appends data to a file that was opened for appending, and ends at an
// offset when what is torn is cut off. When it fails the file is as it was, or
// ends in a beginning of the data, if that cannot be cut off either.
func write(f *os.File, offset int64, data []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > offset {
		if err := f.Truncate(offset); err != nil {
			return err
		}
	}
	if _, err = f.Seek(offset, io.SeekStart); err == nil {
		if _, err = appendTo(f, data); err == nil {
			err = flush(f)
		}
	}
	if err != nil {
		_ = f.Truncate(offset)
		return err
	}
	return nil
}

// Open opens a ledger file, and reads all of it.
func Open(ctx context.Context, path string) (*Ledger, error) {
	l := open(path)
	l.trust = true
	if _, err := l.load(ctx); err != nil {
		return nil, err
	}
	return l.opened(), nil
}

// whole has every entry counted for itself, also those that a checkpoint stands for.
func (l *Ledger) whole(ctx context.Context) error {
	if l.state.summed == 0 {
		return nil
	}
	all := open(l.path)
	all.config, all.seen = l.config, resting{l.state.head, l.state.entries}
	if _, err := all.load(ctx); err != nil {
		l.lost = all.lost
		return err
	}
	l.state = all.state
	return nil
}

// openFile opens the ledger file.
func (l *Ledger) openFile(flag int) (*os.File, error) {
	path, err := filepath.EvalSymlinks(l.path)
	if err != nil {
		return nil, problem(l.path, err)
	}
	f, err := openPlain(path, flag)
	if err != nil {
		return nil, problem(l.path, err)
	}
	return f, nil
}

// looks is how often a file that does not look right is looked at again: a writer
// may be at it.
const looks = 5

// load reads what is new, without a lock. It returns how many bytes of a torn line a file ends in,
// which may be one that is being written.
func (l *Ledger) load(ctx context.Context) (torn int64, err error) {
	if l.store != nil {
		return 0, l.loadStore(ctx)
	}
	if l.path == "" {
		return 0, nil
	}
	for n := 0; ; n++ {
		var before os.FileInfo
		torn, before, err = l.look(ctx)
		if err == nil || before == nil || ctx.Err() != nil || l.lost != nil || n == looks || l.still(ctx, before, n) {
			return torn, err
		}
	}
}

// look is load that tries once; info is that of the file before it was read.
func (l *Ledger) look(ctx context.Context) (torn int64, info os.FileInfo, err error) {
	f, err := l.openFile(os.O_RDONLY)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return 0, nil, problem(l.path, err)
	}
	torn, err = l.read(ctx, f, false)
	return torn, info, err
}

// still waits a moment, the nth time longer, and reports whether the file stays as
// it was.
func (l *Ledger) still(ctx context.Context, before os.FileInfo, n int) bool {
	select {
	case <-ctx.Done():
		return true
	case <-time.After(2 * time.Millisecond << n):
	}
	now, err := os.Stat(l.path)
	return err == nil && os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}

// typicalLine is about as long as a line with a key and a short plan, and maxExpected how many keys room is made for beforehand.
const (
	typicalLine = 250
	maxExpected = 1 << 22
)

// read takes over the lines of f that are new. What it has taken over stays, also when a later line is wrong. quick
// makes it stop with errUnknown at an entry that takes a computation.
func (l *Ledger) read(ctx context.Context, f *os.File, quick bool) (torn int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, problem(l.path, err)
	}
	if err := l.same(f, info); err != nil {
		return 0, err
	}
	s := l.state
	if l.trust && !s.header {
		if s.until, err = lastCheckpoint(f, info.Size()); err != nil {
			return 0, problem(l.path, err)
		}
		s.expected = int(min(s.until/typicalLine, maxExpected))
	}
	r := newLineReader(io.NewSectionReader(f, s.offset, info.Size()-s.offset))
	for n := 1; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		raw, err := r.next()
		if !s.header && s.missing == "" && !beginsAsLedger(string(raw)) {
			return 0, fmt.Errorf("%s: is no ledger: it does not begin as one; accountant ledger init makes a new file", l.path)
		}
		if err != nil && err != io.EOF {
			return 0, s.at(l.path, err)
		}
		if err == io.EOF && len(raw) == 0 {
			break
		}
		if s.missing != "" && bytes.HasPrefix([]byte(s.missing), raw[:min(len(raw), len(s.missing))]) {
			n := min(len(raw), len(s.missing)) // somebody has ended the last line since
			s.offset, s.missing, raw = s.offset+int64(n), s.missing[n:], raw[n:]
			if len(raw) == 0 {
				continue
			}
		}
		var next tail
		if err == io.EOF {
			if s.missing != "" && len(bytes.TrimRight(raw, "\x00")) > 0 {
				return 0, s.at(l.path, errEnding)
			}
			if next, err = decodeTail(s.head, raw); err != nil {
				return 0, s.at(l.path, err)
			}
			if next.content == nil {
				torn = int64(len(raw))
				break
			}
		} else {
			content, sum, ok := decodeLine(s.head, raw)
			switch {
			case s.missing != "":
				return 0, s.at(l.path, errEnding)
			case !ok && bytes.HasSuffix(raw, []byte("\r\n")):
				return 0, s.at(l.path, errors.New("ends in a carriage return: something has changed the line ends to those of Windows"))
			case !ok && l.seen.head != "" && l.config.Mode != "": // before the line that was known
				return 0, l.awake()
			case !ok:
				return 0, s.at(l.path, errChain)
			}
			next = tail{content, sum, len(raw), ""}
		}
		if err := l.accept(next, quick); err != nil {
			return 0, s.at(l.path, err)
		}
	}
	if !s.header {
		return 0, fmt.Errorf("%s: has no complete first line, and so is no ledger; nothing was spent in it", l.path)
	}
	s.file = info
	return torn, l.awake()
}

// same makes sure that the file still has what was read from it earlier. Another file is read from its beginning, and must
// have the last line.
func (l *Ledger) same(f *os.File, info os.FileInfo) error {
	s := l.state
	if l.lost != nil || s.offset == 0 {
		return l.lost
	}
	ok := info.Size() >= s.offset
	if ok && s.file != nil && !os.SameFile(info, s.file) {
		l.rest()
		return nil
	}
	if ok {
		raw := make([]byte, s.offset-s.start)
		if _, err := f.ReadAt(raw, s.start); err != nil {
			return problem(l.path, err)
		}
		_, sum, right := decodeLine(s.before, append(raw, s.missing...))
		ok = right && sum == s.head
	}
	if !ok {
		l.lost = l.hasLost(s.entries)
	}
	return l.lost
}

// named reports whether the ledger's name is still that of a file.
func (l *Ledger) named(info os.FileInfo) bool {
	now, err := os.Stat(l.path)
	return err == nil && os.SameFile(now, info)
}

// beginsAsLedger reports whether a first line, or what there is of it, can be that of a ledger.
// Zeros are what a crash leaves of a line that was never written.
func beginsAsLedger(line string) bool {
	n := min(len(line), len(linePrefix))
	return line[:n] == linePrefix[:n] || strings.Trim(line, "\x00") == ""
}
