// From lines that were read to what is counted: the header, entries of the past, and checkpoints.

package ledger

import (
	"fmt"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
)

// open returns a handle that has not read its file yet.
func open(path string) *Ledger {
	return &Ledger{path: path, turn: make(chan struct{}, 1), state: &state{}}
}

// opened is the handle for others, of which all has been read.
func (l *Ledger) opened() *Ledger {
	l.config = l.state.config
	return l
}

// takeOver adds the content of a line.
func (s *state) takeOver(t tail, quick bool) (err error) {
	var e entry
	isEntry := false
	switch {
	case s.copy != nil:
		s.header, err = true, s.copy(Line{t.sum, t.content})
	case !s.header:
		err = s.readHeader(t.content)
	case isCheckpoint(t.content):
		err = s.pass(t.content)
	case s.offset < s.until:
		err = s.skim(t.content)
	default:
		known := false
		if e, known = s.again(t.content); !known {
			e = entry{}
			err = strict(t.content, &e)
		}
		isEntry = true
		if err == nil {
			err = s.restore(e, quick)
		}
	}
	if err != nil {
		return err
	}
	s.moved(t.sum, int64(t.size), t.missing)
	if s.visit != nil && isEntry {
		s.visit(e)
	}
	return nil
}

// moved makes a line of a size the last one.
func (s *state) moved(sum string, size int64, missing string) {
	s.lines++
	s.start = s.offset
	s.before, s.head = s.head, sum
	s.offset += size
	s.missing = missing
}

// at is an error about the line after those that were read.
func (s *state) at(path string, err error) error {
	number := s.lines + 1
	if s.missing != "" {
		number-- // the ending of the last one
	}
	return fmt.Errorf("%s:%d: %w", path, number, err)
}

func (s *state) readHeader(content []byte) error {
	var h header
	if len(content) > maxHeader {
		return fault.New("header", "has more than %d bytes", maxHeader)
	}
	if err := strict(content, &h); err != nil {
		return err
	}
	if h.Version != 1 {
		return fault.New("ledger", "%d is not a known version, must be 1", h.Version)
	}
	r, err := profiles.ParseRelation(h.Neighbors)
	if err != nil {
		return err
	}
	if h.RecordsPerPerson < 0 || h.RecordsPerPerson == 1 {
		return fault.New("records-per-person", "%d is not a whole number above 1", h.RecordsPerPerson)
	}
	return s.begin(&Config{r, h.RecordsPerPerson, h.Epsilon, h.Delta, h.Mode, h.Orders})
}
