package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
)

// The requests that answer what a command's --json prints.

// asKey turns the error about a flag into one about the key of the same name.
func asKey(err error) error {
	var f flagFault
	if errors.As(err, &f) {
		return fmt.Errorf("%s: %w", f.flag, f.problem)
	}
	return err
}

// givenList checks a list of numbers, which may be left out.
func givenList(name string, xs []float64, r interval) error {
	if len(xs) > maxValues {
		return fmt.Errorf("%s: %d values are more than %d", name, len(xs), maxValues)
	}
	for i := range xs {
		if _, err := given(fmt.Sprintf("%s[%d]", name, i), &xs[i], r); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) risk(ctx context.Context, line []byte) (any, error) {
	var q struct {
		requestHead
		Plan   json.RawMessage `json:"plan"`
		Rates  []float64       `json:"false-positives"`
		Priors []float64       `json:"priors"`
	}
	if err := decode(line, &q, "plan", "false-positives", "priors"); err != nil {
		return nil, err
	}
	if err := errors.Join(givenList("false-positives", q.Rates, riskRange), givenList("priors", q.Priors, riskRange)); err != nil {
		return nil, err
	}
	plan, err := requestPlan(q.Plan)
	if err != nil {
		return nil, err
	}
	// An accountant of its own, so that nothing is kept of lists.
	acct, err := newAccountant(ctx, plan, nil)
	if err != nil {
		return nil, err
	}
	r, err := askRisk(ctx, acct, q.Rates, q.Priors)
	if err != nil {
		return nil, err
	}
	return newRiskJSON(acct.Relation(), r), nil
}

func (s *server) curve(ctx context.Context, line []byte) (any, error) {
	var q struct {
		requestHead
		Plan     json.RawMessage `json:"plan"`
		Kind     string          `json:"kind"`
		Points   json.Number     `json:"points"`
		MinDelta json.Number     `json:"min-delta"`
		From     json.Number     `json:"from"`
		To       json.Number     `json:"to"`
		Delta    json.Number     `json:"delta"`
		RDP      bool            `json:"rdp"`
		Log      bool            `json:"log"`
	}
	keys := []string{"plan", "kind", "points", "min-delta", "from", "to", "rdp", "delta", "log"}
	if err := decode(line, &q, keys...); err != nil {
		return nil, err
	}
	f := curveFlags{kind: q.Kind, points: string(q.Points), minDelta: string(q.MinDelta), from: string(q.From), to: string(q.To),
		delta: string(q.Delta), rdp: q.RDP, log: q.Log}
	given := map[string]bool{"min-delta": q.MinDelta != "", "from": q.From != "", "to": q.To != "", "rdp": q.RDP, "delta": q.Delta != "", "log": q.Log}
	if f.kind == "" {
		f.kind = deltaKind
	}
	for _, preset := range []struct {
		value *string
		text  string
	}{{&f.minDelta, "1e-12"}, {&f.from, "0"}, {&f.delta, "1e-5"}} {
		if *preset.value == "" {
			*preset.value = preset.text
		}
	}
	n, err := f.count(func(name string) bool { return given[name] })
	if err != nil {
		return nil, asKey(err)
	}
	plan, err := requestPlan(q.Plan)
	if err != nil {
		return nil, err
	}
	curves, shape, _, err := f.build(ctx, []*accountant.Plan{plan}, []string{"plan"}, n, nil)
	if err != nil {
		return nil, asKey(err)
	}
	return newCurvesJSON(f.kind, shape, curves), nil
}

func (s *server) calibrate(ctx context.Context, line []byte) (any, error) {
	var q struct {
		requestHead
		Plan     json.RawMessage `json:"plan"`
		Epsilon  *float64        `json:"epsilon"`
		Delta    *float64        `json:"delta"`
		Solve    string          `json:"solve"`
		Step     string          `json:"step"`
		Examples json.Number     `json:"examples"`
		Accuracy *float64        `json:"accuracy"`

		Recursion json.Number `json:"recursion"`
	}
	if err := decode(line, &q, "plan", "epsilon", "delta", "solve", "step", "examples", "accuracy", "recursion"); err != nil {
		return nil, err
	}
	goal := accountant.Goal{Step: q.Step}
	var err error
	if goal.Epsilon, err = given("epsilon", q.Epsilon, epsilonRange); err != nil {
		return nil, err
	}
	if goal.Delta, err = given("delta", q.Delta, deltaRange); err != nil {
		return nil, err
	}
	if goal.Solve, err = accountant.ParseQuantity(q.Solve); err != nil {
		return nil, err
	}
	if q.Examples != "" {
		if goal.Examples, err = parseWhole("examples", string(q.Examples), decimal.MaxWhole); err != nil {
			return nil, asKey(err)
		}
	}
	var opts []accountant.Option
	if q.Accuracy != nil {
		x, err := given("accuracy", q.Accuracy, accuracyRange)
		if err != nil {
			return nil, err
		}
		opts = append(opts, accountant.WithAccuracy(x))
	}
	if opts, err = withRecursion(q.Recursion, opts); err != nil {
		return nil, err
	}
	plan, err := requestPlan(q.Plan)
	if err != nil {
		return nil, err
	}
	c, err := accountant.Calibrate(ctx, plan, goal, opts...)
	if err != nil {
		return nil, err
	}
	return calibrationJSON(c, goal, plan.Neighbors.String()), nil
}

func (s *server) compare(ctx context.Context, line []byte) (any, error) {
	var q struct {
		requestHead
		Plan      json.RawMessage `json:"plan"`
		Delta     *float64        `json:"delta"`
		Recursion json.Number     `json:"recursion"`
	}
	if err := decode(line, &q, "plan", "delta", "recursion"); err != nil {
		return nil, err
	}
	delta, err := given("delta", q.Delta, openUnit)
	if err != nil {
		return nil, err
	}
	plan, err := requestPlan(q.Plan)
	if err != nil {
		return nil, err
	}
	opts, err := withRecursion(q.Recursion, nil)
	if err != nil {
		return nil, err
	}
	rows, err := plan.Compare(ctx, delta, opts...)
	if err != nil {
		return nil, err
	}
	return comparisonJSON(plan, delta, rows), nil
}
