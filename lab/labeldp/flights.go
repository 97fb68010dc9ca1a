package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/labeldp"
)

// This file is the experiment on real data: delays of flights, predicted from the hour of
// the departure and the distance, which are public. Delays are the labels, clipped to whole
// minutes in [−20, 100]. The model is linear in indicators of hours and distances, fitted by
// least squares, so that nothing but the labels is random.

const (
	flightsFile       = "flights-200k.json"
	shortest, longest = -20, 100 // minutes
	hours, stretches  = 24, 10   // of 250 miles
	parameters        = hours + stretches - 1
	dayparts          = 6 // of four hours: the groups
)

type flight struct {
	Delay    float64 `json:"delay"`
	Distance float64 `json:"distance"`
	Time     float64 `json:"time"` // hours
}

// A split is one part of the flights, with what a least-squares fit needs of it.
type split struct {
	hour, stretch []int // per flight
	y             []float64
	index         []int // of the label
	xx            *mat.SymDense
	xy            *mat.VecDense
	yy            float64
}

func readFlights(folder string) (fs []flight, hash string) {
	data := try.Must(os.ReadFile(filepath.Join(folder, flightsFile)))
	try.Check(json.Unmarshal(data, &fs))
	for i, f := range fs {
		if !(f.Time >= 0 && f.Time < 24 && f.Distance >= 0) || f.Delay != math.Trunc(f.Delay) {
			try.Check(fmt.Errorf("%s: row %d, %+v, is no flight", flightsFile, i, f))
		}
	}
	if len(fs) < 1000 {
		try.Check(fmt.Errorf("%s: %d flights are not at least 1000", flightsFile, len(fs)))
	}
	return fs, fmt.Sprintf("%x", sha256.Sum256(data))
}

// splitFlights shuffles and takes four fifths to train.
func splitFlights(fs []flight) (train, test *split) {
	rng := rand.New(rand.NewPCG(2312, 5659))
	order := rng.Perm(len(fs))
	parts := [2]*split{{}, {}}
	for i, j := range order {
		s := parts[0]
		if i >= len(fs)*4/5 {
			s = parts[1]
		}
		f := fs[j]
		y := min(max(f.Delay, shortest), longest)
		s.hour = append(s.hour, int(f.Time))
		s.stretch = append(s.stretch, min(int(f.Distance/250), stretches-1))
		s.y, s.index = append(s.y, y), append(s.index, int(y)-shortest)
	}
	for _, s := range parts {
		s.xx = mat.NewSymDense(parameters, nil)
		for i := range s.y {
			at := s.columns(i)
			for _, a := range at {
				for _, b := range at {
					if a <= b {
						s.xx.SetSym(a, b, s.xx.At(a, b)+1)
					}
				}
			}
			s.yy += s.y[i] * s.y[i]
		}
		s.xy = s.moment(s.y)
	}
	return parts[0], parts[1]
}

// columns are the indicators of flight i that are 1: its hour, and its distance unless it
// is of the shortest.
func (s *split) columns(i int) []int {
	if s.stretch[i] == 0 {
		return []int{s.hour[i]}
	}
	return []int{s.hour[i], hours + s.stretch[i] - 1}
}

// moment returns Σ y x.
func (s *split) moment(y []float64) *mat.VecDense {
	v := mat.NewVecDense(parameters, nil)
	for i, z := range y {
		for _, a := range s.columns(i) {
			v.SetVec(a, v.AtVec(a)+z)
		}
	}
	return v
}

// solver is the inverse of the training moments with a ridge of one flight.
func (s *split) solver() *mat.Cholesky {
	m := mat.NewSymDense(parameters, nil)
	m.CopySym(s.xx)
	for a := range parameters {
		m.SetSym(a, a, m.At(a, a)+1)
	}
	var c mat.Cholesky
	if !c.Factorize(m) {
		try.Check(fmt.Errorf("flights: the features are degenerate"))
	}
	return &c
}

// mse returns the mean squared error of weights.
func (s *split) mse(w *mat.VecDense) float64 {
	var xw mat.VecDense
	xw.MulVec(s.xx, w)
	return (s.yy - 2*mat.Dot(w, s.xy) + mat.Dot(w, &xw)) / float64(len(s.y))
}

func (s *split) daypart(i int) int { return s.hour[i] * dayparts / hours }

// counts returns how often each label is in each of so many groups.
func (s *split) counts(groups int, of func(i int) int) [][]int64 {
	out := make([][]int64, groups)
	for g := range out {
		out[g] = make([]int64, longest-shortest+1)
	}
	for i, j := range s.index {
		out[of(i)][j]++
	}
	return out
}

var flightMethods = []string{"optimal-unbiased", "optimal-by-group", "two-point", "debiased-rr", "laplace", "staircase",
	"clipped-laplace", "randomized-response", "rr-on-bins", "rp-with-prior"}

// trial makes the labels of all methods private once, and fits. The budget of each is eps.
func trial(train, test *split, solve *mat.Cholesky, clean, eps float64, src rand.Source, tell func(name string, label, excess float64, noisy []float64)) {
	ctx := context.Background()
	labels := ints(shortest, longest)
	counts, byGroup := train.counts(1, func(int) int { return 0 }), train.counts(dayparts, train.daypart)
	plan := labeldp.Plan{Labels: labels, Epsilon: eps, Floor: 1e-3}
	all, _, priors, _, err := plan.Design(ctx, counts, src)
	try.Check(err)
	groups, _, _, _, err := plan.Design(ctx, byGroup, src)
	try.Check(err)
	opt, prior := all[0], priors[0]
	add := func(n labeldp.Noise) labeldp.Method { return try.Must(labeldp.NewAdditive(labels, eps, n)) }
	// Methods that know no prior have all of the budget.
	methods := map[string]labeldp.Method{"optimal-unbiased": opt, "two-point": try.Must(labeldp.TwoPoint(labels, eps)),
		"debiased-rr": try.Must(labeldp.DebiasedRR(labels, eps)), "laplace": add(labeldp.Noise{}), "staircase": add(labeldp.Noise{Staircase: true}),
		"clipped-laplace": add(labeldp.Noise{Clipped: true}), "randomized-response": try.Must(labeldp.RandomizedResponse(labels, eps)),
		"rr-on-bins": try.Must(labeldp.RROnBins(prior, opt.Epsilon())), "rp-with-prior": try.Must(labeldp.RPWithPrior(prior, opt.Epsilon(), 0))}
	noisy := make([]float64, len(train.y))
	for _, name := range flightMethods {
		for i, y := range train.y {
			m := methods[name]
			if name == "optimal-by-group" {
				m = groups[train.daypart(i)]
			}
			noisy[i] = drawn(m, y, train.index[i], src)
		}
		var w mat.VecDense
		try.Check(solve.SolveVecTo(&w, train.moment(noisy)))
		tell(name, halfLoss(noisy, train.y), test.mse(&w)-clean, noisy)
	}
}

//go:embed flights.tmpl
var flightsText string

// flightsPage writes labeldp-flights.md and its pictures.
func flightsPage(dir, folder string, seeds int) {
	fs, hash := readFlights(folder)
	train, test := splitFlights(fs)
	solve := train.solver()
	var w mat.VecDense
	try.Check(solve.SolveVecTo(&w, train.xy))
	clean := test.mse(&w)
	mean := stat.Mean(test.y, nil)
	r := &report{plots.Values{"file": flightsFile, "hash": hash[:16], "flights": len(fs), "train": len(train.y), "test": len(test.y), "shortest": shortest, "longest": longest,
		"labels": longest - shortest + 1, "hours": hours, "stretches": stretches, "parameters": parameters, "ofMean": test.yy/float64(len(test.y)) - mean*mean, "clean": clean,
		"seeds": seeds, "groupSeeds": min(seeds, 3)}, dir}
	for _, section := range []func(*report, *split, *split, *mat.Cholesky, float64, int){flightLosses, flightOutputs, flightGroups, flightSGD} {
		section(r, train, test, solve, clean, seeds)
	}
	plots.WritePage(dir, "labeldp-flights", r.Page(flightsText))
}

// flightLosses is the analogue of Figures 4 and 5.
func flightLosses(r *report, train, test *split, solve *mat.Cholesky, clean float64, seeds int) {
	budgets := []float64{0.5, 1, 2, 4, 8}
	all := compare(len(budgets), seeds, func(e, seed int, tell func(string, float64, float64)) {
		trial(train, test, solve, clean, budgets[e], random.Seeded(uint64(1000*e+seed)), func(name string, label, excess float64, _ []float64) {
			tell(name, label, excess)
		})
	})
	var csv bytes.Buffer
	csv.WriteString("method,epsilon,half_loss,half_loss_se,excess_mse,excess_mse_se\n")
	var excess, losses []curve
	for _, m := range all {
		row, loss := []string{m.name}, []string{m.name}
		mse, half := curve{name: m.name}, curve{name: m.name}
		for e, c := range m.by {
			l, lse := plots.Mean(c[0])
			x, xse := plots.Mean(c[1])
			row, loss = append(row, fmt.Sprintf("%.3g ± %.2g", x, xse)), append(loss, fmt.Sprintf("%.4g", l))
			fmt.Fprintf(&csv, "%s,%v,%.9g,%.3g,%.9g,%.3g\n", m.name, budgets[e], l, lse, x, xse)
			mse.ys, mse.bars, half.ys = append(mse.ys, x), append(mse.bars, xse), append(half.ys, l)
		}
		excess, losses = append(excess, mse), append(losses, half)
		r.row("excess", row...)
		r.row("losses", loss...)
	}
	off := func(name string) float64 {
		return excess[slices.Index(flightMethods, name)].ys[slices.Index(budgets, 1)]
	}
	r.Values["offBins"], r.Values["offOptimum"], r.Values["offLaplace"] = off("rr-on-bins"), off("optimal-unbiased"), off("laplace")
	try.Check(os.WriteFile(filepath.Join(r.dir, "labeldp-flights.csv"), csv.Bytes(), 0o644))
	r.save("labeldp-flights", figure.Picture{ // with room for the legend
		Title: "Excess test MSE, delays of flights", LegendUp: true, Bands: bands(true, budgets, excess),
		X: figure.Axis{Label: "ε", Log: true, At: budgets, Min: 0.4, Max: 30}, Y: figure.Axis{Label: "MSE above that of clean labels", Log: true},
	})
	r.drawLosses("labeldp-flights-loss", "delays of flights", budgets, losses)
}

// flightOutputs is the analogue of Figure 3.
func flightOutputs(r *report, train, test *split, solve *mat.Cholesky, clean float64, _ int) {
	const eps = 4
	at := []float64{0, 1, 5, 25, 50, 75, 95, 99, 100}
	qs := ints(0, 100)
	quantiles := func(v []float64) []float64 {
		s := slices.Sorted(slices.Values(v))
		out := make([]float64, len(qs))
		for i, q := range qs {
			out[i] = s[min(int(q/100*float64(len(s))), len(s)-1)]
		}
		return out
	}
	pic := figure.Picture{Title: "Noisy labels, ε = 4", X: figure.Axis{Label: "minutes", Min: -150, Max: 350}, Y: figure.Axis{Label: "share of the labels below, %"}}
	var curves []curve
	add := func(name string, labels []float64, mse float64, values int) {
		c := curve{name: name, ys: quantiles(labels)}
		curves = append(curves, c)
		if name != "debiased-rr" { // beyond the picture
			pic.Bands = append(pic.Bands, figure.Band{Name: name, Method: style(name), X: c.ys, Proved: qs})
		}
		row := []string{name}
		for _, q := range at {
			row = append(row, fmt.Sprintf("%.4g", c.ys[int(q)]))
		}
		many := fmt.Sprint(values)
		if values > 1000 {
			many = "continuous"
		}
		r.row("quantiles", append(row, fmt.Sprintf("%.4g", mse), many)...)
	}
	add("clean labels", train.y, 0, longest-shortest+1)
	trial(train, test, solve, clean, eps, random.Seeded(3), func(name string, label, _ float64, noisy []float64) {
		distinct := map[float64]bool{}
		for _, v := range noisy {
			distinct[v] = true
		}
		add(name, noisy, 2*label, len(distinct))
	})
	r.draw("labeldp-flights-outputs", pic, "percent", qs, curves)
}

// flightGroups shows what a prior for each group gains where priors are known, and where
// they are estimated.
func flightGroups(r *report, train, _ *split, _ *mat.Cholesky, _ float64, seeds int) {
	ctx := context.Background()
	groupings := []struct {
		name  string
		count int
		of    func(i int) int
	}{
		{"one prior", 1, func(int) int { return 0 }},
		{"six parts of the day", dayparts, train.daypart},
		{"parts of the day and three distances", 3 * dayparts, func(i int) int { return train.daypart(i)*3 + min(train.stretch[i]/2, 2) }},
	}
	for _, g := range groupings {
		row := []string{g.name}
		counts, shares, priors := train.counts(g.count, g.of), make([]float64, g.count), make([]labeldp.Prior, g.count)
		for k, ns := range counts {
			w := make([]float64, len(ns))
			for j, n := range ns {
				w[j] = float64(n)
			}
			shares[k] = floats.Sum(w) / float64(len(train.y))
			priors[k] = try.Must(labeldp.NewPrior(ints(shortest, longest), w))
		}
		for _, eps := range []float64{1, 4} {
			known := 0.0
			for k, p := range priors {
				_, cert := try.Must2(labeldp.OptimalUnbiased(ctx, p, eps))
				known += shares[k] * cert.Primal
			}
			estimated := 0.0
			for seed := range min(seeds, 3) {
				plan := labeldp.Plan{Labels: ints(shortest, longest), Epsilon: eps, Floor: 1e-3}
				rs, _, _, _, err := plan.Design(ctx, counts, random.Seeded(uint64(77+seed)))
				try.Check(err)
				for k, m := range rs {
					loss := try.Must(labeldp.HalfLoss(m, priors[k]))
					estimated += shares[k] * loss / float64(min(seeds, 3))
				}
			}
			row = append(row, fmt.Sprintf("%.2f", known), fmt.Sprintf("%.2f", estimated))
		}
		r.row("groups", row...)
	}
	synthetic(r)
}

// synthetic is what groups gain where their labels do differ.
func synthetic(r *report) {
	labels := ints(0, 60)
	all := make([]float64, len(labels))
	var priors []labeldp.Prior
	for _, c := range []float64{10, 30, 50} {
		w := make([]float64, len(labels))
		for i, y := range labels {
			w[i] = math.Exp(-math.Abs(y-c) / 3)
		}
		p := try.Must(labeldp.NewPrior(labels, w))
		for i, x := range p.Probs() {
			all[i] += x
		}
		priors = append(priors, p)
	}
	for _, eps := range []float64{1, 2, 4, 6} {
		_, one := try.Must2(labeldp.OptimalUnbiased(context.Background(), try.Must(labeldp.NewPrior(labels, all)), eps))
		sum := 0.0
		for _, p := range priors {
			_, c := try.Must2(labeldp.OptimalUnbiased(context.Background(), p, eps))
			sum += c.Primal / float64(len(priors))
		}
		r.row("synthetic", fmt.Sprint(eps), num(one.Primal), num(sum), fmt.Sprintf("%.0f %%", 100*(1-sum/one.Primal)))
	}
}

// flightSGD is Appendix D on this data: stochastic gradients of noisy labels, whose bias
// no number of steps removes.
func flightSGD(r *report, train, test *split, solve *mat.Cholesky, clean float64, _ int) {
	const eps, batch, runs = 2, 64, 5
	checkpoints := []float64{300, 1000, 3000, 10000, 30000}
	names := []string{"clean labels", "optimal-unbiased", "two-point", "laplace", "clipped-laplace", "rr-on-bins", "rp-with-prior"}
	excess := map[string][][]float64{}
	for _, n := range names {
		excess[n] = make([][]float64, len(checkpoints))
	}
	// The bias of a gradient is E[b(y) x], whatever the weights.
	bias, spread := map[string][]float64{}, map[string]float64{}
	for run := range runs {
		src := random.Seeded(uint64(500 + run))
		noisy := map[string][]float64{"clean labels": train.y}
		trial(train, test, solve, clean, eps, src, func(name string, _, _ float64, v []float64) {
			if slices.Contains(names, name) {
				noisy[name] = slices.Clone(v)
			}
		})
		for _, name := range names {
			rng := rand.New(random.Seeded(uint64(900 + run)))
			for c, x := range descend(train, test, noisy[name], batch, checkpoints, rng) {
				excess[name][c] = append(excess[name][c], x-clean)
			}
			d := floats.SubTo(make([]float64, len(train.y)), noisy[name], train.y)
			square := 0.0
			for i, x := range d {
				square += x * x * float64(len(train.columns(i)))
			}
			g := train.moment(d)
			bias[name] = append(bias[name], mat.Norm(g, 2)/float64(len(d)))
			spread[name] += math.Sqrt(square/float64(len(d))/batch) / runs
		}
	}
	r.Values["batch"], r.Values["gradientRuns"] = batch, runs
	var curves []curve
	for _, name := range names {
		a, _ := plots.Mean(bias[name])
		row := []string{name, fmt.Sprintf("%.3g", a), fmt.Sprintf("%.3g", spread[name])}
		c := curve{name: name}
		for _, xs := range excess[name] {
			m, se := plots.Mean(xs)
			row, c.ys = append(row, fmt.Sprintf("%.3g ± %.2g", m, se)), append(c.ys, m)
		}
		r.row("gradients", row...)
		curves = append(curves, c)
	}
	r.draw("labeldp-flights-sgd", figure.Picture{
		Title: "Stochastic gradients, delays of flights, ε = 2", X: figure.Axis{Label: "steps", Log: true, Min: 250, Max: 3e5}, Y: figure.Axis{Label: "MSE above that of clean labels", Log: true},
	}, "steps", checkpoints, curves)
}

// descend runs stochastic gradient descent with averaging and returns the test MSE of the
// averaged weights after so many steps.
func descend(train, test *split, y []float64, batch int, checkpoints []float64, rng *rand.Rand) []float64 {
	w, sum := mat.NewVecDense(parameters, nil), mat.NewVecDense(parameters, nil)
	g := make([]float64, parameters)
	var out []float64
	averaged := 0
	for t := 1.0; len(out) < len(checkpoints); t++ {
		clear(g)
		for range batch {
			i := rng.IntN(len(y))
			at := train.columns(i)
			d := -y[i]
			for _, a := range at {
				d += w.AtVec(a)
			}
			for _, a := range at {
				g[a] += d / float64(batch)
			}
		}
		step := 1 / math.Sqrt(t)
		for a := range g {
			w.SetVec(a, w.AtVec(a)-step*g[a])
		}
		// The average is of the second half of the steps up to each checkpoint.
		if next := checkpoints[len(out)]; t > next/2 {
			sum.AddVec(sum, w)
			averaged++
			if t == next {
				var mean mat.VecDense
				mean.ScaleVec(1/float64(averaged), sum)
				out = append(out, test.mse(&mean))
				sum.Zero()
				averaged = 0
			}
		}
	}
	return out
}
