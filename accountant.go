// Package accountant tells what (ε, δ) a sequence of differentially private
// mechanisms costs, as a certified interval.
package accountant

import (
	"errors"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A Step is a mechanism with its sampling, run Count times; or, when Steps is
// set instead of Mechanism, a sub-plan run Count times.
type Step struct {
	Name      string
	Mechanism profiles.Base
	Sampling  subsample.Scheme // nil: the whole data set
	Count     int64
	Steps     []Step
}

// A Plan is a sequence of steps, fixed in advance, under one neighbouring
// relation.
type Plan struct {
	Neighbors profiles.Relation
	Steps     []Step
}

// Budget splits the width of an interval by its causes, each in units of the
// quantity asked for.
type Budget struct {
	Discretization float64 `json:"discretization"`
	Truncation     float64 `json:"truncation"`
	Aliasing       float64 `json:"aliasing"`
	RoundOff       float64 `json:"round-off"`
	TheoryGap      float64 `json:"theory-gap"`
}

// An Interval is a certified answer: the true value lies in [Lower, Upper].
type Interval struct {
	Lower, Estimate, Upper float64
	Direction              string // the direction of the relation that Upper comes from
	Budget                 Budget
	TheoryGap              bool     // Lower is an attack's, Upper a theorem's
	Warnings               []string // why the interval is wider than asked, if it is
}

// An Accountant is the running total of a plan.
type Accountant struct{}

// Option configures New.
type Option func(*Accountant)

// New returns an empty accountant under the relation.
func New(r profiles.Relation, opts ...Option) *Accountant { return &Accountant{} }

// Add adds count runs of a step (its own Count is a factor, 1 if it is 0).
func (a *Accountant) Add(s Step, count int64) error { return errors.New("not built yet") }

// AddPlan adds every step of p.
func (a *Accountant) AddPlan(p *Plan) error { return errors.New("not built yet") }

// Epsilon returns ε(δ) = inf{ε : δ(ε) ≤ δ} of everything added so far.
func (a *Accountant) Epsilon(delta float64) (Interval, error) {
	return Interval{}, errors.New("not built yet")
}

// Delta returns δ(ε) of everything added so far.
func (a *Accountant) Delta(eps float64) (Interval, error) {
	return Interval{}, errors.New("not built yet")
}
