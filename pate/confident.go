// Confident: a check of the largest count, then an answer. Answers are drawn exactly;
// costs assume that both noises are independent.

package pate

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/pate/ballots"
)

// Confident answers with GNMax only when the largest count, after noise of its
// own, reaches a threshold (PATE 2018, Algorithm 1). The check is paid for on
// every query, the answer only when it is given.
type Confident struct {
	Threshold      float64 // in votes
	Sigma1, Sigma2 float64 // standard deviations of the check and of the answer
}

// NewConfident returns the aggregator. Sigma1 is usually several times sigma2,
// and the threshold 0.6 to 0.8 of the number of teachers.
func NewConfident(threshold, sigma1, sigma2 float64) (Confident, error) {
	c := Confident{threshold, sigma1, sigma2}
	return c, c.check()
}

func (c Confident) check() error {
	return errorsOf(checkThreshold(c.Threshold), checkSigma("sigma1", c.Sigma1), checkSigma("sigma2", c.Sigma2))
}

// String returns the name, with the parameters if there are any.
func (c Confident) String() string {
	return fmt.Sprintf("confident(threshold=%v, sigma1=%v, sigma2=%v)", c.Threshold, c.Sigma1, c.Sigma2)
}

// An Answer is what an aggregator returned for one query.
type Answer struct {
	Class    int  // the label, or −1
	Answered bool // the teachers answered: the answer is to be paid for
}

var noAnswer = Answer{Class: -1}

// Label runs the aggregator on one query with fresh noise from src; nil is the
// operating system's. The noise is an exact draw: the answer has the law that is
// accounted for.
func (c Confident) Label(votes []int64, src rand.Source) (Answer, error) {
	if err := errorsOf(c.check(), ballots.CheckRow(votes)); err != nil {
		return noAnswer, err
	}
	return c.label(votes, float64(slices.Max(votes)), random.Source(src)), nil
}

func (c Confident) label(votes []int64, v float64, src rand.Source) Answer {
	if random.Noisy(v, c.Sigma1, random.Normal(src)).Less(random.Sum{Fixed: []float64{c.Threshold}}) {
		return noAnswer
	}
	return Answer{noisyArgmax(votes, c.Sigma2, random.Normal, src), true}
}

// checkPair returns the laws of the check, pass and fail, with statistics v and w.
func (c Confident) checkPair(v, w float64) pair {
	p0, p1 := thresholdLogs(c.Threshold, c.Sigma1, v)
	q0, q1 := thresholdLogs(c.Threshold, c.Sigma1, w)
	return pair{[]float64{p0, p1}, []float64{q0, q1},
		[]float64{max(logTailErr(p0), logTailErr(q0)), max(logTailErr(p1), logTailErr(q1))}}
}
