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

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/lab/votes"
	"github.com/dpaccountant/accountant/pate"
)

// The colour of a mechanism, the same in every picture.
var lnColour, gnColour, confidentColour = figure.LNMax.Dashed(0), figure.GNMax.Dashed(0), figure.Confident.Dashed(0)

// picture draws a picture, with dashes for what is of the older accounting, and writes its numbers beside it.
func picture(dir, name string, p figure.Picture) {
	var table strings.Builder
	fmt.Fprintf(&table, "curve,%s,%s,standard error\n", p.X.Label, p.Y.Label)
	for _, b := range p.Bands {
		for i := range b.X {
			e := ""
			if b.Errors != nil {
				e = fmt.Sprintf("%.5g", b.Errors[i])
			}
			fmt.Fprintf(&table, "%q,%.6g,%.6g,%s\n", b.Name, b.X[i], b.Proved[i], e)
		}
	}
	try.Check(os.WriteFile(filepath.Join(dir, "pate-digits-"+name+".csv"), []byte(table.String()), 0o644))
	plots.Save(filepath.Join(dir, "pate-digits-"+name+".svg"), size, []figure.Picture{p})
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
	picture(dir, "running", figure.Picture{X: figure.Axis{Label: "queries"}, Y: figure.Axis{Label: "ε", Log: true, Min: 1, Max: 5000}, LegendUp: true, LegendLeft: true, Bands: running})
	var progress []figure.Band
	for k := range learned {
		x := figure.Band{Name: running[2*k].Name, Method: running[2*k].Method, X: spent[k]}
		for _, m := range learned[k] {
			x.Proved, x.Errors = append(x.Proved, m.value), append(x.Errors, m.err)
		}
		progress = append(progress, x)
	}
	picture(dir, "students", figure.Picture{X: figure.Axis{Label: "ε"}, Y: figure.Axis{Label: "accuracy on the test"}, Bands: progress})
	picture(dir, "agreement", figure.Picture{X: figure.Axis{Label: "share of teachers that agree"}, Y: figure.Axis{Label: "queries"}, LegendUp: true, LegendLeft: true, Bands: agreementCurves(p, c)})
	note("agreement")
	picture(dir, "noise", figure.Picture{X: figure.Axis{Label: "ε", Log: true, At: []float64{2, 5, 10, 20, 50}}, Y: figure.Axis{Label: "share of right labels"}, Bands: noiseCurves([]pool{p, large})})
	try.Check(os.WriteFile(filepath.Join(dir, "pate-digits.md"), values.Page(digitsText), 0o644))
	made := ingredients(from, dir, c)
	try.Check(os.WriteFile(filepath.Join(dir, digitCheck), []byte(made), 0o644))
}

// runningCurves returns ε of the first queries, for each mechanism by R* and data-independent;
// and the former for each.
func runningCurves(p pool, c chosen, cuts []int) (out []figure.Band, spent [][]float64) {
	for k, a := range c.mechanisms() {
		colour := []figure.Method{lnColour, gnColour, confidentColour}[k]
		best, l := bill(p, a, pate.Best, fewOrders, cuts)
		ind := try.Must(l.Running(context.Background(), pate.DataIndependent, nil, cuts))
		for i, costs := range [][]pate.Cost{best, ind} {
			x := figure.Band{Name: a.String(), Method: colour}
			if i == 1 {
				x.Name, x.Method = "the same, data-independent", colour.Dashed(1)
			}
			for j, cost := range costs {
				e, _ := try.Must2(cost.Epsilon(cost.Total, pate.Improved, digitDelta))
				x.Add(float64(cuts[j]), e)
			}
			out = append(out, x)
			if i == 0 {
				spent = append(spent, x.Proved)
			}
		}
	}
	return out, spent
}

// agreementCurves returns how many queries there are, and how many are expected to be answered, for
// each tenth of agreement.
func agreementCurves(p pool, c chosen) []figure.Band {
	threshold, sigma1, sigma2 := c.confident.Parameters()
	strict := try.Must(pate.NewConfident(threshold+20, sigma1, sigma2))
	out := []figure.Band{{Name: "all queries", Method: figure.DataIndependent.Dashed(0)}, {Name: c.confident.String(), Method: confidentColour}, {Name: strict.String(), Method: confidentColour.Dashed(1)}}
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
			out[k].Add(float64(i)/10+.05, n)
		}
	}
	return out
}

// noiseCurves returns right labels against ε for every scale of noise and every pool.
func noiseCurves(pools []pool) (out []figure.Band) {
	for k, p := range pools {
		for _, laplace := range []bool{true, false} {
			x := figure.Band{Name: fmt.Sprintf("GNMax, %d teachers", p.votes.Teachers()), Method: gnColour.Dashed(k)}
			if laplace {
				x.Name, x.Method = fmt.Sprintf("LNMax, %d teachers", p.votes.Teachers()), lnColour.Dashed(k)
			}
			for i := range sigmas {
				a := try.Must(pate.NewGNMax(sigmas[i]))
				if laplace {
					a = try.Must(pate.NewLNMax(gammas[i]))
				}
				cost, _ := bill(p, a, pate.Best, fewOrders, nil)
				e, _ := try.Must2(cost[0].Epsilon(cost[0].Total, pate.Improved, digitDelta))
				_, share := p.draws(a, 4)
				x.Add(e, share.value)
				x.Errors = append(x.Errors, share.err)
			}
			out = append(out, x)
		}
	}
	return out
}
