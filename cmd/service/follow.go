package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/plan"
)

// This file follows a log of steps while it grows: one accountant to which each line adds, and
// ε after it. It assumes that a door hands it the lines in their order.

// FollowRequest asks for ε at some δ after each line of a log of steps. Plan is what
// the lines count runs of; without it the first line is a plan.
type FollowRequest struct {
	Plan  PlanText `json:"plan,omitempty"`
	Delta Decimals `json:"delta" in:"[0, 1)"`
	Narrowing
	Limits
}

// FollowedAt is ε after a line of a log of steps.
type FollowedAt struct {
	Line      int         `json:"line"`
	Runs      int64       `json:"runs"` // of mechanisms, up to this line
	Neighbors string      `json:"neighbors"`
	Results   []EpsilonAt `json:"results"`
}

// A Follower is the running total of a log of steps. It is for one goroutine.
type Follower struct {
	plan *accountant.Plan // that lines count runs of; nil before the first line if none was given
	at   []float64
	opts []accountant.Option
	acct *accountant.Accountant
	line int
}

// Follow returns the running total of a log of which no line has been read.
func Follow(ctx context.Context, q FollowRequest) (*Follower, error) {
	err := ready(&q)
	if err != nil {
		return nil, err
	}
	f := &Follower{at: q.Delta.floats()}
	if f.opts, err = q.options(ctx, q.Narrowing); err != nil {
		return nil, err
	}
	f.opts = append(f.opts, accountant.WithManyQuestions())
	if q.Plan != nil {
		f.plan, err = q.Plan.parse(ctx)
	}
	return f, err
}

// Line adds a line of the log and returns ε after it; false if the line is blank. After an
// error, which is about a *LogLineError or what ended the context, the total is as before.
func (f *Follower) Line(ctx context.Context, text []byte) (FollowedAt, bool, error) {
	f.line++
	if f.line == 1 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return FollowedAt{}, false, nil
	}
	// A line of JSON that is cut short is no JSON; of YAML it could be another number.
	if !json.Valid(text) || text[0] != '{' {
		return FollowedAt{}, false, &LogLineError{f.line, errors.New("is not one JSON object on one line")}
	}
	added, err := plan.ParseLogLine(text, f.plan)
	if err == nil {
		if f.acct == nil {
			of := f.plan
			if of == nil {
				of = added
			}
			f.plan, f.acct = of, of.Accountant(f.opts...)
		}
		err = f.acct.AddPlan(ctx, added)
	}
	if err != nil {
		if ctx.Err() != nil {
			return FollowedAt{}, false, ctx.Err()
		}
		return FollowedAt{}, false, &LogLineError{f.line, err}
	}
	results, err := epsilons(ctx, f.acct, f.at)
	return FollowedAt{f.line, f.acct.Runs(), f.acct.Relation().String(), results}, err == nil, err
}

// A LogLineError is what is wrong with a line of a log of steps.
type LogLineError struct {
	Line int
	Err  error
}

// Error is the problem, without the line.
func (e *LogLineError) Error() string {
	var pe *plan.Error
	if errors.As(e.Err, &pe) {
		return pe.Message()
	}
	return e.Err.Error()
}

// Unwrap returns what was wrong.
func (e *LogLineError) Unwrap() error { return e.Err }
