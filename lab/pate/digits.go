package main

// The votes of teachers on real digits: what each mechanism answers, what students learn from
// it, and what it costs by each accounting. It reads what lab/digits writes, and writes the page
// docs/experiments/pate-digits.md, its pictures and their numbers.

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/logit"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/lab/votes"
	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/rdp"
)

const digitDelta = 1e-5

// The orders of the costs that take long to work out.
var fewOrders = []float64{2, 2.5, 3, 3.5, 4, 5, 6, 8, 10, 14, 20, 32}

// A pool is queries with their right labels and the teachers' votes.
type pool struct {
	votes  *ballots.Votes
	labels []int
}

func readPool(from, name string) (p pool) {
	qs := try.Must(votes.Read(filepath.Join(from, name), 0, 9))
	rows := make([][]int64, len(qs))
	for i, q := range qs {
		rows[i] = q.Counts(10)
		p.labels = append(p.labels, q.Label)
	}
	p.votes = try.Must(ballots.NewVotes(rows, int64(len(qs[0].Numbers))))
	return p
}

// plurality returns the share of queries whose plurality is right.
func (p pool) plurality() float64 {
	n := 0
	for i, want := range p.labels {
		if row := p.votes.Row(i); slices.Index(row, slices.Max(row)) == want {
			n++
		}
	}
	return float64(n) / float64(len(p.labels))
}

// label runs the mechanism, which needs no scores, on every query, with the noise of a seed.
func (p pool) label(a pate.Aggregator, seed uint64) []pate.Answer {
	src := rand.NewPCG(seed, 2)
	out := make([]pate.Answer, p.votes.Queries())
	for i := range out {
		out[i] = try.Must(a.Label(p.votes.Row(i), 0, nil, src))
	}
	return out
}

// right returns how many answers there are, and the share of right ones.
func right(answers []pate.Answer, labels []int) (answered int, share float64) {
	for i, x := range answers {
		if x.Class < 0 {
			continue
		}
		answered++
		if x.Class == labels[i] {
			share++
		}
	}
	return answered, share / float64(max(answered, 1))
}

// A mean is one of several draws, with its standard error.
type mean struct{ value, err float64 }

func meanOf(x []float64) (m mean) {
	m.value, m.err = plots.Mean(x)
	return m
}

func (m mean) String() string { return fmt.Sprintf("%.3f ± %.3f", m.value, m.err) }

// draws runs the mechanism several times.
func (p pool) draws(a pate.Aggregator, seeds int) (answered, share mean) {
	var n, s []float64
	for seed := range seeds {
		x := p.label(a, uint64(seed))
		k, r := right(x, p.labels)
		n, s = append(n, float64(k)), append(s, r)
	}
	return meanOf(n), meanOf(s)
}

// chosen are the parameters, picked on queries that are not reported.
type chosen struct {
	ln, gn, confident pate.Aggregator
	order             map[string]float64 // at which a bound is published
}

var (
	gammas = []float64{0.3, 0.2, 0.1, 0.07, 0.05, 0.03, 0.02}
	sigmas = []float64{5, 10, 15, 20, 25, 30, 40}
)

const (
	choosingSeeds = 4
	lossAllowed   = 0.02
	leastAnswered = 0.4
)

// choose picks, on the queries to choose by, the most noise with which labels are right nearly as
// often as without; and of the checks that answer enough queries, with labels right as often as without noise, that
// with the least data-independent cost.
func choose(p pool) (c chosen) {
	clean := p.plurality()
	for _, g := range gammas {
		a := try.Must(pate.NewLNMax(g))
		if _, share := p.draws(a, choosingSeeds); share.value >= clean-lossAllowed {
			c.ln = a
		}
	}
	for _, s := range sigmas {
		a := try.Must(pate.NewGNMax(s))
		if _, share := p.draws(a, choosingSeeds); share.value >= clean-lossAllowed {
			c.gn = a
		}
	}
	least := math.Inf(1)
	for _, t := range []float64{40, 50, 60, 70} {
		for _, s1 := range []float64{20, 40, 60} {
			for _, s2 := range sigmas[1:5] {
				a := try.Must(pate.NewConfident(t, s1, s2))
				n, share := p.draws(a, 2)
				q := float64(len(p.labels))
				cost := q/(s1*s1) + 2*n.value/(s2*s2)
				if n.value >= leastAnswered*q && share.value >= clean && cost < least {
					least, c.confident = cost, a
				}
			}
		}
	}
	c.order = map[string]float64{}
	for _, a := range c.mechanisms() {
		cost, _ := bill(p, a, pate.Best, fewOrders, nil)
		_, c.order[a.String()] = try.Must2(cost[0].Epsilon(cost[0].Total, pate.Improved, digitDelta))
	}
	return c
}

func (c chosen) mechanisms() []pate.Aggregator { return []pate.Aggregator{c.ln, c.gn, c.confident} }

// bill returns the cost of the first queries, for each of the cuts (nil: all), by a bound at these votes.
func bill(p pool, a pate.Aggregator, price pate.Price, orders []float64, cuts []int) ([]pate.Cost, *pate.Ledger) {
	l := try.Must(pate.Account(context.Background(), p.votes, a, pate.Options{Price: price, Orders: orders}))
	report := pate.Worst
	if _, sigma1, _ := a.Parameters(); sigma1 > 0 && price != pate.Theorem6 {
		report = pate.Joint
	}
	if cuts == nil {
		cuts = []int{p.votes.Queries()}
	}
	return try.Must(l.Running(context.Background(), report, nil, cuts)), l
}

// A priced mechanism: ε of all queries by every accounting.
type priced struct {
	name                                            string
	classic, independent, theorem6, expected, rStar float64
	exact                                           [2]float64 // to a neighbour, and back
	composed                                        [2]float64 // the larger direction, as an interval
	published, order                                float64
	answered, share                                 mean
}

func price(p pool, a pate.Aggregator, order float64) (x priced) {
	ctx := context.Background()
	x.name, x.order = a.String(), order
	eps := func(c pate.Cost, g rdp.Grid, by pate.Conversion) float64 {
		e, _ := try.Must2(c.Epsilon(g, by, digitDelta))
		return e
	}
	old, l := bill(p, a, pate.Theorem6, nil, nil)
	x.theorem6 = eps(old[0], old[0].Total, pate.Improved)
	ind := try.Must(l.Cost(ctx, pate.DataIndependent, nil))
	x.classic, x.independent = eps(ind, ind.Total, pate.Classic), eps(ind, ind.Total, pate.Improved)
	printed := try.Must(l.Cost(ctx, pate.ExpectedNotABound, nil))
	x.expected = eps(printed, printed.Total, pate.Classic)
	best, bestLedger := bill(p, a, pate.Best, fewOrders, nil)
	x.rStar = eps(best[0], best[0].Total, pate.Improved)
	law, exactLedger := bill(p, a, pate.Exact, fewOrders, nil)
	x.exact = [2]float64{eps(law[0], law[0].Forward, pate.Improved), eps(law[0], law[0].Reverse, pate.Improved)}
	forward, reverse := try.Must2(exactLedger.ExactEpsilon(ctx, digitDelta))
	x.composed = [2]float64{max(forward[0], reverse[0]), max(forward[1], reverse[1])}
	out := try.Must(bestLedger.Publish(ctx, publication(order), digitDelta, rand.NewPCG(0, 3)))
	x.published = out.Private.Median
	x.answered, x.share = p.draws(a, 10)
	return x
}

func publication(order float64) pate.Publication {
	return pate.Publication{Order: order, Beta: 0.02, Noise: 0.15, Confidence: 0.95}
}

// study trains a student on the answers to the first queries.
func study(images []logit.Image, answers []pate.Answer) logit.Model {
	var data []logit.Image
	for i, x := range answers {
		if x.Class >= 0 {
			data = append(data, logit.Image{X: images[i].X, Label: x.Class})
		}
	}
	return logit.Training{Steps: 100, Rate: 2}.Train(data, 10, nil)
}

// students returns the accuracy, on images of the test, of students that learn from the first queries.
func students(p pool, images []logit.Image, a pate.Aggregator, cuts []int, seeds int) []mean {
	shares := make([][]float64, len(cuts))
	for seed := range seeds {
		x := p.label(a, uint64(seed))
		for i, k := range cuts {
			shares[i] = append(shares[i], study(images, x[:k]).Right(images[len(x):]))
		}
	}
	out := make([]mean, len(cuts))
	for i := range out {
		out[i] = meanOf(shares[i])
	}
	return out
}

// rounds are two rounds: Confident labels half of the queries and a student learns from its
// answers; Interactive compares the other half with the student, who learns from both.
type rounds struct {
	interactive                    pate.Aggregator
	answered, reinforced           []float64 // by seed, and so are the others
	share, first, second           []float64
	independent, classic, thisPath []float64
}

// twoRoundsOf runs them several times. It is long because a run is one path, whose second round
// depends on the first.
func twoRoundsOf(p pool, images []logit.Image, c pate.Aggregator, seeds int) (x rounds) {
	ctx, half := context.Background(), p.votes.Queries()/2
	threshold, sigma1, sigma2 := c.Parameters()
	x.interactive = try.Must(pate.NewInteractive(threshold/2, 0.9, sigma1, sigma2, true))
	early := try.Must(p.votes.First(half))
	var rows [][]int64
	for i := half; i < p.votes.Queries(); i++ {
		rows = append(rows, p.votes.Row(i))
	}
	late := try.Must(ballots.NewVotes(rows, p.votes.Teachers()))
	one := try.Must(pate.Account(ctx, early, c, pate.Options{Orders: fewOrders}))
	firstCost := try.Must(one.Cost(ctx, pate.DataIndependent, nil))
	joint := try.Must(one.Cost(ctx, pate.Joint, nil))
	for seed := range seeds {
		answers := pool{early, p.labels[:half]}.label(c, uint64(seed))
		student := study(images, answers)
		x.first = append(x.first, student.Right(images[p.votes.Queries():]))
		var scores [][]float64
		src := rand.NewPCG(uint64(seed), 4)
		asked, told := 0, 0
		for i, row := range rows {
			s := student.Scores(images[half+i].X)
			scores = append(scores, s)
			a := try.Must(x.interactive.Label(row, p.votes.Teachers(), s, src))
			if a.Answered {
				asked++
			} else if a.Class >= 0 {
				told++
			}
			answers = append(answers, a)
		}
		for _, a := range answers[:half] {
			if a.Answered {
				asked++
			}
		}
		table := try.Must(ballots.NewScores(scores, p.votes.Teachers(), false))
		two := try.Must(pate.Account(ctx, late, x.interactive, pate.Options{Orders: fewOrders, Scores: table}))
		both := func(r pate.Report, first pate.Cost, by pate.Conversion) float64 {
			second := try.Must(two.Cost(ctx, r, nil))
			sum := rdp.OnOrders(rdp.Compose(first.Total, second.Total), fewOrders)
			e, _ := try.Must2(first.Epsilon(sum, by, digitDelta))
			return e
		}
		_, share := right(answers, p.labels)
		x.answered, x.reinforced, x.share = append(x.answered, float64(asked)), append(x.reinforced, float64(told)), append(x.share, share)
		x.second = append(x.second, study(images, answers).Right(images[p.votes.Queries():]))
		x.independent = append(x.independent, both(pate.DataIndependent, firstCost, pate.Improved))
		x.classic = append(x.classic, both(pate.DataIndependent, firstCost, pate.Classic))
		x.thisPath = append(x.thisPath, both(pate.Joint, joint, pate.Improved))
	}
	return x
}

// passes returns the probability that the check lets a query with this largest count pass.
func passes(a pate.Aggregator, most float64) float64 {
	threshold, sigma1, _ := a.Parameters()
	return math.Erfc((threshold-most)/(sigma1*math.Sqrt2)) / 2
}

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
	values["interactive"], values["thisPath"], values["classic"] = r.interactive, meanOf(r.thisPath), meanOf(r.classic).value
	answered, told := meanOf(r.answered), meanOf(r.reinforced)
	values["tworounds"] = fmt.Sprintf("%.0f ± %.0f, and %.0f ± %.0f told that they are right | %v | %v (first round: %v) | %.3f | no bound (below)",
		answered.value, answered.err, told.value, told.err, meanOf(r.share), meanOf(r.second), meanOf(r.first), meanOf(r.independent).value)
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
