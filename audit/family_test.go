package audit

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/internal/slow"
)

// gaussianDeltas are 600 points of the curve of the Gaussian mechanism.
func gaussianDeltas(mu float64) (epsilons, deltas []float64) {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for i := range 600 {
		e := float64(i) / 599 * (mu*mu/2 + 8*mu)
		epsilons, deltas = append(epsilons, e), append(deltas, phi(mu/2-e/mu)-math.Exp(e)*phi(-mu/2-e/mu))
	}
	return epsilons, deltas
}

// TestCurveGolden: p-values by the recursion as Mahloujifar, Melis and Chaudhuri have it (arXiv 2410.22235, algorithm 3:
// sums of right and of wrong guesses), in 30 digits with mpmath and the exact quantile function.
func TestCurveGolden(t *testing.T) {
	for _, c := range []struct {
		m, r, v  int
		mu, want float64
	}{
		{10, 6, 6, 0.5, 0.110561657689},
		{40, 20, 18, 1, 0.398580017562},
		{2000, 125, 111, 0.4, 0.00197130378114},
		{600, 150, 148, 1, 0.00861424051371},
		{30, 30, 20, 0.3, 0.302574421276},
		{5, 1, 1, 0.7, 0.78166902236},
	} {
		got := Guesses{Canaries: c.m, In: c.r, Correct: c.v, Tests: 1}.leastRefuted(curveOf(gaussianDeltas(c.mu)))
		if got < c.want*(1-1e-11) || got > c.want*(1+1e-4) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestCurveOfOnePoint: with one point of a curve the recursion is at least the theorem of onerun.go, which is attained, and the same where all guesses
// are right, so that no mass is above v.
func TestCurveOfOnePoint(t *testing.T) {
	for _, r := range []int{1, 2, 7, 40} {
		for _, epsilon := range []float64{0, 0.4, 2} {
			for _, delta := range []float64{0, 1e-6, 0.003} {
				for v := 1; v <= r; v++ {
					g := Guesses{Canaries: r + 5, In: r, Correct: v, Tests: 1}
					got, want := g.leastRefuted(curveOf([]float64{epsilon}, []float64{delta})), g.pValue(epsilon, delta)
					if got < want*(1-1e-9) || v == r && got > want*(1+1e-9) {
						t.Errorf("%+v, (%v, %v): %v, want %v", g, epsilon, delta, got, want)
					}
					if p := g.PValueOfCurve([]float64{epsilon}, []float64{delta}); p != min(got, want) {
						t.Errorf("%+v, (%v, %v): %v, want the least of %v and %v", g, epsilon, delta, p, got, want)
					}
				}
			}
		}
	}
}

// TestCurveRoundsOutward: the probability that a coin shows heads at least v times, with 200 bits, is never above the bound.
func TestCurveRoundsOutward(t *testing.T) {
	for _, r := range []int{1, 3, 50, 700} {
		sum := new(big.Int)
		for v := r; v >= max(1, r/2-5); v-- {
			sum.Add(sum, new(big.Int).Binomial(int64(r), int64(v)))
			exact := new(big.Float).SetPrec(200).SetInt(sum)
			exact.SetMantExp(exact, -r)
			if want, _ := exact.Float64(); want > 1e-250 {
				got := (Guesses{Canaries: r, In: r, Correct: v, Tests: 1}).leastRefuted(curveOf([]float64{0}, []float64{0}))
				if exact.Cmp(big.NewFloat(got)) > 0 || v == r && got > want*(1+1e-8) {
					t.Errorf("%d of %d: %v, is %v", v, r, got, want)
				}
			}
		}
	}
}

// TestCurveRefutesNothingTrue: fair coins show heads r times with probability 2^-r exactly, so that this is not refuted, however the recursion rounds.
func TestCurveRefutesNothingTrue(t *testing.T) {
	fair := curve{epsilons: []float64{0}, ratios: []float64{1}, deltas: []float64{0}} // 1 is exact here
	for r := 1; r <= 600; r++ {
		g := Guesses{Canaries: r + r%7, In: r, Correct: r, Tests: 1}
		if p := math.Ldexp(1, -r); g.refutes(fair, p) || !g.refutes(fair, p*(1+1e-11)) {
			t.Errorf("%d of %d: %v is refuted, or more is not", r, r, p)
		}
	}
}

// TestCurveHolds: no symmetric mechanism has more correct guesses than its own curve allows.
func TestCurveHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.IntRange(1, 9).Draw(t, "r")
		m := r + rapid.IntRange(0, 5).Draw(t, "abstentions")
		g := make(symmetric, r+1)
		sum := 0.0
		for w := range g {
			g[w] = math.Exp(-rapid.Float64Range(0, 12).Draw(t, "weight"))
			sum += choose(r, w) * g[w]
		}
		for w := range g {
			g[w] /= sum
		}
		// δ is linear in e^ε between the ratios of neighbouring probabilities: these are all of the curve.
		var epsilons, deltas []float64
		for w := range r {
			e := math.Abs(math.Log(g[w] / g[w+1]))
			epsilons, deltas = append(epsilons, e), append(deltas, g.delta(e, m)+1e-16)
		}
		for v := 1; v <= r; v++ {
			p := Guesses{Canaries: m, In: r, Correct: v, Tests: 1}.PValueOfCurve(epsilons, deltas)
			if got := g.correct(v); got > p*(1+1e-12) {
				t.Fatalf("%d of %d correct with probability %v, bound %v", v, r, got, p)
			}
		}
	})
}

// TestCurveAnyMechanism: mechanisms of two or three canaries without any symmetry, drawn at random, with the auditor's answers as outputs.
func TestCurveAnyMechanism(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for range 300 {
		m := 2 + rng.IntN(2)
		r := 1 + rng.IntN(m)
		outputs, p := anyMechanism(rng, m, r)
		var epsilons, deltas []float64
		for i := range 30 {
			e := float64(i) / 8
			epsilons, deltas = append(epsilons, e), append(deltas, anyDelta(p, m, e)+1e-16)
		}
		for v := 1; v <= r; v++ {
			got := anyCorrect(outputs, p, r, v)
			if bound := (Guesses{Canaries: m, In: r, Correct: v, Tests: 1}).PValueOfCurve(epsilons, deltas); got > bound*(1+1e-12) {
				t.Errorf("m = %d, r = %d, v = %d: %v, bound %v", m, r, v, got, bound)
			}
		}
	}
}

// TestCurveIsAtMostItsPoints: a whole curve bounds at least as well as its best point, and the Gaussian one much better.
func TestCurveIsAtMostItsPoints(t *testing.T) {
	g := Guesses{Canaries: 2000, In: 63, Out: 62, Correct: 111, Tests: 1}
	epsilons, deltas := gaussianDeltas(0.4)
	least := 1.0
	for i, e := range epsilons {
		least = min(least, g.pValue(e, deltas[i]))
	}
	if p := g.PValueOfCurve(epsilons, deltas); !(p < 0.4*least) {
		t.Errorf("p-value %v by the curve, %v by its best point", p, least)
	}
}

// TestGaussianEpsilon: the golden values are roots of the closed form in 30 digits.
func TestGaussianEpsilon(t *testing.T) {
	for _, c := range []struct{ mu, delta, want float64 }{{1, 1e-5, 4.37717809568122}, {0.5, 1e-5, 1.99309140441512}, {0, 1e-5, 0}, {1, 0, math.Inf(1)}, {0.1, 0.5, 0}} {
		if got := GaussianEpsilon(c.mu, c.delta); !(got <= c.want*(1+1e-14) && got >= c.want*(1-1e-9)) {
			t.Errorf("μ = %v, δ = %v: %v, want %v", c.mu, c.delta, got, c.want)
		}
	}
}

// TestOneRunGaussianCoverage: one run whose canaries each have a Gaussian score: the bound of μ is above the truth at most as often as the
// confidence allows; and it finds more than half of it.
func TestOneRunGaussianCoverage(t *testing.T) {
	slow.Test(t)
	runs := 60
	if slow.All() {
		runs = 1000
	}
	const confidence = 0.8
	for cell, c := range []struct {
		m  int
		mu float64
	}{{40, 0.5}, {40, 2}, {200, 1}, {1000, 1}} {
		rng := rand.New(rand.NewPCG(uint64(cell), 8))
		above, mean := 0, 0.0
		for range runs {
			var s Scores
			for i := range c.m {
				// Neither list may be empty, which has a chance of 2^-39 for fair coins.
				if i == 0 || i > 1 && rng.IntN(2) == 0 {
					s.Members = append(s.Members, rng.NormFloat64()+c.mu)
				} else {
					s.NonMembers = append(s.NonMembers, rng.NormFloat64())
				}
			}
			_, mu, err := OneRunGaussian(t.Context(), s, confidence, 0)
			if err != nil {
				t.Fatal(err)
			}
			if mean += mu / float64(runs); mu > c.mu {
				above++
			}
		}
		t.Logf("%+v: %d of %d above, mean %v", c, above, runs, mean)
		if allowed := 1 - confidence; float64(above) > float64(runs)*allowed+3*math.Sqrt(float64(runs)*allowed*confidence) {
			t.Errorf("%+v: %d of %d are above the truth", c, above, runs)
		}
		if c.m == 1000 && mean < 0.5 {
			t.Errorf("%+v: the mean bound is %v", c, mean)
		}
	}
}

// TestOneRunGaussianEnds: a context that is done is an error.
func TestOneRunGaussianEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := OneRunGaussian(ctx, pythonScores(1), 0.95, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
}
