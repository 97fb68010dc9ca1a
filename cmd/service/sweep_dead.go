package service

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// This file has the plans of a sweep that have no answer, to be mended and asked about again.

// A DeadPlan is a plan without an answer, or with one that lacks some: the reason, and what it was read from.
type DeadPlan struct {
	Index int64  `json:"index"`
	Line  *int64 `json:"line"` // of the file of plans, from 1; null for a grid
	Error string `json:"error"`
	// Plan is the line, or the plan of a grid on one line; empty for a line that is too long to be a plan.
	Plan string `json:"plan"`
}

// Dead reads the result of a sweep of these plans, and calls each with the plans of its rows with an error,
// once for each error of a plan.
func (p SweepPlans) Dead(ctx context.Context, result io.Reader, each func(DeadPlan) error) error {
	columns, next, err := ReadSweep(result)
	if err != nil {
		return err
	}
	problem := slices.Index(columns, "error")
	if problem < 0 {
		return fmt.Errorf("has no column error")
	}
	var last DeadPlan
	for first := true; ; {
		row, err := next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if row[problem] == "" {
			continue
		}
		dead := DeadPlan{Error: row[problem]}
		if dead.Index, err = strconv.ParseInt(row[0], 10, 64); err != nil {
			return err
		}
		if !first && last.Index == dead.Index && last.Error == dead.Error {
			continue
		}
		if dead.Plan, err = p.source.Text(dead.Index); err != nil {
			return err
		}
		if p.lines {
			line := dead.Index + 1
			dead.Line = &line
		}
		first, last = false, dead
		if err := each(dead); err != nil {
			return err
		}
	}
}
