package service

import (
	"context"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/plan"
)

// This file writes plans as events of dp_accounting, and events as plans.

// ConvertRequest asks for a plan, in either format, in the other one or in that of To:
// "plan" or "events".
type ConvertRequest struct {
	Plan PlanText `json:"plan"`
	To   string   `json:"to,omitempty"`
}

// ConvertAnswer has the text of the plan in the format that is named.
type ConvertAnswer struct {
	Format string `json:"format"`
	Text   string `json:"text"`
}

// Check reports what is wrong with all but the plan.
func (q ConvertRequest) Check() error {
	switch plan.Format(q.To) {
	case "", plan.Steps, plan.Events:
		return nil
	}
	return oneOf("to", q.To, string(plan.Steps), string(plan.Events))
}

// Convert returns a plan in another format.
func (s *Service) Convert(_ context.Context, q ConvertRequest) (ConvertAnswer, error) {
	if err := q.Check(); err != nil {
		return ConvertAnswer{}, err
	}
	if q.Plan == nil {
		return ConvertAnswer{}, fault.New("plan", "is missing; must be a plan or events as JSON, or a string with one as YAML")
	}
	text, format, err := plan.Convert(q.Plan, plan.Format(q.To))
	return ConvertAnswer{string(format), string(text)}, err
}
