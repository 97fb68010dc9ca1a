package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
)

// A line of the file is
//
//	{"chain":"HEX","entry":CONTENT}
//
// with CONTENT on one line and HEX = sha256(HEX of the line before, a line feed,
// CONTENT); the line before the first is empty. The first content is a header,
// all others are entries.
//
// A spend is on disk, line feed included, before it is reported. So what comes
// after the last line feed belongs to a spend that was never reported: it is
// ignored, and cut off by the next one. Only when it is a whole line but for the
// line feed does it count: that is never too little.

const (
	linePrefix = `{"chain":"`
	lineMiddle = `","entry":`
	lineSuffix = "}\n"
	// maxLine is longer than the line of any plan; JSON takes at most six bytes
	// for one.
	maxLine = 6*accountant.MaxPlanSize + 1<<16
)

type header struct {
	Version   int       `json:"ledger"`
	Neighbors string    `json:"neighbors"`
	Epsilon   float64   `json:"epsilon"`
	Delta     float64   `json:"delta"`
	Mode      Mode      `json:"mode"`
	Orders    []float64 `json:"orders,omitempty"`
	Time      string    `json:"time"`
}

type entry struct {
	Time string          `json:"time"`
	Note string          `json:"note,omitempty"`
	Plan json.RawMessage `json:"plan"`
}

// planText is the plan that the entry holds.
func (e entry) planText() string {
	var text string
	if json.Unmarshal(e.Plan, &text) == nil {
		return text
	}
	return string(e.Plan)
}

// encodeLine returns the line of a content, and its checksum.
func encodeLine(prev string, content any) (line []byte, sum string, err error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(content); err != nil {
		return nil, "", err
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	sum = checksum(prev, text)
	return fmt.Appendf(nil, "%s%s%s%s%s", linePrefix, sum, lineMiddle, text, lineSuffix), sum, nil
}

func checksum(prev string, content []byte) string {
	h := sha256.New()
	h.Write([]byte(prev + "\n"))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// decodeLine returns the content of a line, with or without its line feed, and
// its checksum; false if it is not a line that follows prev.
func decodeLine(prev string, line []byte) (content []byte, sum string, ok bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte(linePrefix))
	const n = 2 * sha256.Size
	if !ok || len(rest) < n+len(lineMiddle)+1 || string(rest[n:n+len(lineMiddle)]) != lineMiddle || rest[len(rest)-1] != '}' {
		return nil, "", false
	}
	sum = string(rest[:n])
	content = rest[n+len(lineMiddle) : len(rest)-1]
	return content, sum, checksum(prev, content) == sum
}

// strict decodes one JSON value without unknown keys.
func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// Create makes a new ledger file. It fails if there is one already, except for
// the torn beginning that a Create that was killed has left behind.
func Create(path string, c Config) (*Ledger, error) {
	s := &state{}
	if err := s.begin(&c); err != nil {
		return nil, err
	}
	line, _, err := encodeLine("", header{1, c.Neighbors.String(), c.Epsilon, c.Delta, c.Mode, c.Orders,
		time.Now().UTC().Format(time.RFC3339)})
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a regular file", path)
	}
	f, err := lockedfile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, problem(path, err)
	}
	defer f.Close()
	old, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return nil, problem(path, err)
	}
	if _, _, whole := decodeLine("", old); whole || bytes.Contains(old, []byte("\n")) || !torn(old) {
		return nil, fmt.Errorf("%s: exists already", path)
	}
	if err := write(f, 0, line); err != nil {
		return nil, problem(path, err)
	}
	// The name itself lasts once the directory is on disk; not every file system
	// can be asked for that.
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		_ = d.Sync()
		d.Close()
	}
	return &Ledger{path: path}, nil
}

// torn reports whether data may be the beginning of a line, or the zeros that a
// file system leaves in the place of one.
func torn(data []byte) bool {
	data = bytes.TrimRight(data, "\x00")
	n := min(len(data), len(linePrefix))
	return string(data[:n]) == linePrefix[:n]
}

// writeAt fails in tests as a disk does that is full.
var writeAt = func(f *lockedfile.File, data []byte, offset int64) (int, error) { return f.WriteAt(data, offset) }

// write puts data at an offset, where the file ends then.
func write(f *lockedfile.File, offset int64, data []byte) error {
	if err := f.Truncate(offset); err != nil {
		return err
	}
	if _, err := writeAt(f, data, offset); err != nil {
		return err
	}
	return f.Sync()
}

// Open opens a ledger file.
func Open(path string) (*Ledger, error) {
	l := &Ledger{path: path}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.load(nil); err != nil {
		return nil, err
	}
	return l, nil
}

// load reads what is new in the file.
func (l *Ledger) load(seen func(sum string)) (tail, error) {
	if l.path == "" {
		return tail{}, nil
	}
	f, err := l.open(os.O_RDONLY)
	if err != nil {
		return tail{}, err
	}
	defer f.Close()
	return l.read(f, seen)
}

func (l *Ledger) open(flag int) (*lockedfile.File, error) {
	info, err := os.Stat(l.path)
	if err != nil {
		return nil, problem(l.path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a regular file", l.path)
	}
	f, err := lockedfile.OpenFile(l.path, flag, 0)
	if err != nil {
		return nil, problem(l.path, err)
	}
	return f, nil
}

// append spends an entry, after everything that others have spent.
func (l *Ledger) append(e entry) (err error) {
	f, err := l.open(os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	tail, err := l.read(f, nil)
	if err != nil {
		return err
	}
	s := l.state
	line, sum, err := encodeLine(s.head, e)
	if err != nil {
		return err
	}
	if len(line) > maxLine {
		return fmt.Errorf("plan: makes a line of more than %d bytes", maxLine)
	}
	if err := s.spend(e); err != nil {
		return err
	}
	if tail.feed {
		line = append([]byte("\n"), line...)
	}
	if err := write(f, s.offset, line); err != nil {
		// Some of the line may be there. Try to take it back; either way the file
		// decides.
		_ = f.Truncate(s.offset)
		l.state = nil
		return problem(l.path, err)
	}
	s.head, s.offset = sum, s.offset+int64(len(line))
	return nil
}

// A tail is how a file ends.
type tail struct {
	torn int64 // bytes of a line that was not finished
	feed bool  // the last line lacks its line feed
}

// read takes over the lines of f that are new, from the beginning if l has no
// state, and calls seen with the checksum of each.
func (l *Ledger) read(f *lockedfile.File, seen func(sum string)) (t tail, err error) {
	s := l.state
	if s == nil {
		s = &state{}
	}
	l.state = nil // unless all goes well
	info, err := f.Stat()
	if err != nil {
		return t, problem(l.path, err)
	}
	if info.Size() < s.offset {
		return t, fmt.Errorf("%s: has lost entries since it was last read", l.path)
	}
	r := newLineReader(io.NewSectionReader(f, s.offset, info.Size()-s.offset))
	for {
		raw, err := r.next()
		if len(raw) == 0 && err == io.EOF {
			break
		}
		number := s.entries + 2
		if !s.header {
			number = 1
		}
		at := func(format string, args ...any) error {
			return fmt.Errorf("%s:%d: %s", l.path, number, fmt.Sprintf(format, args...))
		}
		if err != nil && err != io.EOF {
			return t, at("%v", err)
		}
		if number > 1 && s.offset > 0 && bytes.Equal(raw, []byte("\n")) && s.unended {
			s.offset++
			s.unended = false
			continue
		}
		content, sum, ok := decodeLine(s.head, raw)
		whole := raw[len(raw)-1] == '\n'
		if !ok && !whole && torn(raw) {
			t.torn = int64(len(raw))
			break
		}
		if !ok && bytes.HasSuffix(raw, []byte("\r\n")) {
			return t, at("ends in a carriage return: something has changed the line ends to those of Windows")
		}
		if !ok {
			return t, at("the checksum does not follow from the line before: the file was damaged or changed here")
		}
		if !s.header {
			err = s.readHeader(content)
		} else {
			var e entry
			if err = strict(content, &e); err == nil {
				err = s.restore(e)
			}
		}
		if err != nil {
			return t, at("%v", err)
		}
		s.head, s.offset, s.unended = sum, s.offset+int64(len(raw)), !whole
		if seen != nil {
			seen(sum)
		}
	}
	if !s.header {
		return t, fmt.Errorf("%s: has no complete first line, and so is no ledger; nothing was spent in it", l.path)
	}
	t.feed = s.unended
	l.state = s
	return t, nil
}

func (s *state) readHeader(content []byte) error {
	var h header
	if err := strict(content, &h); err != nil {
		return err
	}
	if h.Version != 1 {
		return fmt.Errorf("ledger: %d is not a known version, must be 1", h.Version)
	}
	r, err := profiles.ParseRelation(h.Neighbors)
	if err != nil {
		return err
	}
	return s.begin(&Config{r, h.Epsilon, h.Delta, h.Mode, h.Orders})
}

// problem words an error of the file system as "path: problem".
func problem(path string, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// A lineReader returns lines with their line feed, the last one perhaps without.
type lineReader struct {
	r   io.Reader
	buf []byte
	eof bool
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: r} }

func (l *lineReader) next() ([]byte, error) {
	searched := 0
	for {
		if i := bytes.IndexByte(l.buf[searched:], '\n'); i >= 0 {
			line := l.buf[:searched+i+1]
			l.buf = l.buf[searched+i+1:]
			return line, nil
		}
		if l.eof {
			line := l.buf
			l.buf = nil
			return line, io.EOF
		}
		if len(l.buf) > maxLine {
			return nil, fmt.Errorf("has a line of more than %d bytes", maxLine)
		}
		searched = len(l.buf)
		chunk := make([]byte, 1<<16)
		n, err := l.r.Read(chunk)
		l.buf = append(l.buf[:len(l.buf):len(l.buf)], chunk[:n]...)
		if err == io.EOF {
			l.eof = true
		} else if err != nil {
			return nil, err
		}
	}
}

// isHead reports whether text can be a checksum.
func isHead(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 2*sha256.Size && strings.ToLower(text) == text
}
