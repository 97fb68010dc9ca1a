package ledger

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// begin checks the configuration, completes it, and starts with it.
func (s *state) begin(c *Config) error {
	if !slices.Contains(profiles.Relations(), c.Neighbors) {
		return fault.New("neighbors", "%v is not one of add-remove, substitute, zero-out", c.Neighbors)
	}
	if !(c.Epsilon >= 0 && !math.IsInf(c.Epsilon, 1)) {
		return fault.New("epsilon", "%v is not in [0, +Inf)", c.Epsilon)
	}
	if c.RecordsPerPerson == 0 {
		c.RecordsPerPerson = 1
	}
	err := subsample.CheckRecords(c.RecordsPerPerson)
	if err != nil {
		return err
	}
	switch c.Mode {
	case Planned:
		if !(c.Delta >= 0 && c.Delta < 1) {
			return fault.New("delta", "%v is not in [0, 1)", c.Delta)
		}
		if len(c.Orders) > 0 {
			return fault.New("orders", "are for adaptive ledgers, this one is planned")
		}
		s.policy = newPlanned(*c)
	case Adaptive:
		s.policy, err = newFiltered(c)
	case AdaptiveGaussian:
		if len(c.Orders) > 0 {
			return fault.New("orders", "are for adaptive ledgers, this one is %s", c.Mode)
		}
		s.policy, err = newGaussian(*c)
	default:
		err = fault.New("mode", "%.60q is not one of planned, adaptive, adaptive-gaussian", c.Mode)
	}
	if err == nil {
		s.config, s.header, s.keys = *c, true, map[digest]digest{}
	}
	return err
}

// firstLine completes a configuration and returns the line that a ledger with it begins with.
func firstLine(c *Config) (Line, error) {
	if err := (&state{}).begin(c); err != nil {
		return Line{}, err
	}
	return newLine("", header{1, c.Neighbors.String(), unit(c.RecordsPerPerson), c.Epsilon, c.Delta, c.Mode, c.Orders, now()})
}

// admission reads the plan of an entry.
func (s *state) admission(e entry) (a admission, err error) {
	a, ok := s.stored[string(e.Plan)]
	if !ok {
		a.text = e.planText()
		if a.plan, err = plan.Parse([]byte(a.text)); err != nil {
			return a, err
		}
		a.runs = runs(a.plan.Steps)
		if s.stored == nil || len(s.stored) >= maxPlans || s.parsed > maxPlanText {
			s.stored, s.parsed = map[string]admission{}, 0
		}
		s.stored[string(e.Plan)] = a
		s.parsed += len(a.text) + len(e.Plan)
	}
	switch p := a.plan; {
	case p.Neighbors != s.config.Neighbors:
		err = fault.New("neighbors", "%v is not the ledger's relation, %v", p.Neighbors, s.config.Neighbors)
	case p.Records() != s.config.RecordsPerPerson:
		err = fault.New("records-per-person", "%d is not the ledger's unit, %d", p.Records(), s.config.RecordsPerPerson)
	case a.runs > maxRuns-s.runs:
		err = fault.New("count", "%d runs on top of %d are above 2^53", a.runs, s.runs)
	}
	return a, err
}

// judged returns an error unless the entry may be counted now.
func (s *state) judged(ctx context.Context, e entry) error {
	if err := s.repeated(e); err != nil {
		return err
	}
	a, err := s.admission(e)
	if err == nil {
		err = s.policy.prepare(ctx, a)
	}
	return err
}

// count takes over an entry; one that was read may have its cost in a checkpoint.
func (s *state) count(e entry, quick bool) (err error) {
	var a admission
	if s.summed >= s.until {
		if a, err = s.admission(e); err == nil {
			err = s.policy.count(a, quick)
		}
		if err != nil {
			return err
		}
	}
	s.keep(e)
	s.entries++
	s.last = e.Time
	s.runs += a.runs
	return nil
}

const maxRuns = xmath.MaxCount

// maxPlans and maxPlanText are how many plans, of how many bytes of text, a ledger remembers in case
// they come again.
const (
	maxPlans    = 10_000
	maxPlanText = 1 << 24
)

// runs is the number of runs of steps that plan.Parse has found to be at most
// 2^53.
func runs(steps []accountant.Step) int64 {
	var n int64
	for _, s := range steps {
		if s.Mechanism != nil {
			n += s.Count
		} else {
			n += s.Count * runs(s.Steps)
		}
	}
	return n
}
