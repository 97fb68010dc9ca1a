package campaign

// A question, and what asks it.

import (
	"context"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	textplan "github.com/dpaccountant/accountant/plan"
)

// A question is ε(δ), or δ(ε).
type question struct {
	ofEpsilon      bool // δ at epsilon is asked
	delta, epsilon float64
	accuracy       float64
	work           float64 // 0: the preset
	laws           bool    // alone
	ordinary       bool    // the plan is one that people run: a limit of work must not be what ends it
}

// width returns how wide an answer that ends at x may be: relative to x, of ε also absolutely, as accountant.Options.Accuracy says, and at
// least four steps of the smallest numbers.
func (q question) width(x float64) float64 {
	wide := max(q.accuracy*math.Abs(x), 4*math.SmallestNonzeroFloat64)
	if !q.ofEpsilon {
		wide = max(wide, min(1e-6, 1e-3*q.accuracy))
	}
	return wide
}

func (q question) String() string {
	s := fmt.Sprintf("ε at δ = %v", q.delta)
	if q.ofEpsilon {
		s = fmt.Sprintf("δ at ε = %v", q.epsilon)
	}
	s += fmt.Sprintf(" to %v", q.accuracy)
	if q.work > 0 {
		s += fmt.Sprintf(", work %v", q.work)
	}
	if q.laws {
		s += ", by laws alone"
	}
	return s
}

// An answerer answers; tests put a wrong one in the place of answer.
type answerer func(context.Context, plan, question) (accountant.Interval, error)

// memory is what one question may take: little, as several run at a time.
const memory = 256 << 20

// answer asks the accountant.
func answer(ctx context.Context, p plan, q question) (accountant.Interval, error) {
	parsed, err := textplan.Parse(ctx, []byte(p.text()))
	if err != nil {
		return accountant.Interval{}, err
	}
	opts := accountant.Options{Accuracy: q.accuracy, Memory: memory, WorkLimit: q.work}
	if q.laws {
		opts.Transform = fourier.Gonum
	}
	a := parsed.Accountant(opts)
	if err := a.AddPlan(ctx, parsed); err != nil {
		return accountant.Interval{}, err
	}
	if q.ofEpsilon {
		return a.Delta(ctx, q.epsilon)
	}
	return a.Epsilon(ctx, q.delta)
}
