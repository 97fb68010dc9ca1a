package accountant

// Persons with several records: what a plan about them needs beside the profiles of package
// subsample (docs/persons.md).

import (
	"math"

	"github.com/dpaccountant/accountant/internal/calibrate"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// with returns the plan with other steps.
func (p *Plan) with(steps []Step) *Plan { return &Plan{p.Neighbors, p.RecordsPerPerson, steps} }

// recordsKnob turns the number of records of a person.
func recordsKnob(p *Plan) *knob {
	k := &knob{Knob: calibrate.Knob{Lo: 1, Hi: subsample.MaxRecords, Start: float64(p.Records()), Integer: true, Safer: -1}}
	k.build = func(x float64) (*Plan, error) {
		return &Plan{p.Neighbors, int64(math.Round(x)), p.Steps}, nil
	}
	k.settings = func(float64) []Setting { return nil }
	k.rest = func() []Step { return nil }
	return k
}

// forPersons returns the mechanism whose Rényi curve is that of a step about persons.
func forPersons(s Step, records int64) (profiles.Mechanism, error) {
	if records == 1 {
		return s.Mechanism, nil
	}
	g, ok := s.Mechanism.(profiles.Grouper)
	if !ok || s.Sampling != nil {
		return nil, fault.New("records-per-person", "%d has no Rényi bound for this step: there is one for noise without sampling alone", records)
	}
	return g.Grouped(int(records))
}
