package selection

import (
	"context"
	"math/rand/v2"
	"testing"
)

func BenchmarkPriceProfile(b *testing.B) {
	g, l := gaussianBound(2), must(withMean(1, 10))
	for b.Loop() {
		must(must(PriceOfBest(l).Profile(context.Background(), g)).Epsilon(context.Background(), 1e-6))
	}
}

func BenchmarkPriceCurve(b *testing.B) {
	g, l := gaussianCurve(2), must(withMean(1, 10))
	for b.Loop() {
		must(PriceOfBest(l).Curve(context.Background(), g, nil)).RDP(4)
	}
}

func BenchmarkDiscretize(b *testing.B) {
	bound := must(PriceOfBest(must(withMean(1, 10))).Profile(context.Background(), gaussianBound(2)))
	for b.Loop() {
		must(bound.Discretize(context.Background(), 0, 0))
	}
}

func BenchmarkPureConditioned(b *testing.B) {
	l := must(newConditionedLaw(1, 0.01, 200))
	for b.Loop() {
		must(PriceOfBest(l).Pure(1))
	}
}

func BenchmarkSample(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, l := range []Law{must(withMean(1, 100)), must(withMean(0, 100)), must(withMean(0.5, 100)), must(withMean(-0.5, 100)), must(newPoisson(100)), must(newConditionedLaw(1, 0.01, 200))} {
		b.Run(l.String(), func(b *testing.B) {
			for b.Loop() {
				l.Sample(rng)
			}
		})
	}
}

func BenchmarkBest(b *testing.B) {
	l := must(withMean(1, 10))
	trial := func(_ context.Context, rng *rand.Rand) (int, float64, error) { return 1, rng.Float64(), nil }
	for b.Loop() {
		must(Best(b.Context(), l, trial, Options{}))
	}
}
