package accountant_test

import (
	"context"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/plan"
)

func init() {
	accountant.ParsePlan = func(text []byte) (*accountant.Plan, error) { return plan.Parse(context.Background(), text) }
}
