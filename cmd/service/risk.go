package service

import (
	"context"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
)

// This file answers what a plan lets the best attacker do.

// RiskRequest asks for a risk at false-positive rates and priors; without them at those of
// accountant.DefaultFalsePositives and DefaultPriors.
type RiskRequest struct {
	Plan           PlanText `json:"plan"`
	FalsePositives Decimals `json:"false-positives,omitempty" in:"[1e-290, 1)" preset:"0.001,0.01,0.1" help:"false-positive {rates}, with commas between them"`
	Priors         Decimals `json:"priors,omitempty" in:"[1e-290, 1)" preset:"0.5,0.1,0.01" help:"prior {probabilities}, with commas between them"`
	Limits
}

// RiskAnswer says what the best attacker can do.
type RiskAnswer struct {
	Unit
	Advantage    RiskValue   `json:"advantage"`
	TruePositive []RiskRate  `json:"true-positive-rate"`
	Bayes        []RiskPrior `json:"bayes-success"`
	TheoryGap    bool        `json:"theory-gap,omitempty"`
	Warnings     []string    `json:"warnings,omitempty"`
}

// RiskValue is a certified measure of an attack.
type RiskValue struct {
	Bounds
	WorstDirection string `json:"worst-direction"`
}

// RiskRate is the true-positive rate at a false-positive rate.
type RiskRate struct {
	FalsePositive Number `json:"false-positive-rate" py:"at"`
	RiskValue
}

// RiskPrior is the probability to guess right at a prior.
type RiskPrior struct {
	Prior Number `json:"prior" py:"at"`
	RiskValue
}

// risk returns a risk whose ends are at least what guessing without the release
// attains: a certified lower end can be a little below.
func (s *Service) risk(ctx context.Context, q RiskRequest) (out RiskAnswer, err error) {
	plan, acct, err := q.account(ctx, q.Plan, Narrowing{})
	if err != nil {
		return out, err
	}
	risk, err := acct.Risk(ctx, q.FalsePositives.floats(), q.Priors.floats())
	if err != nil {
		return out, err
	}
	out = RiskAnswer{Unit: unitOf(plan), TheoryGap: risk.TheoryGap}
	seen := map[string]bool{}
	value := func(v accountant.RiskValue, guess float64) RiskValue {
		for _, w := range v.Warnings {
			if reason := fourier.Reason(w); !seen[reason] {
				seen[reason] = true
				out.Warnings = append(out.Warnings, w)
			}
		}
		return RiskValue{boundsOf(max(v.Lower, guess), max(v.Estimate, guess), max(v.Upper, guess)), v.Direction}
	}
	out.Advantage = value(risk.Advantage, 0)
	for _, v := range risk.TruePositive {
		out.TruePositive = append(out.TruePositive, RiskRate{Number(v.At), value(v, v.At)})
	}
	for _, v := range risk.Bayes {
		out.Bayes = append(out.Bayes, RiskPrior{Number(v.At), value(v, max(v.At, 1-v.At))})
	}
	return out, nil
}
