package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/fourier/godsp"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/plan"
)

// This file reads the plans of requests and the limits that go with them, and makes the
// accountants that answer.

// PlanText is the text of a plan file. In JSON it is a plan as an object, or a string
// with the text.
type PlanText []byte

// MaxPlan is the longest text of a plan, in bytes.
const MaxPlan = plan.MaxSize

// UnmarshalJSON implements json.Unmarshaler.
func (p *PlanText) UnmarshalJSON(data []byte) error {
	var text string
	switch {
	case bytes.Equal(data, []byte("null")):
		*p = nil
	case data[0] == '{':
		*p = bytes.Clone(data)
	case json.Unmarshal(data, &text) == nil:
		*p = append(PlanText{}, text...)
	default:
		return &fault.Error{Problem: "is not a JSON object or a string"}
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (p PlanText) MarshalJSON() ([]byte, error) {
	if json.Valid(p) {
		return p, nil
	}
	return json.Marshal(string(p))
}

// parse returns the plan.
func (p PlanText) parse(ctx context.Context) (*accountant.Plan, error) {
	return plan.Parse(ctx, p)
}

// Limits say how exact an answer is to be and what it may take; see the options of
// package accountant. What is not given has its default.
type Limits struct {
	Accuracy Decimal `json:"accuracy,omitempty" in:"[1e-12, 1)" help:"relative {width} that an interval may have (default 1e-9, and 1e-3 where lattices are needed)"`
	Caps

	transform string // Method.Transform, where that can be asked for
}

// Caps say what a request may take.
type Caps struct {
	Memory    Decimal `json:"memory,omitempty" in:"[1, 1e6]" help:"limit of memory in {MB} (default 1 GiB); at the limit the interval gets wider and there is a warning"`
	Work      Decimal `json:"work,omitempty" in:"[1, 1e15]" help:"limit of the work for all answers together, in terms of about 40 ns (default 2.5e8, about 10 s); at the {limit} what is proved by then is told, with a warning"`
	TimeLimit Decimal `json:"time-limit,omitempty" in:"(0, 1e6]" help:"limit of the time in {seconds} (default none); at the limit what is proved by then is told, with a warning, which depends on the machine"`
}

// Most memory, in MB, and work that a request may name.
const MaxMemory, MaxWork = 1e6, 1e15

// most is what a front end lets requests have.
type most struct{ memory, work float64 }

type mostKey struct{}

// WithMost bounds the memory in MB and the work that questions under the context may name, and what they have if they name
// none.
func WithMost(ctx context.Context, memory, work float64) context.Context {
	return context.WithValue(ctx, mostKey{}, most{memory, work})
}

// bound returns an error for limits beyond those of the context, and bounds those that were not given.
func (l *Caps) bound(ctx context.Context) error {
	m, ok := ctx.Value(mostKey{}).(most)
	if !ok {
		return nil
	}
	for _, x := range []struct {
		name         string
		given        *Decimal
		most, preset float64
	}{{"memory", &l.Memory, m.memory, 1 << 30 / 1e6}, {"work", &l.Work, m.work, fourier.DefaultWork(1e-3)}} {
		switch v := x.given.float(); {
		case v > x.most:
			return fault.New(x.name, "%s is not in [1, %v], which is all that is allowed here", decimal.Show(string(*x.given)), Number(x.most))
		case v == 0 && x.preset > x.most:
			*x.given = Decimal(Number(x.most).String())
		}
	}
	return nil
}

// Bytes is the limit of memory, 0 if none was given.
func (l Caps) Bytes() int64 { return int64(l.Memory.float() * 1e6) }

// time is the limit of time, 0 if none was given.
func (l Caps) time() time.Duration {
	return time.Duration(l.TimeLimit.float() * float64(time.Second))
}

// Under returns a context whose calls have the limits together: all of the work, and the memory for each of their
// questions. It ends with the time. end must follow, and is shown the error of the calls: one for want of work or time
// gets the name of the limit.
func (l Caps) Under(ctx context.Context) (_ context.Context, end func(*error), err error) {
	end = func(*error) {}
	if err := Check(&l); err != nil {
		return ctx, end, err
	}
	work := fourier.DefaultWork(1e-3)
	if _, left := parallel.Work(ctx); !math.IsInf(left, 1) {
		work = max(left, 0) // a limit around this one was chosen
	}
	if l.Work != "" {
		work = l.Work.float()
	}
	if ctx = parallel.WithWork(ctx, work); l.Memory != "" {
		ctx = parallel.WithMemory(ctx, l.Bytes())
	}
	stop := func() {}
	if limit := l.time(); limit > 0 {
		ctx, stop = context.WithTimeoutCause(ctx, limit, fourier.ErrTimeLimit)
	}
	return ctx, func(err *error) {
		defer stop()
		switch {
		case *err == nil:
		case errors.Is(*err, parallel.ErrWork):
			*err = fault.New("work", "%w before anything was proved", parallel.ErrWork)
		case context.Cause(ctx) == fourier.ErrTimeLimit && errors.Is(*err, ctx.Err()):
			*err = fault.New("time-limit", "%w before anything was proved", fourier.ErrTimeLimit)
		}
	}, nil
}

// reached returns the limit of a request (Caps.Under) that was reached, nil if none was.
func reached(ctx context.Context) error {
	if _, left := parallel.Work(ctx); left < 0 {
		return parallel.ErrWork
	}
	if err := context.Cause(ctx); err == fourier.ErrTimeLimit {
		return err
	}
	return nil
}

// options turns the limits into the accountant's options.
func (l Limits) options(ctx context.Context, n Narrowing) []accountant.Options {
	o := accountant.Options{Progress: progress(ctx), TimeLimit: l.time()}
	if l.Accuracy != "" {
		o.Accuracy = l.Accuracy.float()
	}
	if l.Memory != "" {
		o.Memory = l.Bytes()
	}
	if l.Work != "" {
		o.WorkLimit = l.Work.float()
	}
	if n.Recursion != "" {
		o.Recursion = n.Recursion.whole()
	}
	switch l.transform {
	case GonumTransform:
		o.Transform = fourier.Gonum
	case GoDSPTransform:
		o.Transform = godsp.Transform
	}
	return []accountant.Options{o}
}

// Narrowing says up to how many runs the recursion over data configurations narrows a
// theory gap; none if it is not given.
type Narrowing struct {
	Recursion Decimal `json:"recursion,omitempty" in:"whole [0, 2^53]" help:"narrow a theory gap for mechanisms that run at most this many {times} by the recursion over data configurations, and from 100 times on by blocks of runs, beside which the recursion takes on a tenth as many; takes seconds; 0 for never"`
}

// planned returns the plan of a request, and the options of its accountants.
func (l Limits) planned(ctx context.Context, text PlanText, n Narrowing) (*accountant.Plan, []accountant.Options, error) {
	p, err := text.parse(ctx)
	return p, l.options(ctx, n), err
}

// account returns the plan of a request, and an accountant of its own that holds it: nothing is kept of it.
func (l Limits) account(ctx context.Context, text PlanText, n Narrowing) (*accountant.Plan, *accountant.Accountant, error) {
	p, opts, err := l.planned(ctx, text, n)
	if err != nil {
		return nil, nil, err
	}
	acct, err := newAccountant(ctx, p, opts)
	return p, acct, err
}

// newAccountant returns an accountant that holds the plan.
func newAccountant(ctx context.Context, p *accountant.Plan, opts []accountant.Options) (*accountant.Accountant, error) {
	acct := p.Accountant(opts...)
	if err := acct.AddPlan(ctx, p); err != nil {
		return nil, err
	}
	return acct, nil
}

// severalRecords is the number of records of a person in an answer: 0, which is left out, for 1.
func severalRecords(n int64) int64 {
	if n == 1 {
		return 0
	}
	return n
}

// Progress is how far an answer is: a number of parts done of a total, which is 0 where
// nobody knows it, and perhaps a note.
type Progress struct {
	Done, Total int
	Note        string
}

type progressKey struct{}

// WithProgress returns a context under which the operations of a Service tell f how far
// they are. f must not ask the Service.
func WithProgress(ctx context.Context, f func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// progress returns what reports the parts of one computation.
func progress(ctx context.Context) func(done, total int) {
	return func(done, total int) { report(ctx, Progress{Done: done, Total: total}) }
}

func report(ctx context.Context, p Progress) {
	if f, ok := ctx.Value(progressKey{}).(func(Progress)); ok {
		f(p)
	}
}

// PlanLine returns the line of a plan's text that an error is about, 0 if it is none,
// and what is wrong there; false if the error is not about the text of a plan.
func PlanLine(err error) (line int, message string, ok bool) {
	var pe *plan.Error
	if errors.As(err, &pe) {
		return pe.Line, pe.Message(), true
	}
	return 0, "", false
}

// CheckPlan returns what is wrong with the text of a plan.
func CheckPlan(text []byte) error {
	_, err := plan.Parse(context.Background(), text)
	return err
}

// What follows works on the text of plans: what they say in short, what tells two of them
// apart and what that costs.

// PlanCheckRequest asks whether a text is a plan.
type PlanCheckRequest struct {
	Plan PlanText `json:"plan"`
}

// PlanSummary is what a plan is about, in short.
type PlanSummary struct {
	Unit
	Steps int   `json:"steps"` // those with a mechanism, groups opened
	Runs  int64 `json:"runs"`  // of mechanisms
	// Names are those of steps and groups, which step of calibrate takes.
	Names []string `json:"names,omitempty"`
}

// planCheck reads a plan and computes no privacy.
func (s *Service) planCheck(ctx context.Context, q PlanCheckRequest) (PlanSummary, error) {
	p, err := q.Plan.parse(ctx)
	if err != nil {
		return PlanSummary{}, err
	}
	a := PlanSummary{Unit: unitOf(p)}
	for _, s := range placed(p.Steps, "steps", 1) {
		if s.Name != "" {
			a.Names = append(a.Names, s.Name)
		}
		if s.Mechanism != nil {
			a.Steps, a.Runs = a.Steps+1, a.Runs+s.runs
		}
	}
	return a, nil
}

// A placedStep is a step of a plan, which runs so often in all.
type placedStep struct {
	accountant.Step
	path string
	runs int64
}

// placed lists the steps at a path, each before those that it contains.
func placed(steps []accountant.Step, path string, times int64) (all []placedStep) {
	for i, s := range steps {
		p := placedStep{s, fmt.Sprintf("%s[%d]", path, i), times * s.Count}
		all = append(all, p)
		all = append(all, placed(s.Steps, p.path+".steps", p.runs)...)
		all = append(all, placed(s.Disjoint, p.path+".disjoint", p.runs)...)
	}
	return all
}

// DiffRequest asks what tells plan New from plan Old, and what that costs at Delta.
type DiffRequest struct {
	Old   PlanText `json:"old"`
	New   PlanText `json:"new"`
	Delta Decimals `json:"delta" in:"[0, 1)" help:"one or several {δ} of both plans, with commas between them"`
	Narrowing
	Limits
}

// A Difference is where two plans differ and what each of them costs.
type Difference struct {
	Changes []PlanChange `json:"changes"`
	Delta   Number       `json:"delta"`
	Old     EpsilonAt    `json:"old"`
	New     EpsilonAt    `json:"new"`
	// More is ε of the new plan minus ε of the old one; left out where both are infinite.
	More *Bounds `json:"more,omitempty"`
}

// A PlanChange is a place with another value.
type PlanChange struct {
	Path string `json:"path"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
}

// diff returns what tells two plans apart, and what each costs.
func (s *Service) diff(ctx context.Context, q DiffRequest) (Difference, error) {
	d := Difference{Changes: []PlanChange{}}
	for i, side := range []struct {
		name string
		text PlanText
		to   *EpsilonAt
	}{{"old", q.Old, &d.Old}, {"new", q.New, &d.New}} {
		a, err := s.epsilon(ctx, EpsilonRequest{Plan: side.text, Delta: q.Delta, Narrowing: q.Narrowing, Limits: q.Limits})
		if _, _, wrong := PlanLine(err); wrong {
			err = &PlanError{i, side.name, err}
		}
		if err != nil {
			return d, err
		}
		*side.to = a.Results[0]
	}
	changes, err := plan.Diff(q.Old, q.New)
	if err != nil {
		return d, err
	}
	for _, c := range changes {
		d.Changes = append(d.Changes, PlanChange(c))
	}
	d.Delta = d.Old.Delta
	d.More = minus(d.New.Epsilon, d.Old.Epsilon)
	return d, nil
}

// minus is the difference of two intervals, rounded outward; nil if it is of infinities.
func minus(a, b Bounds) *Bounds {
	lower := math.Nextafter(float64(a.Lower)-float64(b.Upper), math.Inf(-1))
	upper := math.Nextafter(float64(a.Upper)-float64(b.Lower), math.Inf(1))
	estimate := float64(a.Estimate) - float64(b.Estimate)
	if math.IsNaN(lower) || math.IsNaN(upper) || math.IsNaN(estimate) {
		return nil
	}
	return &Bounds{Number(lower), Number(estimate), Number(upper)}
}

// What follows writes plans as events of dp_accounting, and events as plans.

// ConvertRequest asks for a plan, in either format, in the other one or in that of To:
// "plan" or "events".
type ConvertRequest struct {
	Plan PlanText `json:"plan"`
	To   string   `json:"to,omitempty" one:"plan,events" help:"{format} to write: plan or events (default: the one that the file is not in)"`
}

// ConvertAnswer has the text of the plan in the format that is named.
type ConvertAnswer struct {
	Format string `json:"format"`
	Text   string `json:"text" py:",return"`
}

// convert returns a plan in another format.
func (s *Service) convert(_ context.Context, q ConvertRequest) (ConvertAnswer, error) {
	text, format, err := plan.Convert(q.Plan, plan.Format(q.To))
	return ConvertAnswer{string(format), string(text)}, err
}
