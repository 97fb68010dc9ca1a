package service

import (
	"context"
	"io"
	"runtime"

	"github.com/dpaccountant/accountant/cmd/sweep"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/plan"
)

// This file asks one question about many plans, whose answers come one at a time. It is no
// operation of JSON requests: an answer without an end does not fit into one.

// SweepRequest asks about each of many plans: for ε at one or several δ, or for δ at one or
// several ε, of which one is given; or, with Solve, for the value of a quantity that meets a budget,
// as CalibrateRequest does: each ε at each δ, each advantage, or each true-positive rate.
type SweepRequest struct {
	Delta, Epsilon OneOrMany
	Solve          string `json:",omitempty"`
	Advantage, TPR OneOrMany
	FPR            Decimal
	Step           string  `json:",omitempty"`
	Examples       Decimal `json:",omitempty"`
	Narrowing
	Limits
}

// SweepPlans are the plans of a sweep; GridPlans and LinePlans make them.
type SweepPlans struct {
	source  sweep.Source
	columns []string
	count   int64
	lines   bool // and no grid
}

// GridPlans reads a plan in which values may be ranges.
func GridPlans(text []byte) (SweepPlans, error) {
	g, err := plan.ParseGrid(text)
	if err != nil {
		return SweepPlans{}, err
	}
	return SweepPlans{source: sweep.OfGrid(g), columns: g.Columns(), count: g.Len()}, nil
}

// LinePlans has a plan on each line of a text, of which there are count.
func LinePlans(r io.ReadSeeker, count int64) SweepPlans {
	return SweepPlans{source: sweep.OfLines(r), count: count, lines: true}
}

// Len returns the number of plans.
func (p SweepPlans) Len() int64 { return p.count }

func (q SweepRequest) ofDelta() bool { return len(q.Epsilon.List) > 0 }

// calibrates reports whether a budget is given, and not a number to ask at.
func (q SweepRequest) calibrates() bool {
	return q.Solve != "" || len(q.Advantage.List)+len(q.TPR.List) > 0 || q.FPR != "" || q.Step != "" || q.Examples != ""
}

// RowsPerPlan returns how many rows there are for each plan.
func (q SweepRequest) RowsPerPlan() int64 {
	if q.calibrates() {
		return int64(len(q.budgets()))
	}
	return int64(max(len(q.Delta.List), len(q.Epsilon.List)))
}

// budgets are the calibrations of each plan: every ε at every δ, the last one moving fastest.
func (q SweepRequest) budgets() []CalibrateRequest {
	one := CalibrateRequest{Solve: q.Solve, Step: q.Step, Examples: q.Examples, AttackTarget: AttackTarget{FPR: q.FPR}, Narrowing: q.Narrowing, Limits: q.Limits}
	all := []CalibrateRequest{one}
	for _, x := range []struct {
		list Decimals
		set  func(q *CalibrateRequest, d Decimal)
	}{
		{q.Epsilon.List, func(q *CalibrateRequest, d Decimal) { q.Epsilon = d }},
		{q.Delta.List, func(q *CalibrateRequest, d Decimal) { q.Delta = d }},
		{q.Advantage.List, func(q *CalibrateRequest, d Decimal) { q.Advantage = d }},
		{q.TPR.List, func(q *CalibrateRequest, d Decimal) { q.TPR = d }},
	} {
		if len(x.list) == 0 {
			continue
		}
		var more []CalibrateRequest
		for _, budget := range all {
			for _, d := range x.list {
				x.set(&budget, d)
				more = append(more, budget)
			}
		}
		all = more
	}
	return all
}

// Check reports what is wrong with all but the plans.
func (q SweepRequest) Check() error {
	_, err := q.question(context.Background())
	return err
}

func (q SweepRequest) question(ctx context.Context) (sweep.Question, error) {
	if q.calibrates() {
		return q.goals(ctx)
	}
	out := sweep.Question{OfDelta: q.ofDelta()}
	var err error
	switch {
	case out.OfDelta && len(q.Delta.List) > 0:
		return out, shape("%s and %s exclude each other without %s: one is asked for", "delta", "epsilon", "solve")
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

// goals is the question of a calibration.
func (q SweepRequest) goals(ctx context.Context) (out sweep.Question, err error) {
	if q.Solve == "" {
		return out, shape("missing %s", "solve")
	}
	for _, list := range []OneOrMany{q.Epsilon, q.Delta, q.Advantage, q.TPR} {
		if len(list.List) > MaxValues {
			return out, fault.New("solve", "has a list of %d numbers; most are %d", len(list.List), MaxValues)
		}
	}
	for _, budget := range q.budgets() {
		goal, opts, err := budget.parse(ctx)
		if err != nil {
			return out, err
		}
		if out.Goals, out.Options = append(out.Goals, goal), opts; len(out.Goals) > MaxValues {
			return out, fault.New("solve", "has more than %d budgets for each plan", MaxValues)
		}
	}
	return out, nil
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
		return each(rowOf(question, r))
	})
}

// maxLooked is how many plans of a grid CheckSweep reads.
const maxLooked = 1_000_000

// CheckSweep reads the plans and asks nothing: it calls each with the error of a plan, or "". Of a grid of more than a
// million plans it reads a million from the first to the last, spread evenly.
func (s *Service) CheckSweep(ctx context.Context, plans SweepPlans, each func(index int64, problem string) error) error {
	looked := plans.count
	if !plans.lines {
		looked = min(looked, maxLooked)
	}
	for k := int64(0); ; k++ {
		i := k
		if looked < plans.count && k < looked {
			i = k * (plans.count - 1) / (looked - 1)
		}
		if k == looked && !plans.lines {
			return nil
		}
		if k == 0 || i > k {
			if err := plans.source.Start(i); err != nil {
				return err
			}
		}
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
