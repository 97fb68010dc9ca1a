package sweep

// What is asked about every plan, and what one answer is.

import (
	"context"
	"fmt"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
)

// A Question is what is asked about every plan: ε at each δ of At, or, with OfDelta, δ at each ε; or,
// where there are Goals, the value of a quantity that meets each of them.
type Question struct {
	At      []float64
	OfDelta bool
	Goals   []accountant.Goal
	Options []accountant.Option
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
