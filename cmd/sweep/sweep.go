package sweep

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/plan"
)

// The order of work: the plans of a window are read, workers answer their chains, and the caller
// gets the answers in order.

// Window is how many plans are looked at together. A sweep that was stopped repeats the work of
// a window at most.
const Window = 4096

// A Row is an answer about one plan.
type Row struct {
	Index  int64    // of the plan, from 0
	Values []string // of the ranges of a grid, as JSON
	Place  int      // in the numbers or the goals of the question
	Answer
}

// Run asks about all plans of a source and calls each with the answers, one for each number or goal
// of the question and plan, in order. Of the answers the first skip are left out: those that
// an earlier run has told. An error of a plan is in its rows; an error of each, of
// the source or of ctx ends the run and is returned.
func Run(ctx context.Context, plans Source, q Question, workers int, skip int64, each func(Row) error) error {
	switch err := q.check(); {
	case err != nil:
		return err
	case skip < 0:
		return fault.New("skip", "%d is not in [0, 2^63)", skip)
	case workers < 1:
		return fault.New("workers", "%d is not in [1, 2^31)", workers)
	}
	perPlan := int64(q.Len())
	first := skip / perPlan // plan
	start := first - first%Window
	next, stop := iter.Pull2(plans(start))
	defer stop()
	for ; ; start += Window {
		window, end := read(ctx, next)
		if end != nil && end != io.EOF {
			return end
		}
		err := q.answerAll(ctx, window, min(max(0, int(first-start)), len(window)), workers, func(n int, t *task) error {
			index := start + int64(n)
			for i := range q.Len() {
				if index*perPlan+int64(i) < skip {
					continue
				}
				row := Row{Index: index, Values: t.Values, Place: i, Answer: Answer{Err: t.err}}
				if t.err == nil {
					row.Answer = t.answers[i]
				}
				if err := each(row); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || end == io.EOF {
			return err
		}
	}
}

// read returns the plans of the next window, and io.EOF with the last ones.
func read(ctx context.Context, next func() (plan.Variant, error, bool)) (window []*task, err error) {
	for len(window) < Window {
		v, err, more := next()
		switch {
		case !more:
			return window, io.EOF
		case err == nil:
			err = ctx.Err()
		}
		if err != nil {
			return window, err
		}
		window = append(window, &task{Variant: v, done: make(chan struct{})})
	}
	return window, nil
}

// answerAll answers the plans of a window but for the first ones, and calls each with them, in order.
func (q Question) answerAll(ctx context.Context, window []*task, first, workers int, each func(n int, t *task) error) error {
	ctx, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for _, t := range window[:first] {
		t.skip = true
	}
	chains := q.chains(window)
	work := make(chan []*task, len(chains))
	for _, chain := range chains {
		if slices.ContainsFunc(chain, func(t *task) bool { return !t.skip }) {
			work <- chain
		}
	}
	close(work)
	for range workers {
		all.Go(func() {
			for chain := range work {
				if ctx.Err() == nil {
					q.answer(ctx, chain)
				}
			}
		})
	}
	for n := first; n < len(window); n++ {
		t := window[n]
		select {
		case <-t.done:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			return err // and not that of the plan that was under way
		}
		if err := each(n, t); err != nil {
			return err
		}
		window[n] = nil // the window lives on until its last plan is answered
	}
	return nil
}

// What is asked about every plan, and what one answer is.

// A Question is what is asked about every plan: ε at each δ of At, or, with OfDelta, δ at each ε; or,
// where there are Goals, the value of a quantity that meets each of them.
type Question struct {
	At      []float64
	OfDelta bool
	Goals   []accountant.Goal
	Options []accountant.Options
}

// Len returns the number of answers about a plan.
func (q Question) Len() int { return max(len(q.At), len(q.Goals)) }

// check reports what is wrong with the question.
func (q Question) check() error {
	switch {
	case q.Len() == 0:
		return fault.New("question", "is empty; needs a number to ask at, or a goal")
	case len(q.At) > 0 && len(q.Goals) > 0:
		return fault.New("question", "has both numbers to ask at and goals; one is asked for")
	}
	return nil
}

// An Answer is an interval, or the error why there is none. That of a goal has the calibration, whose
// Meets is the interval.
type Answer struct {
	accountant.Interval
	Calibration *accountant.Calibration
	Err         error
}

// curve asks a total at each number of the question.
func (q Question) curve(ctx context.Context, total *accountant.Accountant) ([]Answer, error) {
	ask := total.EpsilonCurve
	if q.OfDelta {
		ask = total.DeltaCurve
	}
	points, err := ask(ctx, q.At)
	if err != nil {
		return nil, err
	}
	answers := make([]Answer, len(points))
	for i, p := range points {
		answers[i].Interval = p.Interval
	}
	return answers, nil
}

// calibrate looks for the value of each goal. A goal that nothing meets is an error of its own.
func (q Question) calibrate(ctx context.Context, p *accountant.Plan) []Answer {
	answers := make([]Answer, len(q.Goals))
	for i, g := range q.Goals {
		a := &answers[i]
		if a.Err = guarded(func() (err error) {
			a.Calibration, err = accountant.Calibrate(ctx, p, g, q.Options...)
			return err
		}); a.Err == nil {
			a.Interval = a.Calibration.Meets.Interval
			a.Calibration.Plan = nil // which nobody reads; a window holds thousands
		}
	}
	return answers
}

// An InternalError is a panic about a plan. Its text is for the row, its stack for a log.
type InternalError struct{ *fault.Panic }

// Error returns the text without the stack.
func (e InternalError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// guarded calls f. A panic is an error of the plan that it is about, and ends no sweep.
func guarded(f func() error) (err error) {
	defer func() {
		if p := fault.Caught(recover()); p != nil {
			err = InternalError{p}
		}
	}()
	return f()
}
