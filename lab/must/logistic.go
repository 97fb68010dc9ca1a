package main

import (
	"context"
	_ "embed"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
)

// The setting of experiment 3.
const (
	incomeN, incomeTest, incomeB, incomeM = 30969, 10323, 500, 300
	incomeClip                            = 3.
)

// incomeBudgets are the ε(1e-5) of all steps at equal privacy, and incomeNoise
// the multipliers of the schemes, found by trial; spend checks them.
var (
	incomeBudgets = []float64{0.5, 2, 8}
	incomeNoise   = map[string][]float64{
		"Poisson": {4.335, 1.269, 0.615}, "WOR": {5.12, 2.065, 1.21}, "WR": {5.13, 2.085, 1.285},
		"MUST.OW": {5.67, 3.614, 2.659}, "MUST.WW": {5.69, 3.666, 2.712},
	}
)

func logit(s float64) float64 { return 1 / (1 + math.Exp(-s)) }

// A classifierScore is what Table 8 shows of a classifier, and its mean
// cross-entropy.
type classifierScore struct{ accuracy, sensitivity, specificity, ppv, npv, f1, loss float64 }

func scoreOf(x [][]float64, y, beta []float64) (s classifierScore) {
	var count [2][2]float64 // of label, answer
	for i, row := range x {
		z := 0.0
		for j, v := range row {
			z += v * beta[j]
		}
		answer := 0
		if z > 0 {
			answer = 1
		}
		count[int(y[i])][answer]++
		// log(1 + e^z) − yz, for any z.
		s.loss += max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - y[i]*z
	}
	part := func(a, b float64) float64 { return a / max(1, a+b) }
	s.loss /= float64(len(x))
	s.accuracy = (count[0][0] + count[1][1]) / float64(len(x))
	s.sensitivity, s.specificity = part(count[1][1], count[1][0]), part(count[0][0], count[0][1])
	s.ppv, s.npv = part(count[1][1], count[0][1]), part(count[0][0], count[1][0])
	s.f1 = 2 * count[1][1] / max(1, 2*count[1][1]+count[0][1]+count[1][0])
	return s
}

// A logisticRun is a run at a learning rate.
type logisticRun struct {
	run
	name       string
	rate, clip float64
	scores     []classifierScore
	losses     figure.Band // training loss with the first seed
}

func (l *logisticRun) leak() bool { return l.setting == leaky }

// stats returns mean and standard deviation over the seeds.
func (l *logisticRun) stats(of func(classifierScore) float64) (mean, sd float64) {
	var xs []float64
	for _, s := range l.scores {
		xs = append(xs, of(s))
	}
	return stat.MeanStdDev(xs, nil)
}

const (
	leaky  = "label among the features"
	rates  = "learning rate"
	as     = "noise as printed"
	proper = "2C/m"

	// drawnByOW is the row of MUST.WW as the authors' program computes it.
	drawnByOW = "MUST.WW, drawn by OW"
)

func logisticRuns(ctx context.Context, steps int, budgets []float64) []logisticRun {
	const n, m = incomeN, incomeM
	ss := drawn(n, incomeB, m)
	printed := func(s scheme) float64 { return classical(incomeClip/n, baseEpsilon(0.0005, s.eta), 1./n) }
	add := func(runs []logisticRun, setting string, rate, factor float64) []logisticRun {
		for _, s := range ss {
			runs = append(runs, logisticRun{run: run{setting: setting, scheme: s, noise: factor * printed(s)}, name: s.name, rate: rate, clip: incomeClip})
		}
		return runs
	}
	runs := add([]logisticRun{{run: run{setting: leaky, scheme: ss[0]}, name: "no noise", rate: 0.01}}, leaky, 0.01, 1)
	runs = append(runs, logisticRun{run: run{setting: leaky, scheme: ss[3], noise: printed(ss[4])}, name: drawnByOW, rate: 0.01, clip: incomeClip})
	for _, rate := range []float64{0.01, 0.1, 1, 4} {
		runs = append(runs, logisticRun{run: run{setting: rates, scheme: ss[0]}, name: "no noise", rate: rate})
	}
	runs = add(add(runs, as, 1, 1), proper, 0.1, 2.*n/m)
	for _, r := range equalPrivacy(ctx, ss, int64(steps), budgets, incomeNoise, incomeClip, m) {
		runs = append(runs, logisticRun{run: r, name: r.scheme.name, rate: 1, clip: incomeClip})
	}
	return runs
}

// trainLogistic runs all once for each seed of batches and noise. The split of the data
// is the paper's, always the same.
func trainLogistic(runs []logisticRun, data adultTable, seeds, steps int) {
	leaked, n := data.withLabel(), data.train()
	for i := range runs {
		run := &runs[i]
		rows, y := data.x, data.y
		if run.leak() {
			rows = leaked.x
		}
		for seed := range seeds {
			beta := make([]float64, len(rows[0]))
			for j := range beta {
				beta[j] = 1
			}
			g := descent{x: rows[:n], y: y[:n], residual: func(s, y float64) float64 { return logit(s) - y }, batch: incomeM, rate: run.rate, clip: run.clip, noise: run.noise, steps: steps, own: run.leak()}
			after := func(t int) {
				if t%10 == 9 {
					run.losses.Add(float64(t+1), scoreOf(rows[:3000], y[:3000], beta).loss)
				}
			}
			if seed > 0 {
				after = nil
			}
			g.run(beta, run.scheme, rand.NewPCG(6+uint64(i), uint64(seed)), after)
			run.scores = append(run.scores, scoreOf(rows[n:], y[n:], beta))
		}
	}
}

//go:embed printed.csv
var printedText string

// printed returns what the paper prints in a row of one of its tables, as text; empty cells if it has no such row. Rows of Table 5
// are mean and variance, of 6 and 7 the RMSE of the fit and of the coefficients; and of 8 σm, accuracy, sensitivity, specificity, PPV, NPV and the
// upper end of δ(2).
func printed(table, name string) []string {
	in := csv.NewReader(strings.NewReader(printedText))
	in.FieldsPerRecord = -1
	for _, row := range try.Must(in.ReadAll()) {
		if row[0] == table && row[1] == name {
			return row[2:]
		}
	}
	return make([]string, 7)
}

// table8Scores are the columns of Table 8, in its order.
var table8Scores = []func(classifierScore) float64{
	func(s classifierScore) float64 { return s.accuracy }, func(s classifierScore) float64 { return s.sensitivity },
	func(s classifierScore) float64 { return s.specificity }, func(s classifierScore) float64 { return s.ppv }, func(s classifierScore) float64 { return s.npv },
}

// table8Delta returns δ(2) after 1000 steps with the paper's noise, which is
// σm/C over the clipping norm of a sum.
func table8Delta(ctx context.Context, s scheme, rel profiles.Relation) (delta accountant.Interval, multiplier float64) {
	multiplier = classical(incomeClip/incomeN, baseEpsilon(0.0005, s.eta), 1./incomeN) * incomeM / incomeClip
	return try.Must(training(ctx, rel, try.Must(profiles.NewGaussianMechanism(multiplier)), s.law, 1000).Delta(ctx, 2)), multiplier
}
