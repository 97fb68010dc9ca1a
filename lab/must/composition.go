package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// recursionRuns is the longest composition whose theory gap is narrowed by the
// recursion over data configurations; its cost grows with the power 3/2.
const recursionRuns = 1000

// epsilon returns the interval of ε(1e-5) after k runs.
func epsilon(ctx context.Context, m profiles.Bounds, k int64, opts ...accountant.Options) accountant.Interval {
	return try.Must(composition(m, k, opts...).Epsilon(ctx, 1e-5))
}

// composition returns an accountant that has k runs.
func composition(m profiles.Bounds, k int64, opts ...accountant.Options) *accountant.Accountant {
	acct := accountant.New(m.Relation, opts...)
	try.Check(acct.AddBounds(m, k))
	return acct
}

// training returns an accountant that has k runs of a mechanism on samples.
func training(ctx context.Context, rel profiles.Relation, base profiles.Mechanism, s subsample.Scheme, k int64) *accountant.Accountant {
	acct := accountant.New(rel)
	try.Check(acct.Add(ctx, accountant.Step{Mechanism: base, Sampling: s}, k))
	return acct
}

// The setting of the paper's composition example.
const (
	exampleN, exampleB, exampleM = 10_000, 118, 200
	exampleNoise                 = 4.
)

// A composed is what is known of ε(1e-5) of one scheme over the numbers of steps.
type composed struct {
	name string
	k    []int64
	// paper is by the paper's pair and nil for Poisson sampling; plain is
	// without the recursion.
	paper, lower, upper, plain []float64
}

// A sampled is a row of a table: a scheme under a relation.
type sampled struct {
	name string
	s    subsample.Scheme
	rel  profiles.Relation
}

// compared are the schemes of the example: Poisson sampling under both relations, then those of fixed size.
func compared() []sampled {
	p := try.Must(subsample.NewPoisson(exampleM * 1. / exampleN))
	rows := []sampled{{"Poisson, add-remove", p, profiles.AddRemove}, {"Poisson", p, profiles.Substitute}}
	for _, s := range schemes(exampleN, exampleB, exampleM) {
		rows = append(rows, sampled{s.name, s.s, profiles.Substitute})
	}
	return rows
}

// composeAll accounts the example for all schemes.
func composeAll(ctx context.Context, steps []int64, recursion int64) (out []composed) {
	g := try.Must(profiles.NewGaussianMechanism(exampleNoise))
	for _, row := range compared() {
		m := try.Must(row.s.Apply(g, row.rel))
		c := composed{name: row.name, k: steps}
		for _, k := range steps {
			plain := epsilon(ctx, m, k)
			iv := plain
			if m.Together != nil && k <= recursion {
				iv = epsilon(ctx, m, k, accountant.Options{Recursion: recursion})
			}
			c.lower, c.upper, c.plain = append(c.lower, iv.Lower), append(c.upper, iv.Upper), append(c.plain, plain.Upper)
			if fixed, ok := subsample.AsFixedSize(row.s); ok {
				pair := profiles.NewBounds("paper's pair", profiles.Substitute, try.Must(fixed.PaperPairNotABound(g)))
				c.paper = append(c.paper, epsilon(ctx, pair, k).Estimate)
			}
		}
		out = append(out, c)
	}
	return out
}

// below and above print five digits on the safe side.
func below(x float64) string { return outward(x, math.Floor) }
func above(x float64) string { return outward(x, math.Ceil) }

func outward(x float64, round func(float64) float64) string {
	if x == 0 {
		return "0"
	}
	scale := math.Pow(10, 4-math.Floor(math.Log10(math.Abs(x))))
	return fmt.Sprintf("%.5g", round(x*scale)/scale)
}

func compositionTable(r *report) {
	steps := []int64{1, 10, 100, 1000, 10_000}[:r.pick(5, 3)]
	cs := composeAll(context.Background(), steps, recursionRuns)
	all := panel("ε after k steps", "steps k", "ε at δ = 1e-5")
	all.X.Log, all.Y.Log = true, true
	near := panel("ε over that of Poisson sampling", "steps k", "ratio of ε")
	near.X.Log = true
	poisson := cs[1]
	ratio := func(c composed, ys []float64) (out []float64) {
		for i, y := range ys {
			if c.k[i] <= recursionRuns {
				out = append(out, y/poisson.upper[i])
			}
		}
		return out
	}
	for i, c := range cs[1:] {
		s := styles[c.name]
		var x []float64
		for _, k := range c.k {
			x = append(x, float64(k))
		}
		all.Bands = append(all.Bands, figure.Band{Name: c.name + ", proved upper end", Method: s, X: x, Lower: c.lower, Upper: c.upper, Proved: c.upper}, figure.Band{Name: c.name + ", attack", Method: s, X: x, Proved: c.lower})
		if c.paper != nil {
			all.Bands = append(all.Bands, figure.Band{Name: c.name + ", the paper's pair, no bound", Method: s.Dashed(5), X: x, Proved: c.paper})
		}
		if i < 3 {
			up := ratio(c, c.upper)
			b := figure.Band{Name: c.name, Method: s, X: x[:len(up)], Proved: up}
			if i > 0 {
				b.Lower, b.Upper = ratio(c, c.lower), ratio(c, c.plain)
			}
			near.Bands = append(near.Bands, b)
		}
	}
	all.Bands = append(all.Bands, append(schemeEntries("Poisson", "WOR", "WR", "MUST.OW", "MUST.WW"), figure.Band{Name: "paper's pair", Method: styles["no noise"].Dashed(5)})...)
	r.figure("must-composition", 9*vg.Centimeter, []figure.Picture{all, near})
	r.page["recursionRuns"] = recursionRuns
	for _, c := range cs {
		for i, k := range c.k {
			paper := "–"
			if c.paper != nil {
				paper = fmt.Sprintf("%.5g", c.paper[i])
			}
			without := ""
			if c.plain[i] > c.upper[i] {
				without = above(c.plain[i])
			}
			r.page.Add("composition", "| %s | %d | %s | %s | %s | %s |\n", c.name, k, paper, below(c.lower[i]), above(c.upper[i]), without)
		}
	}
}

// A historicRow is what Algorithm 1 and this library say of δ(1) after k steps of
// MUST.OW.
type historicRow struct {
	k                    int64
	lower, centre, upper float64
	pair, attack, proved accountant.Interval
}

// paperPair is the pair that the paper composes for a scheme of fixed size.
func paperPair(s subsample.FixedSize, sigma float64) quotient {
	logW := s.Multiplicity().LogP
	logW = logW[:min(mostParts, len(logW))]
	up, down := make([]float64, len(logW)), make([]float64, len(logW))
	for u := range logW {
		up[u], down[u] = float64(u), -float64(u)
	}
	return quotient{normalMixture{logW, up, sigma}, normalMixture{logW, down, sigma}}
}

// historic runs the paper's Algorithm 1 on a grid of the given size.
func historic(ctx context.Context, steps []int64, grid int) []historicRow {
	ss := schemes(exampleN, exampleB, exampleM)
	g := try.Must(profiles.NewGaussianMechanism(exampleNoise))
	ow := ss[2].s
	h := newAlgorithm1(paperPair(ow, exampleNoise), 10, grid)
	pair := try.Must(ow.PaperPairNotABound(g))
	attack := try.Must(ow.Attack(g))
	proved := try.Must(ow.Apply(g, profiles.Substitute))
	delta := func(m profiles.Bounds, k int64) accountant.Interval { return try.Must(composition(m, k).Delta(ctx, 1)) }
	var rows []historicRow
	for _, k := range steps {
		row := historicRow{k: k, proved: delta(proved, k), pair: delta(profiles.NewBounds("pair", profiles.Substitute, pair), k),
			attack: delta(profiles.NewBounds("attack", profiles.Substitute, attack), k)}
		row.lower, row.centre, row.upper = h.delta(1, int(k))
		rows = append(rows, row)
	}
	return rows
}

func historicTable(r *report) {
	rows := historic(context.Background(), []int64{200, 400, 600, 800, 1000}[:r.pick(5, 1)], r.pick(500_000, 5000))
	p := panel("", "steps k", "δ at ε = 1")
	const floor = 1e-9 // of the picture: the lower end of few points is 0, which no logarithmic axis has
	p.Y = figure.Axis{Label: p.Y.Label, Log: true, Min: floor, Max: 1}
	var k, lo, hi, pair, attack, proved []float64
	for _, row := range rows {
		if !(row.lower > 0) {
			row.lower = floor
		}
		k, lo, hi = append(k, float64(row.k)), append(lo, row.lower), append(hi, row.upper)
		pair, attack, proved = append(pair, row.pair.Estimate), append(attack, row.attack.Lower), append(proved, row.proved.Upper)
	}
	algorithm, truth, dots := styles["WOR"], styles["MUST.OW"].Dashed(0), styles["Poisson"]
	p.Bands = []figure.Band{
		{Name: "Algorithm 1, lower", Method: algorithm, X: k, Proved: lo},
		{Name: "Algorithm 1, upper", Method: algorithm, X: k, Lower: lo, Upper: hi, Proved: hi},
		{Name: "its pair", Method: dots, X: k, Proved: pair},
		{Name: "attack", Method: truth, X: k, Proved: attack},
		{Name: "proved bound", Method: truth, X: k, Lower: attack, Upper: proved, Proved: proved},
		{Name: "Algorithm 1, lower and upper", Method: algorithm},
		{Name: "its pair, certified", Method: dots},
		{Name: "attack and proved bound", Method: truth},
	}
	r.figure("must-figureS2", 9*vg.Centimeter, []figure.Picture{p})
	for _, row := range rows {
		r.page.Add("figureS2", "| %d | %.4g, %.4g, %.4g | [%s, %s] | [%s, %s] | %s |\n", row.k, row.lower, row.centre, row.upper,
			below(row.pair.Lower), above(row.pair.Upper), below(row.attack.Lower), above(row.attack.Upper), above(row.proved.Upper))
	}
}

// A table8Row is the last column of Table 8 for one scheme: δ(2) after 1000 steps as
// the authors' code has it, which reads σm as the noise for clipping norm 1.
type table8Row struct {
	name               string
	noise              float64
	lower, upper, wrap float64
	rounded            float64             // the upper value at the rate 0.01 instead of m/n; 0 where no rate enters
	pair               accountant.Interval // of the paper's pair at that noise
}

// roundedRate is what the authors give their program for m/n = 300/30969 where it takes a rate:
// Poisson sampling and WOR. (WR and the two stages take m, n and b.)
const roundedRate = 0.01

// table8Composition runs Algorithm 1 on the grids of the paper over coarser.
func table8Composition(ctx context.Context, coarser int) []table8Row {
	ss := drawn(incomeN, incomeB, incomeM)
	const rate = float64(incomeM) / incomeN
	var rows []table8Row
	for _, s := range ss {
		row := table8Row{name: s.name, noise: classical(incomeClip/incomeN, baseEpsilon(0.0005, s.eta), 1./incomeN) * incomeM}
		g := try.Must(profiles.NewGaussianMechanism(row.noise))
		closed := map[string]func(q, sigma float64) closedForm{"Poisson": poissonLoss, "WOR": withoutReplacementLoss}[s.name]
		var omega lossDensity
		var acct *accountant.Accountant
		if fixed, ok := subsample.AsFixedSize(s.law); !ok {
			acct = training(ctx, profiles.AddRemove, g, s.law, 1000)
		} else {
			omega = paperPair(fixed, row.noise)
			acct = composition(profiles.NewBounds("paper's pair", profiles.Substitute, try.Must(fixed.PaperPairNotABound(g))), 1000)
		}
		row.pair = try.Must(acct.Delta(ctx, 2))
		grid := 300_000 / coarser
		if s.name == "WR" {
			grid = 200_000 / coarser
		}
		if closed != nil {
			omega = closed(rate, row.noise)
			// The paper has these two values at a rounded rate.
			_, _, row.rounded = newAlgorithm1(closed(roundedRate, row.noise), 6, grid).delta(2, 1000)
		}
		h := newAlgorithm1(omega, 6, grid)
		row.lower, _, row.upper = h.delta(2, 1000)
		row.wrap = h.wrap(1000, forgotten)
		rows = append(rows, row)
	}
	return rows
}

func table8CompositionTable(r *report) {
	rows := table8Composition(context.Background(), r.pick(1, 100))
	for _, row := range rows {
		rounded := "–"
		if row.rounded > 0 {
			rounded = fmt.Sprintf("%.4g", row.rounded)
		}
		r.page.Add("table8", "| %s | %.3f | %.3g, %.4g | %.3g | %s | %s | [%s, %s] |\n", row.name, row.noise, row.lower, row.upper, row.wrap, rounded, printed("8", row.name)[6], below(row.pair.Lower), above(row.pair.Upper))
	}
}

// laplaceTable composes Laplace noise of the same size, for which the paper has no
// pair.
func laplaceTable(r *report) {
	l := try.Must(profiles.NewLaplaceMechanism(4))
	steps := []int64{1, 10, 100, 1000, 10000}[:r.pick(5, 2)]
	for _, row := range compared() {
		for _, k := range steps {
			iv := try.Must(training(context.Background(), row.rel, l, row.s, k).Epsilon(context.Background(), 1e-5))
			r.page.Add("laplace", "| %s | %d | %s | %s |\n", row.name, k, below(iv.Lower), above(iv.Upper))
		}
	}
}
