package selection_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
)

// Tune the step size and the clipping of a small private learner under one
// budget: the best of a geometric number of runs, at most 60.
func ExampleBest() {
	// The private data: y = 2x + noise.
	data := rand.New(rand.NewPCG(1, 2))
	xs, ys := make([]float64, 400), make([]float64, 400)
	for i := range xs {
		xs[i] = 2*data.Float64() - 1
		ys[i] = 2*xs[i] + 0.3*data.NormFloat64()
	}

	// One run: ten steps of noisy gradient descent on the first half (Gaussian
	// noise multiplier 4√10 = 12.6 each, so 4 together) and a validation score on
	// the second, the share of points within 0.5, with noise on the count
	// (noise multiplier 4).
	type setting struct{ rate, clip float64 }
	learn := func(s setting) selection.Trial[float64] {
		return func(_ context.Context, rng *rand.Rand) (float64, float64, error) {
			w := 0.0
			for range 10 {
				sum := 0.0
				for i := range 200 {
					g := (w*xs[i] - ys[i]) * xs[i]
					sum += max(-s.clip, min(s.clip, g))
				}
				sum += rng.NormFloat64() * s.clip * 4 * math.Sqrt(10)
				w -= s.rate * sum / 200
			}
			good := 0.0
			for i := 200; i < 400; i++ {
				if math.Abs(w*xs[i]-ys[i]) < 0.5 {
					good++
				}
			}
			return w, (good + 4*rng.NormFloat64()) / 200, nil
		}
	}
	var candidates []selection.Trial[float64]
	for _, rate := range []float64{0.001, 0.1, 1, 100} {
		for _, clip := range []float64{0.01, 1} {
			candidates = append(candidates, learn(setting{rate, clip}))
		}
	}
	q, err := selection.Mixture(nil, candidates...)
	if err != nil {
		panic(err)
	}

	law, err := selection.Conditioned(1, 0.05, 60)
	if err != nil {
		panic(err)
	}
	best, err := selection.Best(context.Background(), law, q, selection.WithSeed([32]byte{42}), selection.WithPadding())
	if err != nil {
		panic(err)
	}
	fmt.Printf("candidate %d: slope %.2f, score %.2f\n", best.Payload.Candidate, best.Payload.Payload, best.Score)

	// The price. One record is in the training half or in the validation half, so
	// one run is a Gaussian mechanism of noise multiplier 4 for it.
	base, err := profiles.NewGaussian(4)
	if err != nil {
		panic(err)
	}
	one := selection.FromProfile(base)
	all, err := selection.PriceOfBest(law).Profile(one)
	if err != nil {
		panic(err)
	}
	e1, _ := one.Epsilon(1e-5)
	e, _ := all.Epsilon(1e-5)
	fmt.Printf("one run: epsilon %.3f; the whole search: epsilon %.3f at delta 1e-5\n", e1, e)
	// Output:
	// candidate 5: slope 1.99, score 0.88
	// one run: epsilon 0.926; the whole search: epsilon 1.668 at delta 1e-5
}

func ExampleFirstAbove() {
	law, _ := selection.Geometric(0.01)
	try := func(_ context.Context, rng *rand.Rand) (string, float64, error) {
		return "model", rng.Float64(), nil
	}
	r, err := selection.FirstAbove(context.Background(), law, 0.95, try, selection.WithSeed([32]byte{1}))
	fmt.Println(r.Found, r.Payload, r.Score >= 0.95, err)
	price, _ := selection.PriceOfFirstAbove(law)
	eps, _ := price.Pure(1)
	fmt.Printf("%.4f\n", eps)
	// Output:
	// true model true <nil>
	// 1.9769
}

func ExamplePriceOfBest() {
	for _, shape := range []float64{0, 1} {
		law, _ := selection.WithMean(shape, 100)
		eps, delta, _ := selection.PriceOfBest(law).Approximate(1, 1e-8)
		fmt.Printf("%v: epsilon %.4f, delta %.2e, misses the top 5%%: %.3f\n", law, eps, delta, law.PGF(0.95))
	}
	// Output:
	// logarithmic(gamma=0.00154212): epsilon 1.9964, delta 1.00e-06, misses the top 5%: 0.458
	// geometric(gamma=0.01): epsilon 2.9537, delta 1.00e-06, misses the top 5%: 0.160
}

func ExampleBound_Discretize() {
	base, _ := profiles.NewGaussian(2)
	law, _ := selection.WithMean(0, 10)
	bound, _ := selection.PriceOfBest(law).Profile(selection.FromProfile(base))
	p, err := bound.Discretize(0, 0)
	if err != nil {
		panic(err)
	}
	logDelta, _ := profiles.LogDelta(p, 3)
	fmt.Printf("bound %.4e, profile %.4e\n", math.Exp(bound(3)), math.Exp(logDelta))
	// Output:
	// bound 5.5553e-06, profile 5.5587e-06
}
