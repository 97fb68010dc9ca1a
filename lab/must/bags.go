// A first stage that is kept: the bag of little bootstraps and the double bootstrap
// release r resamples of each of s subsets (r > 1 in Zhao and Liu's terms, which their
// theorems leave out). What that costs, above and below.

package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A keptDesign is s subsets of b slots of n records, drawn without replacement (or with, if again is
// set), and for each of them r resamples of m draws with replacement. Every resample releases a
// sum of contributions of norm at most 1 with Gaussian noise of the given standard deviation.
type keptDesign struct {
	n, b, m, r, s int64
	again         bool
	noise         float64
	points        int // of a table of δ: more prove a little less ε
}

// first returns the law of how many slots a record takes in a subset.
func (d keptDesign) first() subsample.FixedSize {
	if d.again {
		return try.Must(subsample.NewWithReplacement(d.n, d.b))
	}
	return try.Must(subsample.NewWithoutReplacement(d.n, d.b))
}

// upper returns ε(δ) of all s·r releases under substitution, proved from above in three steps:
//
//   - one release of a subset in which u of b slots change is sampling with replacement at the
//     rate u/b, for which this library has a bound at every threshold;
//   - r of them are composed, the subset given;
//   - how many slots change is the law of the first stage, and the profile of that mixture is at most
//     Σ π_u h_u(α_u) where α_u ≥ α and Σ π_u(α_u − α) = (α − 1)π_0 (docs/theory/subsampling.md §6, whose
//     proof does not look at what is released of the slots);
//
// and s of these are composed.
func (d keptDesign) upper(ctx context.Context, delta float64) accountant.Interval {
	rare := 1e-4 * delta / float64(d.r*d.s) // what a tail may add in one run
	first := d.first()
	law := first.Multiplicity()
	m := slotMixture{none: 1 - first.InclusionProbability(), rest: first.InclusionProbability()}
	for u := 1; u < len(law.LogP) && m.rest > rare/4; u++ {
		p := math.Exp(law.LogP[u])
		m.rest = max(0, m.rest-p)
		h := d.given(ctx, int64(u), rare)
		m.add(p, h)
	}
	m.rest += rare / 4
	whole := m.profile(rare)
	return epsilonAt(ctx, delta, profiles.NewBounds("kept first stage", profiles.Substitute, whole), d.s)
}

// A profileTable is δ at thresholds α = e^ε that ascend from 1: chords between them are above the profile, and the
// last value is above what follows.
type profileTable struct{ alpha, delta []float64 }

func (h profileTable) at(alpha float64) float64 {
	i := sort.SearchFloat64s(h.alpha, alpha)
	if i == len(h.alpha) {
		return h.delta[i-1]
	}
	if i == 0 {
		return h.delta[0]
	}
	share := (alpha - h.alpha[i-1]) / (h.alpha[i] - h.alpha[i-1])
	return (1-share)*h.delta[i-1] + share*h.delta[i]
}

// given bounds r releases of a subset in which u slots change. A draw hits one of them with
// probability u/b, and one of ⌊b/u⌋ records no less often. The bound of docs/theory/subsampling.md
// §4 for that larger rate covers the smaller one: drop each position of the sample from both of the
// nested sets that its coupling makes by the same coin. They stay nested, at the rate u/b, and
// nothing grows: a sample with a copies is as far as 2a at most from what it is compared with.
func (d keptDesign) given(ctx context.Context, u int64, rare float64) profileTable {
	var h profileTable
	s := try.Must(subsample.NewWithReplacement(max(1, d.b/u), d.m))
	g := try.Must(profiles.NewGaussianMechanism(d.noise))
	one := try.Must(s.Apply(g, profiles.Substitute))
	// Points so close together are what lattices are quick at.
	acct := accountant.New(profiles.Substitute, accountant.WithTransform(fourier.Gonum))
	try.Check(acct.AddBounds(one, d.r))
	top := try.Must(acct.Epsilon(ctx, rare/4))
	// Points lie densest near 0, where most of the loss is: a chord costs like its length there. Many slots
	// change rarely.
	points := max(10, d.points/int(u))
	var x, up []float64
	for i := range points + 1 {
		share := float64(i) / float64(points)
		x = append(x, top.Upper*share*(0.1+0.9*share*share))
		iv := try.Must(acct.Delta(ctx, x[i]))
		up = append(up, iv.Upper)
	}
	for _, i := range xmath.LowerHull(x, up) { // above what is convex and at most up
		h.alpha, h.delta = append(h.alpha, math.Exp(x[i])), append(h.delta, up[i])
	}
	return h
}

// A slotMixture is the profile of a subset whose changed slots are random: of none with
// probability none, of u with probability weights[u−1], and of more with probability rest.
type slotMixture struct {
	none, rest float64
	weights    []float64
	tables     []profileTable
	pieces     []piece
}

// A piece is a chord of a table, from one threshold to the next.
type piece struct {
	table           int
	from, to, slope float64 // δ falls by slope per unit of α
}

func (m *slotMixture) add(weight float64, h profileTable) {
	for i := range h.alpha[1:] {
		m.pieces = append(m.pieces, piece{len(m.tables), h.alpha[i], h.alpha[i+1], (h.delta[i] - h.delta[i+1]) / (h.alpha[i+1] - h.alpha[i])})
	}
	slices.SortFunc(m.pieces, func(a, b piece) int { return cmp.Compare(b.slope, a.slope) })
	m.weights, m.tables = append(m.weights, weight), append(m.tables, h)
}

// at returns a bound of δ at α: the steepest pieces get the mass (α − 1)π_0 first, which is the
// best there is, the tables being convex. Any α_u that keep to it would do.
func (m *slotMixture) at(alpha float64) float64 {
	at := make([]float64, len(m.tables))
	for u := range at {
		at[u] = alpha
	}
	left := (alpha - 1) * m.none * (1 - 1e-12)
	for _, p := range m.pieces {
		if from := at[p.table]; p.from <= from && from < p.to {
			step := min(p.to-from, left/m.weights[p.table])
			at[p.table] = from + step
			left -= step * m.weights[p.table]
		}
	}
	sum := m.rest
	for u, h := range m.tables {
		sum += m.weights[u] * min(1, h.at(at[u]))
	}
	// Weights, δ and α are good to 1e-10 of themselves.
	return min(1, sum*(1+1e-9)+1e-15)
}

// profile returns a profile above the mixture, by chords, up to the ε where that falls below rest + rare.
func (m *slotMixture) profile(rare float64) profiles.Profile {
	top := 1e-3
	for m.at(math.Exp(top)) > m.rest*(1+1e-9)+rare && top < 300 {
		top *= 1.1
	}
	const points = 400
	var x, up []float64
	for i := range points + 1 {
		share := float64(i) / points
		x = append(x, top*share*(0.05+0.95*share*share))
		up = append(up, m.at(math.Exp(x[i])))
	}
	return try.Must(profiles.NewChords(x, up, up))
}

// lower returns ε(δ) that an attack reaches: the sum of the r releases of a subset is one release
// of r·m draws from it, with √r times the noise, so all releases tell at least as much as s runs
// of MUST.OW (or WW) with that batch and noise.
func (d keptDesign) lower(ctx context.Context, delta float64) accountant.Interval {
	two := subsample.NewMustOW
	if d.again {
		two = subsample.NewMustWW
	}
	s := try.Must(two(d.n, d.b, d.r*d.m))
	g := try.Must(profiles.NewGaussianMechanism(d.noise * math.Sqrt(float64(d.r))))
	attack := try.Must(s.Attack(g))
	return epsilonAt(ctx, delta, profiles.NewBounds("attack on the sums", profiles.Substitute, attack), d.s)
}

// fresh returns what r·s runs of the scheme cost that draw the subset anew each time.
func (d keptDesign) fresh(ctx context.Context) accountant.Interval {
	two := subsample.NewMustOW
	if d.again {
		two = subsample.NewMustWW
	}
	s := try.Must(two(d.n, d.b, d.m))
	g := try.Must(profiles.NewGaussianMechanism(d.noise))
	m := try.Must(s.Apply(g, profiles.Substitute))
	return epsilon(ctx, m, d.r*d.s)
}

// keptDesigns are the rows of the page.
func keptDesigns() (all []keptDesign) {
	for _, r := range []int64{1, 10, 50} {
		all = append(all, keptDesign{n: 10_000, b: 251, m: 10_000, r: r, s: 20, noise: 300, points: 200})
	}
	for _, r := range []int64{1, 25} {
		all = append(all, keptDesign{n: 1000, b: 1000, m: 1000, r: r, s: 20, noise: 100, again: true, points: 200})
	}
	return all
}

// bagsPage writes the page. It is long because most of it is the text of the page.
func bagsPage(r *report) {
	r.printf(`# A first stage that is kept: little bootstraps and the double bootstrap

Zhao and Liu (arXiv:2312.13389) draw s subsets and r subsamples of each, and have theorems for r = 1 only. The bag of little bootstraps and the double bootstrap need r > 1. The r releases of a subset share it, so r·s fresh runs are the wrong account. This page is written by

    go run ./lab/must -pages must-bags -out docs/experiments

**What is proved.** Given a subset in which u of b slots change, one release is sampling with replacement at the rate u/b, whose bound holds at every threshold ([subsampling.md §4](../theory/subsampling.md)); r of these compose to h_u; and of the subset's law π

    δ'(α) ≤ Σ_u π_u h_u(α_u)   for   α_u ≥ α = e^ε,   Σ_u π_u (α_u − α) = (α − 1)π_0,

which is §6 of that page: its proof changes slots and does not look at what is released of them. The best α_u are taken. For subsets without replacement u is 0 or 1, and this is the amplification of the composed mechanism by b/n. s fresh subsets compose.
**What an attack reaches.** The sum of the r releases is one release of MUST with batch r·m and noise √r·σ: its attack is one on all of them.

ε at δ = 1e-5 under substitution, for the sums of m records with norm at most 1 and Gaussian noise σ on each sum. The last column is what r·s runs with *fresh* subsets would cost: taking that for the kept design is **no bound**.

| design | n, b, m | subsets s | resamples r | σ | attack: at least | proved: at most | r·s fresh runs |
|---|---|---|---|---|---|---|---|
`)
	ctx := context.Background()
	p := [2]*chart{panel("little bootstraps, s = 20", "resamples r of a subset", "ε at δ = 1e-5"), panel("double bootstrap, s = 20", "resamples r of a subset", "ε at δ = 1e-5")}
	type curve struct{ low, up, fresh plotter.XYs }
	curves := map[string]*curve{}
	designs, apart := keptDesigns(), 0.
	if r.quick {
		designs = designs[:2]
	}
	for _, d := range designs {
		low := d.lower(ctx, 1e-5)
		up := d.upper(ctx, 1e-5)
		fresh := d.fresh(ctx)
		apart = max(apart, up.Upper/low.Lower-1)
		name := "little bootstraps"
		if d.again {
			name = "double bootstrap"
		}
		r.printf("| %s | %d, %d, %d | %d | %d | %g | %s | %s | [%s, %s] |\n", name, d.n, d.b, d.m, d.s, d.r, d.noise, below(low.Lower), above(up.Upper), below(fresh.Lower), above(fresh.Upper))
		key := fmt.Sprintf("%s, σ = %g", name, d.noise)
		if curves[key] == nil {
			curves[key] = &curve{}
		}
		c := curves[key]
		at := func(y float64) plotter.XY { return plotter.XY{X: float64(d.r), Y: y} }
		c.low, c.up, c.fresh = append(c.low, at(low.Lower)), append(c.up, at(up.Upper)), append(c.fresh, at(fresh.Upper))
	}
	r.printf("\nWith one resample of a subset the designs are MUST.OW and MUST.WW. With 50 the little bootstraps at σ = 300 cost seven times what fresh runs would: a subset that holds the record tells of it 50 times. The attack and the bound are at most %.1f %% apart: there is little that the sums do not say.\n\n", 100*apart)
	grey := draw.LineStyle{Color: figure.Palette[3], Width: vg.Points(1), Dashes: []vg.Length{vg.Points(1), vg.Points(2)}}
	keys := slices.Sorted(maps.Keys(curves))
	for _, key := range keys {
		c, i := curves[key], 0
		s := styles["MUST.OW"]
		if strings.HasPrefix(key, "double") {
			i, s = 1, styles["MUST.WW"]
		}
		p[i].band(s.pale(), c.low, c.up)
		p[i].line(key+", proved", s.line(), c.up)
		p[i].line(key+", attack", draw.LineStyle{Color: s.color, Width: vg.Points(1)}, c.low)
		p[i].line(key+", fresh subsets, no bound here", grey, c.fresh)
	}
	for _, c := range p {
		logY(c)
		c.X.Min = 0
		c.Y.Min, c.Y.Max = 0.01, 10
	}
	r.figure("must-bags.png", "Bands reach from the attack (thin) to the bound (thick). Dotted: r·s runs with fresh subsets, which is not what these designs do.",
		append(schemeEntries("MUST.OW", "MUST.WW"), entry{"fresh subsets", &plotter.Line{LineStyle: grey}}), [][]*chart{{p[0], p[1]}}, 9*vg.Centimeter)
	d := designs[min(2, len(designs)-1)]
	truth := 1 / (3 * float64(d.n))
	noise := math.Pow(d.noise/float64(d.m), 2)
	se := (noise + truth) * math.Sqrt(2/float64(d.s*(d.r-1)))
	r.printf(`**What it buys.** Little bootstraps estimate the variance of a statistic. For the mean of %d values uniform on [−1, 1] that is %.2g. With σ = %g, s = %d and r = %d, each mean carries noise of variance %.2g, which can be subtracted as it is known; the standard error of what is left is %.1g. So at ε ≈ 6 the estimate is still
mostly noise. To release a mean and a variance once, with all of the budget, is far better; two stages are no private alternative to it. Use this account where the resamples are released anyway.
`, d.n, truth, d.noise, d.s, d.r, noise, se)
}
