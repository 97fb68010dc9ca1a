package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/tables"
)

// A Table is the data of a query: what each row adds to each part, as whole numbers of the part's unit. It is a secret.
type Table struct {
	q      *Query
	parts  []part
	units  []float64 // of a number of each part
	groups [][]string
	group  []int32   // of each row, −1 if it is in none of the public ones
	person []int32   // of each row, where persons are told apart
	values [][]int32 // of each part: how many units, or which cell
	people int
}

// mostRows bounds a table, so that sums of whole numbers are exact float64s.
const mostRows = 1 << 28

// unitBits is how finely the largest value of a column is divided.
const unitBits = 24

// Read reads a table with a header. The error of a row has its line.
func Read(ctx context.Context, q *Query, in io.Reader) (*Table, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	t := &Table{q: q, parts: q.parts()}
	rows := tables.NewReader(in)
	header, err := rows.Row()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("is empty; must have a header")
	}
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", rows.Line(), err)
	}
	if !tables.IsHeader(header) {
		return nil, fmt.Errorf("line %d: is no header: the names of columns, each once", rows.Line())
	}
	rows.Columns = len(header)
	cols, err := t.columns(header)
	if err != nil {
		return nil, err
	}
	return t, t.fill(ctx, rows, cols)
}

// columns are the places of what is read.
type columns struct {
	group  []int
	person int
	values []int // of each part; −1 of a count
}

func (t *Table) columns(header []string) (c columns, err error) {
	find := func(field, name string) int {
		i := slices.Index(header, name)
		if i < 0 && err == nil {
			err = fault.New(field, "%s is no column; %s", nearest.Quote(name), nearest.Hint(name, header))
		}
		return i
	}
	for _, name := range t.q.Group {
		c.group = append(c.group, find("group", name))
	}
	c.person = -1
	if t.q.Person != "" {
		c.person = find("person", t.q.Person)
	}
	for _, p := range t.parts {
		at, unit := -1, 1.0
		if p.m != nil {
			at = find(p.m.Kind, p.m.Column)
			if p.cells == 1 {
				unit = math.Exp2(math.Ceil(math.Log2(p.bound)) - unitBits)
			}
		}
		c.values, t.units = append(c.values, at), append(t.units, unit)
	}
	t.values = make([][]int32, len(t.parts))
	return c, err
}

func (t *Table) fill(ctx context.Context, rows *tables.Reader, cols columns) error {
	known, persons := map[string]int32{}, map[string]int32{}
	key := func(cells []string) string { return strings.Join(cells, "\x00") }
	for _, k := range t.q.Keys {
		if _, twice := known[key(k)]; twice {
			return fault.New("keys", "%s is listed twice", nearest.Quote(strings.Join(k, ",")))
		}
		known[key(k)] = int32(len(t.groups))
		t.groups = append(t.groups, k)
	}
	if len(t.q.Group) == 0 {
		known[""], t.groups = 0, [][]string{{}}
	}
	cells := make([]string, len(cols.group))
	for n := 0; ; n++ {
		row, err := rows.Row()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && n == mostRows {
			err = fmt.Errorf("is more than %d rows", mostRows)
		}
		if err == nil && n&0xffff == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", rows.Line(), err)
		}
		for i, at := range cols.group {
			cells[i] = row[at]
		}
		g, ok := known[key(cells)]
		switch {
		case !ok && t.q.Keys != nil:
			g = -1
		case !ok:
			g = int32(len(t.groups))
			// A cell is a part of its line, which is not to be kept.
			own := slices.Clone(cells)
			for i := range own {
				own[i] = strings.Clone(own[i])
			}
			known[key(own)], t.groups = g, append(t.groups, own)
		}
		t.group = append(t.group, g)
		if cols.person >= 0 {
			who, ok := persons[row[cols.person]]
			if !ok {
				who = int32(len(persons))
				persons[strings.Clone(row[cols.person])] = who
			}
			t.person = append(t.person, who)
			t.people = len(persons)
		}
		for i, at := range cols.values {
			v := int32(1)
			if at >= 0 {
				if v, err = t.parts[i].whole(row[at], t.units[i]); err != nil {
					return fmt.Errorf("line %d: %s: %w", rows.Line(), t.parts[i].m.Column, err)
				}
			}
			t.values[i] = append(t.values[i], v)
		}
	}
}

// whole returns what a row with a value adds: so many units, within the bounds, or the cell it is in.
func (p part) whole(cell string, unit float64) (int32, error) {
	x, err := decimal.Plain(cell)
	if err != nil {
		return 0, fmt.Errorf("%s is not a number", nearest.Quote(cell))
	}
	x = min(max(x, p.m.Low), p.m.High)
	switch p.m.Kind {
	case "quantile":
		return min(int32(math.Floor((x-p.m.Low)/(p.m.High-p.m.Low)*float64(p.m.Cells))), int32(p.m.Cells-1)), nil
	case "mean":
		x -= p.m.Low + (p.m.High-p.m.Low)/2
	}
	most := math.Floor(p.bound / unit)
	return int32(min(max(math.Round(x/unit), -most), most)), nil
}

// totals has, for each group, how many persons are in it, and the sums of each part's entries.
type totals struct {
	persons []int64
	sums    [][]int64 // of each part: groups times cells
}

// add sums the rows that the limits on a person leave. Which rows of a person stay is drawn from those of the person alone:
// the first ones, in an order that is drawn anew.
func (t *Table) add(src rand.Source) totals {
	out := totals{persons: make([]int64, len(t.groups))}
	for _, p := range t.parts {
		out.sums = append(out.sums, make([]int64, len(t.groups)*p.cells))
	}
	put := func(row int) {
		g := t.group[row]
		for i, p := range t.parts {
			if v := t.values[i][row]; p.cells > 1 {
				out.sums[i][int(g)*p.cells+int(v)]++
			} else {
				out.sums[i][g] += int64(v)
			}
		}
	}
	if t.q.Person == "" {
		rows := make([]int64, len(t.groups))
		for row, g := range t.group {
			if g >= 0 {
				put(row)
				rows[g]++
			}
		}
		// A person with at most L rows changes ⌊rows/L⌋ by at most one, in at most L groups.
		for g, n := range rows {
			out.persons[g] = n / int64(t.q.PerPerson)
		}
		return out
	}
	order := rand.New(random.Split(src)).Perm(len(t.group))
	held := map[uint64]int32{} // rows of a person in a group
	in := make([]int32, t.people)
	for _, row := range order {
		g, who := t.group[row], t.person[row]
		if g < 0 {
			continue
		}
		at := uint64(who)<<32 | uint64(g)
		n := held[at]
		if n == 0 {
			if in[who] == int32(t.q.PerPerson) {
				continue
			}
			in[who]++
			out.persons[g]++
		}
		if n == int32(t.q.PerGroup) {
			continue
		}
		held[at] = n + 1
		put(row)
	}
	return out
}
