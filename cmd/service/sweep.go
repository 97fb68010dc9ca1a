package service

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"strings"

	"github.com/dpaccountant/accountant"
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
	Delta, Epsilon Decimals
	Solve          string `json:",omitempty"`
	Advantage, TPR Decimals
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

// calibrates reports whether a budget is given, and not a number to ask at.
func (q SweepRequest) calibrates() bool {
	return q.Solve != "" || len(q.Advantage)+len(q.TPR) > 0 || q.FPR != "" || q.Step != "" || q.Examples != ""
}

// RowsPerPlan returns how many rows there are for each plan, of a request that was checked.
func (q SweepRequest) RowsPerPlan() int64 {
	question, _ := q.question(context.Background())
	return int64(question.Len())
}

// budgets are the calibrations of each plan: every ε at every δ, the last one moving fastest.
func (q SweepRequest) budgets() (all []CalibrateRequest, err error) {
	all = []CalibrateRequest{{Solve: q.Solve, Step: q.Step, Examples: q.Examples, AttackTarget: AttackTarget{FPR: q.FPR}, Narrowing: q.Narrowing, Limits: q.Limits}}
	for _, of := range []struct {
		key    string
		values Decimals
	}{{"epsilon", q.Epsilon}, {"delta", q.Delta}, {"target-advantage", q.Advantage}, {"target-tpr", q.TPR}} {
		if all, err = spread(all, of.key, of.values, MaxValues); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Check reports what is wrong with all but the plans.
func (q SweepRequest) Check() error {
	_, err := q.question(context.Background())
	return err
}

func (q SweepRequest) question(ctx context.Context) (out sweep.Question, err error) {
	if q.calibrates() {
		return q.goals(ctx)
	}
	out.OfDelta = len(q.Epsilon) > 0
	switch {
	case out.OfDelta && len(q.Delta) > 0:
		return out, shape("%s and %s exclude each other without %s: one is asked for", "delta", "epsilon", "solve")
	case out.OfDelta:
		out.At, err = q.Epsilon.floats(), ready(&DeltaRequest{Epsilon: q.Epsilon, Narrowing: q.Narrowing, Limits: q.Limits})
	default:
		out.At, err = q.Delta.floats(), ready(&EpsilonRequest{Delta: q.Delta, Narrowing: q.Narrowing, Limits: q.Limits})
	}
	out.Options = q.options(ctx, q.Narrowing)
	return out, err
}

// goals is the question of a calibration.
func (q SweepRequest) goals(ctx context.Context) (out sweep.Question, err error) {
	if q.Solve == "" {
		return out, shape("missing %s", "solve")
	}
	budgets, err := q.budgets()
	if err != nil {
		return out, err
	}
	for _, budget := range budgets {
		if err := ready(&budget); err != nil {
			return out, err
		}
		out.Goals = append(out.Goals, budget.goal())
	}
	out.Options = q.options(ctx, q.Narrowing)
	return out, nil
}

// Sweep answers about all plans and calls each with the rows, in their order: one for every
// number of the question and plan. The first skip rows are left out. The answers depend on
// the request alone, not on skip or on the number of cores. An error of a plan is in its rows.
func (s *Service) Sweep(ctx context.Context, q SweepRequest, plans SweepPlans, skip int64, each func(sweep.Row) error) error {
	question, err := q.question(ctx)
	if err != nil {
		return err
	}
	return sweep.Run(ctx, plans.source, question, runtime.GOMAXPROCS(0), skip, each)
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
	next, stop := iter.Pull2(plans.source(0))
	defer func() { stop() }()
	for k := range looked {
		i := k
		if looked < plans.count {
			i = k * (plans.count - 1) / (looked - 1)
			stop()
			next, stop = iter.Pull2(plans.source(i))
		}
		v, err, more := next()
		switch {
		case !more:
			return nil
		case err == nil:
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
	return nil
}

// planMessage is an error about a plan of many, which all have the same lines.
func planMessage(err error) string {
	return fault.Line((&LogLineError{Err: err}).Error())
}

// What follows has the text of the result of a sweep, to write and to read it: JSON lines, or CSV with
// a line of names. Every row has the same columns, and every value of a column the same type or none,
// so that readers that guess types of a column from its first rows, such as those that make Parquet of
// it, are right: what is infinite has no value, and a column says so. The last column is the same in all
// rows of a sweep, and in no other sweep.

// A SweepForm is how the rows of a sweep are written.
type SweepForm struct {
	CSV      bool
	id       string
	ranges   []string // of the grid
	question sweep.Question
}

// Form returns the form of the rows of a request that was checked; id is what only this sweep has.
func (q SweepRequest) Form(p SweepPlans, id string, asCSV bool) SweepForm {
	question, _ := q.question(context.Background())
	return SweepForm{CSV: asCSV, id: id, ranges: p.columns, question: question}
}

// Columns are the names of a row's values.
func (f SweepForm) Columns() (names []string) {
	for _, c := range f.cells(sweep.Row{Values: make([]string, len(f.ranges))}) {
		names = append(names, c.name)
	}
	return names
}

// Head is what comes before the rows.
func (f SweepForm) Head() ([]byte, error) {
	if !f.CSV {
		return nil, nil
	}
	return csvLine(f.Columns())
}

// Line writes a row, with its line feed.
func (f SweepForm) Line(r sweep.Row) ([]byte, error) {
	var texts []string
	var b bytes.Buffer
	for i, c := range f.cells(r) {
		value, err := Marshal(c.value)
		if err != nil {
			return nil, err
		}
		text, err := cellText(value)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
		fmt.Fprintf(&b, `%c"%s":%s`, "{,"[min(i, 1)], c.name, value)
	}
	if f.CSV {
		return csvLine(texts)
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}

func csvLine(texts []string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err := w.Write(texts)
	w.Flush()
	return b.Bytes(), err
}

// cellText is a value of JSON as CSV has it: nothing for null, and text on one line.
func cellText(cell []byte) (string, error) {
	switch {
	case string(cell) == "null":
		return "", nil
	case cell[0] != '"':
		return string(cell), nil
	}
	var text string
	err := json.Unmarshal(cell, &text)
	return fault.Line(text), err
}

// A sweepCell is a value of a row in its column, nil where there is none.
type sweepCell struct {
	name  string
	value any
}

// cells are the columns of a row, which depend on the form alone.
func (f SweepForm) cells(r sweep.Row) (all []sweepCell) {
	add := func(name string, value any) { all = append(all, sweepCell{name, value}) }
	add("index", r.Index)
	for i, name := range f.ranges {
		add(name, json.RawMessage(r.Values[i]))
	}
	c, found := orZero(r.Calibration), ""
	switch q := f.question; {
	case len(q.Goals) > 0 && q.Goals[r.Place].TruePositive != 0:
		add("target-tpr", Number(q.Goals[r.Place].TruePositive))
		add("at-fpr", Number(q.Goals[r.Place].FalsePositive))
	case len(q.Goals) > 0: // an advantage of A is the budget (0, A)
		add("epsilon", Number(q.Goals[r.Place].Epsilon))
		add("delta", Number(q.Goals[r.Place].Delta))
	case q.OfDelta:
		add("epsilon", Number(q.At[r.Place]))
		found = "delta-"
	default:
		add("delta", Number(q.At[r.Place]))
		found = "epsilon-"
	}
	answer := len(all)
	if found == "" {
		add("solve", string(f.question.Goals[r.Place].Solve))
		add("value", Number(c.Value))
		add("common-factor", c.Factor)
		var next any // the next value, which is not found to meet the budget
		if c.Fails != nil {
			next = Number(c.Fails.At)
		}
		add("next", next)
		add("certified", c.Asked)
	}
	if found == "epsilon-" || c.Asked == "epsilon" {
		r.Interval = fromZero(r.Interval)
	}
	bounds, basis := intervalOf(r.Interval)
	add(found+"lower", orNull(bounds.Lower))
	add(found+"upper", orNull(bounds.Upper))
	if found == "epsilon-" {
		infinite := ""
		switch {
		case math.IsInf(float64(bounds.Lower), 1):
			infinite = "both"
		case math.IsInf(float64(bounds.Upper), 1):
			infinite = "upper"
		}
		add("infinite", textOrNull(infinite))
	}
	add("gap", orNull(basis.ErrorBudget.TheoryGap))
	add("warning", textOrNull(fault.Line(strings.Join(basis.Warnings, "; "))))
	problem := ""
	if r.Err != nil {
		problem = planMessage(r.Err)
		for i := answer; i < len(all); i++ {
			all[i].value = nil
		}
	}
	add("error", textOrNull(problem))
	add("sweep", f.id)
	return all
}

// orNull is a number that is one, or nothing.
func orNull(x Number) any {
	if f := float64(x); math.IsInf(f, 0) || math.IsNaN(f) {
		return nil
	}
	return x
}

// textOrNull is a text that is not empty, or nothing.
func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// IsLine reports whether a line without its line feed is row n of this sweep, and whether it has an error.
// mine is whether it is a row of this sweep at all.
func (f SweepForm) IsLine(line []byte, n int64) (failed, mine, ok bool) {
	index := n / int64(f.question.Len())
	if f.CSV {
		rest, mine := bytes.CutSuffix(line, []byte(","+f.id))
		return !bytes.HasSuffix(rest, []byte(",")), mine, mine && bytes.HasPrefix(line, fmt.Appendf(nil, "%d,", index))
	}
	rest, mine := bytes.CutSuffix(line, fmt.Appendf(nil, `,"sweep":"%s"}`, f.id))
	return !bytes.HasSuffix(rest, []byte(`"error":null`)), mine, mine && bytes.HasPrefix(line, fmt.Appendf(nil, `{"index":%d,`, index)) && json.Valid(line)
}

// What follows follows a log of steps while it grows: one accountant to which each line adds, and
// ε after it. It assumes that a front end hands it the lines in their order.

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
	opts []accountant.Options
	acct *accountant.Accountant
	line int
}

// Follow returns the running total of a log of which no line has been read.
func Follow(ctx context.Context, q FollowRequest) (*Follower, error) {
	err := ready(&q)
	if err != nil {
		return nil, err
	}
	f := &Follower{at: q.Delta.floats(), opts: append(q.options(ctx, q.Narrowing), accountant.Options{ManyQuestions: true})}
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
	return FollowedAt{Line: f.line, Runs: f.acct.Runs(), Neighbors: f.acct.Relation().String(), Results: results}, err == nil, err
}

// A LogLineError is what is wrong with a line of a log of steps.
type LogLineError struct {
	Line int
	Err  error
}

// Error is the problem, without the line.
func (e *LogLineError) Error() string {
	if _, message, ok := PlanLine(e.Err); ok {
		return message
	}
	return e.Err.Error()
}

// Unwrap returns what was wrong.
func (e *LogLineError) Unwrap() error { return e.Err }
