package service

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"strings"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/sweep"
)

// This file asks one question about many plans, whose answers come one at a time. It is no
// operation of JSON requests: an answer without an end does not fit into one.

// SweepRequest asks about each of many plans: for ε at one or several δ, or for δ at one or
// several ε, of which one is given.
type SweepRequest struct {
	Delta, Epsilon OneOrMany
	Narrowing
	Limits
}

// SweepPlans are the plans of a sweep; GridPlans and LinePlans make them.
type SweepPlans struct {
	source  sweep.Source
	columns []string
	count   int64
}

// GridPlans reads a plan in which values may be ranges.
func GridPlans(text []byte) (SweepPlans, error) {
	g, err := plan.ParseGrid(text)
	if err != nil {
		return SweepPlans{}, err
	}
	return SweepPlans{sweep.OfGrid(g), g.Columns(), g.Len()}, nil
}

// LinePlans has a plan on each line of a text, of which there are count.
func LinePlans(r io.ReadSeeker, count int64) SweepPlans {
	return SweepPlans{source: sweep.OfLines(r), count: count}
}

// Len returns the number of plans.
func (p SweepPlans) Len() int64 { return p.count }

// A SweepRow is an answer about one plan, or its error.
type SweepRow struct {
	Index  int64
	Values []string // of the ranges of a grid, in their order, as JSON
	At     Number   // δ or ε
	Bounds
	// Gap is what theory leaves open: how far an attack is below what is proved.
	Gap     Number
	Warning string
	// Error is the problem with the plan, with the path of its field; "" if there is none.
	Error string
}

// Columns are the names of a row: index, the ranges, what is asked at, both ends, gap, warning and error.
func (q SweepRequest) Columns(p SweepPlans) []string {
	names := append([]string{"index"}, p.columns...)
	if q.ofDelta() {
		return append(names, "epsilon", "delta-lower", "delta-upper", "gap", "warning", "error")
	}
	return append(names, "delta", "epsilon-lower", "epsilon-upper", "gap", "warning", "error")
}

func (q SweepRequest) ofDelta() bool { return len(q.Epsilon.List) > 0 }

// Rows returns how many rows there are for each plan.
func (q SweepRequest) Rows() int64 { return int64(max(len(q.Delta.List), len(q.Epsilon.List))) }

// Check reports what is wrong with all but the plans.
func (q SweepRequest) Check() error {
	_, err := q.question(context.Background())
	return err
}

func (q SweepRequest) question(ctx context.Context) (sweep.Question, error) {
	out := sweep.Question{OfDelta: q.ofDelta()}
	var err error
	switch {
	case out.OfDelta && len(q.Delta.List) > 0:
		return out, shape("%s and %s exclude each other: one is asked for", "delta", "epsilon")
	case out.OfDelta:
		out.At, err = q.Epsilon.in("epsilon", epsilonSpan)
	default:
		out.At, err = q.Delta.in("delta", deltaSpan)
	}
	if err == nil {
		out.Options, err = accountantOptions(ctx, q.Limits, q.Narrowing)
	}
	return out, err
}

// Sweep answers about all plans and calls each with the rows, in their order: one for every
// number of the question and plan. The first skip rows are left out. The answers depend on
// the request alone, not on skip or on the number of cores. An error of a plan is in its rows.
func (s *Service) Sweep(ctx context.Context, q SweepRequest, plans SweepPlans, skip int64, each func(SweepRow) error) error {
	question, err := q.question(ctx)
	if err != nil {
		return err
	}
	return sweep.Run(ctx, plans.source, question, runtime.GOMAXPROCS(0), skip, func(r sweep.Row) error {
		row := SweepRow{Index: r.Index, Values: r.Values, At: Number(r.At)}
		switch {
		case r.Err != nil:
			row.Error = planMessage(r.Err)
		case question.OfDelta:
			a := deltaAt(r.At, r.Interval)
			row.Bounds, row.Gap, row.Warning = a.Delta, a.ErrorBudget.TheoryGap, strings.Join(a.Warnings, "; ")
		default:
			a := epsilonAt(r.At, r.Interval)
			row.Bounds, row.Gap, row.Warning = a.Epsilon, a.ErrorBudget.TheoryGap, strings.Join(a.Warnings, "; ")
		}
		return each(row)
	})
}

// CheckSweep reads every plan and asks nothing: it calls each with the error of a plan, or "".
func (s *Service) CheckSweep(ctx context.Context, plans SweepPlans, each func(index int64, problem string) error) error {
	if err := plans.source.Start(0); err != nil {
		return err
	}
	for i := int64(0); ; i++ {
		v, err := plans.source.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		problem := ""
		if v.Err != nil {
			problem = planMessage(v.Err)
		}
		if err := each(i, problem); err != nil {
			return err
		}
	}
}

// planMessage is an error about a plan of many, which all have the same lines.
func planMessage(err error) string {
	if _, message, ok := PlanLine(err); ok {
		return fault.Line(message)
	}
	return fault.Line(err.Error())
}

// MarshalRow writes a row as JSON, with these columns, on one line.
func (r SweepRow) MarshalRow(columns []string) ([]byte, error) {
	cells, err := r.Cells()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for i, cell := range cells {
		if b.WriteByte(','); i == 0 {
			b.Reset()
			b.WriteByte('{')
		}
		name, err := Marshal(columns[i])
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(cell)
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}

// Cells are the values of a row as JSON, null where there is none.
func (r SweepRow) Cells() ([][]byte, error) {
	var cells [][]byte
	var failed error
	add := func(v any) {
		cell, err := Marshal(v)
		if err != nil {
			failed = err
		}
		cells = append(cells, cell)
	}
	add(r.Index)
	for _, v := range r.Values {
		cells = append(cells, []byte(v))
	}
	add(r.At)
	text := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	if r.Error != "" {
		for range 4 {
			add(nil)
		}
	} else {
		add(r.Lower)
		add(r.Upper)
		add(r.Gap)
		add(text(r.Warning))
	}
	add(text(r.Error))
	return cells, failed
}
