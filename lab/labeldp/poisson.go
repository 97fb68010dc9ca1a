package main

// Counts under Poisson loss, as Figure 5 (b) of the paper, on synthetic data.

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

const poissonSeeds = 6 // as in the paper

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
func poissonCounts(r *report) { poissonRuns(r, []float64{0.5, 1, 2, 4}, poissonSeeds) }

func poissonRuns(r *report, budgets []float64, seeds int) {
	const rows = 20_000
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
