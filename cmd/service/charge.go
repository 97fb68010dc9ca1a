package service

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/plan"
)

// This file spends what runs from a ledger, before it shows anything.

// Spend has a run spent from a ledger: one that does not fit shows nothing.
type Spend struct {
	// Ledger is the name of an open ledger.
	Ledger string `json:"ledger,omitempty"`
	Note   string `json:"note,omitempty" help:"free {text} for the readers of the ledger"`
	// Charge asks for the plan that a ledger under this relation is charged, for a ledger elsewhere; nothing is shown.
	Charge string `json:"charge,omitempty" one:"add-remove,substitute,zero-out"`
}

// unit returns the relation of the ledger, or of the one elsewhere, "" for none, and how many records a person has.
func (s *Service) unit(ctx context.Context, q Spend) (relation string, persons int64, err error) {
	switch {
	case q.Ledger == "":
		return q.Charge, 1, nil
	case q.Charge != "":
		return "", 0, fault.New("charge", "is for a ledger elsewhere; must be left out with ledger")
	}
	l, err := s.find(ctx, q.Ledger)
	if err != nil {
		return "", 0, err
	}
	st, err := l.Status(ctx)
	return st.Config.Neighbors.String(), max(1, st.Config.RecordsPerPerson), err
}

// under checks that a ledger is under the relation under which a run is private.
func (s *Service) under(ctx context.Context, q Spend, want, why string) error {
	got, _, err := s.unit(ctx, q)
	if err == nil && got != "" && got != want {
		err = fault.New("ledger", "is under %s, must be under %s, under which %s", got, want, why)
	}
	return err
}

// pay spends steps, a list in JSON, from the ledger of the request, once everything else is known to be right and before
// anything is shown. If only the charge was asked for it returns the plan, and nothing is to be shown.
func (s *Service) pay(ctx context.Context, q Spend, steps string) (charge string, err error) {
	relation, persons, err := s.unit(ctx, q)
	if err != nil || relation == "" {
		return "", err
	}
	of := ""
	if persons > 1 {
		of = fmt.Sprintf(`"records-per-person": %d, `, persons)
	}
	return s.payPlan(ctx, q, fmt.Sprintf(`{"neighbors": %q, %s"steps": %s}`, relation, of, steps))
}

// PayLabels spends private labels of ε from a ledger, which must be under the relation under which they are private.
func (s *Service) PayLabels(ctx context.Context, q Spend, epsilon float64) error {
	_, err := s.payLabels(ctx, q, epsilon)
	return err
}

func (s *Service) payLabels(ctx context.Context, q Spend, epsilon float64) (string, error) {
	if err := s.under(ctx, q, "substitute", "labels are private"); err != nil {
		return "", err
	}
	return s.pay(ctx, q, guaranteed(epsilon, 0))
}

// payPlan is pay for the text of a plan.
func (s *Service) payPlan(ctx context.Context, q Spend, text string) (charge string, err error) {
	if q.Charge != "" {
		return text, nil
	}
	if q.Ledger != "" {
		_, err = s.LedgerSpend(ctx, LedgerSpendRequest{Ledger: q.Ledger, Plan: PlanText(text), Note: q.Note})
	}
	return "", err
}

// guaranteed is a step of which only (ε, δ) is known.
func guaranteed(epsilon, delta float64) string {
	if delta == 0 {
		return fmt.Sprintf(`[{"mechanism": {"pure": {"epsilon": %s}}}]`, decimal.Short(epsilon))
	}
	return fmt.Sprintf(`[{"mechanism": {"approximate": {"epsilon": %s, "delta": %s}}}]`, decimal.Short(epsilon), decimal.Short(delta))
}

// searched is the plan of a search among candidates that run a plan each.
func searched(selection []byte, candidate PlanText) (string, error) {
	text, _, err := plan.Convert(candidate, plan.Steps)
	if err != nil {
		return "", err
	}
	head, steps, _ := bytes.Cut(text, []byte("\nsteps:\n"))
	return fmt.Sprintf("%s\nsteps:\n  - selection: %s\n    steps:\n%s", head, bytes.Join(bytes.Fields(selection), []byte(" ")),
		"    "+strings.TrimSuffix(strings.ReplaceAll(string(steps), "\n", "\n    "), "    ")), nil
}

// OneStep returns the mechanism and the sampling, "" for none, of a plan of one step, as text on a line. A step that is a group,
// or runs more than once where it must not, is refused.
func OneStep(text PlanText, once bool) (mechanism, sampling json.RawMessage, err error) {
	plain, _, err := plan.Convert(text, plan.Steps)
	if err != nil {
		return nil, nil, err
	}
	_, steps, _ := bytes.Cut(plain, []byte("\nsteps:\n"))
	for i, line := range strings.Split(strings.TrimSuffix(string(steps), "\n"), "\n") {
		key, value, _ := strings.Cut(strings.TrimLeft(line, " -"), ": ")
		switch {
		case i > 0 && strings.HasPrefix(line, "  - "):
			return nil, nil, fault.New("plan", "has several steps, must have the one that runs")
		case slices.Contains([]string{"steps:", "disjoint:", "selection", "adaptive"}, key):
			return nil, nil, fault.New("plan", "has a step that is made of others, must have one mechanism")
		case key == "count" && once:
			return nil, nil, fault.New("plan", "runs its step %s times, must run it once", value)
		case key == "mechanism":
			mechanism = json.RawMessage(value)
		case key == "sampling":
			sampling = json.RawMessage(value)
		}
	}
	return mechanism, sampling, nil
}

// runs returns the mechanism of a plan, which runs once on all records.
func (p PlanText) runs() (json.RawMessage, error) {
	m, sampling, err := OneStep(p, true)
	if err == nil && sampling != nil {
		err = fault.New("plan", "has a step on a sample, must have one on all records")
	}
	return m, err
}

// steps are what labels of so many queries cost, whatever the votes: a teacher moves one vote from a class to another,
// which changes the counts by √2 in L2 norm and by 2 in L1 norm, and the largest count by 1.
func (q PateMechanism) steps(queries int) string {
	answers := queries
	if q.MaxAnswers != nil {
		answers = min(answers, *q.MaxAnswers)
	}
	if q.Mechanism == "lnmax" {
		return fmt.Sprintf(`[{"mechanism": {"pure": {"epsilon": %s}}, "count": %d}]`, decimal.Short(2**q.Gamma), answers)
	}
	gaussian := `{"mechanism": {"gaussian": {"noise-multiplier": %s}}, "count": %d}`
	steps := fmt.Sprintf(gaussian, decimal.Short(xmath.Down(*q.Sigma2/math.Sqrt2, 2)), answers)
	if q.Mechanism != "gnmax" {
		steps += ", " + fmt.Sprintf(gaussian, decimal.Short(*q.Sigma1), queries)
	}
	return "[" + steps + "]"
}
