package main

// Synthetic regressions on private labels, by each randomizer: a cubic under squared loss, and counts under Poisson loss, as in
// Figure 5 (b) of the paper.

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/labeldp"
	"github.com/dpaccountant/accountant/profiles"
)

// The synthetic regression: x uniform on [0, 1], label round(2 + 16x + 3N)
// clamped to {0, …, 20}; the model is a cubic in x, fitted by least squares.
const (
	trainRows = 50_000
	testRows  = 50_000
	seeds     = 20
	bins      = 25
)

func features(rows int, rng *rand.Rand) (x, y []float64) {
	for range rows {
		u := rng.Float64()
		x = append(x, u)
		y = append(y, min(max(math.Round(2+16*u+3*rng.NormFloat64()), 0), 20))
	}
	return x, y
}

// fit returns the least-squares cubic.
func fit(x, y []float64) [4]float64 {
	a := mat.NewDense(len(x), 4, nil)
	for i, u := range x {
		a.SetRow(i, []float64{1, u, u * u, u * u * u})
	}
	var w mat.VecDense
	try.Check(w.SolveVec(a, mat.NewVecDense(len(y), y)))
	return [4]float64{w.AtVec(0), w.AtVec(1), w.AtVec(2), w.AtVec(3)}
}

func value(w [4]float64, u float64) float64 { return w[0] + u*(w[1]+u*(w[2]+u*w[3])) }

// edges are the ends of the bins.
var edges = floats.Span(make([]float64, bins+1), 0, 1)

// predicted returns the values of a cubic at the ends of the bins.
func predicted(w [4]float64) (ys []float64) {
	for _, u := range edges {
		ys = append(ys, value(w, u))
	}
	return ys
}

// drawn returns the noisy label of a label, which has a place among those of a randomizer.
func drawn(m labeldp.Method, label float64, place int, src rand.Source) float64 {
	if r, ok := m.(labeldp.Randomizer); ok {
		return r.Outputs()[r.SampleIndex(place, src)]
	}
	return try.Must(m.Sample(label, src))
}

// eachMethod makes labels y private once by each method. The budget of each is eps, of which those that need a prior pay
// for its estimate.
func eachMethod(labels, y []float64, eps float64, src rand.Source, tell func(name string, noisy []float64)) {
	counts, index := make([]int64, len(labels)), make([]int, len(y))
	for j, v := range y {
		index[j] = slices.Index(labels, v)
		counts[index[j]]++
	}
	eps1, eps2 := try.Must2(labeldp.SplitBudget(eps, len(labels), int64(len(y))))
	prior := try.Must(labeldp.EstimatePrior(labels, counts, eps1, 1e-3, src))
	withPrior, _ := try.Must2(labeldp.Methods(context.Background(), prior, eps2))
	without, _ := try.Must2(labeldp.Methods(context.Background(), prior, eps))
	noisy := make([]float64, len(y))
	for i, m := range without {
		name := m.Name()
		if name == "optimal-unbiased" || name == "rr-on-bins" {
			m = withPrior[i]
		}
		for j, v := range y {
			noisy[j] = drawn(m, v, index[j], src)
		}
		tell(name, noisy)
	}
}

// halfLoss is half of the mean squared difference of noisy labels.
func halfLoss(noisy, y []float64) float64 {
	d := floats.Distance(noisy, y, 2)
	return d * d / 2 / float64(len(y))
}

// A compared is a method with two numbers over the seeds, for each budget.
type compared struct {
	name string
	by   [][2][]float64
}

// compare has each run of some budgets and seeds tell two numbers of every method. Methods are in the order of the first run.
func compare(budgets, seeds int, run func(budget, seed int, tell func(name string, a, b float64))) (all []compared) {
	for e := range budgets {
		for seed := range seeds {
			run(e, seed, func(name string, a, b float64) {
				i := slices.IndexFunc(all, func(c compared) bool { return c.name == name })
				if i < 0 {
					i = len(all)
					all = append(all, compared{name, make([][2][]float64, budgets)})
				}
				c := &all[i].by[e]
				c[0], c[1] = append(c[0], a), append(c[1], b)
			})
		}
	}
	return all
}

// regression writes its section of the page.
func regression(r *report) {
	regressions(r, []float64{0.5, 1, 2, 4}, seeds)
}

// regressions are those of some budgets, the same whichever others there are, and seeds.
func regressions(r *report, budgets []float64, seeds int) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := features(trainRows, rng)
	testX, testY := features(testRows, rng)
	labels := ints(0, 20)
	test := func(w [4]float64) float64 {
		s := 0.0
		for i, u := range testX {
			d := value(w, u) - testY[i]
			s += d * d / testRows
		}
		return s
	}
	clean := fit(x, y)
	r.Values["trainRows"], r.Values["testRows"], r.Values["cleanError"], r.Values["runs"] = trainRows, testRows, test(clean), seeds
	r.Values["priorEpsilon"] = math.Sqrt(21.0 / trainRows)
	predictors := map[string][]float64{"clean labels": predicted(clean)}
	all := compare(len(budgets), seeds, func(e, seed int, tell func(string, float64, float64)) {
		eps := budgets[e]
		eachMethod(labels, y, eps, random.Seeded(uint64(100*math.Log2(2*eps))+uint64(seed)), func(name string, noisy []float64) {
			w := fit(x, noisy)
			tell(name, halfLoss(noisy, y), test(w)-test(clean))
			if eps == 1 && seed == 0 {
				predictors[name] = predicted(w)
			}
		})
	})
	for _, m := range all {
		row := []string{m.name}
		for _, c := range m.by {
			l, _ := plots.Mean(c[0])
			x, se := plots.Mean(c[1])
			row = append(row, fmt.Sprintf("%.4g", l), fmt.Sprintf("%.3f ± %.3f", x, se))
		}
		r.row("regression", row...)
	}
	var curves []curve
	for _, name := range []string{"clean labels", "optimal-unbiased", "two-point", "laplace", "debiased-rr", "clipped-laplace", "randomized-response", "rr-on-bins", "rp-with-prior"} {
		curves = append(curves, curve{name: name, ys: predictors[name]})
	}
	pic := figure.Picture{Title: "Predictors fitted to noisy labels, ε = 1", X: figure.Axis{Label: "x"}, Y: figure.Axis{Label: "prediction"}, LegendUp: true, LegendLeft: true}
	r.draw("labeldp-regression", pic, "x", edges, curves)
}

// privacy shows the three-atom profile, and what the pipeline costs.
func privacy(r *report) {
	for _, c := range []named{{"(0.6, 0.25, 0.15) on {0, 1, 2}", priorA()}, {"uniform on {0, …, 4}", uniform(0, 4)}, {"weeks", half52()}, {"sales", sales100()}} {
		for _, eps := range []float64{0.5, 1, 2, 4} {
			m, _ := try.Must2(labeldp.OptimalUnbiased(context.Background(), c.p, eps))
			rr := try.Must(labeldp.DebiasedRR(c.p.Labels(), eps))
			row := []string{c.name, fmt.Sprint(eps), num(m.Tau()), num(m.Tau() * (1 + math.Exp(eps))), num(rr.Tau() * (1 + math.Exp(eps)))}
			pair := try.Must(m.Pair(profiles.Substitute))
			for _, e := range []float64{0, 0.5} {
				d, _ := profiles.LogDelta(pair, e*eps)
				row = append(row, num(math.Exp(d)))
			}
			r.row("privacy", row...)
		}
	}
}

// counted are examples: x uniform on [0, 1], label a Poisson count of mean e^(−1 + 3x), at most 20.
func counted(rows int, rng *rand.Rand) (x, y []float64) {
	for range rows {
		u := rng.Float64()
		n, left := 0.0, rng.ExpFloat64()
		for mean := math.Exp(3*u - 1); left < mean && n < 20; n++ {
			left += rng.ExpFloat64()
		}
		x, y = append(x, u), append(y, n)
	}
	return x, y
}

// rate is λ of the model log λ = w·(1, x, x²).
func rate(w [3]float64, u float64) float64 { return math.Exp(w[0] + u*(w[1]+u*w[2])) }

// poissonLoss is the mean of λ − y·log λ.
func poissonLoss(w [3]float64, x, y []float64) float64 {
	s := 0.0
	for i, u := range x {
		l := rate(w, u)
		s += (l - y[i]*xmath.Log(l)) / float64(len(x))
	}
	return s
}

// poissonFit minimises the training loss by damped Newton steps and stops where it is lowest. Unbiased labels may be negative: where
// their mean is, on some x, the loss has no minimum, and blowups is 1 where log λ left [−20, 20].
func poissonFit(x, y []float64) (_ [3]float64, blowups float64) {
	w := [3]float64{xmath.Log(2)}
	best, least := w, poissonLoss(w, x, y)
	for range 40 {
		var h [9]float64
		var g [3]float64
		for i, u := range x {
			l, f := rate(w, u), [3]float64{1, u, u * u}
			for a := range 3 {
				g[a] += (l - y[i]) * f[a]
				for b := range 3 {
					h[3*a+b] += l * f[a] * f[b]
				}
			}
		}
		for a := range 3 {
			h[4*a] += 1e-9 * float64(len(x))
		}
		var step mat.VecDense
		if err := step.SolveVec(mat.NewDense(3, 3, h[:]), mat.NewVecDense(3, g[:])); err != nil {
			return best, 1
		}
		size := 0.0
		for a := range 3 {
			size = max(size, math.Abs(step.AtVec(a)))
		}
		if size < 1e-8 {
			break
		}
		for a := range 3 {
			w[a] -= step.AtVec(a) * min(1, 1/size)
		}
		for _, u := range []float64{0, 0.5, 1} {
			if l := xmath.Log(rate(w, u)); !(math.Abs(l) <= 20) {
				return best, 1
			}
		}
		if loss := poissonLoss(w, x, y); loss < least {
			least, best = loss, w
		}
	}
	return best, 0
}

// poissonCounts writes the section about Poisson loss.
func poissonCounts(r *report) {
	const rows, seeds = 20_000, 6 // seeds as in the paper
	budgets := []float64{0.5, 1, 2, 4}
	rng := rand.New(rand.NewPCG(5, 2))
	x, y := counted(rows, rng)
	testX, testY := counted(rows, rng)
	labels := ints(0, 20)
	clean, _ := poissonFit(x, y)
	base := poissonLoss(clean, testX, testY)
	r.Values["counts"], r.Values["leastLoss"], r.Values["poissonRuns"] = rows, base, seeds
	all := compare(len(budgets), seeds, func(e, seed int, tell func(string, float64, float64)) {
		eachMethod(labels, y, budgets[e], random.Seeded(uint64(1000*budgets[e])+uint64(seed)), func(name string, noisy []float64) {
			w, blowups := poissonFit(x, noisy)
			tell(name, (poissonLoss(w, testX, testY)-base)/math.Abs(base), blowups)
		})
	})
	for _, m := range all {
		row := []string{m.name}
		for _, c := range m.by {
			mean, sd := stat.PopMeanStdDev(c[0], nil)
			cell := fmt.Sprintf("%.4f ± %.4f", mean, sd)
			if n := floats.Sum(c[1]); n > 0 {
				cell += fmt.Sprintf(" (%v)", n)
			}
			row = append(row, cell)
		}
		r.row("poisson", row...)
	}
}
