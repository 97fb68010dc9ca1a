// Votes: a checked, immutable table of teacher votes, from histograms or labels. Scores: one of what a student predicts, in units of
// votes.

package ballots

import (
	"fmt"

	"github.com/dpaccountant/accountant/internal/ballot"
	"github.com/dpaccountant/accountant/internal/fault"
)

// Votes is a table of teacher votes: one row per query, one column per class,
// every row a histogram of at most Teachers votes. It is immutable.
type Votes struct {
	table[int64]
	teachers int64
	short    int // rows with fewer votes than teachers
}

// A table has a row for each query and a column for each class.
type table[T int64 | float64] struct {
	columns int
	cells   []T
}

// Queries returns the number of rows.
func (t *table[T]) Queries() int { return len(t.cells) / t.columns }

// Classes returns the number of columns.
func (t *table[T]) Classes() int { return t.columns }

// Row returns the numbers of query i, counts or scores in votes. The caller must not change it.
func (t *table[T]) Row(i int) []T { return t.cells[i*t.columns : (i+1)*t.columns] }

// NewVotes returns the table of the histograms. With teachers = 0 every row
// must have the same total, which is the number of teachers; otherwise rows may
// have fewer votes (teachers that abstain), which [Votes.Short] counts.
func NewVotes(rows [][]int64, teachers int64) (*Votes, error) {
	flat, classes, err := flatten("votes", rows)
	if err != nil {
		return nil, err
	}
	return newVotes(flat, classes, teachers)
}

// flatten joins rows of one length.
func flatten(field string, rows [][]int64) (flat []int64, columns int, err error) {
	for i, row := range rows {
		if i == 0 {
			columns = len(row)
		}
		if len(row) != columns {
			return nil, 0, fault.New(field, "row %d: %d columns are not the %d of row 1", i+1, len(row), columns)
		}
		flat = append(flat, row...)
	}
	return flat, columns, nil
}

// newVotes takes ownership of counts.
func newVotes(counts []int64, classes int, teachers int64) (*Votes, error) {
	if len(counts) == 0 {
		return nil, fault.New("votes", "has no rows, must have one per query")
	}
	if classes < 2 {
		return nil, fault.In("votes", fault.New("classes", "%d is not in [2, +Inf)", classes))
	}
	if teachers != 0 {
		if err := ballot.CheckTeachers(teachers); err != nil {
			return nil, err
		}
	}
	v := &Votes{table: table[int64]{classes, counts}, teachers: teachers}
	for i := range v.Queries() {
		var total int64
		for j, n := range v.Row(i) {
			if n < 0 || n > ballot.MaxVotes {
				return nil, fault.New("votes", "row %d: column %d: %d is not in [0, %d]", i+1, j+1, n, int64(ballot.MaxVotes))
			}
			if total += n; total > ballot.MaxVotes {
				return nil, fault.New("votes", "row %d: the votes sum to more than %d", i+1, int64(ballot.MaxVotes))
			}
		}
		switch {
		case v.teachers == 0 && total == 0:
			return nil, fault.New("votes", "row %d: has no votes", i+1)
		case v.teachers == 0:
			v.teachers = total
		case teachers == 0 && total != v.teachers:
			return nil, fault.New("votes", "row %d: %d votes are not the %d of row 1 (give the number of teachers if some abstain)", i+1, total, v.teachers)
		case total > v.teachers:
			return nil, fault.New("votes", "row %d: %d votes are not in [0, %d], the number of teachers", i+1, total, v.teachers)
		case total < v.teachers:
			v.short++
		}
	}
	return v, nil
}

// FromLabels returns the table of the labels that each teacher gave to each
// query: one row per teacher, one column per query, labels from 0.
func FromLabels(labels [][]int64, classes int) (*Votes, error) {
	flat, queries, err := flatten("labels", labels)
	if err != nil {
		return nil, err
	}
	return fromLabels(flat, queries, classes)
}

func fromLabels(flat []int64, queries, classes int) (*Votes, error) {
	if classes < 2 || classes > 1_000_000 {
		return nil, fault.New("classes", "%d is not in [2, 1000000]", classes)
	}
	if len(flat) == 0 {
		return nil, fault.New("labels", "has no entries, must have one per teacher and query")
	}
	if queries > maxEntries/classes {
		return nil, fault.New("labels", "%d queries of %d classes are more than %d counts", queries, classes, maxEntries)
	}
	counts := make([]int64, queries*classes)
	for k, c := range flat {
		if c < 0 || c >= int64(classes) {
			return nil, fault.New("labels", "row %d: column %d: %d is not in [0, %d]", k/queries+1, k%queries+1, c, classes-1)
		}
		counts[k%queries*classes+int(c)]++
	}
	return newVotes(counts, classes, 0)
}

// Teachers returns the number of teachers.
func (v *Votes) Teachers() int64 { return v.teachers }

// Short returns how many rows have fewer votes than there are teachers.
func (v *Votes) Short() int { return v.short }

// First returns the table of the first k queries.
func (v *Votes) First(k int) (*Votes, error) {
	if k < 1 || k > v.Queries() {
		return nil, fault.New("queries", "%d is not in [1, %d]", k, v.Queries())
	}
	return newVotes(v.cells[:k*v.columns], v.columns, v.teachers)
}

// Votes by a rule, for results that can be reproduced without data.

// SynthS1 returns the synthetic votes of rule S1: histograms of every shape
// from unanimous to spread out, made by integer arithmetic alone, so that
// results can be reproduced without any data set. Query k prefers the class
// (7k+3) mod m, with N − ⌊6N·u³/10^10⌋ votes, u = (7919k+17) mod 1000; each
// following class takes half (rounded up) of what remains.
func SynthS1(teachers int64, classes, queries int) (*Votes, error) {
	if err := ballot.CheckTeachers(teachers); err != nil {
		return nil, err
	}
	if classes < 2 || classes > 1_000_000 {
		return nil, fault.New("classes", "%d is not in [2, 1000000]", classes)
	}
	if queries < 1 || queries > maxEntries/classes {
		return nil, fault.New("queries", "%d is not in [1, %d]", queries, maxEntries/classes)
	}
	counts := make([]int64, classes*queries)
	for k := range queries {
		row := counts[k*classes : (k+1)*classes]
		c := (7*k + 3) % classes
		x := int64((7919*k + 17) % 1000)
		top := teachers - 6*teachers*x*x*x/10_000_000_000
		rest := teachers - top
		row[c] = top
		for i := 1; i <= classes-2; i++ {
			n := (rest + 1) / 2
			row[(c+i)%classes] = n
			rest -= n
		}
		row[(c+classes-1)%classes] += rest
	}
	return newVotes(counts, classes, teachers)
}

// Scores are a student's class scores for every query, in units of votes.
type Scores struct{ table[float64] }

// NewScores returns the scores of a student, one row per query. With votes they are
// already multiplied by the number of teachers, otherwise they are probabilities.
func NewScores(rows [][]float64, teachers int64, votes bool) (*Scores, error) {
	total := 1.0
	if votes {
		total = float64(teachers)
	}
	if err := ballot.CheckTeachers(teachers); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fault.New("baseline", "has no rows, must have one per query")
	}
	s := &Scores{table[float64]{columns: len(rows[0])}}
	for i, row := range rows {
		if err := ballot.CheckScores(fmt.Sprintf("baseline: row %d", i+1), row, s.columns, total); err != nil {
			return nil, err
		}
		for _, p := range row {
			s.cells = append(s.cells, p*(float64(teachers)/total))
		}
	}
	return s, nil
}

// First returns the scores of the first k queries.
func (s *Scores) First(k int) (*Scores, error) {
	if k < 1 || k > s.Queries() {
		return nil, fault.New("baseline", "%d queries are not in [1, %d]", k, s.Queries())
	}
	return &Scores{table[float64]{s.columns, s.cells[:k*s.columns]}}, nil
}
