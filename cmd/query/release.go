package query

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant/choice"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/profiles"
)

// An Answer is what may be published: a table of groups and their noisy measures.
type Answer struct {
	Columns []string
	Rows    [][]string
}

// Release draws the noise, of which p is the price, and returns the answer. It may be called once for what was spent. The
// source nil is the operating system's; another must be secret.
func (t *Table) Release(ctx context.Context, p *Price, src rand.Source) (*Answer, error) {
	src = random.Source(src)
	s, err := t.q.Shower(p.Paid)
	if err != nil {
		return nil, err
	}
	out := &Answer{Columns: t.q.Columns()}
	for i, g := range t.add(src) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row, shown, err := s.Show(t.groups[i], g, src)
		if err != nil {
			return nil, err
		}
		if shown {
			out.Rows = append(out.Rows, row)
		}
	}
	slices.SortFunc(out.Rows, slices.Compare[[]string])
	return out, nil
}

// Columns are those of an answer.
func (q *Query) Columns() []string {
	out := slices.Clone(q.Group)
	for _, m := range q.Measures {
		out = append(out, m.columns()...)
	}
	return out
}

// A Shower makes rows of an answer from groups, with the noise that was paid for.
type Shower struct {
	*Reader
	keep choice.SelectPartitions
}

// Shower returns the shower of a query whose price is paid.
func (q *Query) Shower(p Paid) (*Shower, error) {
	r, err := NewReader(q)
	if err != nil {
		return nil, err
	}
	if len(p.Scales) != len(r.parts) {
		return nil, fault.New("scales", "%d are not those of %d parts", len(p.Scales), len(r.parts))
	}
	for i, scale := range p.Scales {
		r.parts[i].scale = scale
	}
	s := &Shower{Reader: r}
	if q.private() {
		s.keep, err = choice.NewSelectPartitions(p.KeyEpsilon, q.keyDelta(), q.PerPerson)
	}
	return s, err
}

// Show returns the row of a group, unless the group is private and noise has not chosen it. The source must be secret.
func (s *Shower) Show(key []string, g Group, src rand.Source) (row []string, shown bool, err error) {
	if s.q.private() {
		persons := g.Persons
		if s.q.Person == "" {
			// A person with at most L rows changes ⌊rows/L⌋ by at most one, in at most L groups.
			persons = g.Rows / int64(s.q.PerPerson)
		}
		if persons == 0 {
			return nil, false, nil // never kept
		}
		if shown, err = s.keep.Keep(persons, src); err != nil || !shown {
			return nil, false, err
		}
	}
	noisy := map[string][]float64{}
	for i, part := range s.parts {
		entries := make([]float64, part.cells)
		for c := range entries {
			value := 0.0
			if g.Sums != nil {
				value = float64(g.Sums[i][c]) * s.units[i]
			}
			if entries[c], err = s.noisy(part, value, src); err != nil {
				return nil, false, err
			}
		}
		noisy[part.name] = entries
	}
	row = slices.Clone(key)
	for _, m := range s.q.Measures {
		row = append(row, m.of(noisy)...)
	}
	return row, true, nil
}

// noisy adds noise of the part, rounded to a grid that does not depend on the data: whole numbers, or finer where the noise is
// small.
func (s *Shower) noisy(p part, value float64, src rand.Source) (float64, error) {
	grid := 1.0
	if p.m != nil && p.cells == 1 {
		grid = min(1, math.Exp2(math.Floor(math.Log2(p.scale/100))))
	}
	if s.q.Delta == 0 {
		return profiles.AddLaplace(src, value, p.scale, grid)
	}
	return profiles.AddGaussian(src, value, p.scale, grid)
}

// columns are the names of a measure's numbers.
func (m Measure) columns() []string {
	switch m.Kind {
	case "count":
		return []string{"count"}
	case "quantile":
		var out []string
		for _, level := range m.At {
			out = append(out, fmt.Sprintf("%s_q%s", m.Column, strings.TrimPrefix(strconv.FormatFloat(level, 'g', -1, 64), "0.")))
		}
		return out
	}
	return []string{m.Kind + "_" + m.Column}
}

// of makes the numbers of a measure from the noisy entries of its group.
func (m Measure) of(noisy map[string][]float64) []string {
	entries := noisy[m.Name()]
	switch m.Kind {
	case "mean":
		x := m.Low + (m.High-m.Low)/2 + entries[0]/max(1, noisy["count"][0])
		return []string{rounded(min(max(x, m.Low), m.High), 6)}
	case "quantile":
		var out []string
		for _, level := range m.At {
			out = append(out, rounded(m.quantile(entries, level), 6))
		}
		return out
	}
	return []string{rounded(entries[0], 15)}
}

func rounded(x float64, digits int) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', digits, 64)
}

// quantile returns the upper end of the first cell at which the noisy counts add up to a share of their total.
func (m Measure) quantile(counts []float64, level float64) float64 {
	total := 0.0
	for _, n := range counts {
		total += n
	}
	width, sum := (m.High-m.Low)/float64(m.Cells), 0.0
	for c, n := range counts {
		if sum += n; sum >= level*max(total, 1) {
			return m.Low + width*float64(c+1)
		}
	}
	return m.High
}
