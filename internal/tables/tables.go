// Package tables reads tables of comma-separated values, one row to a line. All readers of such
// files share it, so they agree on what a row, a number and a header are.
//
// A row is never dropped. The first line is a header where every cell of it is a name (see
// [IsHeader]). A number is one in decimal notation ([decimal.Plain]), so 3_0 and 0x1e are none.
// Blank lines are no rows, nor are comments where a reader allows them. A byte order mark in front
// is left out.
//
// Do not use it for a file whose cells have line feeds, or whose blanks have a meaning.
package tables

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ByteOrderMark is what some programs put in front of a text in UTF-8.
const ByteOrderMark = "\ufeff"

// maxLine bounds a line, in bytes.
const maxLine = 1 << 26

// A Reader reads the rows of a table.
type Reader struct {
	Columns  int  // of every row, the header included; 0 for any number
	Comments bool // leave out lines that begin with #

	lines *bufio.Scanner
	line  int
}

// NewReader returns a Reader of what r holds.
func NewReader(r io.Reader) *Reader {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 1<<16), maxLine)
	return &Reader{lines: lines}
}

// Row returns the cells of the next row, without the blanks around them, and io.EOF after the last one.
// Any other error is of the line that Line returns.
func (r *Reader) Row() ([]string, error) {
	for r.lines.Scan() {
		r.line++
		text := r.lines.Text()
		if r.line == 1 {
			text = strings.TrimPrefix(text, ByteOrderMark)
		}
		text = strings.TrimSpace(text)
		if text == "" || r.Comments && text[0] == '#' {
			continue
		}
		cells, err := Split(text)
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if err == nil && r.Columns > 0 && len(cells) != r.Columns {
			err = csv.ErrFieldCount
		}
		return cells, err
	}
	err := r.lines.Err()
	if err == nil {
		return nil, io.EOF
	}
	r.line++
	if errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("is longer than %d bytes", maxLine)
	}
	return nil, err
}

// Line returns the number of the line that Row read last, from 1.
func (r *Reader) Line() int { return r.line }

// Split returns the cells of one line, in quotes where they have commas or quotes themselves.
func Split(line string) ([]string, error) {
	if !strings.ContainsAny(line, "\"\r") {
		return strings.Split(line, ","), nil
	}
	in := csv.NewReader(strings.NewReader(line))
	in.TrimLeadingSpace = true
	cells, err := in.Read()
	if e := (*csv.ParseError)(nil); errors.As(err, &e) {
		err = fmt.Errorf("column %d: %w", e.Column, e.Err)
	}
	if err == nil && in.InputOffset() < int64(len(line)) {
		err = errors.New("has a line feed among its cells")
	}
	return cells, err
}

// IsHeader reports whether a first row is a header: every cell is a name, and no two are the same. A name
// begins with a letter or _ and can be printed; the words for what is missing or no number, such as NaN,
// are no names, nor is the letter of a table of one column, where it may be a digit misspelled. So a row of
// numbers of which some are misspelled is never a header.
func IsHeader(cells []string) bool {
	if len(cells) == 1 && utf8.RuneCountInString(cells[0]) == 1 {
		return false
	}
	for i, cell := range cells {
		first, _ := utf8.DecodeRuneInString(cell)
		if !unicode.IsLetter(first) && first != '_' || strings.ContainsFunc(cell, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return false
		}
		if slices.Contains(noNames, strings.ToLower(cell)) || i < maxCompared && slices.Contains(cells[:i], cell) {
			return false
		}
	}
	return len(cells) > 0
}

// maxCompared is how many cells of a header are compared with one another, which costs its square.
const maxCompared = 1000

// noNames are words that programs write for a value that is missing or no number, and for truth.
var noNames = []string{"nan", "na", "n/a", "null", "none", "nil", "inf", "infinity", "true", "false"}
