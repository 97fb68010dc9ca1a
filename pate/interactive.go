package pate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
)

// Interactive is Confident for the later rounds of training a student: the
// check compares the votes with what the student already predicts, so that the
// teachers answer only where the student is wrong, and a confident student is
// told that it is right at no further cost (PATE 2018, Algorithm 2).
//
// With n the votes, N their number of teachers and p the student's scores, the
// statistic of the check is v = max_j(n_j − N·p_j), clamped to [0, N]; it
// changes by at most 1 between neighbours because p is public.
type Interactive struct {
	Confident
	Confidence float64 // a student whose top score exceeds this is reinforced

	// Rounded rounds v to ⌊v + ½⌋, in the mechanism and in its accounting: the
	// sensitivity stays 1, and smooth sensitivity can be tabulated. (Rounding
	// half to even would have sensitivity 2.)
	Rounded bool
}

// NewInteractive returns the aggregator.
func NewInteractive(threshold, confidence, sigma1, sigma2 float64, rounded bool) (Interactive, error) {
	c := Interactive{Confident{threshold, sigma1, sigma2}, confidence, rounded}
	return c, c.check()
}

func (c Interactive) check() error {
	return errorsOf(c.Confident.check(), checkRange("confidence", c.Confidence, 0, 1))
}

// String returns the name, with the parameters if there are any.
func (c Interactive) String() string {
	return fmt.Sprintf("interactive(threshold=%v, confidence=%v, sigma1=%v, sigma2=%v, rounded=%v)",
		c.Threshold, c.Confidence, c.Sigma1, c.Sigma2, c.Rounded)
}

// Label runs the aggregator on one query with fresh noise from src; nil is
// the operating system's. Scores are the student's class probabilities. The answer's class
// is the student's own, and Answered false, when the student is reinforced. The
// noise is exact, as in [Confident.Label].
func (c Interactive) Label(votes []int64, scores []float64, src rand.Source) (Answer, error) {
	if err := errorsOf(c.check(), checkRow(votes), checkScores("scores", scores, len(votes), 1)); err != nil {
		return noAnswer, err
	}
	n := sum(votes)
	scaled := make([]float64, len(scores))
	for j, p := range scores {
		scaled[j] = float64(n) * p
	}
	if a := c.label(votes, c.statistic(votes, scaled, n), random.Source(src)); a.Answered {
		return a, nil
	}
	if c.Reinforces(scores) {
		return Answer{Class: argmax(scores)}, nil
	}
	return noAnswer, nil
}

// Reinforces tells whether the student's top score exceeds the confidence.
func (c Interactive) Reinforces(scores []float64) bool {
	return len(scores) > 0 && slices.Max(scores) > c.Confidence
}

// statistic takes the scores multiplied by the number of teachers.
func (c Interactive) statistic(votes []int64, scaled []float64, teachers int64) float64 {
	v := math.Inf(-1)
	for j, n := range votes {
		v = max(v, float64(n)-scaled[j])
	}
	if c.Rounded {
		v = math.Floor(v + 0.5)
	}
	return min(max(v, 0), float64(teachers))
}

func (c Interactive) prepare(ctx context.Context, v *Votes, s *Scores) (*queries, error) {
	if s == nil {
		return nil, fault.New("baseline", "is missing, must hold the student's scores for interactive aggregation")
	}
	if s.queries() != v.Queries() || s.classes != v.classes {
		return nil, fault.New("baseline", "shape (%d, %d) is not the votes' (%d, %d)", s.queries(), s.classes, v.Queries(), v.classes)
	}
	return c.prepareAt(ctx, v, func(i int) float64 { return c.statistic(v.Row(i), s.row(i), v.teachers) })
}

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
	if err := checkTeachers(teachers); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fault.New("baseline", "has no rows, must have one per query")
	}
	s := &Scores{classes: len(rows[0])}
	for i, row := range rows {
		if err := checkScores(fmt.Sprintf("baseline: row %d", i+1), row, s.classes, total); err != nil {
			return nil, err
		}
		for _, p := range row {
			s.scaled = append(s.scaled, p*(float64(teachers)/total))
		}
	}
	return s, nil
}

// checkScores allows a row of float32 probabilities to miss its total by 0.1 %:
// the statistic stays 1-sensitive whatever the (public) scores are.
func checkScores(field string, row []float64, classes int, total float64) error {
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
	if k < 1 || k > s.queries() {
		return nil, fault.New("baseline", "%d queries are not in [1, %d]", k, s.queries())
	}
	return &Scores{s.classes, s.scaled[:k*s.classes]}, nil
}

func (s *Scores) queries() int        { return len(s.scaled) / s.classes }
func (s *Scores) row(i int) []float64 { return s.scaled[i*s.classes : (i+1)*s.classes] }

func argmax(x []float64) int {
	at := 0
	for i := range x {
		if x[i] > x[at] {
			at = i
		}
	}
	return at
}
