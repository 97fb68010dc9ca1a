package rdp

import (
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/noiserange"
	"pgregory.net/rapid"
)

// drawCurve returns any of the closed-form curves with its name.
func drawCurve(t *rapid.T) Curve {
	noise := math.Exp(rapid.Float64Range(-3, 6).Draw(t, "log noise"))
	eps := math.Exp(rapid.Float64Range(-8, 3).Draw(t, "log eps"))
	rate := math.Exp(-rapid.Float64Range(0, 20).Draw(t, "-log rate"))
	sens := rapid.IntRange(1, 9).Draw(t, "sensitivity")
	switch rapid.IntRange(0, 10).Draw(t, "kind") {
	case 0:
		return must2(Gaussian(noise))
	case 1:
		return must2(Laplace(noise))
	case 2:
		return must2(Pure(eps))
	case 3:
		return must2(RandomizedResponse(rate, sens+1))
	case 4:
		return must2(Exponential(eps))
	case 5:
		return must2(DiscreteGaussian(noise, sens))
	case 6:
		return must2(DiscreteLaplace(noise, sens))
	case 7:
		return must2(newPoissonGaussian(rate, noise))
	case 8:
		return must2(poissonGaussianAdd(rate, noise))
	case 9:
		return must2(Poisson(must2(Laplace(noise)), rate))
	}
	return must2(Finite(drawDistribution(t, 4, "p"), drawDistribution(t, 4, "q")))
}

// Exact divergences do not decrease in α, and (α−1)·D_α is convex (van Erven and
// Harremoës 2014, Theorem 3 and Corollary 2).
func TestCurvesAreMonotoneAndConvex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCurve(t)
		a := 1 + math.Exp(rapid.Float64Range(-12, 4).Draw(t, "log(a-1)"))
		b := 1 + (a-1)*(1+rapid.Float64Range(0.01, 3).Draw(t, "step"))
		m := (a + b) / 2
		va, vm, vb := c.RDP(a), c.RDP(m), c.RDP(b)
		if !(va >= 0 && va <= vm*(1+1e-11) && vm <= vb*(1+1e-11)) {
			t.Fatalf("not monotone: %v at %v, %v at %v, %v at %v", va, a, vm, m, vb, b)
		}
		if chord := convexBetween(m, a, va, b, vb); !(vm <= chord*(1+1e-11)) {
			t.Fatalf("not convex: %v at %v, chord %v", vm, m, chord)
		}
	})
}

// Sampling never increases a divergence, and a smaller rate never costs more.
func TestSamplingIsMonotoneInRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		noise := math.Exp(rapid.Float64Range(-1, 5).Draw(t, "log noise"))
		q := math.Exp(-rapid.Float64Range(0, 20).Draw(t, "-log rate"))
		alpha := 1 + math.Exp(rapid.Float64Range(-6, 4).Draw(t, "log(alpha-1)"))
		small := must2(newPoissonGaussian(q/2, noise)).RDP(alpha)
		large := must2(newPoissonGaussian(q, noise)).RDP(alpha)
		whole := must2(Gaussian(noise)).RDP(alpha)
		if !(small <= large*(1+1e-11) && large <= whole) {
			t.Fatalf("%v at q/2, %v at q, %v at 1", small, large, whole)
		}
		if add := must2(poissonGaussianAdd(q, noise)).RDP(alpha); !(add <= large*(1+1e-11)) {
			t.Fatalf("add %v is above remove %v", add, large)
		}
	})
}

// Pure dominates every mechanism with that ε, bounded range included.
func TestPureDominates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eps := math.Exp(rapid.Float64Range(-8, 3).Draw(t, "log eps"))
		alpha := 1 + math.Exp(rapid.Float64Range(-8, 8).Draw(t, "log(alpha-1)"))
		pure := must2(Pure(eps)).RDP(alpha)
		for _, c := range []Curve{must2(Laplace(1 / eps)), must2(Exponential(eps)), must2(DiscreteLaplace(1/eps, 3))} {
			if v := c.RDP(alpha); !(v <= pure*(1+1e-11)) {
				t.Fatalf("%T: %v is above pure %v", c, v, pure)
			}
		}
		if !(pure <= min(eps, eps*eps*alpha/2)*(1+1e-11)) {
			t.Fatalf("pure %v is above min(ε, ε²α/2)", pure)
		}
	})
}

// No parameters that are accepted give NaN, a negative value or a hang.
func TestExtremes(t *testing.T) {
	var curves []Curve
	for _, x := range []float64{noiserange.Min, 1e-3, 1, 1e6, noiserange.Max} {
		curves = append(curves, must2(Gaussian(x)), must2(Laplace(x)), must2(DiscreteGaussian(x, 1)),
			must2(DiscreteLaplace(x, 1000000)), must2(DiscreteLaplace(x, 7)))
		for _, q := range []float64{0, 1e-300, 1e-12, 0.5, 1 - 1e-16, 1} {
			curves = append(curves, must2(newPoissonGaussian(q, x)), must2(poissonGaussianAdd(q, x)), must2(Poisson(must2(Laplace(x)), q)))
		}
	}
	for _, x := range []float64{0, 5e-324, 1e-12, 1, maxEpsilon} {
		curves = append(curves, must2(Pure(x)), must2(Exponential(x)), must2(ZCDP(x)))
	}
	curves = append(curves, must2(RandomizedResponse(0, 2)), must2(RandomizedResponse(1, 1e9)), must2(RandomizedResponse(1e-300, 3)),
		must2(Finite([]float64{1, 0}, []float64{0, 1})), must2(Finite([]float64{1, 0}, []float64{0.5, 0.5})))
	for i, c := range curves {
		for _, alpha := range []float64{1 + 0x1p-52, 1 + 1e-9, 1.5, 2, 3.7, 64, 1e5, 1e12, math.MaxFloat64, math.Inf(1)} {
			if v := c.RDP(alpha); !(v >= 0) {
				t.Errorf("curve %d (%T %+v) at %v: %v", i, c, c, alpha, v)
			}
		}
	}
}

func TestConstructorErrors(t *testing.T) {
	nan := math.NaN()
	for _, tc := range []struct {
		want string
		err  error
	}{
		{"gaussian: noise-multiplier: 0 is not in [1e-06, 1e+15]", second(Gaussian(0))},
		{"gaussian: noise-multiplier: NaN", second(Gaussian(nan))},
		{"laplace: noise-multiplier: -1", second(Laplace(-1))},
		{"zcdp: rho: -1", second(ZCDP(-1))},
		{"zcdp: rho: +Inf", second(ZCDP(math.Inf(1)))},
		{"pure: epsilon: 1e+07 is not in [0, 1e+06]", second(Pure(1e7))},
		{"exponential: epsilon: NaN", second(Exponential(nan))},
		{"randomized-response: probability: 1.5 is not in [0, 1]", second(RandomizedResponse(1.5, 2))},
		{"randomized-response: categories: 1 ", second(RandomizedResponse(0.5, 1))},
		{"finite: q: has 1 entries", second(Finite([]float64{0.5, 0.5}, []float64{1}))},
		{"finite: p[0]: NaN", second(Finite([]float64{nan}, []float64{1}))},
		{"discrete-gaussian: sensitivity: 0", second(DiscreteGaussian(1, 0))},
		{"discrete-laplace: noise-multiplier: 0", second(DiscreteLaplace(0, 1))},
		{"poisson: rate: 2 is not in [0, 1]", second(newPoissonGaussian(2, 1))},
		{"gaussian: noise-multiplier: 0", second(newPoissonGaussian(0.5, 0))},
		{"orders: is empty", Grid{}.Check()},
		{"values: has 1 entries", Grid{[]float64{2, 3}, []float64{1}}.Check()},
		{"orders[0]: 1 is not in (1, +Inf]", Grid{[]float64{1}, []float64{1}}.Check()},
		{"orders[1]: 2 is not above", Grid{[]float64{2, 2}, []float64{1, 1}}.Check()},
		{"values[0]: -1 is not in [0, +Inf]", Grid{[]float64{2}, []float64{-1}}.Check()},
	} {
		if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("got %v, want %s", tc.err, tc.want)
		}
	}
}
