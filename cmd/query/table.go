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

// A Reader turns the cells of a row into what the row adds to each part: as whole numbers of the part's unit.
type Reader struct {
	q     *Query
	parts []part
	units []float64 // of a number of each part
}

// NewReader returns the reader of a query.
func NewReader(q *Query) (*Reader, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	r := &Reader{q: q, parts: q.parts()}
	for _, p := range r.parts {
		unit := 1.0
		if p.m != nil && p.cells == 1 {
			unit = math.Exp2(math.Ceil(math.Log2(p.bound)) - unitBits)
		}
		r.units = append(r.units, unit)
	}
	return r, nil
}

// Row returns what a row adds: for each part so many units, or the cell it is in. get returns the cell of a column.
func (r *Reader) Row(get func(column string) (string, error)) ([]int32, error) {
	out := make([]int32, len(r.parts))
	for i, p := range r.parts {
		if out[i] = 1; p.m == nil {
			continue
		}
		cell, err := get(p.m.Column)
		if err == nil {
			out[i], err = p.whole(cell, r.units[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.m.Column, err)
		}
	}
	return out, nil
}

// A Group has the true numbers of a group, which are a secret: how many persons count in it, and the entries of each part.
type Group struct {
	Persons int64
	Rows    int64
	Sums    [][]int64
}

// Add adds a row to a group.
func (r *Reader) Add(g *Group, row []int32) {
	if g.Sums == nil {
		for _, p := range r.parts {
			g.Sums = append(g.Sums, make([]int64, p.cells))
		}
	}
	g.Rows++
	for i, v := range row {
		if len(g.Sums[i]) > 1 {
			g.Sums[i][v]++
		} else {
			g.Sums[i][0] += int64(v)
		}
	}
}

// A Table is the data of a query. It is a secret.
type Table struct {
	*Reader
	groups [][]string
	group  []int32 // of each row, −1 if it is in none of the public ones
	person []int32 // of each row, where persons are told apart
	values []int32 // of each row, so many as there are parts
	people int
}

// mostRows bounds a table, so that sums of whole numbers are exact float64s.
const mostRows = 1 << 28

// unitBits is how finely the largest value of a column is divided.
const unitBits = 24

// Read reads a table with a header. The error of a row has its line.
func Read(ctx context.Context, q *Query, in io.Reader) (*Table, error) {
	r, err := NewReader(q)
	if err != nil {
		return nil, err
	}
	t := &Table{Reader: r}
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
	at, err := q.places(header)
	if err != nil {
		return nil, err
	}
	return t, t.fill(ctx, rows, at)
}

// places returns where the columns of a query are in a table with a header.
func (q *Query) places(header []string) (map[string]int, error) {
	var columns []Measure
	for _, name := range q.Group {
		columns = append(columns, Measure{Kind: "group", Column: name})
	}
	if q.Person != "" {
		columns = append(columns, Measure{Kind: "person", Column: q.Person})
	}
	at := map[string]int{}
	for _, m := range append(columns, q.Measures...) {
		if m.Kind == "count" {
			continue
		}
		if at[m.Column] = slices.Index(header, m.Column); at[m.Column] < 0 {
			return nil, fault.New(m.Kind, "%s is no column; %s", nearest.Quote(m.Column), nearest.Hint(m.Column, header))
		}
	}
	return at, nil
}

func (t *Table) fill(ctx context.Context, rows *tables.Reader, at map[string]int) error {
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
	cells := make([]string, len(t.q.Group))
	var row []string
	cell := func(column string) (string, error) { return row[at[column]], nil }
	for n := 0; ; n++ {
		var err error
		row, err = rows.Row()
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
		for i, name := range t.q.Group {
			cells[i] = row[at[name]]
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
		if t.q.Person != "" {
			who, ok := persons[row[at[t.q.Person]]]
			if !ok {
				who = int32(len(persons))
				persons[strings.Clone(row[at[t.q.Person]])] = who
			}
			t.person = append(t.person, who)
			t.people = len(persons)
		}
		values, err := t.Row(cell)
		if err != nil {
			return fmt.Errorf("line %d: %w", rows.Line(), err)
		}
		t.values = append(t.values, values...)
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

// add sums the rows that the limits on a person leave, of each group. Which rows of a person stay is drawn from those of the
// person alone: the first ones, in an order that is drawn anew.
func (t *Table) add(src rand.Source) []Group {
	out := make([]Group, len(t.groups))
	put := func(row int) { t.Add(&out[t.group[row]], t.values[row*len(t.parts):(row+1)*len(t.parts)]) }
	if t.q.Person == "" {
		for row, g := range t.group {
			if g >= 0 {
				put(row)
			}
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
			out[g].Persons++
		}
		if n == int32(t.q.PerGroup) {
			continue
		}
		held[at] = n + 1
		put(row)
	}
	return out
}

// Merge adds the numbers of another part of the same group.
func (g *Group) Merge(o Group) {
	g.Persons += o.Persons
	g.Rows += o.Rows
	if g.Sums == nil {
		g.Sums = o.Sums
		return
	}
	for i := range o.Sums {
		for c, n := range o.Sums[i] {
			g.Sums[i][c] += n
		}
	}
}
