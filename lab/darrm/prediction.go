package main

// Private prediction without a data set: synthetic teachers, and how often each rule is right.

import (
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/try"
)

// prediction simulates private prediction without a data set: eleven teachers
// answer each query rightly with one probability, independently.
func (e *experiment) prediction() {
	const k, eps, delta, queries, repeats = 11, 0.0892, 1e-4, 100, 40
	p := darrm.Params{Mechanisms: k, Epsilon: eps, Delta: delta, Allowance: 3, OutputDelta: 3 * delta}
	cs := e.families(p, k, -1+1/math.Pow(1-delta, k))
	sigma, _ := gnmaxNoise(p.Allowance*eps, p.OutputDelta)
	e.page["predictionTeachers"], e.page["predictionEpsilon"], e.page["predictionDelta"] = k, eps, delta
	e.page["answerEpsilon"], e.page["answerDelta"] = p.Allowance*eps, p.OutputDelta
	e.page["answers"], e.page["repeats"], e.page["queries"] = queries*repeats, repeats, queries
	rng := rand.New(rand.NewPCG(11, 3))
	coins := rand.NewChaCha8([32]byte{11})
	for _, q := range []float64{0.6, 0.7, 0.8, 0.9, 0.95, 1} {
		law := try.Must(darrm.PoissonBinomial(same(q, k)))
		gnmax := 0.0
		for l, v := range law {
			gnmax += v * gnmaxAccuracy(float64(2*l-k), sigma)
		}
		right := make([]int, 5)
		for range queries * repeats {
			label, votes, lead := rng.IntN(2) == 1, make([]bool, k), 0
			for i := range votes {
				votes[i] = (rng.Float64() < q) == label
				if votes[i] == label {
					lead++
				} else {
					lead--
				}
			}
			for i, c := range cs {
				bit := try.Must(darrm.Release(c.gamma, votes, coins))
				if bit == label {
					right[i]++
				}
			}
			if float64(lead)+sigma*(rng.NormFloat64()-rng.NormFloat64()) > 0 {
				right[4]++
			}
		}
		share := func(i int) float64 { return float64(right[i]) / (queries * repeats) }
		e.page.Add("prediction", "| %g | %.4f (%.3f) |", q, gnmax, share(4))
		for _, i := range []int{3, 2, 1, 0} {
			e.page.Add("prediction", " %.4f (%.3f) |", accuracy(cs[i].gamma, law), share(i))
		}
		one, _ := darrm.Constant(k, 1)
		e.page.Add("prediction", " %.4f |\n", accuracy(one, law))
	}
}

// accuracy is the probability of the right answer when l of the votes are right.
func accuracy(g darrm.Gamma, law []float64) float64 {
	a := 0.0
	for l, v := range law {
		if 2*l > len(law)-1 {
			a += v * (1 + g[l]) / 2
		} else {
			a += v * (1 - g[l]) / 2
		}
	}
	return a
}

// gnmaxNoise returns the smallest standard deviation for which the noisy
// maximum of the vote counts of non-private teachers on disjoint data (GNMax of
// Papernot and others, "Scalable Private Learning with PATE", ICLR 2018) is
// (ε, δ)-DP by its Rényi bound λ/σ² and the conversion ε + log(1/δ)/(λ−1), with
// the order λ that gives it. It is the paper's comparison; the Gaussian profile
// itself needs less noise.
func gnmaxNoise(epsilon, delta float64) (sigma, order float64) {
	l := -xmath.Log(delta)
	x := (l + math.Sqrt(l*l+epsilon*l)) / epsilon
	// εx − L is √(L² + εL), free of cancellation.
	return math.Sqrt((1 + x) * x / math.Sqrt(l*l+epsilon*l)), 1 + x
}

// gnmaxAccuracy returns the probability that GNMax on two classes answers with
// the class that leads by the given number of votes.
func gnmaxAccuracy(lead, sigma float64) float64 {
	return xmath.NormalTail(-lead / (sigma * math.Sqrt2))
}
