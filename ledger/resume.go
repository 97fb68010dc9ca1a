// Going on from a checkpoint: finding the last one that is believed, and passing over the entries before it.

package ledger

import (
	"bytes"
	"crypto/sha256"
	"io"

	"github.com/dpaccountant/accountant/internal/fault"
)

// lastCheckpoint returns where the line of the last checkpoint of this program begins, 0 if there is none. The entries
// before it are read from the beginning all the same: what is found here is only where their cost need not be computed.
func lastCheckpoint(f io.ReaderAt, size int64) (int64, error) {
	mark := []byte(lineMiddle + checkpointBegin) // no text of an entry has these quotes without a backslash
	buf := make([]byte, min(size, readAhead))
	for end := size; end > int64(len(mark)); {
		start := max(0, end-int64(len(buf)))
		block := buf[:end-start]
		if _, err := f.ReadAt(block, start); err != nil {
			return 0, err
		}
		for {
			i := bytes.LastIndex(block, mark)
			if i < 0 {
				break
			}
			block = block[:i]
			at := start + int64(i) - int64(len(linePrefix)+2*sha256.Size)
			line, err := newLineReader(io.NewSectionReader(f, max(0, at), size-at)).next()
			var c checkpoint
			if _, rest, ok := splitLine(line); err == nil && at > 0 && ok && strict(bytes.TrimSuffix(rest, []byte(lineSuffix)), &c) == nil && c.Program != "" && c.Program == program() {
				return at, nil
			}
		}
		if start == 0 {
			break
		}
		end = start + int64(len(mark)) - 1 // a mark may lie across two blocks
	}
	return 0, nil
}

// skim takes over an entry whose cost a checkpoint has.
func (s *state) skim(content []byte) error {
	e, ok := s.plain(content)
	if !ok {
		e = entry{}
		if err := strict(content, &e); err != nil {
			return err
		}
	}
	s.keep(e)
	s.entries++
	s.last = e.Time
	return nil
}

// pass takes over a checkpoint. That which is believed stands for the entries before it; any other one is passed by, or checked.
func (s *state) pass(content []byte) error {
	var c checkpoint
	if err := strict(content, &c); err != nil {
		return err
	}
	if c.Entries != int64(s.entries) {
		return fault.New("checkpoint", "%d is not the number of entries before it, %d", c.Entries, s.entries)
	}
	switch {
	case s.offset < s.until: // an older one
	case s.offset == s.until && s.until > 0 && s.entries > 0:
		if c.Runs < 0 || c.Runs > maxRuns {
			return fault.New("runs", "%d is not in [0, 2^53]", c.Runs)
		}
		if err := s.judge.resume(c.Sums); err != nil {
			return err
		}
		s.runs, s.summed = c.Runs, s.entries
	case c.Runs != s.runs:
		return fault.New("runs", "%d is not the number of runs before it, %d", c.Runs, s.runs)
	case s.check != nil && c.Program == program():
		if err := s.check(c.Sums); err != nil {
			return err
		}
	}
	s.marked = mark{s.marked.number + 1, s.entries, c.Program}
	return nil
}
