package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/subsample"
)

// Spend charges a step, written down as a plan.
func (l *Ledger) Spend(ctx context.Context, s accountant.Step) error {
	text, err := planText(s, l.config)
	if err != nil {
		return err
	}
	return l.SpendPlan(ctx, text, s.Name)
}

// The JSON of a plan, for the steps that tell their parameters.
type (
	planJSON struct {
		Neighbors        string     `json:"neighbors"`
		RecordsPerPerson int64      `json:"records-per-person,omitempty"`
		Steps            []stepJSON `json:"steps"`
	}
	stepJSON struct {
		Name      string                        `json:"name,omitempty"`
		Mechanism map[string]map[string]float64 `json:"mechanism,omitempty"`
		Sampling  map[string]map[string]any     `json:"sampling,omitempty"`
		Count     int64                         `json:"count,omitempty"`
		Steps     []stepJSON                    `json:"steps,omitempty"`
	}
)

// planText writes a step down as a plan, and makes sure that the plan reads back
// as the step: nothing of it may get lost. What no plan can have, plan.Parse refuses.
func planText(s accountant.Step, c Config) ([]byte, error) {
	j, err := toJSON(s, 0)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(planJSON{c.Neighbors.String(), c.RecordsPerPerson, []stepJSON{j}})
	if err != nil {
		return nil, err
	}
	p, err := plan.Parse(context.Background(), text)
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(p.Steps[0], normal(s)) {
		return nil, fault.New("step", "has parts that cannot be written down from here; use SpendPlan")
	}
	return text, nil
}

// normal is a step as plan.Parse returns it.
func normal(s accountant.Step) accountant.Step {
	s.Name = strings.TrimSpace(s.Name)
	s.Count = max(s.Count, 1)
	s.Steps = slices.Clone(s.Steps)
	for i, sub := range s.Steps {
		s.Steps[i] = normal(sub)
	}
	return s
}

// maxDepth bounds the depth of groups: each is two of the 64 levels that a plan can have.
const maxDepth = 28

func toJSON(s accountant.Step, depth int) (stepJSON, error) {
	j := stepJSON{Name: s.Name, Count: s.Count}
	if depth > maxDepth {
		return j, fault.New("steps", "are nested more than %d deep", maxDepth)
	}
	switch {
	case s.Selection != nil:
		return j, fault.New("selection", "cannot be written down from here; use SpendPlan")
	case s.Mechanism == nil:
		for i, sub := range s.Steps {
			k, err := toJSON(sub, depth+1)
			if err != nil {
				return j, fault.In(fmt.Sprintf("steps[%d]", i), err)
			}
			j.Steps = append(j.Steps, k)
		}
		return j, nil
	}
	noise, ok := s.Mechanism.(interface{ NoiseMultiplier() float64 })
	if name := s.Mechanism.Name(); !ok || name != "gaussian" && name != "laplace" {
		return j, fault.New("mechanism", "%s does not tell its parameters, must be gaussian or laplace; use SpendPlan", name)
	}
	j.Mechanism = map[string]map[string]float64{s.Mechanism.Name(): {"noise-multiplier": noise.NoiseMultiplier()}}
	if s.Sampling != nil {
		parameters := map[string]any{}
		switch sample := s.Sampling.(type) {
		case subsample.Poisson:
			parameters["rate"] = sample.Rate()
		case interface{ Parameters() map[string]any }:
			parameters = sample.Parameters()
		default:
			return j, fault.New("sampling", "%s does not tell its parameters; use SpendPlan", s.Sampling.Name())
		}
		j.Sampling = map[string]map[string]any{s.Sampling.Name(): parameters}
	}
	return j, nil
}
