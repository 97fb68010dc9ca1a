package selection_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
)

// Theorem 5.2 of Liu and Talwar (STOC 2019): exponential mechanisms of four kinds are the
// best of a geometric number of runs, each of which scores one of n answers, drawn at random,
// with noise. The stopping probability is β/n for a probability β to miss. (Noise drawn in
// floating point, as here, is for show: see package noise.)
func ExampleBest_exponentialMechanisms() {
	quality := []float64{3, 41, 38, 12, 7, 1, 0, 5} // of n answers
	spread := []float64{1, 1, 4, 1, 1, 1, 1, 1}     // how much a record changes each
	n, eps, delta, beta := float64(len(quality)), 1.0, 1e-6, 0.05
	laplace := func(rng *rand.Rand, scale float64) float64 { return scale * (rng.ExpFloat64() - rng.ExpFloat64()) }
	shift := 2 * math.Log(n/beta) / eps
	for _, m := range []struct {
		name  string
		delta float64 // of one run
		score func(rng *rand.Rand, i int) float64
	}{
		// 1. All sensitivities are at most 1.
		{"exponential", 0, func(rng *rand.Rand, i int) float64 {
			return quality[i] + laplace(rng, 1/eps)
		}},
		// 2. Each answer has its own: what it may gain by noise is taken off beforehand.
		{"generalised", 0, func(rng *rand.Rand, i int) float64 {
			return quality[i] - shift*spread[i] + laplace(rng, spread[i]/eps)
		}},
		// 3. By a margin: noise cut off at A, which costs δ. The cut-off of the paper,
		// ln(1/δ)/ε, is not (ε, δ)-DP everywhere; this one is.
		{"margin", delta, func(rng *rand.Rand, i int) float64 {
			a := math.Log1p(math.Expm1(eps)/(2*delta)) / eps
			for {
				if x := laplace(rng, 1/eps); math.Abs(x) <= a {
					return quality[i] + x
				}
			}
		}},
		// 4. By smooth sensitivity at this data set, at β' = ε/(4 ln(2/δ)): its noise has
		// twice the scale (Nissim, Raskhodnikova and Smith, STOC 2007).
		{"smooth", delta, func(rng *rand.Rand, i int) float64 {
			return quality[i] - 2*shift*spread[i] + laplace(rng, 2*spread[i]/eps)
		}},
	} {
		law, _ := selection.Config{Law: "geometric", Gamma: beta / n}.Build()
		best, _ := selection.Best(context.Background(), law, func(_ context.Context, rng *rand.Rand) (int, float64, error) {
			i := rng.IntN(len(quality))
			return i, m.score(rng, i), nil
		}, selection.Options{Source: rand.NewChaCha8([32]byte{4})})
		e, d, _ := selection.PriceOfBest(law).Approximate(eps, m.delta)
		fmt.Printf("%-11s answer %d, epsilon %.4f, delta %.2g\n", m.name, best.Payload, e, d)
	}
	// Output:
	// exponential answer 1, epsilon 2.9709, delta 0
	// generalised answer 1, epsilon 2.9709, delta 0
	// margin      answer 1, epsilon 2.9709, delta 0.00016
	// smooth      answer 1, epsilon 2.9709, delta 0.00016
}

// Both ends of what a search over a Gaussian mechanism costs: an attack reaches the lower
// one, no ranking costs more than the upper one.
func ExamplePrice_Epsilon() {
	gaussian, _ := profiles.NewGaussian(2)
	one := selection.CandidateOf(profiles.NewBounds("gaussian", profiles.AddRemove, gaussian))
	law, _ := selection.Config{Law: "geometric", Mean: 10}.Build()
	first, _ := selection.PriceOfFirstAbove(law)
	for _, price := range []selection.Price{selection.PriceOfBest(law), first} {
		lower, upper, _ := price.Epsilon(context.Background(), one, 1e-5, 1e-5)
		fmt.Printf("between %.4f and %.4f\n", math.Floor(1e4*lower)/1e4, math.Ceil(1e4*upper)/1e4)
	}
	// Output:
	// between 3.0096 and 3.0098
	// between 2.6264 and 2.6266
}
