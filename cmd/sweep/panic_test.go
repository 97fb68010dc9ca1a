package sweep_test

import (
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/cmd/sweep"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
)

// defective is a mechanism that has no methods, and panics at the first that is called.
type defective struct{ profiles.Mechanism }

// onePlan is a source of one plan.
func onePlan(p *accountant.Plan) sweep.Source {
	return func(int64) iter.Seq2[plan.Variant, error] {
		return func(yield func(plan.Variant, error) bool) { yield(plan.Variant{Plan: p}, nil) }
	}
}

// TestPanic: the row of a plan that makes the program panic has the stack, which is not in its text.
func TestPanic(t *testing.T) {
	for _, q := range []sweep.Question{{At: []float64{1e-5}}, {Goals: []accountant.Goal{{Epsilon: 1, Delta: 1e-5, Solve: accountant.Count}}}} {
		p := &accountant.Plan{Steps: []accountant.Step{{Mechanism: defective{}, Count: 1}}}
		err := sweep.Run(t.Context(), onePlan(p), q, 1, 0, func(r sweep.Row) error {
			var internal sweep.InternalError
			if !errors.As(r.Err, &internal) || !strings.HasPrefix(r.Err.Error(), "internal error: runtime error: ") || strings.Contains(r.Err.Error(), "\n") || !strings.Contains(internal.Stack, "sweep.guarded") {
				t.Errorf("row %v", r.Err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
