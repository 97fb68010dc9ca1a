// Tables of votes, scores and answers as CSV. What is read is refused with its line and
// column, or whole; what is written is read again as the same.

package ballots

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/dpaccountant/accountant/internal/ballot"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/tables"
)

// readTable reads CSV or NPY, told apart by NPY's first bytes.
func readTable(r io.Reader, field string) (*table[float64], error) {
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := b.Peek(len(npyMagic))
	if err != nil && err != io.EOF {
		return nil, fault.In(field, err)
	}
	if bytes.Equal(head, []byte(npyMagic)) {
		return readNPY(b, field)
	}
	return readCSV(b, field)
}

// readCSV reads one row of numbers per line, perhaps below a header, as package tables has it. Lines that
// start with # are left out.
func readCSV(r io.Reader, field string) (*table[float64], error) {
	in := tables.NewReader(r)
	in.Comments = true
	m := &table[float64]{}
	for first := true; ; first = false {
		cells, err := in.Row()
		switch {
		case err == io.EOF && len(m.cells) == 0:
			return nil, fault.New(field, "has no rows")
		case err == io.EOF:
			return m, nil
		case err != nil:
			return nil, fault.New(field, "line %d: %w", in.Line(), err)
		case first && tables.IsHeader(cells):
			m.columns = len(cells)
			continue
		case m.columns == 0:
			m.columns = len(cells)
		case len(cells) != m.columns:
			return nil, fault.New(field, "line %d: %d columns are not the %d of the first row", in.Line(), len(cells), m.columns)
		}
		if len(m.cells)+len(cells) > maxEntries {
			return nil, fault.New(field, "line %d: more than %d entries", in.Line(), maxEntries)
		}
		for j, cell := range cells {
			x, err := decimal.Plain(cell)
			if err != nil {
				hint := ""
				if first {
					hint = " (a header has a name in every column)"
				}
				return nil, fault.New(field, "line %d: column %d: %q is not a finite number%s", in.Line(), j+1, clip(cell), hint)
			}
			m.cells = append(m.cells, x)
		}
	}
}

// integers returns the entries of a table as integers.
func integers(m *table[float64], field string) ([]int64, error) {
	n := make([]int64, len(m.cells))
	for k, x := range m.cells {
		if !isInt(x) || math.Abs(x) > ballot.MaxVotes {
			return nil, fault.New(field, "row %d: column %d: %v is not an integer in [0, %d]", k/m.columns+1, k%m.columns+1, x, int64(ballot.MaxVotes))
		}
		n[k] = int64(x)
	}
	return n, nil
}

// A Format says what a table of votes holds.
type Format struct {
	// Labels: a row per teacher and a column per query, holding classes from 0
	// to Classes−1. Otherwise: a row per query and a column per class, holding
	// counts.
	Labels  bool
	Classes int // for Labels

	// Teachers is the number of teachers where some abstain, 0 otherwise.
	Teachers int64
}

// ReadVotes reads a table of votes, in CSV (comma-separated; # comments and a
// header allowed, a first line with a name in every column) or NPY (versions 1 to
// 3, two-dimensional, integers or integral floats, either order). Object arrays
// are refused, never unpickled.
func ReadVotes(r io.Reader, f Format) (*Votes, error) {
	field := "votes"
	if f.Labels {
		field = "labels"
		if f.Teachers != 0 {
			return nil, fault.New("teachers", "%d is given, must be absent for labels", f.Teachers)
		}
	} else if f.Classes != 0 {
		return nil, fault.New("classes", "%d is given, must be absent for counts", f.Classes)
	}
	m, err := readTable(r, field)
	if err != nil {
		return nil, err
	}
	n, err := integers(m, field)
	if err != nil {
		return nil, err
	}
	if f.Labels {
		return fromLabels(n, m.columns, f.Classes)
	}
	return newVotes(n, m.columns, f.Teachers)
}

// ReadScores reads a student's scores, a row per query and a column per class,
// in CSV or NPY. With votes they are already multiplied by the number of
// teachers, otherwise they are probabilities.
func ReadScores(r io.Reader, teachers int64, votes bool) (*Scores, error) {
	m, err := readTable(r, "baseline")
	if err != nil {
		return nil, err
	}
	return NewScores(slices.Collect(slices.Chunk(m.cells, m.columns)), teachers, votes)
}

// ReadAnswered reads which of n queries were answered: either n lines of 0 or 1
// or the numbers, from 0, of the answered queries, one per line. n lines of 0
// and 1 are read as the former.
func ReadAnswered(r io.Reader, n int) ([]bool, error) {
	m, err := readTable(r, "answered")
	if err != nil {
		return nil, err
	}
	if m.columns != 1 {
		return nil, fault.New("answered", "%d columns are not 1", m.columns)
	}
	answered := make([]bool, n)
	flags := len(m.cells) == n
	for _, x := range m.cells {
		flags = flags && (x == 0 || x == 1)
	}
	for i, x := range m.cells {
		if flags {
			answered[i] = x == 1
			continue
		}
		if !(isInt(x) && x >= 0 && x < float64(n)) {
			return nil, fault.New("answered", "row %d: %v is not in [0, %d]", i+1, x, n-1)
		}
		if answered[int(x)] {
			return nil, fault.New("answered", "row %d: query %v is listed twice", i+1, x)
		}
		answered[int(x)] = true
	}
	return answered, nil
}

// WriteCSV writes the counts, one query per line.
func (v *Votes) WriteCSV(w io.Writer) error {
	b := bufio.NewWriter(w)
	var line []byte
	for i := range v.Queries() {
		line = line[:0]
		for j, n := range v.Row(i) {
			if j > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendInt(line, n, 10)
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}

// Numbers as they stand in a file, before they are votes, labels or scores.

// maxEntries bounds the size of a table: 8 bytes each.
const maxEntries = 100_000_000

func isInt(x float64) bool { return x == math.Trunc(x) }

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
