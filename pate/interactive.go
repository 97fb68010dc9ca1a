// Interactive: a check against what a public student predicts, then an answer or a
// confirmation.

package pate

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/ballot"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/pate/ballots"
)

type interactive struct {
	confident
	confidence float64 // a student whose top score exceeds this is reinforced
	rounded    bool
}

// NewInteractive returns [NewConfident] for the later rounds of training a student: the
// check compares the votes with what the student already predicts, so that the
// teachers answer only where the student is wrong, and a student whose top score exceeds
// confidence is told that it is right at no further cost (PATE 2018, Algorithm 2).
//
// With n the votes, N the number of teachers (those that abstain included) and p the
// student's scores, the statistic of the check is v = max_j(n_j − N·p_j), clamped to
// [0, N]; it changes by at most 1 between neighbours because N and p are public.
//
// Rounded rounds v to ⌊v + ½⌋, in the mechanism and in its accounting: the sensitivity
// stays 1, and smooth sensitivity can be tabulated. (Rounding half to even would have
// sensitivity 2.)
func NewInteractive(threshold, confidence, sigma1, sigma2 float64, rounded bool) (Aggregator, error) {
	c := interactive{confident{threshold, sigma1, sigma2}, confidence, rounded}
	if err := cmp.Or(c.check(), checkRange("confidence", confidence, 0, 1)); err != nil {
		return nil, err
	}
	return c, nil
}

func (c interactive) String() string {
	return fmt.Sprintf("interactive(threshold=%v, confidence=%v, sigma1=%v, sigma2=%v, rounded=%v)",
		c.threshold, c.confidence, c.sigma1, c.sigma2, c.rounded)
}

func (c interactive) Label(votes []int64, teachers int64, scores []float64, src rand.Source) (Answer, error) {
	if err := cmp.Or(ballot.CheckVotes(votes), ballot.CheckTeachers(teachers), ballot.CheckScores("scores", scores, len(votes), 1)); err != nil {
		return noAnswer, err
	}
	if n := sum(votes); n > teachers {
		return noAnswer, fault.New("votes", "%d votes are not in [0, %d], the number of teachers", n, teachers)
	}
	table, err := ballots.NewScores([][]float64{scores}, teachers, false)
	if err != nil {
		return noAnswer, err
	}
	if a := c.label(votes, c.statistic(votes, table.Row(0), teachers), random.Source(src)); a.Answered {
		return a, nil
	}
	if slices.Max(scores) > c.confidence {
		return Answer{Class: argmax(scores)}, nil
	}
	return noAnswer, nil
}

// statistic takes the scores multiplied by the number of teachers. It rounds them to a grid on
// which every difference below, and ½ more, is exact: rounding differences of n and of n + 1 to
// float64 could change the statistic by more than 1. The scores are public.
func (c interactive) statistic(votes []int64, scaled []float64, teachers int64) float64 {
	v, fine := math.Inf(-1), math.Ldexp(1, 51-bits.Len64(uint64(teachers)))
	for j, n := range votes {
		v = max(v, float64(n)-math.RoundToEven(scaled[j]*fine)/fine)
	}
	if c.rounded {
		v = math.Floor(v + 0.5)
	}
	return min(max(v, 0), float64(teachers))
}

func argmax[T int64 | float64](x []T) int {
	at := 0
	for i := range x {
		if x[i] > x[at] {
			at = i
		}
	}
	return at
}

func sum(votes []int64) (s int64) {
	for _, n := range votes {
		s += n
	}
	return s
}
