package main

// The page about real digits, docs/experiments/pate-digits.md, its pictures and their numbers.

import (
	"context"
	_ "embed"
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

//go:embed digits.tmpl
var digitsText string

// digits writes the page, its pictures and their numbers to dir.
func digits(from, dir string) {
	p := readPool(from, "digits-100.gz")
	choosing := readPool(from, "digits-choosing.gz")
	images := try.Must(votes.ReadImages(filepath.Join(from, "digits-images.gz")))
	settings := strings.TrimSpace(string(try.Must(os.ReadFile(filepath.Join(from, "digits-settings.csv")))))
	c := choose(choosing)
	note := func(what string) { fmt.Fprintln(os.Stderr, what) }
	note("parameters are chosen: " + c.confident.String())
	large := readPool(from, "digits-250.gz")
	cuts := []int{100, 200, 400, 700, 1000}
	const seeds = 8
	values := plots.Values{
		"hundred": 100 * p.plurality(), "more": 100 * large.plurality(), "chosenBy": 100 * choosing.plurality(), "lossAllowed": 100 * lossAllowed, "leastAnswered": 100 * leastAnswered,
		"ln": c.ln, "gn": c.gn, "confident": c.confident, "lnOrder": c.order[c.ln.String()], "gnOrder": c.order[c.gn.String()], "confidentOrder": c.order[c.confident.String()],
		"delta": digitDelta, "seeds": seeds,
	}
	var raw strings.Builder
	for _, line := range strings.Split(settings, "\n")[1:] {
		values.Add("settings", "| %s |\n", strings.ReplaceAll(line, ",", " | "))
	}
	raw.WriteString("mechanism,answered,standard error,right,standard error,classic,independent,theorem6,rstar,exact forward,exact reverse,composed lower,composed upper,published median,expected\n")
	var learned [][]mean
	for _, a := range c.mechanisms() {
		x := price(p, a, c.order[a.String()])
		s := students(p, images, a, cuts, seeds)
		note(x.name)
		learned = append(learned, s)
		values.Add("table1", "| %s | 1000 | %.0f ± %.0f | %v | %v | %.3f | ≤ %.3f |\n", x.name, x.answered.value, x.answered.err, x.share, s[len(s)-1], x.independent, x.composed[1])
		values.Add("priced", "| %s | %.3f | %.3f | %.3f | %.3f | %.3f / %.3f | [%.3f, %.3f] | %.3f | %.3f |\n", x.name, x.classic, x.independent, x.theorem6, x.rStar,
			x.exact[0], x.exact[1], x.composed[0], x.composed[1], x.published, x.expected)
		fmt.Fprintf(&raw, "%q,%.1f,%.2g,%.5f,%.2g,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", x.name, x.answered.value, x.answered.err, x.share.value, x.share.err,
			x.classic, x.independent, x.theorem6, x.rStar, x.exact[0], x.exact[1], x.composed[0], x.composed[1], x.published, x.expected)
	}
	r := twoRoundsOf(p, images, c.confident, seeds)
	values["interactive"], values["thisPath"], values["classic"] = r.interactive, r.thisPath, r.classic.value
	values["tworounds"] = fmt.Sprintf("%.0f ± %.0f, and %.0f ± %.0f told that they are right | %v | %v (first round: %v) | %.3f | no bound (below)",
		r.answered.value, r.answered.err, r.reinforced.value, r.reinforced.err, r.share, r.second, r.first, r.independent.value)
	note("two rounds")
	truth := make([]pate.Answer, 1000)
	for i := range truth {
		truth[i] = pate.Answer{Class: p.labels[i], Answered: true}
	}
	values["truth"] = study(images, truth).Right(images[1000:])
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
	below := func(p *plot.Plot) {
		p.Legend.Left, p.Legend.Top, p.Legend.YOffs, p.Legend.XOffs = false, false, vg.Points(6), -vg.Points(6)
	}
	picture(dir, "students", "ε", "accuracy on the test", progress, below)
	picture(dir, "agreement", "share of teachers that agree", "queries", agreementCurves(p, c), func(p *plot.Plot) { p.Y.Min, p.Y.Max = 0, p.Y.Max*1.2 })
	note("agreement")
	picture(dir, "noise", "ε", "share of right labels", noiseCurves([]pool{p, large}), func(p *plot.Plot) {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, (&figure.Axis{At: []float64{2, 5, 10, 20, 50}}).Marker()
		below(p)
	})
	try.Check(os.WriteFile(filepath.Join(dir, "pate-digits.md"), values.Page(digitsText), 0o644))
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
