package profiles

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/random"
)

// chiSquare returns the statistic of draws against a law, over its degrees of freedom: cells of at least 20 expected draws.
func chiSquare(draws []int64, l *integerLaw) (statistic, freedom float64) {
	n := float64(len(draws))
	counts := map[int64]float64{}
	for _, x := range draws {
		counts[x]++
	}
	last := 0
	for last+1 < len(l.mass) && n*math.Exp(l.tail[last+1]) >= 20 {
		last++
	}
	seen := 0.0
	cell := func(count, p float64) {
		statistic += (count - n*p) * (count - n*p) / (n * p)
		freedom++
		seen += count
	}
	for j := -last + 1; j < last; j++ {
		cell(counts[int64(j)], math.Exp(l.mass[max(j, -j)]))
	}
	for _, sign := range []int64{-1, 1} {
		beyond := 0.0
		for x, c := range counts {
			if sign*x >= int64(last) {
				beyond += c
			}
		}
		cell(beyond, math.Exp(l.tail[last]))
	}
	if seen != n {
		return math.Inf(1), freedom
	}
	return statistic, freedom - 1
}

// TestDrawIntegerNoise: draws by chi-square against the laws that are accounted for, at 6 standard deviations of the
// statistic, and against laws of a tenth more noise, which must be rejected.
func TestDrawIntegerNoise(t *testing.T) {
	const count = 40000
	for _, c := range []struct {
		noise   string
		clients int64
		sd      float64
		law     func(scale float64) *integerLaw
	}{
		{"skellam", 1, 0.5, func(f float64) *integerLaw { l, _ := skellamLaw(0.25 * f * f); return l }},
		{"skellam", 1, 3, func(f float64) *integerLaw { l, _ := skellamLaw(9 * f * f); return l }},
		{"skellam", 7, 2.5, func(f float64) *integerLaw { l, _ := skellamLaw(7 * 6.25 * f * f); return l }},
		{"skellam", 1, 150, func(f float64) *integerLaw { l, _ := skellamLaw(22500 * f * f); return l }},
		{"discrete-gaussian", 1, 0.6, func(f float64) *integerLaw { l, _ := gaussianLaw(0.6 * f); return l }},
		{"discrete-gaussian", 1, 7.3, func(f float64) *integerLaw { l, _ := gaussianLaw(7.3 * f); return l }},
		{"discrete-gaussian", 3, 0.5, func(f float64) *integerLaw { l, _, _ := gaussianSum(0.5*f, 3, 1e-7); return l }},
		{"discrete-laplace", 1, 2, func(f float64) *integerLaw { l, _ := geometricLaw(2 * f); return l }},
		{"discrete-laplace", 4, 1.5, func(f float64) *integerLaw { l, _, _ := geometricSum(1.5*f, 4); return l }},
	} {
		draws, err := DrawIntegerNoise(random.Seeded(7), c.noise, c.clients, c.sd, count)
		if err != nil {
			t.Fatal(err)
		}
		x, k := chiSquare(draws, c.law(1))
		wrong, free := chiSquare(draws, c.law(1.1))
		if math.Abs(x-k) > 6*math.Sqrt(2*k) || wrong-free < 8*math.Sqrt(2*free) {
			t.Errorf("%s of %v, %d clients: chi-square %.1f of %v, of a law with a tenth more %.1f", c.noise, c.sd, c.clients, x, k, wrong)
		}
	}
	// A sum of discrete Gaussians is no discrete Gaussian.
	draws, err := DrawIntegerNoise(random.Seeded(8), "discrete-gaussian", 2, 0.5, count)
	if err != nil {
		t.Fatal(err)
	}
	one, _ := gaussianLaw(0.5 * math.Sqrt2)
	if x, k := chiSquare(draws, one); x-k < 8*math.Sqrt(2*k) {
		t.Errorf("two of 0.5 pass for one of 0.707: chi-square %.1f of %v", x, k)
	}
	for _, bad := range []error{
		errorOf(DrawIntegerNoise(nil, "laplace", 1, 1, 1)), errorOf(DrawIntegerNoise(nil, "skellam", 0, 1, 1)),
		errorOf(DrawIntegerNoise(nil, "skellam", 1, math.NaN(), 1)), errorOf(DrawIntegerNoise(nil, "discrete-laplace", 1<<20, 1, 1<<20)),
	} {
		if bad == nil {
			t.Error("a bad argument is not refused")
		}
	}
	if draws, err := DrawIntegerNoise(nil, "skellam", 3, 20, 2); err != nil || len(draws) != 2 {
		t.Errorf("%v, %v", draws, err)
	}
}

func errorOf[T any](_ T, err error) error { return err }
