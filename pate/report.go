// Which queries a cost charges for an answer, and what that makes of it: a bound, an ex-post
// statement, or neither.

package pate

import (
	"fmt"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
)

// A Report says which queries are charged for an answer.
type Report int

const (
	// Worst charges every query for its check, and as many for an answer as can
	// be answered: all, or the Options.MaxAnswers dearest. It is a bound at the
	// data set that cast the votes.
	Worst Report = iota
	// Realised charges the answers that were given. Which they are is part of the
	// output, so that for an aggregator with a check this is a random number and
	// no (ε, δ) bound of the mechanism; it holds ex post only: see Cost.ExPost.
	Realised
	// DataIndependent charges as Worst does, at the cost that does not depend on
	// the votes: a bound at every data set. It takes no transcript, and is the only
	// report that may be published as it stands.
	DataIndependent
	// ExpectedNotABound weighs the cost of every answer by the probability that
	// it is given. It is what the tables of PATE 2018 print; it is not a bound on
	// any Rényi divergence: with votes (5,3,2), T=6, σ1=3, σ2=1 and λ=4 the exact
	// divergence is 2.350 and this is 1.700.
	ExpectedNotABound
	// Joint prices the check of a query and the answer that may follow as one mechanism, whose
	// outcomes are "no answer" and every class: a bound at the data set that cast the votes,
	// without a transcript, at most Worst. With a limit on answers it is the smaller of both.
	// It needs Best or Exact; scores and votes must not depend on earlier answers.
	Joint
)

var reportNames = [...]string{"worst", "realised", "independent", "expected", "joint"}

// String returns the name that UnmarshalText takes.
func (r Report) String() string {
	if r < 0 || int(r) >= len(reportNames) {
		return fmt.Sprintf("report(%d)", int(r))
	}
	return reportNames[r]
}

// UnmarshalText is the inverse of String.
func (r *Report) UnmarshalText(name []byte) error {
	i := slices.Index(reportNames[:], string(name))
	if i < 0 {
		return fault.New("report", "%q is not in [expected, realised, worst, independent, joint]", name)
	}
	*r = Report(i)
	return nil
}
