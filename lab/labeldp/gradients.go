package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/lab/plots"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

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
