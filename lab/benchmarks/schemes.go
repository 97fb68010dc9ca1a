package main

// The table of all sampling schemes: what an answer costs for each.

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A setting is one of Zhao and Liu 2023.
type setting struct {
	population, batch, subset int64
	noise                     float64
}

var settings = []setting{{10000, 200, 118, 4}, {1000, 50, 100, 5}}

// schemes are those of a setting, all with the same share of the population in a batch.
func (c setting) schemes() []subsample.Scheme {
	poisson := try.Must(subsample.NewPoisson(float64(c.batch) / float64(c.population)))
	out := []subsample.Scheme{poisson}
	// MUST.WO draws at most the subset; its law does not depend on it.
	wide := max(c.subset, c.batch)
	for _, build := range []func() (subsample.FixedSize, error){
		func() (subsample.FixedSize, error) { return subsample.NewWithoutReplacement(c.population, c.batch) },
		func() (subsample.FixedSize, error) { return subsample.NewWithReplacement(c.population, c.batch) },
		func() (subsample.FixedSize, error) { return subsample.NewMustOW(c.population, c.subset, c.batch) },
		func() (subsample.FixedSize, error) { return subsample.NewMustWO(c.population, wide, c.batch) },
		func() (subsample.FixedSize, error) { return subsample.NewMustWW(c.population, c.subset, c.batch) },
	} {
		s := try.Must(build())
		out = append(out, s)
	}
	return out
}

// runsOf are the numbers of runs of the tables.
var runsOf = []int64{1, 10, 100, 1000, 10000}

// schemesTable prints what ε at δ = 1e-5 costs for every scheme, relation and noise, and the
// relative width of the wider of the two numerical intervals, and writes both as data.
func schemesTable(ctx context.Context, w io.Writer, dir string, rounds int, of []setting) {
	rows := [][]string{{"population", "relation", "scheme", "noise", "runs", "x-fft", "relative width"}}
	var all []float64
	for _, c := range of {
		fmt.Fprintf(w, "\nn = %d, m = %d, b = %d, σ = %g:\n\n| relation | scheme | noise | k = 1 | 10 | 100 | 1000 | 10000 |\n|---|---|---|---|---|---|---|---|\n",
			c.population, c.batch, c.subset, c.noise)
		schemes := c.schemes()
		gaussian := try.Must(profiles.NewGaussianMechanism(c.noise))
		laplace := try.Must(profiles.NewLaplaceMechanism(c.noise))
		for _, rel := range []profiles.Relation{accountant.AddRemove, accountant.Substitute} {
			for _, s := range schemes {
				for _, step := range []accountant.Step{{Mechanism: gaussian, Sampling: s}, {Mechanism: laplace, Sampling: s}} {
					fmt.Fprintf(w, "| %v | %s | %s ", rel, s.Name(), step.Mechanism.Name())
					for _, runs := range runsOf {
						cell := line{ask: func(ctx context.Context, x float64) (float64, float64, error) {
							return askScheme(ctx, rel, step, int64(x))
						}}
						cost, width := try.Must2(cell.measure(ctx, float64(runs), rounds))
						all = append(all, cost)
						fmt.Fprintf(w, "| %.2g (%.0e) ", cost, width)
						rows = append(rows, []string{fmt.Sprint(c.population), rel.String(), s.Name(), step.Mechanism.Name(), fmt.Sprint(runs), fmt.Sprintf("%.3g", cost), fmt.Sprintf("%.1e", width)})
					}
					fmt.Fprintln(w, "|")
				}
			}
		}
	}
	slices.Sort(all)
	over := len(all) - lowerBound(all, 10)
	fmt.Fprintf(w, "\n%d cells: median %.2g, worst %.3g x-fft, %d above 10.\n", len(all), all[len(all)/2], all[len(all)-1], over)
	f := try.Must(os.Create(filepath.Join(dir, "benchmarks-schemes.csv")))
	try.Check(csv.NewWriter(f).WriteAll(rows))
	try.Check(f.Close())
}

// lowerBound returns the first index of an ascending list whose value is above limit.
func lowerBound(ascending []float64, limit float64) int {
	i, _ := slices.BinarySearchFunc(ascending, limit, func(x, limit float64) int {
		if x > limit {
			return 1
		}
		return -1
	})
	return i
}

// askScheme asks a new accountant for ε at δ = 1e-5.
func askScheme(ctx context.Context, rel profiles.Relation, step accountant.Step, runs int64) (from, width float64, err error) {
	from = processor()
	a := accountant.New(rel)
	try.Check(a.Add(ctx, step, runs))
	iv := try.Must(a.Epsilon(ctx, delta))
	wide := func(r accountant.Range) float64 { return (r.Upper - r.Lower) / r.Lower }
	if iv.Gap != nil {
		return from, max(wide(iv.Gap.Proved), wide(iv.Gap.Attack)), nil
	}
	return from, wide(accountant.Range{Lower: iv.Lower, Upper: iv.Upper}), nil
}
