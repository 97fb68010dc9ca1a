// Experiment 3, on the Adult data as Zhao and Liu prepared them: the file adult_processed2.csv of their
// repository github.com/zhao-xingyuan/MUST (MIT), which is not part of this one.

package main

import (
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
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

// adultPage is the page: Table 8 as the paper ran it, then without the label, then
// what the paper's second version does.
func adultPage(r *report) {
	steps, seeds := 1000, r.pick(40, 2)
	budgets := incomeBudgets[:r.pick(3, 1)]
	data := openAdult(r.adult)
	runs := logisticRuns(context.Background(), steps, budgets)
	trainLogistic(runs, data, seeds, steps)
	positive := stat.Mean(data.y[data.train():], nil)
	tests := len(data.y) - data.train()
	r.page["rows"], r.page["train"], r.page["steps"], r.page["seeds"], r.page["test"] = len(data.x), data.train(), steps, seeds, tests
	r.page["allZero"], r.page["testError"] = 1-positive, math.Sqrt(0.8*0.2/float64(tests))
	r.asPrinted(runs)
	r.withoutLabel(runs)
	r.figureS4(runs, budgets, steps)
	r.version2()
}

// asPrinted writes Table 8 with the label among the features, and what of its order is
// seed noise.
func (r *report) asPrinted(runs []logisticRun) {
	var five []*logisticRun
	var sds, theirs []float64
	for i := range runs {
		run := &runs[i]
		if !run.leak() {
			continue
		}
		paper, delta := printed("8", strings.TrimSuffix(run.name, ", drawn by OW")), "–"
		accuracy := try.Must(strconv.ParseFloat(paper[1], 64))
		if run.noise > 0 && run.name != drawnByOW {
			rel := profiles.Substitute
			if run.name == "Poisson" {
				rel = profiles.AddRemove
			}
			iv, _ := table8Delta(context.Background(), run.scheme, rel)
			delta = fmt.Sprintf("[%s, %s]", below(iv.Lower), above(iv.Upper))
		}
		if run.noise > 0 && run.name != "MUST.WW" {
			five = append(five, run)
			theirs = append(theirs, accuracy)
		}
		cells := ""
		for _, score := range table8Scores {
			mean, sd := run.stats(score)
			cells += fmt.Sprintf(" %.4f (%.4f) |", mean, sd)
		}
		mean, sd := run.stats(table8Scores[0])
		if run.noise > 0 {
			sds = append(sds, sd)
		}
		r.page.Add("printed", "| %s | %.3f | %s |%s %s | %+.1f SD | %s | %s |\n", run.name, run.noise*incomeM, paper[0], cells, strings.Join(paper[1:6], ", "), (accuracy-mean)/sd, delta, paper[6])
	}
	best, ranges, n := map[string]int{}, []float64{}, len(five[0].scores)
	for seed := range n {
		var accuracy []float64
		for _, run := range five {
			accuracy = append(accuracy, run.scores[seed].accuracy)
		}
		best[five[slices.Index(accuracy, slices.Max(accuracy))].name]++
		ranges = append(ranges, slices.Max(accuracy)-slices.Min(accuracy))
	}
	mean, _ := plots.Mean(ranges)
	var first []string
	for _, run := range five {
		first = append(first, fmt.Sprintf("%s %d", run.name, best[run.name]))
	}
	r.page["sd"], _ = plots.Mean(sds)
	r.page["printedSpan"], r.page["span"], r.page["rounds"], r.page["first"] = slices.Max(theirs)-slices.Min(theirs), mean, n, strings.Join(first, ", ")
	r.page["lessNoise"] = 100 * (1 - five[4].noise/five[3].noise)
}

// withoutLabel writes the table of what the features alone give.
func (r *report) withoutLabel(runs []logisticRun) {
	scores := append([]func(classifierScore) float64{func(s classifierScore) float64 { return s.loss }}, table8Scores...)
	scores = append(scores, func(s classifierScore) float64 { return s.f1 })
	for i := range runs {
		run := &runs[i]
		if run.leak() {
			continue
		}
		name := map[string]string{rates: "no noise", as: "as printed, C/n", proper: "ε' = 0.0005, 2C/m"}[run.setting]
		if run.spent != nil {
			name = fmt.Sprintf("total ε in [%s, %s]", below(run.spent.total.Lower), above(run.spent.total.Upper))
		}
		scheme := run.name
		if run.setting == rates {
			scheme = "Poisson"
		}
		cells := ""
		for j, of := range scores {
			m, sd := run.stats(of)
			if j == 0 {
				cells = fmt.Sprintf(" %.4f (%.4f) |", m, sd)
			} else {
				cells += fmt.Sprintf(" %.3f (%.3f) |", m, sd)
			}
		}
		r.page.Add("without", "| %s | %s | %g | %.3f |%s\n", name, scheme, run.rate, run.noise*incomeM/incomeClip, cells)
	}
}

// figureS4 draws the training losses and the test loss over the privacy.
func (r *report) figureS4(runs []logisticRun, budgets []float64, steps int) {
	axis := func(title string, top float64) figure.Picture {
		p := panel(title, "iteration", "training loss (cross-entropy)")
		p.X.Max, p.Y.Max = float64(steps), top
		return p
	}
	equal := equalPanel("test loss (cross-entropy)", budgets, func(setting, scheme string) (mean, bar float64) {
		i := slices.IndexFunc(runs, func(r logisticRun) bool { return r.setting == setting && r.name == scheme })
		return runs[i].stats(func(s classifierScore) float64 { return s.loss })
	})
	ps := []figure.Picture{axis("rate 0.01", 4.5), axis("rate 1, total ε = 2", 1), equal}
	left, middle := &ps[0], &ps[1]
	add := func(p *figure.Picture, name, scheme string, b figure.Band) {
		b.Name, b.Method = name, styles[scheme]
		p.Bands = append(p.Bands, b)
	}
	for _, name := range drawnNames {
		for k := range runs {
			run := &runs[k]
			switch {
			case run.name != name:
			case run.leak():
				add(left, name, name, run.losses)
			case run.setting == equalAt(2):
				add(middle, name, name, run.losses)
			}
		}
	}
	for k := range runs {
		if run := &runs[k]; run.setting == rates && (run.rate == 0.01 || run.rate == 1) {
			add(map[float64]*figure.Picture{0.01: left, 1: middle}[run.rate], "no noise, without the label", "no noise", run.losses)
		}
	}
	middle.Bands = append(middle.Bands, schemeEntries(append([]string{"no noise"}, drawnNames...)...)...)
	r.figure("must-figureS4", 8*vg.Centimeter, ps)
}

// version2 says what the second version of the paper does, and what 15 steps of its
// program cost.
func (r *report) version2() {
	const n, m, clip, steps = incomeN, 100, 1.5, 15
	eps := baseEpsilon(1e-5, float64(m)/n)
	// θ with δ_Gauss(θ; ε) = 1/n, as uniroot finds it there.
	theta := try.Must(rdp.MuWithin(eps, 1./n))
	sigma := clip / (n * theta)
	multiplier := sigma * math.Sqrt(m) / clip // of the sum of m clipped gradients, each with its own noise
	ss := drawn(n, 200, m)
	g := try.Must(profiles.NewGaussianMechanism(multiplier))
	r.page["multiplier"] = multiplier
	for i, c := range []struct {
		name string
		rel  profiles.Relation
	}{{"Poisson, add-remove", profiles.AddRemove}, {"WOR, substitution", profiles.Substitute}} {
		iv := try.Must(training(context.Background(), c.rel, g, ss[i].law, steps).Epsilon(context.Background(), 1e-5))
		r.page.Add("version2", " %s ε in [%s, %s]%s", c.name, below(iv.Lower), above(iv.Upper), []string{";", "."}[i])
	}
}

// adultColumns is the header of the file; the last column is the label.
var adultColumns = []string{"age", "workclass", "fnlwgt", "educational.num", "marital.status", "race", "gender", "capital.gain", "capital.loss",
	"hours.per.week", "occupation_office", "occupation_Prof", "occupation_worker", "income"}

// An adultTable is rows of an intercept and 13 columns, each divided by its maximum,
// with labels 0 and 1. The first three quarters are for training, as in the paper.
type adultTable struct {
	x [][]float64
	y []float64
}

func (a adultTable) train() int { return len(a.x) / 4 * 3 }

// withLabel returns the table with the label as one more column, as the authors'
// first program has it.
func (a adultTable) withLabel() adultTable {
	out := adultTable{y: a.y, x: make([][]float64, len(a.x))}
	for i, row := range a.x {
		out.x[i] = append(slices.Clone(row), a.y[i])
	}
	return out
}

// openAdult reads the file.
func openAdult(path string) adultTable {
	f := try.Must(os.Open(path))
	defer f.Close()
	a, err := readAdult(f)
	if err == nil && len(a.x) != incomeN+incomeTest {
		err = fmt.Errorf("rows: %d is not in [%d, %[2]d]", len(a.x), incomeN+incomeTest)
	}
	if err != nil {
		try.Check(fmt.Errorf("%s: %w", path, err))
	}
	return a
}

// readAdult reads a file with the columns above, in which every entry is a number of 0 or
// more.
func readAdult(r io.Reader) (adultTable, error) {
	var a adultTable
	in := csv.NewReader(r)
	header, err := in.Read()
	if err != nil {
		return a, fmt.Errorf("header: %w", err)
	}
	if !slices.Equal(header, adultColumns) {
		return a, fmt.Errorf("header: %q is not in [%q]", header, adultColumns)
	}
	top := make([]float64, len(adultColumns))
	for {
		fields, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return a, err
		}
		row := make([]float64, 1, len(adultColumns))
		row[0] = 1
		for j, s := range fields {
			v, err := decimal.Plain(s)
			label := j == len(adultColumns)-1
			if err != nil || !(v >= 0 && v <= math.MaxFloat32) || label && v != 0 && v != 1 {
				line, _ := in.FieldPos(j)
				return a, fmt.Errorf("line %d: %s: %q is not in [0, %s]", line, adultColumns[j], s, map[bool]string{false: "∞)", true: "1], a label"}[label])
			}
			top[j] = max(top[j], v)
			if label {
				a.y = append(a.y, v)
			} else {
				row = append(row, v)
			}
		}
		a.x = append(a.x, row)
	}
	if len(a.x) < 4 {
		return a, fmt.Errorf("rows: %d is not in [4, ∞)", len(a.x))
	}
	for _, row := range a.x {
		for j := range row[1:] {
			if top[j] > 0 {
				row[1+j] /= top[j]
			}
		}
	}
	return a, nil
}
