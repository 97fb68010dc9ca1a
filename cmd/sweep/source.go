package sweep

// Where plans come from: in order, one at a time, from any place on. A source keeps one plan.

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/dpaccountant/accountant/plan"
)

// A Source hands out plans in order. It is used by one goroutine.
type Source interface {
	// Start makes plan i, from 0 on, the next one.
	Start(i int64) error
	// Next returns the next plan, and io.EOF behind the last one. What is wrong with a plan is
	// in the variant.
	Next() (plan.Variant, error)
	// Text returns what plan i was read from, on one line, and "" where that is longer than a plan
	// may be. It moves the next plan.
	Text(i int64) (string, error)
}

// OfGrid returns the plans of a grid.
func OfGrid(g *plan.Grid) Source { return &gridSource{g, 0} }

type gridSource struct {
	grid *plan.Grid
	next int64
}

func (s *gridSource) Start(i int64) error {
	s.next = i
	return nil
}

func (s *gridSource) Next() (plan.Variant, error) {
	if s.next >= s.grid.Len() {
		return plan.Variant{}, io.EOF
	}
	s.next++
	return s.grid.At(s.next - 1), nil
}

func (s *gridSource) Text(i int64) (string, error) {
	if i < 0 || i >= s.grid.Len() {
		return "", io.EOF
	}
	return s.grid.Text(i), nil
}

// OfLines returns the plans of a text with one on each line, as JSON or YAML in braces.
// A blank line is a plan with an error, so that the index of an answer is that of its line.
func OfLines(r io.ReadSeeker) Source { return &lineSource{r: r} }

type lineSource struct {
	r    io.ReadSeeker
	in   *bufio.Reader
	next int64 // line
}

func (s *lineSource) Start(i int64) error {
	if s.in == nil || i < s.next {
		if _, err := s.r.Seek(0, io.SeekStart); err != nil {
			return err
		}
		s.in, s.next = bufio.NewReaderSize(s.r, 1<<16), 0
	}
	for s.next < i {
		if _, _, err := s.line(); err != nil {
			return err
		}
	}
	return nil
}

func (s *lineSource) Text(i int64) (string, error) {
	if err := s.Start(i); err != nil {
		return "", err
	}
	line, _, err := s.line()
	return string(line), err
}

func (s *lineSource) Next() (plan.Variant, error) {
	if s.in == nil {
		if err := s.Start(0); err != nil {
			return plan.Variant{}, err
		}
	}
	line, long, err := s.line()
	switch {
	case err != nil:
		return plan.Variant{}, err
	case long:
		return plan.Variant{Err: &plan.Error{Problem: fmt.Sprintf("is larger than %d bytes", plan.MaxSize)}}, nil
	}
	return plan.ParseVariant(line), nil
}

// line returns the next line without its end, which is valid until the next call; long says
// that it is longer than a plan may be, and was left out.
func (s *lineSource) line() (line []byte, long bool, err error) {
	for {
		part, err := s.in.ReadSlice('\n')
		switch {
		case len(line)+len(part) > plan.MaxSize+2:
			line, long = nil, true
		case !long:
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == io.EOF && (len(line) > 0 || long) {
			err = nil // a last line without an end
		}
		s.next++
		return bytes.TrimRight(line, "\r\n"), long, err
	}
}
