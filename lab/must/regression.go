package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/subsample"
)

// The setting of experiment 2.
const (
	regressionN, regressionB, regressionM = 1000, 200, 100
	regressionSteps                       = 200
)

// regressionBudgets are the ε(1e-5) of all steps at equal privacy, and
// regressionNoise the multipliers of the schemes, found by trial; spend checks them.
var (
	regressionBudgets = []float64{0.25, 1, 4}
	regressionNoise   = map[string][]float64{
		"Poisson": {37.86, 10.63, 3.07}, "WOR": {38.26, 10.99, 3.563}, "WR": {38.29, 11.03, 3.696},
		"MUST.OW": {38.48, 11.5, 4.262}, "MUST.WW": {38.99, 11.85, 4.565},
	}
)

// A regressionRun is a run over all data sets.
type regressionRun struct {
	run
	rmse   []float64
	miss   []float64 // ‖β − truth‖
	beta   [3][]float64
	losses figure.Band // over the steps, on the first data set
}

// regressionRuns lists what experiment 2 runs; settings have one run per scheme.
func regressionRuns(ctx context.Context, budgets []float64) (out []regressionRun) {
	const n, m, clip = regressionN, regressionM, 3.
	ss := drawn(n, regressionB, m)
	runs := []run{{setting: "no noise", scheme: ss[0]}}
	for _, factor := range []float64{1, 2. * n / m} {
		for _, eps2 := range []float64{0.01, 0.001} {
			name := fmt.Sprintf("ε' = %v, C/n", eps2)
			if factor > 1 {
				name = fmt.Sprintf("ε' = %v, 2C/m", eps2)
			}
			for _, s := range ss {
				runs = append(runs, run{setting: name, scheme: s, noise: factor * classical(clip/n, baseEpsilon(eps2, s.eta), 1./n)})
			}
		}
	}
	for _, r := range append(runs, equalPrivacy(ctx, ss, regressionSteps, budgets, regressionNoise, clip, m)...) {
		out = append(out, regressionRun{run: r})
	}
	return out
}

// train runs all on the same data sets.
func train(runs []regressionRun, datasets int) {
	const n, steps = regressionN, regressionSteps
	truth := []float64{1, 0.5, 0.2}
	x, y := make([][]float64, n), make([]float64, n)
	for d := range datasets {
		data := rand.New(rand.NewPCG(3, uint64(d)))
		for j := range x {
			x[j] = []float64{1, data.NormFloat64(), data.NormFloat64()}
			y[j] = truth[0] + truth[1]*x[j][1] + truth[2]*x[j][2] + data.NormFloat64()
		}
		// The loss over β is a quadratic form of the data's moments.
		loss := func(beta []float64) float64 {
			sum := 0.0
			for j, row := range x {
				e := beta[0] + beta[1]*row[1] + beta[2]*row[2] - y[j]
				sum += e * e
			}
			return sum / n
		}
		for i := range runs {
			run := &runs[i]
			g := descent{x: x, y: y, residual: func(s, y float64) float64 { return 2 * (s - y) }, batch: regressionM, rate: 0.04, clip: 3, noise: run.noise, steps: steps}
			if run.noise == 0 {
				g.clip = 0 // as in the paper's baseline
			}
			beta := []float64{-1, -1, -1}
			sum := 0.0
			g.run(beta, run.scheme, rand.NewPCG(4+uint64(i), uint64(d)), func(t int) {
				if d > 0 && t < steps-16 {
					return
				}
				l := loss(beta)
				if d == 0 {
					run.losses.Add(float64(t+1), l)
				}
				if t >= steps-16 {
					sum += l / 16
				}
			})
			run.rmse = append(run.rmse, math.Sqrt(sum))
			run.miss = append(run.miss, math.Hypot(math.Hypot(beta[0]-truth[0], beta[1]-truth[1]), beta[2]-truth[2]))
			for j := range beta {
				run.beta[j] = append(run.beta[j], beta[j]-truth[j])
			}
		}
	}
}

// regression runs experiment 2.
func regression(r *report) {
	datasets := r.pick(200, 3)
	budgets := regressionBudgets[:r.pick(3, 1)]
	runs := regressionRuns(context.Background(), budgets)
	train(runs, datasets)
	r.page["regressionSets"], r.page["regressionSteps"] = datasets, regressionSteps

	axis := func(title string) *figure.Picture {
		p := panel(title, "iteration", "training loss (MSE)")
		p.X.Max, p.Y.Max = regressionSteps, 9
		return &p
	}
	panels := map[string]*figure.Picture{"ε' = 0.01, C/n": axis("ε' = 0.01, as printed"), "ε' = 0.001, C/n": axis("ε' = 0.001, as printed")}
	for _, run := range runs {
		p := panels[run.setting]
		if run.setting == "no noise" || p == nil {
			continue
		}
		run.losses.Name, run.losses.Method = run.scheme.name, styles[run.scheme.name]
		p.Bands = append(p.Bands, run.losses)
	}
	equal := equalPanel("‖β − true β‖", budgets, func(setting, scheme string) (mean, bar float64) {
		i := slices.IndexFunc(runs, func(r regressionRun) bool { return r.setting == setting && r.scheme.name == scheme })
		return plots.Mean(runs[i].miss)
	})
	left, middle := panels["ε' = 0.01, C/n"], panels["ε' = 0.001, C/n"]
	left.Bands = append(left.Bands, schemeEntries(drawnNames...)...)
	r.figure("must-figure6", 8*vg.Centimeter, []figure.Picture{*left, *middle, equal})
	for _, run := range runs {
		mean, sd := stat.MeanStdDev(run.rmse, nil)
		_, se := plots.Mean(run.rmse)
		var bias, betas [3]float64
		for j, bs := range run.beta {
			bias[j], betas[j] = stat.Mean(bs, nil), floats.Norm(bs, 2)/math.Sqrt(float64(len(bs)))
		}
		name, paper, delta := run.scheme.name, printed("6 and 7", run.setting+" "+run.scheme.name), stepDelta(run)
		if run.spent != nil {
			delta = fmt.Sprintf("[%s, %s]", below(run.spent.total.Lower), above(run.spent.total.Upper))
		}
		if run.noise == 0 {
			name = "Poisson, no clipping"
		}
		r.page.Add("regression", "| %s | %s | %.3f | %s | %.3f (%.3f) | %.4f | %s | %.3f, %.3f, %.3f | %.3f, %.3f, %.3f | %s |\n", run.setting, name, run.noise, delta, mean, sd, se, paper[0], bias[0], bias[1], bias[2], betas[0], betas[1], betas[2], paper[1])
	}
}

// stepDelta returns δ' of one step at equal ε' and the paper's noise, which is
// the same for both sensitivities.
func stepDelta(run regressionRun) string {
	fixed, ok := subsample.AsFixedSize(run.scheme.law)
	var eps2 float64
	if n, _ := fmt.Sscanf(run.setting, "ε' = %g,", &eps2); n != 1 || !ok {
		return ""
	}
	return fmt.Sprintf("%.2g", nominalDelta(fixed, eps2, 1./regressionN))
}
