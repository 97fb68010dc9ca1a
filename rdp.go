package accountant

// The Rényi curve of a plan: the sum of those of its steps, an upper bound at every order. What
// the Rényi literature has no curve for is an error that names the step.

import (
	"context"
	"fmt"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/trait"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/selection"
)

// RDP returns the Rényi curve of the whole plan, an upper bound at every order
// under the plan's relation: the sum of the curves of its steps (rdp.Of). It is
// an error if a step has no Rényi bound.
//
// Rényi accounting is looser than Epsilon and Delta; it is for comparison, and
// for plans that go on adaptively through an rdp.Filter.
func (p *Plan) RDP() (rdp.Curve, error) {
	return stepsRDP("steps", p.Steps, p.Neighbors, p.Records())
}

func stepsRDP(path string, steps []Step, r profiles.Relation, records int64) (rdp.Curve, error) {
	var curves []rdp.Curve
	var walk func(path string, steps []Step, count int64) error
	walk = func(path string, steps []Step, count int64) error {
		for i, s := range steps {
			at := fmt.Sprintf("%s[%d]", path, i)
			n := max(s.Count, 1)
			if err := checkCount(n); err != nil {
				return fault.In(at, err)
			}
			if n > maxRuns/count {
				return fmt.Errorf("%s.count: %d times %d is above 2^53", at, n, count)
			}
			n *= count
			if s.Disjoint != nil {
				return fault.In(at, fault.New("disjoint", "has no Rényi bound here; ask for that of each branch"))
			}
			if s.Selection != nil {
				if records != 1 {
					return fault.In(at, fault.New("records-per-person", "%d has no Rényi bound for a selection", records))
				}
				c, err := selectedRDP(at, s, r)
				if err != nil {
					return err
				}
				curves = append(curves, rdp.Repeat(c, n))
				continue
			}
			if s.Mechanism == nil {
				if err := walk(at+".steps", s.Steps, n); err != nil {
					return err
				}
				continue
			}
			b, err := forPersons(s, records)
			if err != nil {
				return fault.In(at, err)
			}
			c, err := rdp.Of(b, s.Sampling, r)
			if err != nil {
				return fault.In(at, err)
			}
			curves = append(curves, rdp.Repeat(c, n))
		}
		return nil
	}
	if err := walk(path, steps, 1); err != nil {
		return nil, err
	}
	return rdp.Compose(curves...), nil
}

// forPersons returns the mechanism whose Rényi curve is that of a step about persons.
func forPersons(s Step, records int64) (profiles.Mechanism, error) {
	if records == 1 {
		return s.Mechanism, nil
	}
	g, ok := s.Mechanism.(trait.Grouper)
	if !ok || s.Sampling != nil {
		return nil, fault.New("records-per-person", "%d has no Rényi bound for this step: there is one for noise without sampling alone", records)
	}
	return g.Grouped(int(records))
}

// selectedRDP returns the curve of a selection step: that of its candidate,
// priced by selection.PriceOfBest.
func selectedRDP(path string, s Step, r profiles.Relation) (rdp.Curve, error) {
	law, err := s.Selection.Build()
	if err != nil {
		return nil, fault.Rename(err, func(field string) string { return path + ".selection." + field })
	}
	s.Selection, s.Count = nil, 1
	candidate, err := stepsRDP(path, []Step{s}, r, 1)
	if err != nil {
		return nil, err
	}
	c, err := selection.PriceOfBest(law).Curve(context.Background(), candidate, nil)
	if err != nil {
		return nil, fault.In(path+".selection", err)
	}
	return c, nil
}
