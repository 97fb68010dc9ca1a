// The page of experiment 3, on the Adult data.

package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
)

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
