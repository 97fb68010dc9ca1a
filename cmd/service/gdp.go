package service

import (
	"context"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
)

// This file answers how much Gaussian differential privacy a plan has.

// GDPRequest asks for μ at a tolerance, 1e-10 if left out.
type GDPRequest struct {
	Plan      PlanText `json:"plan"`
	Tolerance Decimals `json:"tolerance,omitempty" in:"[0, 1)" preset:"1e-10" help:"{τ}, what the power of a test may be more than under μ-GDP; several with commas between them"`
	Limits
}

// GDPAnswer has the least μ for which no test has more power than under μ-GDP, plus the
// tolerance.
type GDPAnswer struct {
	Unit
	Tolerance Number `json:"tolerance"`
	Mu        Bounds `json:"mu" py:"*"`
	// Regret is the most by which μ-GDP overstates δ.
	Regret   Upper    `json:"regret"`
	Warnings []string `json:"warnings,omitempty"`
}

// gdp returns μ at a tolerance.
func (s *Service) gdp(ctx context.Context, q GDPRequest) (GDPAnswer, error) {
	tolerance := q.Tolerance.float()
	p, acct, err := q.account(ctx, q.Plan, Narrowing{})
	if err != nil {
		return GDPAnswer{}, err
	}
	g, err := acct.GDP(ctx, tolerance)
	return GDPAnswer{unitOf(p), Number(tolerance), rangeOf(g.Mu), Upper{Number(g.Regret)}, g.Warnings}, err
}

// What follows turns a quantity of a plan until a budget of Gaussian differential privacy is met.

// GDPSolveRequest asks for the value of a quantity at which a plan is μ-GDP at the
// tolerance, 1e-10 if left out; or, for Gaussian noise on the whole data set, ρ-zCDP.
type GDPSolveRequest struct {
	Plan      PlanText `json:"plan"`
	Mu        Decimals `json:"mu,omitempty" in:"(0, 2000]" help:"{μ} of the budget, several with commas between them"`
	ZCDP      Decimals `json:"zcdp,omitempty" in:"(0, 2e6]" help:"{ρ} of the budget, in place of --mu"`
	Tolerance Decimal  `json:"tolerance,omitempty" in:"[0, 1)" help:"{τ}, as of gdp (default 1e-10)"`
	Solve     string   `json:"solve" one:"noise-multiplier,count,rate,batch" help:"quantity to turn: noise-multiplier, count, rate or batch"`
	Step      string   `json:"step,omitempty" help:"{name} or place of the step to turn, such as steps[0] (default: all that have the quantity)"`
	Examples  Decimal  `json:"examples,omitempty" in:"whole [1, 2^53]" help:"{size} of the data set, to turn the batch of Poisson sampling"`
	Limits
}

// GDPSolution has the value, and the μ that is proved of it.
type GDPSolution struct {
	Unit
	Solve     string  `json:"solve"`
	Value     Number  `json:"value" py:",return"`
	Budget    Number  `json:"budget-mu"`
	Tolerance Number  `json:"tolerance"`
	Mu        Bounds  `json:"mu"`
	Settings  []GDPAt `json:"settings,omitempty"`
	// Warnings say that a limit ended the search early.
	Warnings []string `json:"warnings,omitempty"`
}

// GDPAt is the value at one step.
type GDPAt struct {
	Step  string `json:"step"`
	Name  string `json:"name,omitempty"`
	Value Number `json:"value"`
	// Quantity is "epsilon" where the mechanism has that in the place of what was turned.
	Quantity string `json:"quantity,omitempty"`
}

// shape reports whether there is one budget.
func (q GDPSolveRequest) shape() error {
	if (q.Mu == nil) == (q.ZCDP == nil) {
		return fault.New("mu", "must be given, or zcdp in its place")
	}
	if q.ZCDP != nil && q.Tolerance != "" {
		return fault.New("tolerance", "is for a budget of mu")
	}
	return nil
}

// goal returns the budget and what to turn.
func (q GDPSolveRequest) goal() (g accountant.Goal, mu, tolerance float64, err error) {
	g.Step, g.Examples = q.Step, q.Examples.whole()
	if g.Solve, err = accountant.ParseQuantity(q.Solve); err != nil {
		return g, 0, 0, err
	}
	if q.ZCDP != nil {
		mu, err = accountant.MuOfZCDP(q.ZCDP.float())
		return g, mu, 0, err
	}
	if tolerance = 1e-10; q.Tolerance != "" {
		tolerance = q.Tolerance.float()
	}
	return g, q.Mu.float(), tolerance, nil
}

// gdpSolve returns the value at which a plan meets the budget.
func (s *Service) gdpSolve(ctx context.Context, q GDPSolveRequest) (GDPSolution, error) {
	g, mu, tolerance, err := q.goal()
	if err != nil {
		return GDPSolution{}, err
	}
	p, opts, err := q.planned(ctx, q.Plan, Narrowing{})
	if err != nil {
		return GDPSolution{}, err
	}
	if q.ZCDP != nil {
		if _, err := p.SquaredMu(); err != nil {
			return GDPSolution{}, fault.New("zcdp", "is a budget for Gaussian noise on the whole data set (no ρ below the unsampled one exists for a sampled plan; give a budget at ε and δ): %w", err)
		}
	}
	c, err := accountant.CalibrateGDP(ctx, p, g, mu, tolerance, opts...)
	if err != nil {
		return GDPSolution{}, err
	}
	out := GDPSolution{unitOf(p), q.Solve, Number(c.Value), Number(mu), Number(tolerance), rangeOf(c.Meets.Mu), nil, c.Meets.Warnings}
	for _, x := range c.Settings {
		out.Settings = append(out.Settings, GDPAt{x.Path, x.Name, Number(x.Value), quantityOf(x)})
	}
	return out, nil
}
