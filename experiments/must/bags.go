// A first stage that is kept: the bag of little bootstraps and the double bootstrap
// release r resamples of each of s subsets (r > 1 in Zhao and Liu's terms, which their
// theorems leave out). What that costs, above and below.

package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/figure"
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
}

// first returns the law of how many slots a record takes in a subset.
func (d keptDesign) first() (subsample.FixedSize, error) {
	if d.again {
		return subsample.NewWithReplacement(d.n, d.b)
	}
	return subsample.NewWithoutReplacement(d.n, d.b)
}

// upper returns ε(δ) of all s·r releases under substitution, proved from above in three steps,
// each the argument of Theorem 5 (docs/theory/must-composition.md):
//
//   - one release of a subset in which u of b slots change has V ~ Bin(m, u/b) copies that
//     change, so δ(log(1 + η(e^ε − 1))) ≤ Σ_v P(V = v) δ_v(ε) with η = P(V ≥ 1);
//   - r of them are composed, the subset given;
//   - the same inequality for the number of slots u, with the composed profile for δ_u;
//
// and s of these are composed.
func (d keptDesign) upper(ctx context.Context, delta float64) (accountant.Interval, error) {
	rare := 1e-4 * delta / float64(d.r*d.s) // what a tail may add in one run
	first, err := d.first()
	if err != nil {
		return accountant.Interval{}, err
	}
	law := first.Multiplicity()
	eta := first.InclusionProbability()
	var weights []float64
	var groups []func(x float64) (float64, error)
	left := eta
	for u := 1; u < len(law.LogP) && left > rare/4; u++ {
		p := math.Exp(law.LogP[u])
		left -= p
		acct, err := d.given(int64(u), rare)
		if err != nil {
			return accountant.Interval{}, err
		}
		weights = append(weights, p)
		groups = append(groups, func(x float64) (float64, error) {
			iv, err := acct.Delta(ctx, x)
			return iv.Upper, err
		})
	}
	whole, err := mixed(weights, max(0, left)+rare/4, eta, rare, groups)
	if err != nil {
		return accountant.Interval{}, err
	}
	acct := accountant.New(profiles.Substitute)
	if err := acct.AddBounds(profiles.NewBounds("kept first stage", profiles.Substitute, whole), d.s); err != nil {
		return accountant.Interval{}, err
	}
	return acct.Epsilon(ctx, delta)
}

// given composes r releases of a subset in which u slots change.
//
// One slot is sampling with replacement from b, for which this library has a tighter bound
// than Theorem 5 (docs/theory/subsampling.md §4).
func (d keptDesign) given(u int64, rare float64) (*accountant.Accountant, error) {
	acct := accountant.New(profiles.Substitute)
	if u == 1 && !d.again {
		s, err := subsample.NewWithReplacement(d.b, d.m)
		if err != nil {
			return nil, err
		}
		g, err := profiles.NewGaussianMechanism(d.noise)
		if err != nil {
			return nil, err
		}
		one, err := s.Apply(g, profiles.Substitute)
		if err != nil {
			return nil, err
		}
		return acct, acct.AddBounds(one, d.r)
	}
	hit := min(1, float64(u)/float64(d.b))
	bin := distuv.Binomial{N: float64(d.m), P: hit}
	var weights []float64
	var copies []func(x float64) (float64, error)
	eta := -math.Expm1(float64(d.m) * math.Log1p(-hit))
	left := eta
	for v := int64(1); v <= d.m && (left > rare/4 || float64(v) < bin.Mean()); v++ {
		p := 1.
		if hit < 1 {
			p = bin.Prob(float64(v))
		} else if v < d.m {
			continue
		}
		if p < rare*1e-6 {
			continue // stays in what is left
		}
		left -= p
		g, err := profiles.NewGaussian(d.noise / float64(2*v))
		if err != nil {
			return nil, err
		}
		weights = append(weights, p)
		copies = append(copies, func(x float64) (float64, error) {
			l, e := profiles.LogDelta(g, x)
			return math.Exp(l + e), nil
		})
	}
	one, err := mixed(weights, max(0, left)+rare/4, eta, rare, copies)
	if err != nil {
		return nil, err
	}
	return acct, acct.AddBounds(profiles.NewBounds("resample", profiles.Substitute, one), d.r)
}

// mixed returns a profile above δ(log(1 + η(e^x − 1))) = Σ weight·δ_i(x) + rest, by chords, up
// to the ε where that falls below rest + rare.
func mixed(weights []float64, rest, eta, rare float64, deltas []func(x float64) (float64, error)) (profiles.Profile, error) {
	at := func(x float64) (float64, error) {
		sum := rest
		for i, w := range weights {
			v, err := deltas[i](x)
			if err != nil {
				return 0, err
			}
			sum += w * min(1, v)
		}
		// Weights, δ and x are good to 1e-10 of themselves.
		return min(1, sum*(1+1e-9)+1e-15), nil
	}
	top := 1e-3
	for {
		v, err := at(top)
		if err != nil {
			return nil, err
		}
		if v <= rest*(1+1e-9)+rare || top > 300 {
			break
		}
		top *= 1.5
	}
	// Points lie densest where most of the loss is, near 0: a chord puts mass at its ends, which
	// costs like its length there. 160 chords of the same length prove 15.6 only for the double
	// bootstrap of the page. They are no shorter than what the error of the values bears.
	const points = 200
	var x, up []float64
	for i := 0; i <= points; i++ {
		share := float64(i) / points
		base := top * share * (0.05 + 0.95*share*share)
		v, err := at(base)
		if err != nil {
			return nil, err
		}
		x, up = append(x, math.Log1p(eta*math.Expm1(base))), append(up, v)
	}
	return profiles.NewChords(x, up, up)
}

// lower returns ε(δ) that an attack reaches: the sum of the r releases of a subset is one release
// of r·m draws from it, with √r times the noise, so all releases tell at least as much as s runs
// of MUST.OW (or WW) with that batch and noise.
func (d keptDesign) lower(ctx context.Context, delta float64) (accountant.Interval, error) {
	two := subsample.NewMustOW
	if d.again {
		two = subsample.NewMustWW
	}
	s, err := two(d.n, d.b, d.r*d.m)
	if err != nil {
		return accountant.Interval{}, err
	}
	g, err := profiles.NewGaussianMechanism(d.noise * math.Sqrt(float64(d.r)))
	if err != nil {
		return accountant.Interval{}, err
	}
	attack, err := s.Attack(g)
	if err != nil {
		return accountant.Interval{}, err
	}
	acct := accountant.New(profiles.Substitute)
	if err := acct.AddBounds(profiles.NewBounds("attack on the sums", profiles.Substitute, attack), d.s); err != nil {
		return accountant.Interval{}, err
	}
	return acct.Epsilon(ctx, delta)
}

// fresh returns what r·s runs of the scheme cost that draw the subset anew each time.
func (d keptDesign) fresh(ctx context.Context) (accountant.Interval, error) {
	two := subsample.NewMustOW
	if d.again {
		two = subsample.NewMustWW
	}
	s, err := two(d.n, d.b, d.m)
	if err != nil {
		return accountant.Interval{}, err
	}
	g, err := profiles.NewGaussianMechanism(d.noise)
	if err != nil {
		return accountant.Interval{}, err
	}
	m, err := s.Apply(g, profiles.Substitute)
	if err != nil {
		return accountant.Interval{}, err
	}
	return epsilon(ctx, m, d.r*d.s)
}

// keptDesigns are the rows of the page.
func keptDesigns() (all []keptDesign) {
	for _, r := range []int64{1, 10, 50} {
		all = append(all, keptDesign{n: 10_000, b: 251, m: 10_000, r: r, s: 20, noise: 300})
	}
	for _, r := range []int64{1, 25} {
		all = append(all, keptDesign{n: 1000, b: 1000, m: 1000, r: r, s: 20, noise: 100, again: true})
	}
	return all
}

// bagsPage writes the page. It is long because most of it is the text of the page.
func bagsPage(r *report) error {
	r.printf(`# A first stage that is kept: little bootstraps and the double bootstrap

Zhao and Liu (arXiv:2312.13389) draw s subsets and r subsamples of each (their Figures 1 and 2), and have theorems for r = 1 only. But r > 1 is what two stages are for: the bag of little bootstraps (Kleiner et al.) resamples each small subset many times to its
variance, the double bootstrap resamples each resample. The r releases of a subset share it: a record is in all of them or in none, and r·s fresh runs are the wrong account. This page is written by

    go run ./experiments/must -pages must-bags -out docs/experiments

**What is proved.** Given a subset in which u of b slots change, one release is Theorem 5 with V ~ Bin(m, u/b) copies; r of these compose as usual; and the whole is again Theorem 5, in which u slots take the place of u copies and the composed profile that of the mechanism:

    δ'(log(1 + η(e^ε − 1))) ≤ Σ_u P(U = u) δ_u(ε),   η = P(U ≥ 1),

because its proof changes slots and does not look at what is released of them ([subsampling.md §2](../theory/subsampling.md)). For subsets without replacement U is 0 or 1, and this is the amplification of the composed mechanism by b/n. s fresh subsets compose.
**What an attack reaches.** The sum of the r releases is one release of MUST with batch r·m and noise √r·σ: its attack is one on all of them.

ε at δ = 1e-5 under substitution, for the sums of m records with norm at most 1 and Gaussian noise σ on each sum. The last column is what r·s runs with *fresh* subsets would cost: taking that for the kept design is **no bound**.

| design | n, b, m | subsets s | resamples r | σ | attack: at least | proved: at most | r·s fresh runs |
|---|---|---|---|---|---|---|---|
`)
	ctx := context.Background()
	p := [2]*chart{panel("little bootstraps, s = 20", "resamples r of a subset", "ε at δ = 1e-5"), panel("double bootstrap, s = 20", "resamples r of a subset", "ε at δ = 1e-5")}
	type curve struct{ low, up, fresh plotter.XYs }
	curves := map[string]*curve{}
	designs := keptDesigns()
	if r.quick {
		designs = designs[:2]
	}
	for _, d := range designs {
		low, err := d.lower(ctx, 1e-5)
		if err != nil {
			return err
		}
		up, err := d.upper(ctx, 1e-5)
		if err != nil {
			return err
		}
		fresh, err := d.fresh(ctx)
		if err != nil {
			return err
		}
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
	r.printf("\nWith one resample of a subset the designs are MUST.OW and MUST.WW. With 50 the little bootstraps at σ = 300 cost seven times what fresh runs would: a subset that holds the record tells of it 50 times. For the double bootstrap the attack and the bound are a factor of 1.6 apart: a record takes a subset's slots 0, 1, 2, … times, the bound pays for each of these by itself at both stages, and the sums are not the best attack. Of that factor 2 %% at most is the grid of the profile (with twice the points 2.8993 is proved).\n\n")
	grey := draw.LineStyle{Color: figure.Palette[3], Width: vg.Points(1), Dashes: []vg.Length{vg.Points(1), vg.Points(2)}}
	keys := slices.Sorted(maps.Keys(curves))
	for _, key := range keys {
		c, i := curves[key], 0
		s := styles["MUST.OW"]
		if strings.HasPrefix(key, "double") {
			i, s = 1, styles["MUST.WW"]
		}
		if err := p[i].band(s.pale(), c.low, c.up); err != nil {
			return err
		}
		p[i].line(key+", proved", s.line(), c.up)
		p[i].line(key+", attack", draw.LineStyle{Color: s.color, Width: vg.Points(1)}, c.low)
		p[i].line(key+", fresh subsets, no bound here", grey, c.fresh)
	}
	for _, c := range p {
		logY(c)
		c.X.Min = 0
		c.Y.Min, c.Y.Max = 0.01, 10
	}
	if err := r.figure("must-bags.png", "Bands reach from the attack (thin) to the bound (thick). Dotted: r·s runs with fresh subsets, which is not what these designs do.",
		append(schemeEntries("MUST.OW", "MUST.WW"), entry{"fresh subsets", &plotter.Line{LineStyle: grey}}), [][]*chart{{p[0], p[1]}}, 9*vg.Centimeter); err != nil {
		return err
	}
	d := designs[min(2, len(designs)-1)]
	truth := 1 / (3 * float64(d.n))
	noise := math.Pow(d.noise/float64(d.m), 2)
	se := (noise + truth) * math.Sqrt(2/float64(d.s*(d.r-1)))
	r.printf(`**What it buys.** Little bootstraps estimate the variance of a statistic. For the mean of %d values uniform on [−1, 1] that is %.2g. With σ = %g, s = %d and r = %d, each mean carries noise of variance %.2g, which can be subtracted as it is known; the standard error of what is left is %.1g. So at ε ≈ 6 the estimate is still
mostly noise. To release a mean and a variance once, with all of the budget, is far better; two stages are no private alternative to it. Use this account where the resamples are released anyway.
`, d.n, truth, d.noise, d.s, d.r, noise, se)
	return nil
}
