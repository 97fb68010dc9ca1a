package main

import (
	"context"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dpaccountant/accountant"
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

func (c composed) line(ys []float64) (xy plotter.XYs) {
	for i, y := range ys {
		xy = append(xy, plotter.XY{X: float64(c.k[i]), Y: y})
	}
	return xy
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
	logX(all)
	logY(all)
	near := panel("ε over that of Poisson sampling", "steps k", "ratio of ε")
	logX(near)
	poisson := cs[1]
	ratio := func(c composed, ys []float64) (xy plotter.XYs) {
		for i, y := range ys {
			if c.k[i] <= recursionRuns {
				xy = append(xy, plotter.XY{X: float64(c.k[i]), Y: y / poisson.upper[i]})
			}
		}
		return xy
	}
	dotted := func(s style) draw.LineStyle {
		return draw.LineStyle{Color: s.color, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(1), vg.Points(2)}}
	}
	for _, c := range cs[1:] {
		s := styles[c.name]
		all.band(s.pale(), c.line(c.lower), c.line(c.upper))
		all.line(c.name+", proved upper end", s.line(), c.line(c.upper))
		all.lines = append(all.lines, numbers{name: c.name + ", attack", xy: c.line(c.lower)})
		if c.paper != nil {
			all.line(c.name+", the paper's pair, no bound", dotted(s), c.line(c.paper))
		}
		if c.name == "WOR" || c.name == "WR" {
			near.band(s.pale(), ratio(c, c.lower), ratio(c, c.plain))
		}
	}
	for _, c := range cs[1:4] {
		near.line(c.name, styles[c.name].line(), ratio(c, c.upper))
	}
	near.Y.Min, near.Y.Max = 0.9, 2.4
	legend := append(schemeEntries("Poisson", "WOR", "WR", "MUST.OW", "MUST.WW"), entry{"paper's pair", &plotter.Line{LineStyle: dotted(style{color: color.RGBA{R: 90, G: 90, B: 90, A: 255}})}})
	r.figure("must-composition", legend, [][]*chart{{all, near}}, 9*vg.Centimeter)
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
	logY(p)
	const floor = 1e-9 // of the picture: the lower end of few points is 0, which no logarithmic axis has
	var lo, hi, pair, attack, proved plotter.XYs
	for _, row := range rows {
		at := func(y float64) plotter.XY { return plotter.XY{X: float64(row.k), Y: y} }
		if !(row.lower > 0) {
			row.lower = floor
		}
		lo, hi = append(lo, at(row.lower)), append(hi, at(row.upper))
		pair, attack, proved = append(pair, at(row.pair.Estimate)), append(attack, at(row.attack.Lower)), append(proved, at(row.proved.Upper))
	}
	blue, red := styles["WOR"], styles["MUST.OW"]
	p.band(blue.pale(), lo, hi)
	p.band(red.pale(), attack, proved)
	algorithm := draw.LineStyle{Color: blue.color, Width: vg.Points(1)}
	truth := draw.LineStyle{Color: red.color, Width: vg.Points(1.6)}
	dots := draw.LineStyle{Color: color.Black, Width: vg.Points(1.2), Dashes: []vg.Length{vg.Points(1), vg.Points(2)}}
	for _, l := range []struct {
		name string
		s    draw.LineStyle
		xy   plotter.XYs
	}{{"Algorithm 1, lower", algorithm, lo}, {"Algorithm 1, upper", algorithm, hi}, {"its pair", dots, pair}, {"attack", truth, attack}, {"proved bound", truth, proved}} {
		p.line(l.name, l.s, l.xy)
	}
	p.Y.Min, p.Y.Max = floor, 1
	legend := []entry{{"Algorithm 1, lower and upper", &plotter.Line{LineStyle: algorithm}}, {"its pair, certified", &plotter.Line{LineStyle: dots}}, {"attack and proved bound", &plotter.Line{LineStyle: truth}}}
	r.figure("must-figureS2", legend, [][]*chart{{p}}, 9*vg.Centimeter)
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
