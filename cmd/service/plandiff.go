package service

import (
	"context"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/plan"
)

// This file works on the text of plans: what they say in short, what tells two of them
// apart and what that costs.

// PlanCheckRequest asks whether a text is a plan.
type PlanCheckRequest struct {
	Plan PlanText `json:"plan"`
}

// PlanSummary is what a plan is about, in short.
type PlanSummary struct {
	Neighbors        string `json:"neighbors"`
	RecordsPerPerson int64  `json:"records-per-person,omitempty"`
	Steps            int    `json:"steps"` // those with a mechanism, groups opened
	Runs             int64  `json:"runs"`  // of mechanisms
}

// PlanCheck reads a plan and computes no privacy.
func (s *Service) PlanCheck(ctx context.Context, q PlanCheckRequest) (PlanSummary, error) {
	p, err := q.Plan.parse(ctx)
	if err != nil {
		return PlanSummary{}, err
	}
	a := PlanSummary{Neighbors: p.Neighbors.String(), RecordsPerPerson: severalRecords(p.Records())}
	var count func(steps []accountant.Step, times int64)
	count = func(steps []accountant.Step, times int64) {
		for _, st := range steps {
			if st.Mechanism != nil {
				a.Steps, a.Runs = a.Steps+1, a.Runs+times*st.Count
			} else {
				count(st.Steps, times*st.Count)
			}
		}
	}
	count(p.Steps, 1)
	return a, nil
}

// DiffRequest asks what tells plan New from plan Old, and what that costs at Delta.
type DiffRequest struct {
	Old   PlanText `json:"old"`
	New   PlanText `json:"new"`
	Delta Decimal  `json:"delta"`
	Limits
}

// A Difference is where two plans differ and what each of them costs.
type Difference struct {
	Changes []PlanChange `json:"changes"`
	Delta   Number       `json:"delta"`
	Old     EpsilonAt    `json:"old"`
	New     EpsilonAt    `json:"new"`
	// More is ε of the new plan minus ε of the old one; left out where both are infinite.
	More *Bounds `json:"more,omitempty"`
}

// A PlanChange is a place with another value.
type PlanChange struct {
	Path string `json:"path"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
}

// Check reports what is wrong with all but the plans.
func (q DiffRequest) Check() error {
	if _, err := q.Delta.in("delta", deltaSpan); err != nil {
		return err
	}
	_, err := accountantOptions(context.Background(), q.Limits, Narrowing{})
	return err
}

// Diff returns what tells two plans apart, and what each costs.
func (s *Service) Diff(ctx context.Context, q DiffRequest) (Difference, error) {
	if err := q.Check(); err != nil {
		return Difference{}, err
	}
	for _, p := range []struct {
		name string
		text PlanText
	}{{"old", q.Old}, {"new", q.New}} {
		if p.text == nil {
			return Difference{}, fault.New(p.name, "is missing; must be a plan as JSON, or a string with one as YAML")
		}
		if _, err := p.text.parse(ctx); err != nil {
			return Difference{}, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	changes, err := plan.Diff(q.Old, q.New)
	if err != nil {
		return Difference{}, err
	}
	d := Difference{Changes: []PlanChange{}}
	for _, c := range changes {
		d.Changes = append(d.Changes, PlanChange(c))
	}
	for _, side := range []struct {
		text PlanText
		to   *EpsilonAt
	}{{q.Old, &d.Old}, {q.New, &d.New}} {
		a, err := s.Epsilon(ctx, EpsilonRequest{Plan: side.text, Delta: Many(q.Delta), Limits: q.Limits})
		if err != nil {
			return Difference{}, err
		}
		*side.to = a.Results[0]
	}
	d.Delta = d.Old.Delta
	d.More = minus(d.New.Epsilon, d.Old.Epsilon)
	return d, nil
}

// minus is the difference of two intervals, rounded outward; nil if it is of infinities.
func minus(a, b Bounds) *Bounds {
	lower := math.Nextafter(float64(a.Lower)-float64(b.Upper), math.Inf(-1))
	upper := math.Nextafter(float64(a.Upper)-float64(b.Lower), math.Inf(1))
	estimate := float64(a.Estimate) - float64(b.Estimate)
	if math.IsNaN(lower) || math.IsNaN(upper) || math.IsNaN(estimate) {
		return nil
	}
	return &Bounds{Number(lower), Number(estimate), Number(upper)}
}
