package main

import (
	"context"
	_ "embed"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/selection"
)

// This file writes the page, all numbers included.

var budgets = []float64{1, 2, 4}

//go:embed page.tmpl
var pageText string

// writePage returns the page.
func writePage(ctx context.Context, run candidate, n int) []byte {
	values := warnings()
	geo10, geo := lawOf(selection.Config{Law: "geometric", Mean: 10}), lawOf(selection.Config{Law: "geometric", Mean: 100})
	single := try.Must(run.bound.Epsilon(ctx, delta))
	renyi, _ := try.Must2(rdp.Epsilon(run.curve, delta))
	lit, here := run.literature(geo), run.tight(geo)
	values["single"], values["renyi"] = single, renyi
	comparison(values, "training", run)
	values["saved"], values["literature"], values["here"], values["byProfile"] = lit-here, lit, here, renyi-single
	values["manyLo"], values["manyHi"] = run.interval(lawOf(selection.Config{Law: "poisson", Mean: 100}))
	g := gaussianCandidate()
	first := try.Must(selection.PriceOfFirstAbove(geo10))
	values["gaussianRun"] = try.Must(g.bound.Epsilon(ctx, delta))
	comparison(values, "gaussian", g)
	values["firstLo"], values["firstHi"] = try.Must2(first.Epsilon(ctx, g.both, delta, 1e-5))
	for _, eps := range []float64{0, 0.5, 1, 1.5, 2, 3} {
		lo, hi := try.Must2(selection.PriceOfBest(geo10).Delta(ctx, g.both, eps, 1e-5))
		values.Add("small", "| %g | %.4g | %.4g | %.2f |\n", eps, lo, hi, hi/lo)
	}
	for _, mean := range []float64{3, 10, 30, 100, 300} {
		lo, hi := g.interval(lawOf(selection.Config{Law: "poisson", Mean: mean}))
		values.Add("many", "| %g | %.4f | %.4f | %.1f %% |\n", mean, lo, hi, 100*(hi-lo)/hi)
	}
	rows := digitsTable(ctx, values, budgets, n)
	wins := 0
	for _, b := range rows {
		if b.search.mean > b.naive.mean {
			wins++
		}
	}
	values["digits"], values["trained"], values["scored"], values["tested"] = digits, trained, scored, digits-trained-scored
	values["steps"], values["rate"], values["settings"], values["scoreStd"], values["repetitions"] = steps, rate, len(settings()), scoreStd, n
	values["meanRuns"], values["naiveRuns"], values["wins"], values["budgets"] = meanRuns, naiveRuns, wins, len(rows)
	pureTable(values)
	values["censored"] = try.Must(selection.PriceOfBest(lawOf(selection.Config{Law: "geometric", Gamma: 0.1, Max: 5, Cap: "censor"})).Pure(1))
	values["conditioned"] = try.Must(selection.PriceOfBest(lawOf(selection.Config{Law: "geometric", Gamma: 0.1, Max: 5})).Pure(1))
	values["approximateEpsilon"], values["approximateDelta"] = try.Must2(selection.PriceOfBest(geo).Approximate(1, 1e-3))
	return values.Page(pageText)
}

// warnings are the numbers of the three constructions of Liu and Talwar's appendices that do not work.
func warnings() plots.Values {
	// B.2: with probability p the score is 1, else 0; the threshold falls by one of R steps
	// after each failure that the coin γ would have ended.
	const p, gamma, steps = 0.5, 0.1, 5
	none := func(p float64) float64 {
		return (1 - p) * math.Pow(gamma*(1-p)/(p*(1-gamma)+gamma), steps)
	}
	q := 1 - math.Exp(-0.5)*(1-p)
	// B.3: the median of three runs whose outcome is 1 with probability (1±ε)/2.
	const eps, runs = 0.1, 1001
	median := func(x float64) float64 { return distuv.Binomial{N: runs, P: x}.Survival(runs / 2) }
	hi, lo := median((1+eps)/2), median((1-eps)/2)
	// D.2: K = 10^6, α = 0.1, ε = 1.
	const lnK, alpha = 13.815510557964274, 0.1
	distance := math.Ceil((0.5 + alpha) * lnK)
	return plots.Values{
		"loweringSteps": steps, "loweringGamma": gamma, "none": none(p), "noneOther": none(q), "lowering": xmath.Log(none(p) / none(q)),
		"coin": (1 + eps) / 2, "coinOther": (1 - eps) / 2, "coinCost": xmath.Log((1 + eps) / (1 - eps)), "median": hi, "medianOther": lo, "medianCost": xmath.Log(hi / lo),
		"least": (1 - alpha) * lnK / distance,
	}
}
