package selection_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/selection"
	"github.com/dpaccountant/accountant/subsample"
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

	law, err := selection.Config{Law: "geometric", Gamma: 0.05, Max: 60}.Build()
	if err != nil {
		panic(err)
	}
	best, err := selection.Best(context.Background(), law, q, selection.Options{Source: rand.NewChaCha8([32]byte{42}), Padding: true})
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
	one := selection.CandidateOf(profiles.NewBounds("one run", profiles.AddRemove, base)).Bound()
	all, err := selection.PriceOfBest(law).Profile(context.Background(), one)
	if err != nil {
		panic(err)
	}
	e1, _ := one.Epsilon(context.Background(), 1e-5)
	e, _ := all.Epsilon(context.Background(), 1e-5)
	fmt.Printf("one run: epsilon %.3f; the whole search: epsilon %.3f at delta 1e-5\n", e1, e)
	// Output:
	// candidate 5: slope 1.99, score 0.88
	// one run: epsilon 0.926; the whole search: epsilon 1.668 at delta 1e-5
}

func ExampleFirstAbove() {
	law, _ := selection.Config{Law: "geometric", Gamma: 0.01}.Build()
	try := func(_ context.Context, rng *rand.Rand) (string, float64, error) {
		return "model", rng.Float64(), nil
	}
	r, err := selection.FirstAbove(context.Background(), law, 0.95, try, selection.Options{Source: rand.NewChaCha8([32]byte{1})})
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
		law, _ := selection.Config{Law: "negative-binomial", Shape: shape, Mean: 100}.Build()
		eps, delta, _ := selection.PriceOfBest(law).Approximate(1, 1e-8)
		fmt.Printf("%v: epsilon %.4f, delta %.2e, misses the top 5%%: %.3f\n", law, eps, delta, law.PGF(0.95))
	}
	// Output:
	// logarithmic(gamma=0.00154212): epsilon 1.9964, delta 1.00e-06, misses the top 5%: 0.458
	// geometric(gamma=0.01): epsilon 2.9537, delta 1.00e-06, misses the top 5%: 0.160
}

func ExampleBound_Discretize() {
	base, _ := profiles.NewGaussian(2)
	law, _ := selection.Config{Law: "logarithmic", Mean: 10}.Build()
	bound, _ := selection.PriceOfBest(law).Profile(context.Background(), selection.CandidateOf(profiles.NewBounds("one run", profiles.AddRemove, base)).Bound())
	p, err := bound.Discretize(context.Background(), 0, 0)
	if err != nil {
		panic(err)
	}
	logDelta, _ := profiles.LogDelta(p, 3)
	fmt.Printf("bound %.4e, profile %.4e\n", math.Exp(bound(3)), math.Exp(logDelta))
	// Output:
	// bound 5.5553e-06, profile 5.5587e-06
}

// The laws of the number of runs, each with a mean of 10 or so: what the search
// costs for a candidate that is 1-differentially private, and how often it misses
// the best tenth of the candidates.
func Example_laws() {
	show := func(l selection.Law, err error) {
		if err != nil {
			fmt.Println(err)
			return
		}
		eps, err := selection.PriceOfBest(l).Pure(1)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v: epsilon %.4f, misses %.3f\n", l, eps, l.PGF(0.9))
	}
	show(selection.Config{Law: "geometric", Gamma: 0.1}.Build())
	show(selection.Config{Law: "logarithmic", Gamma: 0.03}.Build())
	show(selection.Config{Law: "negative-binomial", Shape: 2, Gamma: 0.2}.Build())
	show(selection.Config{Law: "negative-binomial", Shape: 0.5, Mean: 10}.Build())
	show(selection.Config{Law: "geometric", Gamma: 0.05, Max: 30}.Build())
	show(selection.Config{Law: "geometric", Gamma: 0.1, Max: 30, Cap: "censor"}.Build())
	show(selection.Config{Law: "poisson", Mean: 10}.Build())
	show(selection.Config{Law: "binomial", Mean: 10, Max: 20}.Build())
	show(selection.Config{Law: "fixed", Max: 10}.Build())
	// Output:
	// geometric(gamma=0.1): epsilon 2.5913, misses 0.474
	// logarithmic(gamma=0.03): epsilon 1.9326, misses 0.588
	// negative-binomial(shape=2, gamma=0.2): epsilon 2.9105, misses 0.490
	// negative-binomial(shape=0.5, gamma=0.0625): epsilon 2.2987, misses 0.510
	// conditioned(shape=1, gamma=0.05, max=30): epsilon 2.7814, misses 0.392
	// censored(shape=1, gamma=0.1, max=30): epsilon 2.5915, misses 0.475
	// poisson(mean=10): epsilon 5.6212, misses 0.368
	// binomial(n=20, p=0.5): epsilon 6.9005, misses 0.358
	// fixed(n=10): epsilon 10.0000, misses 0.349
}

// A largest number of runs: conditioning costs no more than the law without it.
func ExampleConfig() {
	capped, _ := selection.Config{Law: "geometric", Gamma: 0.1, Max: 5}.Build()
	cut, _ := selection.Config{Law: "geometric", Gamma: 0.1, Max: 5, Cap: "censor"}.Build()
	free, _ := selection.Config{Law: "geometric", Gamma: 0.1}.Build()
	for _, l := range []selection.Law{free, capped, cut} {
		eps, _ := selection.PriceOfBest(l).Pure(1)
		fmt.Printf("%.4f\n", eps)
	}
	// Output:
	// 2.5913
	// 2.1886
	// 3.0123
}

func ExampleConfig_Build() {
	_, err := selection.Config{Law: "geometric", Gamma: 2}.Build()
	fmt.Println(err)
	l, err := selection.Config{Law: "geometric", Mean: 100}.Build()
	shape, gamma, _ := l.Family()
	fmt.Printf("%v, shape %v, gamma %.2f, %v\n", l, shape, gamma, err)
	// Output:
	// gamma: 2 is not in (0, 1] (nor above 1e-300)
	// geometric(gamma=0.01), shape 1, gamma 0.01, <nil>
}

func ExamplePriceOfFirstAbove() {
	l, _ := selection.Config{Law: "geometric", Gamma: 0.01}.Build()
	price, err := selection.PriceOfFirstAbove(l)
	if err != nil {
		panic(err)
	}
	eps, delta, err := price.Approximate(0.5, 1e-9)
	fmt.Printf("epsilon %.4f, delta %.1e, %v\n", eps, delta, err)
	// Output: epsilon 0.9897, delta 1.0e-07, <nil>
}

// How a candidate can be known: what the search costs at delta 1e-6.
func ExampleBound() {
	law, _ := selection.Config{Law: "geometric", Gamma: 0.1}.Build()
	show := func(name string, one selection.Bound) {
		all, err := selection.PriceOfBest(law).Profile(context.Background(), one)
		if err != nil {
			panic(err)
		}
		eps, err := all.Epsilon(context.Background(), 1e-6)
		fmt.Printf("%s: %.3f %v\n", name, eps, err)
	}
	pure, _ := selection.FromApproximate(0.5, 0)
	show("pure", pure)
	approximate, _ := selection.FromApproximate(0.5, 1e-9)
	show("approximate", approximate)
	gaussian, _ := profiles.NewGaussian(4)
	show("profile", selection.CandidateOf(profiles.NewBounds("gaussian", profiles.AddRemove, gaussian)).Bound())
	curve, _ := rdp.Gaussian(4)
	show("Rényi curve", selection.FromCurve(curve))
	base, _ := profiles.NewGaussianMechanism(4)
	m, _ := profiles.Unsampled(context.Background(), base, profiles.AddRemove)
	show("mechanism", selection.CandidateOf(m).Bound())
	// Output:
	// pure: 1.313 <nil>
	// approximate: 1.313 <nil>
	// profile: 1.631 <nil>
	// Rényi curve: 1.837 <nil>
	// mechanism: 1.631 <nil>
}

// The candidate is a whole training run, known by its accountant.
func ExampleFromDelta() {
	noise, _ := profiles.NewGaussianMechanism(1)
	batches, _ := subsample.NewPoisson(0.01)
	run := accountant.New(profiles.AddRemove)
	if err := run.Add(context.Background(), accountant.Step{Mechanism: noise, Sampling: batches}, 1000); err != nil {
		panic(err)
	}
	one := selection.FromDelta(func(eps float64) (float64, error) {
		iv, err := run.Delta(context.Background(), eps)
		return iv.Upper, err
	})
	law, _ := selection.Config{Law: "geometric", Gamma: 0.1}.Build()
	all, err := selection.PriceOfBest(law).Profile(context.Background(), one)
	if err != nil {
		panic(err)
	}
	eps, err := all.Epsilon(context.Background(), 1e-5)
	fmt.Printf("the best of ten runs on average: epsilon %.2f, %v\n", eps, err)
	// Output: the best of ten runs on average: epsilon 2.87, <nil>
}

func ExampleFromApproximate() {
	one, err := selection.FromApproximate(1, 1e-6)
	fmt.Printf("delta(1) = %.1e, %v\n", math.Exp(one(1)), err)
	// Output: delta(1) = 1.0e-06, <nil>
}

func ExampleFromCurve() {
	c, _ := rdp.Gaussian(2) // weaker than the profile of the same noise
	fmt.Printf("delta(1) ≤ %.5f\n", math.Exp(selection.FromCurve(c)(1)))
	// Output: delta(1) ≤ 0.01799
}

func ExampleCandidateOf() {
	b, _ := profiles.NewGaussianMechanism(2)
	batches, _ := subsample.NewPoisson(0.1)
	m, _ := batches.Apply(b, profiles.AddRemove)
	fmt.Printf("delta(0.5) = %.3e\n", math.Exp(selection.CandidateOf(m).Bound()(0.5)))
	// Output: delta(0.5) = 8.450e-07
}

// Draw one of several candidates and run it: what the best of many runs runs.
func ExampleMixture() {
	candidate := func(name string) selection.Trial[string] {
		return func(_ context.Context, rng *rand.Rand) (string, float64, error) {
			return name, rng.Float64(), nil // a private score, in earnest
		}
	}
	q, err := selection.Mixture([]float64{1, 3}, candidate("small"), candidate("large"))
	if err != nil {
		panic(err)
	}
	law, _ := selection.Config{Law: "geometric", Gamma: 0.05}.Build()
	best, err := selection.Best(context.Background(), law, q, selection.Options{Source: rand.NewChaCha8([32]byte{7})})
	fmt.Println(best.Found, best.Payload.Payload, err)
	// Output: true small <nil>
}

// The time that a search takes tells the number of its runs. Padding hides it, for
// laws with a largest number of runs.
func ExampleOptions() {
	calls := 0
	try := func(_ context.Context, rng *rand.Rand) (int, float64, error) {
		calls++
		return calls, rng.Float64(), nil
	}
	law, _ := selection.Config{Law: "geometric", Gamma: 0.1, Max: 25}.Build()
	_, err := selection.Best(context.Background(), law, try, selection.Options{Padding: true})
	fmt.Println(calls, "calls,", err)
	// Output: 25 calls, <nil>
}

// Rényi prices of the literature, for ten Gaussian runs on average, at delta 1e-5.
func ExamplePapernotSteinke() {
	one, _ := rdp.Gaussian(4)
	law, _ := selection.Config{Law: "geometric", Gamma: 0.1}.Build()
	show := func(name string, c rdp.Curve, err error) {
		if err != nil {
			fmt.Println(err)
			return
		}
		eps, _, err := rdp.Epsilon(c, 1e-5)
		fmt.Printf("%s %.4f %v\n", name, eps, err)
	}
	c, err := selection.PapernotSteinke(one, law, nil, false)
	show("Papernot and Steinke", c, err)
	c, err = selection.DPHyPO(one, law, 0.1)
	show("with candidates that adapt within a factor e^0.1", c, err)
	c, err = selection.PriceOfBest(law).Curve(context.Background(), one, selection.FromCurve(one))
	show("here", c, err)
	// Output:
	// Papernot and Steinke 2.1534 <nil>
	// with candidates that adapt within a factor e^0.1 2.4588 <nil>
	// here 1.6227 <nil>
}

// The next candidate may depend on earlier scores, a little.
func ExampleDPHyPO() {
	one, _ := rdp.Pure(0.5)
	law, _ := selection.Config{Law: "geometric", Gamma: 0.1}.Build()
	c, err := selection.DPHyPO(one, law, 0.1)
	fmt.Printf("%.2f %v\n", c.RDP(math.Inf(1)), err) // 3 · (0.5 + 0.1)
	// Output: 1.80 <nil>
}

func ExampleKoskelaRedbergWang() {
	p, _ := profiles.NewGaussian(4)
	one := selection.CandidateOf(profiles.NewBounds("one run", profiles.AddRemove, p)).Bound()
	law, _ := selection.Config{Law: "geometric", Gamma: 0.1}.Build()
	literature, err := selection.KoskelaRedbergWang(context.Background(), one, law, 0.5)
	if err != nil {
		panic(err)
	}
	here, _ := selection.PriceOfBest(law).Profile(context.Background(), one)
	a, _ := literature.Epsilon(context.Background(), 1e-5)
	b, _ := here.Epsilon(context.Background(), 1e-5)
	fmt.Printf("%.4f, here %.4f\n", a, b)
	// Output: 2.0901, here 1.5103
}

// As published, and below zero: no bound.
func ExamplePapernotSteinkePoissonUnproved() {
	one, _ := rdp.Gaussian(20)
	v, err := selection.PapernotSteinkePoissonUnproved(one, selection.FromCurve(one), 0.1, 4)
	fmt.Println(v < 0, err)
	// Output: true <nil>
}

// As published, with a δ above 1.
func ExampleLiuTalwarApproximateUnproved() {
	_, _, _, err := selection.LiuTalwarApproximateUnproved(1, 1e-6, 0.001, 1e-6)
	fmt.Println(err)
	law, _ := selection.Config{Law: "geometric", Gamma: 0.001}.Build()
	eps, delta, err := selection.PriceOfBest(law).Approximate(1, 1e-6)
	fmt.Printf("here (%.4f, %.1e) %v\n", eps, delta, err)
	// Output:
	// delta: 1e-06 gives δ = 19.538775577746684, which is not in [0, 1): the statement is empty
	// here (2.9953, 1.0e-03) <nil>
}

func ExamplePapernotSteinkePure() {
	eps, err := selection.PapernotSteinkePure(0.5, 2) // (2+η)ε
	fmt.Println(eps, err)
	// Output: 2 <nil>
}
