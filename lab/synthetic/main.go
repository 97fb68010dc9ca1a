// Command synthetic makes synthetic data by a loop like AIM (McKenna, Mullins, Sheldon and Miklau,
// VLDB 2022). It chooses the two-way marginal that fits worst by the exponential mechanism,
// measures it with Gaussian noise, and fits. It halves the noise where a measurement taught little.
// The loop runs twice on real digits: under a zCDP budget, and under the menu of the same steps. It
// writes docs/experiments/synthetic.md and its numbers.
//
//	go run ./lab/synthetic -out docs/experiments
//
// Its noise is drawn in floating point from seeds, for an experiment on public data. A release
// draws it as package profiles does.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/floats"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/choice"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
)

const (
	epsilon, delta = 1, 1e-5
	seeds          = 20
	levels         = 4   // of noise; each has half the noise of the one before
	planned        = 160 // units of the zCDP budget: AIM plans 16 rounds for each attribute
	startCost      = 9   // units of the one-way marginals
	measuring      = 0.9 // share of a round's budget that its measurement has
)

// A step is one round: a choice of the given ε, and a measurement.
type step struct {
	epsilon, sigma float64
	cost           int // in units; also what zCDP charges, as ρ doubles twice where σ halves
}

// steps returns the rounds of every level for a zCDP budget of rho.
func steps(rho float64) (s [levels]step) {
	unit := rho / planned
	for k := range s {
		f := math.Exp2(float64(k))
		s[k] = step{epsilon: f * math.Sqrt(8*(1-measuring)*unit), sigma: 1 / (f * math.Sqrt(2*measuring*unit)), cost: 1 << (2 * k)}
	}
	return s
}

// concentrated returns the largest ρ for which ρ-zCDP proves the target: the curve is that of Gaussian noise.
func concentrated() float64 {
	rho, _ := xmath.Bisect(1e-4, 1, 60, func(rho float64) bool {
		curve := try.Must(rdp.Gaussian(1 / math.Sqrt(2*rho)))
		eps, _ := try.Must2(rdp.Epsilon(curve, delta))
		return eps <= epsilon
	})
	return rho
}

// admitted returns the units that the menu of the steps has within the target, and ε of the zCDP budget's units in it.
func admitted(s [levels]step) (units int, same float64) {
	noise := func(sigma float64) accountant.Step {
		return accountant.Step{Mechanism: try.Must(profiles.NewGaussianMechanism(sigma))}
	}
	start := noise(s[0].sigma)
	start.Count = attributes
	types := []accountant.MenuType{{Name: "one-way", Cost: startCost, Steps: []accountant.Step{start}}}
	for k, x := range s {
		pick := accountant.Step{Mechanism: try.Must(choice.NewExponential(x.epsilon))}
		types = append(types, accountant.MenuType{Name: fmt.Sprintf("round-%d", k), Cost: x.cost, Steps: []accountant.Step{pick, noise(x.sigma)}})
	}
	m := accountant.Menu{Neighbors: profiles.AddRemove, Types: types, Epsilon: epsilon, Delta: delta}
	priced := try.Must(m.Price(context.Background()))
	rows := try.Must(priced.Odometer(context.Background()))
	return priced.Options.Units, rows[planned].Epsilon.Upper
}

func main() {
	out := plots.OutFlag("docs/experiments")
	from := flag.String("digits", "lab/selection/testdata/digits.gz", "`file` of the digits")
	flag.Parse()
	try.Main(func() {
		page, table := write(*from)
		try.Check(os.WriteFile(filepath.Join(out(), "synthetic.md"), page, 0o644))
		try.Check(os.WriteFile(filepath.Join(out(), "synthetic.csv"), table, 0o644))
	})
}

// An account is one of the two budgets, with what the loop did within it.
type account struct {
	name          string
	units         int
	rounds, error []float64 // by seed
	levels        [levels]float64
}

//go:embed page.tmpl
var pageText string

// write returns the page and the table of every seed.
func write(from string) (page, table []byte) {
	d := read(from)
	rho := concentrated()
	s := steps(rho)
	units, same := admitted(s)
	accounts := []*account{{name: "zCDP", units: planned}, {name: "menu", units: units}}
	var csv bytes.Buffer
	fmt.Fprintln(&csv, "budget,units,seed,rounds,error")
	for _, a := range accounts {
		for seed := range uint64(seeds) {
			r := d.loop(s, a.units, seed)
			n := 0
			for k, c := range r.rounds {
				n += c
				a.levels[k] += float64(c) / seeds
			}
			a.rounds, a.error = append(a.rounds, float64(n)), append(a.error, r.error)
			fmt.Fprintf(&csv, "%s,%d,%d,%d,%.5f\n", a.name, a.units, seed, n, r.error)
		}
	}
	values := plots.Values{"records": len(d.records), "places": places, "cells": cells, "epsilon": epsilon, "delta": delta, "rho": rho, "planned": planned,
		"startCost": startCost, "units": units, "same": same, "pairs": len(d.pairs), "seeds": seeds}
	for k, x := range s {
		values.Add("steps", "| %d | %.4f | %.2f | %d |\n", k, x.epsilon, x.sigma, x.cost)
	}
	for _, a := range accounts {
		rounds, _ := plots.Mean(a.rounds)
		e, se := plots.Mean(a.error)
		l := a.levels
		values.Add("budgets", "| %s | %d | %.2f | %.2f, %.2f, %.2f, %.2f | %.4f ± %.4f |\n", a.name, a.units, rounds, l[0], l[1], l[2], l[3], e, se)
	}
	values["less"], values["lessErr"] = plots.Mean(floats.SubTo(make([]float64, seeds), accounts[0].error, accounts[1].error))
	return values.Page(pageText), csv.Bytes()
}
