// Package ballot has what must hold of the votes and scores of one query, in a table or by themselves.
package ballot

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
)

// MaxVotes bounds the votes of a query.
const MaxVotes = 1_000_000_000

// CheckTeachers refuses numbers of teachers outside [1, 10⁹].
func CheckTeachers(n int64) error {
	if n < 1 || n > MaxVotes {
		return fault.New("teachers", "%d is not in [1, %d]", n, int64(MaxVotes))
	}
	return nil
}

// CheckVotes refuses what is not the histogram of a query.
func CheckVotes(votes []int64) error {
	if len(votes) < 2 {
		return fault.New("votes", "%d classes are not in [2, +Inf)", len(votes))
	}
	for j, n := range votes {
		if n < 0 || n > MaxVotes {
			return fault.New("votes", "column %d: %d is not in [0, %d]", j+1, n, int64(MaxVotes))
		}
	}
	return nil
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
