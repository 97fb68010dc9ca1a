package service

import (
	"fmt"
	"slices"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
)

// This file has the JSON of certified intervals. The order of the keys is part of the
// interface. What an interval rests on, and its warnings, are as the accountant has them.

// A Unit is what an answer protects: the relation, and how many records a person has, left out where it is one.
type Unit struct {
	Neighbors        string `json:"neighbors"`
	RecordsPerPerson int64  `json:"records-per-person,omitempty"`
}

// Text is the relation with the unit behind it, unless that is one record.
func (u Unit) Text() string {
	if u.RecordsPerPerson <= 1 {
		return u.Neighbors
	}
	return fmt.Sprintf("%s; persons with at most %d records", u.Neighbors, u.RecordsPerPerson)
}

// unitOf is that of a plan.
func unitOf(p *accountant.Plan) Unit { return Unit{p.Neighbors.String(), severalRecords(p.Records())} }

// Bounds are a certified interval: the true value is between Lower and Upper.
type Bounds struct {
	Lower    Number `json:"lower"`
	Estimate Number `json:"estimate"`
	Upper    Number `json:"upper"`
}

// Basis is what a certified interval rests on.
type Basis struct {
	WorstDirection string `json:"worst-direction"`
	Engine         string `json:"engine" py:"-"`
	ErrorBudget    Budget `json:"error-budget" py:",mapping"`
	TheoryGap      bool   `json:"theory-gap,omitempty"`
	Pairs          *Pairs `json:"pairs,omitempty" py:"-"`
	// Order is the Rényi order that an upper bound comes from.
	Order    Number   `json:"order,omitempty" py:"-" csv:"-"`
	Warnings []string `json:"warnings,omitempty"`
	// Loose says that the estimate is only the middle of a wide interval.
	Loose bool `json:"-"`
	// Unattacked and Apart are what attacks leave out (accountant.Gap).
	Unattacked []string `json:"-"`
	Apart      []string `json:"-"`
	// The line of the integral, 0 if there was none.
	lowerDirection string // where Lower is attained
	theta, period  float64
	frequencies    int
}

// Pairs are the numerical intervals of the two pairs of distributions between which
// theory leaves a gap.
type Pairs struct {
	Proved Bounds `json:"proved"`
	Attack Bounds `json:"attack"`
}

// Budget is what the width of an interval is made of.
type Budget struct {
	Discretization Number `json:"discretization"`
	Quadrature     Number `json:"quadrature"`
	Truncation     Number `json:"truncation"`
	Aliasing       Number `json:"aliasing"`
	RoundOff       Number `json:"round-off"`
	TheoryGap      Number `json:"theory-gap"`
}

// EpsilonAt is ε at a δ.
type EpsilonAt struct {
	Delta   Number `json:"delta" py:"at"`
	Epsilon Bounds `json:"epsilon" py:"*"`
	Basis
}

// DeltaAt is δ at an ε.
type DeltaAt struct {
	Epsilon Number `json:"epsilon" py:"at"`
	Delta   Bounds `json:"delta" py:"*"`
	Basis
}

func boundsOf(lower, estimate, upper float64) Bounds {
	return Bounds{Number(lower), Number(estimate), Number(upper)}
}

func rangeOf(r accountant.Range) Bounds { return boundsOf(r.Lower, r.Estimate, r.Upper) }

func intervalOf(iv accountant.Interval) (Bounds, Basis) {
	b := iv.Budget
	basis := Basis{WorstDirection: iv.Direction, Engine: string(iv.Engine), TheoryGap: iv.Gap != nil, Warnings: iv.Warnings, Loose: iv.Loose,
		lowerDirection: iv.LowerDirection, theta: iv.Theta, period: iv.Period, frequencies: iv.Frequencies,
		ErrorBudget: Budget{Discretization: Number(b.Discretization), Quadrature: Number(b.Quadrature), Truncation: Number(b.Truncation), Aliasing: Number(b.Aliasing), RoundOff: Number(b.RoundOff), TheoryGap: Number(b.TheoryGap)}}
	if g := iv.Gap; g != nil {
		basis.Pairs = &Pairs{rangeOf(g.Proved), rangeOf(g.Attack)}
		basis.Unattacked, basis.Apart = g.Unattacked, g.Apart
	}
	return boundsOf(iv.Lower, iv.Estimate, iv.Upper), basis
}

// epsilonAt returns ε at δ, from 0 on.
func epsilonAt(delta float64, iv accountant.Interval) EpsilonAt {
	bounds, basis := intervalOf(fromZero(iv))
	return EpsilonAt{Delta: Number(delta), Epsilon: bounds, Basis: basis}
}

// deltaAt returns δ at ε.
func deltaAt(epsilon float64, iv accountant.Interval) DeltaAt {
	bounds, basis := intervalOf(iv)
	return DeltaAt{Number(epsilon), bounds, basis}
}

// fromZero returns an interval of ε without what is below 0. Differential privacy
// is defined for ε from 0 on; the accountant goes on below, where δ alone is more
// than the plan needs.
func fromZero(iv accountant.Interval) accountant.Interval {
	if iv.Upper < 0 {
		iv.Warnings = append(slices.Clone(iv.Warnings), fmt.Sprintf("ε is reported as 0: the plan is (0, δ)-differentially private with less than this δ (the same sum puts ε at %s)", decimal.Rounded(iv.Upper, 4, decimal.Up)))
	}
	iv.Lower, iv.Estimate, iv.Upper = max(0, iv.Lower), max(0, iv.Estimate), max(0, iv.Upper)
	return iv
}
