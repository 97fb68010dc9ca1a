package main

import (
	"math"
	"testing"
)

// mustOWPair is pair A of MUST.OW at n=10000, m=200, b=118.
func mustOWPair() (p, q normalMixture) {
	const n, m, b = 10000., 200, 118.
	for u := range 20 {
		lg, _ := math.Lgamma(m + 1)
		lu, _ := math.Lgamma(float64(u) + 1)
		lr, _ := math.Lgamma(float64(m-u) + 1)
		w := b / n * math.Exp(lg-lu-lr-float64(u)*math.Log(b)+float64(m-u)*math.Log1p(-1/b))
		if u == 0 {
			w += 1 - b/n
		}
		p.Weight, p.Mean = append(p.Weight, w), append(p.Mean, float64(u))
		q.Weight, q.Mean = append(q.Weight, w), append(q.Mean, -float64(u))
	}
	return p, q
}

// must.md §7.6, figure S2: L = 10, r = 5e5, ε = 1; within 1 % (check 25), the
// rounding of the printed lower values being the largest part of it.
func TestHistoricReproducesFigureS2(t *testing.T) {
	if testing.Short() {
		t.Skip("half a million points")
	}
	p, q := mustOWPair()
	h, err := newAlgorithm1(p, q, 4, 10, 500_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		k    int
		want [3]float64
	}{
		{200, [3]float64{9.068e-9, 1.3974e-8, 2.0431e-8}},
		{400, [3]float64{4.206e-8, 1.0754e-7, 2.1609e-7}},
		{600, [3]float64{8.526e-7, 3.5431e-6, 9.9541e-6}},
		{800, [3]float64{5.317e-6, 3.3599e-5, 1.4003e-4}},
		{1000, [3]float64{1.4942e-5, 1.4278e-4, 8.8799e-4}},
	} {
		l, m, u := h.delta(1, c.k)
		for i, got := range [3]float64{l, m, u} {
			if math.Abs(got-c.want[i]) > 0.01*c.want[i] {
				t.Errorf("k=%d: %v, want %v", c.k, [3]float64{l, m, u}, c.want)
				break
			}
		}
	}
}

// With the difference quotient in place of the closed form that the paper has for
// Poisson sampling, the "upper" value at its own setting is 8.98e-6 where the exact
// δ is 6.4097e-5.
func TestHistoricUpperIsNotABound(t *testing.T) {
	rate := 300. / 30969
	p := normalMixture{[]float64{1 - rate, rate}, []float64{0, 1}}
	q := normalMixture{[]float64{1}, []float64{0}}
	h, err := newAlgorithm1(p, q, 0.8845, 6, 300_000)
	if err != nil {
		t.Fatal(err)
	}
	_, _, upper := h.delta(2, 1000)
	if math.Abs(upper-8.98e-6) > 0.01*8.98e-6 {
		t.Errorf("upper value %v, want 8.98e-6", upper)
	}
}

func TestHistoricChecksItsInput(t *testing.T) {
	one := normalMixture{[]float64{1}, []float64{0}}
	for _, c := range []struct {
		p     normalMixture
		sigma float64
		l     float64
		r     int
		want  string
	}{
		{one, 0, 1, 4, "historic: sigma: 0 is not in (0, ∞)"},
		{one, 1, math.NaN(), 4, "historic: l: NaN is not in (0, 1000]"},
		{one, 1, 1, 5, "historic: r: 5 is not an even number in [4, 16777216]"},
		{normalMixture{}, 1, 1, 4, "historic: p: has 0 weights and 0 means, which is not in [1, ∞) of each"},
	} {
		if _, err := newAlgorithm1(c.p, one, c.sigma, c.l, c.r); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// withDensity is Algorithm 1 with the density of the loss in closed form, as the
// paper's supplement S6 has it where there is one.
func withDensity(density func(s float64) float64, l float64, r int) *algorithm1 {
	h := &algorithm1{l: l, dx: 2 * l / float64(r), r: r}
	omega := make([]float64, r+1)
	for i := range omega {
		omega[i] = density(-l + float64(i)*h.dx)
	}
	h.transform(omega)
	return h
}

// With closed forms the "upper" value is not one either, on a coarse grid: the
// mass of a cell is moved to its left end, where the loss is smallest. Gaussian,
// Δ/σ = 1, L = 10, r = 100, one run: the loss is N(½, 1).
func TestHistoricUpperIsNotABoundWithClosedForms(t *testing.T) {
	density := func(s float64) float64 { return math.Exp(-(s-0.5)*(s-0.5)/2) / math.Sqrt(2*math.Pi) }
	_, _, upper := withDensity(density, 10, 100).delta(2, 1)
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	exact := cdf(-1.5) - math.Exp(2)*cdf(-2.5)
	if math.Abs(upper-0.020495) > 5e-7 || math.Abs(exact-0.020924) > 5e-7 {
		t.Errorf("upper %v, want 0.020495; exact %v, want 0.020924", upper, exact)
	}
}

// At the paper's setting for Poisson sampling, closed forms make the values bracket
// the exact δ, 6.4097e-5 (the difference quotient of newAlgorithm1 does not), four
// orders of magnitude apart.
func TestHistoricPoissonWithClosedForms(t *testing.T) {
	q, sigma := 300./30969, 0.8845
	density := func(s float64) float64 {
		y := math.Expm1(s) + q // q·e^{(2t−1)/2σ²}
		if y <= 0 {
			return 0
		}
		x := sigma*sigma*math.Log(y/q) + 0.5
		n := func(m float64) float64 {
			return math.Exp(-(x-m)*(x-m)/(2*sigma*sigma)) / (sigma * math.Sqrt(2*math.Pi))
		}
		return ((1-q)*n(0) + q*n(1)) * sigma * sigma * math.Exp(s) / y
	}
	lower, _, upper := withDensity(density, 6, 300_000).delta(2, 1000)
	if math.Abs(lower/3.927e-7-1) > 1e-3 || math.Abs(upper/8.220e-3-1) > 1e-3 {
		t.Errorf("[%v, %v], want [3.927e-7, 8.220e-3]", lower, upper)
	}
}
