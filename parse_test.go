package accountant_test

import (
	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/plan"
)

func init() { accountant.ParsePlan = plan.Parse }
