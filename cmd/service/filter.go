package service

import (
	"context"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/menu"
	"github.com/dpaccountant/accountant/plan"
)

// This file tells what full adaptivity over a menu of types costs.

// FilterRequest asks for the price of a menu: of its own budget, or of so many units, at an ε or a δ or as a table.
type FilterRequest struct {
	Menu    PlanText `json:"menu"`
	Units   Decimal  `json:"units,omitempty" in:"whole [1, 100000]" help:"{units} of the budget (default: those of the menu, or the largest number within its epsilon and delta)"`
	Epsilon Decimals `json:"epsilon,omitempty" in:"[0, 10000]" help:"{ε} at which δ is asked, several with commas between them"`
	Delta   Decimals `json:"delta,omitempty" not:"epsilon" in:"[1e-200, 1)" help:"{δ} at which ε is asked, several with commas between them"`
	Limits
}

// FilterAnswer has the price of a menu: nothing that an analyst picks by the results costs more.
type FilterAnswer struct {
	Unit
	Units int          `json:"units"`
	Types []FilterType `json:"types"`
	// Efficiency is the least of those of the types: 1 where being free to choose costs nothing. Without is the type whose
	// absence would raise it most, where it is below 0.8, and then the efficiency without it.
	Efficiency *Number     `json:"efficiency,omitempty"`
	Without    string      `json:"without,omitempty"`
	Deltas     []DeltaAt   `json:"deltas,omitempty"`
	Epsilons   []EpsilonAt `json:"epsilons,omitempty"`
	// Odometer has ε at the δ for budgets up to the units, Levels what may be shown when somebody stops.
	Odometer []FilterRow `json:"odometer,omitempty"`
	Levels   []FilterRow `json:"levels,omitempty"`
	Warnings []string    `json:"warnings,omitempty"`
}

// FilterType is a type with its cost: how often it alone may run within the units, about how often within the target
// without a menu, and the quotient.
type FilterType struct {
	Name       string  `json:"name"`
	Cost       int     `json:"cost"`
	Runs       int     `json:"runs"`
	Alone      *Number `json:"alone,omitempty"`
	Efficiency *Number `json:"efficiency,omitempty"`
}

// FilterRow is ε at a δ for a budget.
type FilterRow struct {
	Units   int    `json:"units"`
	Delta   Number `json:"delta"`
	Epsilon Bounds `json:"epsilon"`
}

// filter returns the price of a menu.
func (s *Service) filter(ctx context.Context, q FilterRequest) (out FilterAnswer, err error) {
	opts := q.options(ctx, Narrowing{})
	m, err := plan.ParseMenu(ctx, q.Menu)
	if err != nil {
		return out, err
	}
	target := m.Epsilon > 0 && q.Units == ""
	if q.Units != "" {
		m.Units = int(q.Units.whole())
	}
	asked := *m
	if q.Delta != nil && m.Units > 0 {
		asked.Delta = q.Delta.float()
	}
	priced, err := asked.Price(ctx, opts...)
	if err != nil {
		return out, err
	}
	out = FilterAnswer{Unit: Unit{m.Neighbors.String(), severalRecords(m.RecordsPerPerson)}, Units: priced.Options.Units}
	out.efficiencies(priced, target)
	if out.Efficiency != nil && float64(*out.Efficiency) < worthNaming && len(m.Types) > 1 {
		out.Without = leftOut(ctx, asked, priced, float64(*out.Efficiency), opts)
	}
	ctx = parallel.WithWork(ctx, math.Inf(1))
	names := m.Neighbors.DirectionNames()
	basis := func(r fourier.Result) Basis {
		width := 0.0
		if r.Lower < r.Upper { // both ends may be ∞
			width = r.Upper - r.Lower
		}
		return Basis{WorstDirection: names[priced.Worst()], Engine: string(r.Engine), Warnings: r.Warnings, ErrorBudget: Budget{Discretization: Number(width)}}
	}
	switch {
	case q.Epsilon != nil:
		for _, eps := range q.Epsilon.floats() {
			r, err := priced.Delta(ctx, eps)
			if err != nil {
				return out, err
			}
			out.Deltas = append(out.Deltas, DeltaAt{Epsilon: Number(eps), Delta: boundsOf(r.Lower, r.Estimate, r.Upper), Basis: basis(r)})
			out.Warnings = append(out.Warnings, r.Warnings...)
		}
	case q.Delta != nil:
		for i, delta := range q.Delta.floats() {
			at := priced
			if i > 0 && m.Units > 0 { // a law aims at its δ
				asked.Delta = delta
				if at, err = asked.Price(ctx, opts...); err != nil {
					return out, err
				}
			}
			r, err := at.Epsilon(ctx, delta)
			if err != nil {
				return out, err
			}
			out.Epsilons = append(out.Epsilons, EpsilonAt{Delta: Number(delta), Epsilon: boundsOf(r.Lower, r.Estimate, r.Upper), Basis: basis(r)})
			out.Warnings = append(out.Warnings, r.Warnings...)
		}
	default:
		rows, err := priced.Odometer(ctx)
		if err != nil {
			return out, err
		}
		out.Odometer = rowsOf(rows, priced.TableDelta())
		out.Warnings = priced.Warnings
	}
	if m.Levels > 0 && q.Epsilon == nil {
		rows, err := priced.Levels(ctx, m.Levels, priced.TableDelta())
		if err != nil {
			return out, err
		}
		out.Levels = rowsOf(rows, priced.TableDelta()/float64(m.Levels))
	}
	return out, nil
}

// worthNaming is the efficiency below which the type that lowers it is looked for.
const worthNaming = 0.8

// efficiencies fills in the types.
func (a *FilterAnswer) efficiencies(m *menu.Menu, target bool) {
	alone := m.Alone
	for i, t := range m.Types {
		x := FilterType{Name: t.Name, Cost: t.Cost, Runs: m.Options.Units / t.Cost}
		if target {
			n, e := Number(alone[i]), Number(float64(m.Options.Units)/float64(t.Cost)/alone[i])
			x.Alone, x.Efficiency = &n, &e
			if a.Efficiency == nil || e < *a.Efficiency {
				a.Efficiency = &e
			}
		}
		a.Types = append(a.Types, x)
	}
}

// leftOut names the type without which the others are most efficient, and how much.
func leftOut(ctx context.Context, m accountant.Menu, priced *menu.Menu, now float64, opts []accountant.Options) string {
	best, name := now, ""
	costs := priced.Types
	for i := range m.Types {
		fewer := m
		fewer.Types = nil
		for j, t := range m.Types {
			if t.Cost = costs[j].Cost; j != i {
				fewer.Types = append(fewer.Types, t)
			}
		}
		fewer.Units = 0
		x, err := fewer.Price(ctx, append(opts[:len(opts):len(opts)], accountant.Options{Accuracy: coarsely})...)
		if err != nil {
			continue
		}
		least := math.Inf(1)
		for j, t := range x.Types {
			least = min(least, float64(x.Options.Units)/float64(t.Cost)/x.Alone[j])
		}
		if least > best {
			best, name = least, fmt.Sprintf("%s (%.2f)", m.Types[i].Name, least)
		}
	}
	return name
}

// coarsely is the accuracy of what is only to be compared.
const coarsely = 1e-2

func rowsOf(rows []menu.Row, delta float64) []FilterRow {
	out := make([]FilterRow, len(rows))
	for i, r := range rows {
		mid := xmath.Middle(r.Epsilon.Lower, r.Epsilon.Upper)
		out[i] = FilterRow{Units: r.Units, Delta: Number(delta), Epsilon: boundsOf(r.Epsilon.Lower, mid, r.Epsilon.Upper)}
	}
	return out
}
