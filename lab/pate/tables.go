package main

// The paper's tables from the numbers that it prints, and where they agree.

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/rdp"
)

// A table2Row is a line of the paper's Table 2; its last line is two rounds,
// of which only the sum is printed.
type table2Row struct {
	name            string
	expected        float64 // E[ε] as printed; 0: part of the sum
	delta, order    float64
	beta, ss, sigma float64 // as printed
	total, noise    string  // as printed
}

var table2 = []table2Row{
	{"MNIST", 2.00, 1e-5, 14, .0329, .0618, 6.23, "2.52", "0.385"},
	{"SVHN", 4.96, 1e-6, 7.5, .0533, .0717, 4.88, "5.45", "0.350"},
	{"Adult", 1.68, 1e-5, 15.5, .0310, .0332, 7.92, "2.09", "0.263"},
	{"Glyph", 2.07, 1e-8, 20.5, .0205, .0128, 11.9, "2.29", "0.152"},
	{"Glyph, round 1", 0, 1e-8, 50, .009, .00278, 26.4, "", ""},
	{"Glyph, round 2", 0, 1e-8, 50, .008, .00088, 38.7, "", ""},
}

// twoRounds is the printed line of the two rounds together.
var twoRounds = table2Row{expected: 0.837, total: "1.00", noise: "0.081"}

// agrees tells whether x, rounded to the digits of the printed number, is that
// number, and marks it so.
func agrees(x float64, printed string) string {
	_, decimals, _ := strings.Cut(printed, ".")
	if strconv.FormatFloat(x, 'f', len(decimals), 64) == printed {
		return printed + " ✓"
	}
	return "**" + printed + " ✗**"
}

type table2Result struct {
	printed, exact   float64 // cost of the noise
	noise            float64
	sigma            float64 // by the paper's rule
	better, betterAt float64 // exact cost re-optimised, and its σ
	deltaPart        float64
}

func (r table2Row) compute() (x table2Result) {
	g := pate.GNSS{Order: r.order, Beta: r.beta}
	x.printed, _ = try.Must2(g.PrintedNotABound(r.sigma))
	x.exact = try.Must(g.RDP(r.sigma))
	x.sigma = try.Must(g.PrintedSigma(r.ss))
	x.betterAt = try.Must(g.OptimalSigma(r.ss))
	x.better = try.Must(g.RDP(x.betterAt))
	x.noise = r.ss * r.sigma
	x.deltaPart = xmath.Log(1/r.delta) / (r.order - 1)
	return x
}

// An independentRow is a Confident run of the paper: Q queries, A answers.
type independentRow struct {
	name    string
	delta   float64
	parts   []independentPart
	printed string
}

type independentPart struct {
	queries, answers float64
	sigma1, sigma2   float64
}

var independent = []independentRow{
	{"MNIST 640, 286", 1e-5, []independentPart{{640, 286, 150, 40}}, "1.97"},
	{"MNIST 640, 283", 1e-5, []independentPart{{640, 283, 150, 40}}, "2.00"},
	{"SVHN 8500, 3098", 1e-6, []independentPart{{8500, 3098, 200, 40}}, "4.96"},
	{"Adult 1500, 524", 1e-5, []independentPart{{1500, 524, 200, 40}}, "1.90"},
	{"Glyph 12000, 10762", 1e-8, []independentPart{{12000, 10762, 500, 100}}, "2.03"},
	{"Glyph, two rounds, 3400 + 941", 1e-8, []independentPart{{6000, 3400, 1500, 100}, {10000, 941, 2000, 200}}, "0.837"},
	{"Glyph, two rounds, 3400 + 7022", 1e-8, []independentPart{{6000, 3400, 1500, 100}, {10000, 7022, 2000, 200}}, "0.84"},
}

// rate is c in the cost c·λ of the whole run.
func (r independentRow) rate() (c float64) {
	for _, p := range r.parts {
		c += p.queries/(2*p.sigma1*p.sigma1) + p.answers/(p.sigma2*p.sigma2)
	}
	return c
}

// onGrid converts a curve at the default orders.
func onGrid(value func(order float64) float64, delta float64, c pate.Conversion) (eps, order float64) {
	orders := floats.Span(make([]float64, 198), 1.5, 100)
	return try.Must2(c.Epsilon(rdp.OnOrders(rdp.Func(value), orders), delta))
}

type lnmaxRow struct {
	name           string
	queries, gamma float64
	delta          float64
	printed        string
}

var lnmax = []lnmaxRow{
	{"MNIST, 100", 100, .05, 1e-5, "2.04"},
	{"MNIST, 1000", 1000, .05, 1e-5, "8.03"},
	{"SVHN, 500", 500, .05, 1e-6, "5.04"},
	{"SVHN, 1000", 1000, .05, 1e-6, "8.19"},
	{"Adult, 500", 500, .05, 1e-5, "2.66"},
	{"Glyph, 4000", 4000, .02, 1e-8, "4.3"},
}

// A synthetic run.
type synthetic struct {
	name             string
	teachers         int64
	classes, queries int
	threshold        int64
	sigma1, sigma2   float64
	delta            float64
}

var runs = []synthetic{
	{"A", 250, 10, 640, 200, 150, 40, 1e-5},
	{"A2", 250, 10, 640, 170, 20, 40, 1e-5},
	{"B", 5000, 150, 1000, 3500, 1500, 100, 1e-8},
	{"B2", 5000, 150, 1000, 3000, 200, 500, 1e-8},
}

func (s synthetic) ledger() (*pate.Ledger, []bool) {
	v := try.Must(ballots.SynthS1(s.teachers, s.classes, s.queries))
	a := try.Must(pate.NewConfident(float64(s.threshold), s.sigma1, s.sigma2))
	// A transcript that the mechanism draws, with the noise of a fixed seed.
	answered := make([]bool, v.Queries())
	src := rand.NewPCG(0, 0)
	for i := range answered {
		answered[i] = try.Must(a.Label(v.Row(i), 0, nil, src)).Answered
	}
	return try.Must(pate.Account(context.Background(), v, a, pate.Options{Price: pate.Theorem6})), answered
}

// The text of the page. Tables are written below, and numbers of the text in computeFacts.
//
//go:embed page.tmpl
var pageText string

// page returns the page.
func page() []byte {
	values := computeFacts()
	for _, table := range []func(plots.Values){table2Costs, table2Again, independentTable, lnmaxTable, syntheticTable, sanitizedTable} {
		table(values)
	}
	return values.Page(pageText)
}

// table2Costs are the rows of Table 2: what publishing costs, as printed and exactly.
func table2Costs(page plots.Values) {
	var sumPrinted, sumExact, sumNoise float64
	for i, r := range table2 {
		x := r.compute()
		total, printed, noise := "–", "–", "–"
		if r.expected > 0 {
			total, printed, noise = fmt.Sprintf("%.5f", r.expected+x.printed), agrees(r.expected+x.printed, r.total), agrees(x.noise, r.noise)
		}
		page.Add("table2", "| %s | %.6f | %s | %s | **%.6f** | %.6f | %s | %.6f | %v |\n", r.name, x.printed, total, printed, x.exact, x.noise, noise, x.sigma, r.sigma)
		if i >= 4 {
			sumPrinted += x.printed
			sumExact += x.exact
			sumNoise = math.Hypot(sumNoise, x.noise)
		}
	}
	both := twoRounds.expected + sumPrinted
	page.Add("table2", "| Glyph, both rounds | %.6f | %.5f | %s | **%.6f** | %.6f | %s | – | – |\n", sumPrinted, both, agrees(both, twoRounds.total), sumExact, sumNoise, agrees(sumNoise, twoRounds.noise))
}

// table2Again are the same with the best noise.
func table2Again(page plots.Values) {
	for _, r := range table2 {
		x := r.compute()
		implied := "–"
		if r.expected > 0 {
			implied = fmt.Sprintf("%.5f", r.expected-x.deltaPart)
		}
		page.Add("again", "| %s | %.4f | %.6f | %.6f | %.6f | %s |\n", r.name, x.betterAt, x.better, x.betterAt*r.ss, x.deltaPart, implied)
	}
}

// independentTable are the rows of data-independent costs.
func independentTable(page plots.Values) {
	for _, r := range independent {
		c := r.rate()
		line := func(a float64) float64 { return c * a }
		e1, o1 := onGrid(line, r.delta, pate.Classic)
		e2, o2 := onGrid(line, r.delta, pate.Improved)
		page.Add("independent", "| %s | %.7f | %.6f | %.6f (%v) | %.6f (%v) | %v |\n", r.name, c, c+2*math.Sqrt(c*xmath.Log(1/r.delta)), e1, o1, e2, o2, r.printed)
	}
}

// lnmaxTable are those of LNMax.
func lnmaxTable(page plots.Values) {
	for _, r := range lnmax {
		a := try.Must(pate.NewLNMax(r.gamma))
		pure := try.Must(rdp.Pure(2 * r.gamma))
		e1, o1 := onGrid(func(o float64) float64 { return r.queries * a.RDP(o) }, r.delta, pate.Classic)
		e2, _ := onGrid(func(o float64) float64 { return r.queries * pure.RDP(o) }, r.delta, pate.Classic)
		page.Add("lnmax", "| %s | %v | %.6f (%v) | %.6f | %s |\n", r.name, 2*r.gamma, e1, o1, e2, r.printed)
	}
}

// syntheticTable are the rows of synthetic votes.
func syntheticTable(page plots.Values) {
	for _, s := range runs {
		l, answered := s.ledger()
		page.Add("synthetic", "| %s | %d, %d, %d | %d, %v, %v | %v ", s.name, s.teachers, s.classes, s.queries, s.threshold, s.sigma1, s.sigma2, s.delta)
		cell := func(e, o float64, err error) string {
			try.Check(err)
			return fmt.Sprintf("%.6f (%v)", e, o)
		}
		realised := try.Must(l.Cost(context.Background(), pate.Realised, answered))
		page.Add("synthetic", "| %.0f | %s ", realised.Answered, cell(pate.Classic.Epsilon(realised.Threshold, s.delta)))
		for _, r := range []pate.Report{pate.Realised, pate.Worst, pate.DataIndependent, pate.ExpectedNotABound} {
			if r == pate.Realised {
				page.Add("synthetic", "| %s ", cell(realised.Epsilon(realised.Total, pate.Improved, s.delta)))
				continue
			}
			c := try.Must(l.Cost(context.Background(), r, nil))
			page.Add("synthetic", "| %s ", cell(pate.Classic.Epsilon(c.Total, s.delta)))
		}
		page.Add("synthetic", "|\n")
	}
}

// sanitizedTable are the rows of sanitized reports.
func sanitizedTable(page plots.Values) {
	l, _ := runs[0].ledger()
	s := try.Must(l.NewSensitivity(context.Background(), 14, pate.Worst, nil))
	for _, row := range []struct {
		name string
		beta float64
	}{{"0.2/λ", .2 / 14}, {"0.3/λ", .3 / 14}, {"0.4/λ", .4 / 14}} {
		ss, d := try.Must2(s.Smooth(row.beta))
		sigma := try.Must(pate.GNSS{Order: 14, Beta: row.beta}.OptimalSigma(ss))
		cost := try.Must(pate.GNSS{Order: 14, Beta: row.beta}.RDP(sigma))
		fixed, _ := try.Must2(pate.Classic.Epsilon(rdp.Grid{Orders: []float64{14}, Values: []float64{s.Cost + cost}}, 1e-5))
		page.Add("sanitized", "| %s | %.7f | %d | %.5f | %.6f | %.6f | ± %.6f |\n", row.name, ss, d, sigma, cost, fixed, ss*sigma)
	}
}

// computeFacts returns the numbers of the list of what does not reproduce.
func computeFacts() plots.Values {
	svhn, mnist := table2[1].compute().printed, table2[0].compute().deltaPart
	l := xmath.Log(1e8)
	// Two classes four noise scales apart.
	votes := []int64{4, 0}
	laplace := math.Exp(try.Must(try.Must(pate.NewLNMax(1)).LogQ(votes)))
	laplaceSD := math.Exp(try.Must(try.Must(pate.NewLNMax(math.Sqrt2)).LogQ(votes)))
	gauss := math.Exp(try.Must(try.Must(pate.NewGNMax(1)).LogQ(votes)))
	return plots.Values{
		"svhn": svhn, "svhnTotal": 4.96 + svhn, "mnist": mnist, "mnistTotal": 1.18 + mnist, "mnistRenyi": 2 - mnist,
		"rate":    math.Pow(math.Sqrt(l+10.14)-math.Sqrt(l), 2), // c + 2√(c·L) = ε at L = ln(1/δ)
		"laplace": laplace, "gauss": gauss, "ratio": laplace / gauss, "laplaceSD": laplaceSD, "ratioSD": laplaceSD / gauss,
	}
}
