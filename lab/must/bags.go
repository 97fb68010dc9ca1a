// A first stage that is kept: the bag of little bootstraps and the double bootstrap
// release r resamples of each of s subsets (r > 1 in Zhao and Liu's terms, which their
// theorems leave out). What that costs, above and below.

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
	"github.com/dpaccountant/accountant/subsample/allocation"
)

// A keptDesign is s subsets of b slots of n records, drawn without replacement (or with, if again is
// set), and for each of them r resamples of m draws with replacement. Every resample releases a
// sum of contributions of norm at most 1 with Gaussian noise of the given standard deviation.
type keptDesign struct {
	n, b, m, r, s int64
	again         bool
	noise         float64
}

// kept returns ε(δ) of all s·r releases under substitution.
func (d keptDesign) kept(ctx context.Context, delta float64) accountant.Interval {
	return d.cost(ctx, delta, try.Must(allocation.NewResampled(d.stages(), d.r)), d.s)
}

// fresh returns what r·s runs of the scheme cost that draw the subset anew each time.
func (d keptDesign) fresh(ctx context.Context) accountant.Interval {
	return d.cost(ctx, 1e-5, d.stages(), d.r*d.s)
}

func (d keptDesign) stages() subsample.FixedSize {
	if d.again {
		return try.Must(subsample.NewMustWW(d.n, d.b, d.m))
	}
	return try.Must(subsample.NewMustOW(d.n, d.b, d.m))
}

func (d keptDesign) cost(ctx context.Context, delta float64, s subsample.Scheme, runs int64) accountant.Interval {
	return try.Must(training(ctx, profiles.Substitute, try.Must(profiles.NewGaussianMechanism(d.noise)), s, runs).Epsilon(ctx, delta))
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

// bagsPage compares kept first stages with fresh ones.
func bagsPage(r *report) {
	ctx := context.Background()
	p := []figure.Picture{panel("little bootstraps, s = 20", "resamples r of a subset", "ε at δ = 1e-5"), panel("double bootstrap, s = 20", "resamples r of a subset", "ε at δ = 1e-5")}
	designs, apart := keptDesigns()[:r.pick(5, 2)], 0.
	for _, d := range designs {
		kept := d.kept(ctx, 1e-5)
		fresh := d.fresh(ctx)
		apart = max(apart, kept.Upper/kept.Lower-1)
		name, at, style := "little bootstraps", &p[0], styles["MUST.OW"]
		if d.again {
			name, at, style = "double bootstrap", &p[1], styles["MUST.WW"]
		}
		r.page.Add("bags", "| %s | %d, %d, %d | %d | %d | %g | %s | %s | [%s, %s] |\n", name, d.n, d.b, d.m, d.s, d.r, d.noise, below(kept.Lower), above(kept.Upper), below(fresh.Lower), above(fresh.Upper))
		if at.Bands == nil {
			key := fmt.Sprintf("%s, σ = %g", name, d.noise)
			at.Bands = []figure.Band{{Name: key + ", proved", Method: style}, {Name: key + ", attack", Method: style}, {Name: key + ", fresh subsets, no bound here", Method: styles["Poisson"]}}
		}
		b, x := at.Bands, float64(d.r)
		b[0].Add(x, kept.Upper)
		b[0].Lower, b[0].Upper = append(b[0].Lower, kept.Lower), append(b[0].Upper, kept.Upper)
		b[1].Add(x, kept.Lower)
		b[2].Add(x, fresh.Upper)
	}
	for i, name := range []string{"MUST.OW", "MUST.WW"} {
		p[i].Y = figure.Axis{Label: p[i].Y.Label, Log: true, Min: 0.01, Max: 10}
		p[i].X.Max = 52
		p[i].Bands = append(p[i].Bands, append(schemeEntries(name), figure.Band{Name: "fresh subsets", Method: styles["Poisson"]})...)
	}
	r.figure("must-bags", 9*vg.Centimeter, p)
	d := designs[min(2, len(designs)-1)]
	truth := 1 / (3 * float64(d.n))
	noise := math.Pow(d.noise/float64(d.m), 2)
	se := (noise + truth) * math.Sqrt(2/float64(d.s*(d.r-1)))
	r.page["apart"] = 100 * apart
	r.page["records"], r.page["variance"], r.page["sigma"], r.page["subsets"], r.page["resamples"] = d.n, truth, d.noise, d.s, d.r
	r.page["noise"], r.page["se"] = noise, se
}
