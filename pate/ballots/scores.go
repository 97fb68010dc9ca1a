// Scores: a checked, immutable table of what a student predicts, in units of votes.

package ballots

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
)

// Scores are a student's class scores for every query, in units of votes.
type Scores struct {
	classes int
	scaled  []float64
}

// NewScores returns the scores of a student: probabilities, one row per query,
// which are multiplied by the number of teachers.
func NewScores(probabilities [][]float64, teachers int64) (*Scores, error) {
	return newScores(probabilities, teachers, 1)
}

// NewVoteScores returns scores that are already multiplied by the number of
// teachers.
func NewVoteScores(scores [][]float64, teachers int64) (*Scores, error) {
	return newScores(scores, teachers, float64(teachers))
}

func newScores(rows [][]float64, teachers int64, total float64) (*Scores, error) {
	if err := CheckTeachers(teachers); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fault.New("baseline", "has no rows, must have one per query")
	}
	s := &Scores{classes: len(rows[0])}
	for i, row := range rows {
		if err := CheckScores(fmt.Sprintf("baseline: row %d", i+1), row, s.classes, total); err != nil {
			return nil, err
		}
		for _, p := range row {
			s.scaled = append(s.scaled, p*(float64(teachers)/total))
		}
	}
	return s, nil
}

// CheckScores refuses what is not one score for each class with the given total; it allows a row of float32 probabilities to miss its total by 0.1 %:
// the statistic stays 1-sensitive whatever the (public) scores are.
func CheckScores(field string, row []float64, classes int, total float64) error {
	if len(row) != classes {
		return fault.New(field, "%d scores are not one for each of %d classes", len(row), classes)
	}
	var s float64
	for j, p := range row {
		if !(p >= 0 && p <= total*1.001) {
			return fault.New(field, "column %d: %v is not in [0, %v]", j+1, p, total)
		}
		s += p
	}
	if !(math.Abs(s-total) <= 1e-3*total) {
		return fault.New(field, "the scores sum to %v, must sum to %v", s, total)
	}
	return nil
}

// First returns the scores of the first k queries.
func (s *Scores) First(k int) (*Scores, error) {
	if k < 1 || k > s.Queries() {
		return nil, fault.New("baseline", "%d queries are not in [1, %d]", k, s.Queries())
	}
	return &Scores{s.classes, s.scaled[:k*s.classes]}, nil
}

// Queries returns the number of rows.
func (s *Scores) Queries() int { return len(s.scaled) / s.classes }

// Classes returns the number of columns.
func (s *Scores) Classes() int { return s.classes }

// Row returns the scores of query i, in votes. The caller must not change it.
func (s *Scores) Row(i int) []float64 { return s.scaled[i*s.classes : (i+1)*s.classes] }
