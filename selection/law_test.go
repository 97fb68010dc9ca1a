package selection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

func testLaws() []Law {
	return []Law{
		must(newGeometric(0.1)), must(newNegativeBinomial(0, 0.1)), must(newNegativeBinomial(0.5, 0.0625)),
		must(newNegativeBinomial(-0.5, 0.05)), must(newNegativeBinomial(2, 0.3)), must(newNegativeBinomial(3.7, 0.2)),
		must(newNegativeBinomial(5, 0.9)), must(newGeometric(1)),
		must(newConditionedLaw(1, 0.1, 5)), must(newConditionedLaw(0, 0.1, 30)), must(newConditionedLaw(1, 0, 10)),
		must(newConditionedLaw(2.5, 0, 12)), must(newConditionedLaw(-0.5, 0.01, 40)), must(newConditionedLaw(3, 0.05, 100)),
		must(newCensoredLaw(0.1, 5)), must(newPoisson(3)), must(newPoisson(0.3)), must(newPoisson(10)),
		must(newBinomial(4, 0.5)), must(newBinomial(20, 0.1)), must(newFixed(7)),
	}
}

// Acceptance check 2: the generating function, its derivative, the mean and the
// masses of every law agree.
func TestCheck02GeneratingFunctions(t *testing.T) {
	for _, l := range testLaws() {
		t.Run(l.String(), func(t *testing.T) {
			var total, mean float64
			n := 3000
			pgf, dpgf := make([]float64, 5), make([]float64, 5)
			xs := []float64{0, 0.3, 0.5, 0.9, 0.999}
			for k := range n {
				p := l.PMF(k)
				total += p
				mean += float64(k) * p
				for i, x := range xs {
					pgf[i] += p * math.Pow(x, float64(k))
					if k > 0 {
						dpgf[i] += p * float64(k) * math.Pow(x, float64(k-1))
					}
				}
			}
			near(t, "sum of masses", total, 1, 1e-12)
			near(t, "mean", l.Mean(), mean, 1e-11)
			relNear(t, "f'(1)", math.Exp(l.LogDPGF(0)), l.Mean(), 1e-13)
			for i, x := range xs {
				near(t, fmt.Sprintf("f(%v)", x), l.PGF(x), pgf[i], 1e-12)
				relNear(t, fmt.Sprintf("f'(%v)", x), math.Exp(l.LogDPGF(1-x)), dpgf[i], 1e-10)
				if h := 1e-4; x > 0.1 && x < 0.99 {
					// Five-point derivative: error h⁴f⁗/30 + u/h.
					d := (8*(l.PGF(x+h)-l.PGF(x-h)) - (l.PGF(x+2*h) - l.PGF(x-2*h))) / (12 * h)
					relNear(t, fmt.Sprintf("numerical f'(%v)", x), d, math.Exp(l.LogDPGF(1-x)), 1e-10)
				}
				near(t, fmt.Sprintf("Hit(%v)", 1-x), l.Hit(1-x), 1-l.PGF(x), 1e-13)
			}
			// Small probabilities keep their relative accuracy.
			relNear(t, "Hit(1e-30)", l.Hit(1e-30), l.Mean()*1e-30, 1e-13)
		})
	}
	// Limits.
	for _, x := range []float64{0.1, 0.5, 0.9} {
		log := must(newNegativeBinomial(0, 0.01))
		for _, eta := range []float64{1e-9, -1e-9} {
			near(t, "shape 1e-9", must(newNegativeBinomial(eta, 0.01)).PGF(x), log.PGF(x), 1e-7)
		}
		near(t, "shape 1e-19", must(newNegativeBinomial(1e-19, 0.01)).PGF(x), log.PGF(x), 1e-15)
		near(t, "geometric", must(newNegativeBinomial(1, 0.01)).PGF(x), 0.01*x/(1-0.99*x), 1e-15)
		near(t, "capped far out", must(newConditionedLaw(0.5, 0.1, 1000)).PGF(x), must(newNegativeBinomial(0.5, 0.1)).PGF(x), 1e-13)
	}
}

// Golden values of the negative binomial family (selection.md §5.7).
func TestNegativeBinomialGolden(t *testing.T) {
	for _, c := range []struct {
		shape, gamma, mean float64
		pmf                []float64
	}{
		{0.5, 0.01, 55, []float64{.055, .0408375, .0336909375, .029184774609375, .02600363417695312}},
		{2, 0.3, 5.12820512820512821, []float64{.1384615384615385, .1453846153846154, .1356923076923077, .1187307692307692, .09973384615384615}},
		{0, 0.01, 21.4975768542109655, []float64{.2149757685421097, .1064130054283443, .07023258358270722}},
		{-0.5, 0.05, 2.7360679774997897, []float64{.6118033988749895, .14530330723281, .06901907093558475}},
	} {
		l := must(newNegativeBinomial(c.shape, c.gamma))
		relNear(t, l.String()+" mean", l.Mean(), c.mean, 1e-14)
		for i, p := range c.pmf {
			relNear(t, fmt.Sprintf("%v pmf(%d)", l, i+1), l.PMF(i+1), p, 1e-14)
		}
	}
	l := must(newNegativeBinomial(0.5, 0.01))
	relNear(t, "f(.9)", l.PGF(0.9), .2254347404529904, 1e-14)
	relNear(t, "f'(.9)", math.Exp(l.LogDPGF(0.1)), 1.5283504268278, 1e-13)
	// Far out, by log-gamma.
	a, _ := math.Lgamma(5000.5)
	b, _ := math.Lgamma(1.5)
	c, _ := math.Lgamma(5001)
	relNear(t, "pmf(5000)", l.PMF(5000), math.Exp(math.Log(l.Mean())+1.5*math.Log(0.01)+4999*math.Log1p(-0.01)+a-b-c), 1e-10)
}

// Acceptance check 3: γ from the mean (selection.md §5.7), rounded down.
func TestCheck03GammaFromMean(t *testing.T) {
	for _, c := range []struct{ shape, mean, gamma, miss float64 }{
		{0, 10, 0.0269182596006802187, .576951010242097},
		{0, 100, 0.00154211507488966607, .353504672869622},
		{0.5, 10, 0.0625, .509940709378234},
		{0.5, 100, 0.00536627429245212264, .165091941841675},
		{1, 10, 0.1, .473684210526316},
		{1, 100, 0.01, .0825688073394495},
		{2, 10, 0.170820393249936909, .436783617974742},
		{2, 100, 0.0196152422706631881, .0274213920695359},
		{5, 10, 0.334263242374519988, .400777479710868},
		{5, 100, 0.0476190587234589391, .004114985851542},
		{-0.5, 10, 0.00277008310249307479, math.NaN()},
		{-0.5, 100, 2.52518875785965e-5, math.NaN()},
	} {
		l := must(withMean(c.shape, c.mean))
		_, gamma, _ := l.Family()
		if !(gamma <= c.gamma) && math.Abs(gamma/c.gamma-1) > 1e-15 {
			t.Errorf("shape %v mean %v: γ = %.17g is above %.17g", c.shape, c.mean, gamma, c.gamma)
		}
		relNear(t, fmt.Sprintf("γ(%v, %v)", c.shape, c.mean), gamma, c.gamma, 1e-13)
		relNear(t, "round trip", l.Mean(), c.mean, 1e-12)
		if l.Mean() < c.mean {
			t.Errorf("%v: mean %.17g is below the one asked for", l, l.Mean())
		}
		if !math.IsNaN(c.miss) {
			relNear(t, fmt.Sprintf("f(.9) of %v", l), l.PGF(0.9), c.miss, 1e-12)
		}
	}
	relNear(t, "Poisson 10 f(.9)", must(newPoisson(10)).PGF(0.9), .367879441171442, 1e-14)
	relNear(t, "Poisson 100 f(.9)", must(newPoisson(100)).PGF(0.9), 4.53999297624849e-5, 1e-12)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		shape := []float64{-0.9, -0.5, 0, 0.1, 1, 3, 50}[rng.IntN(7)]
		mean := 1 + math.Exp(rng.Float64()*12-6)
		l, err := withMean(shape, mean)
		if err != nil {
			t.Logf("%v", err)
			continue
		}
		if l.Mean() < mean || l.Mean() > mean*(1+1e-12*max(1, 1/(1+shape))) {
			t.Errorf("WithMean(%v, %v) has mean %v", shape, mean, l.Mean())
		}
	}
}

// Acceptance check 12: exact samplers against the masses, by χ². 1e6 draws for
// the cheap laws and 2e5 for the rest; fixed seed.
func TestCheck12Samplers(t *testing.T) {
	slow.Test(t)
	for i, l := range testLaws() {
		t.Run(l.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, uint64(i)))
			n := 200_000
			if l.Mean() <= 3 && !testing.Short() {
				n = 1_000_000
			}
			const bins = 60
			counts := make([]float64, bins+1)
			top, bounded := l.MaxRuns()
			sum := 0.0
			for range n {
				k := l.Sample(rng)
				if k < 0 || bounded && k > top || k == 0 && l.PMF(0) == 0 {
					t.Fatalf("drew %d", k)
				}
				sum += float64(k)
				counts[min(k, bins)]++
			}
			rest, chi2, df := 1.0, 0.0, -1.0
			restCount := float64(n)
			for k := range bins {
				e := l.PMF(k) * float64(n)
				if e < 10 {
					continue
				}
				chi2 += (counts[k] - e) * (counts[k] - e) / e
				rest -= l.PMF(k)
				restCount -= counts[k]
				df++
			}
			if e := rest * float64(n); e > 10 {
				chi2 += (restCount - e) * (restCount - e) / e
				df++
			}
			// χ² has mean df and variance 2df; 5 standard deviations and a skew term.
			if limit := df + 5*math.Sqrt(2*df) + 15; chi2 > limit {
				t.Errorf("χ² = %v with %v degrees of freedom", chi2, df)
			}
		})
	}
}
