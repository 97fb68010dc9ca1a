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
	sums := t.add(src)
	shown, err := t.choose(p, sums, src)
	if err != nil {
		return nil, err
	}
	out := &Answer{Columns: slices.Clone(t.q.Group)}
	for _, m := range t.q.Measures {
		out.Columns = append(out.Columns, m.columns()...)
	}
	for _, g := range shown {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row := slices.Clone(t.groups[g])
		noisy := map[string][]float64{}
		for i, part := range p.parts {
			entries := make([]float64, part.cells)
			for c := range entries {
				value := float64(sums.sums[i][g*part.cells+c]) * t.units[i]
				if entries[c], err = t.noisy(part, value, src); err != nil {
					return nil, err
				}
			}
			noisy[part.name] = entries
		}
		for _, m := range t.q.Measures {
			row = append(row, m.of(noisy)...)
		}
		out.Rows = append(out.Rows, row)
	}
	slices.SortFunc(out.Rows, slices.Compare[[]string])
	return out, nil
}

// choose returns the groups of the answer: all, where they are public.
func (t *Table) choose(p *Price, sums totals, src rand.Source) (shown []int, err error) {
	if !t.q.private() {
		for g := range t.groups {
			shown = append(shown, g)
		}
		return shown, nil
	}
	s, err := choice.NewSelectPartitions(p.keys, t.q.keyDelta(), t.q.PerPerson)
	if err != nil {
		return nil, err
	}
	for g, persons := range sums.persons {
		if persons == 0 {
			continue // never kept
		}
		keep, err := s.Keep(persons, src)
		if err != nil {
			return nil, err
		}
		if keep {
			shown = append(shown, g)
		}
	}
	return shown, nil
}

// noisy adds noise of the part, rounded to a grid that does not depend on the data: whole numbers, or finer where the noise is
// small.
func (t *Table) noisy(p part, value float64, src rand.Source) (float64, error) {
	grid := 1.0
	if p.m != nil && p.cells == 1 {
		grid = min(1, math.Exp2(math.Floor(math.Log2(p.scale/100))))
	}
	if t.q.Delta == 0 {
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
