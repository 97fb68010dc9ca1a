package profiles

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// TestProbitSteps: D·sd of integer-noise.md §3 with its errata, by 50 digits of mpmath.
func TestProbitSteps(t *testing.T) {
	gaussian := func(sigma float64) (*integerLaw, probitStep, float64) { l, s := gaussianLaw(sigma); return l, s, sigma }
	skellam := func(v float64) (*integerLaw, probitStep, float64) { l, s := skellamLaw(v); return l, s, math.Sqrt(v) }
	geometric := func(b float64) (*integerLaw, probitStep, float64) { l, s := geometricLaw(b); return l, s, b }
	for _, c := range []struct {
		name string
		of   func(float64) (*integerLaw, probitStep, float64)
		x    float64
		want float64
	}{
		{"discrete Gaussian", gaussian, 0.25, 1.70068799355001},
		{"discrete Gaussian", gaussian, 0.5, 1.24419095211312},
		{"discrete Gaussian", gaussian, 1, 1.04576011951597},
		{"discrete Gaussian", gaussian, 2, 1.01065087293856},
		{"discrete Gaussian", gaussian, 4, 1.0026185050508},
		{"discrete Gaussian", gaussian, 10, 1.0004170316442},
		{"Skellam", skellam, 1, 1.24309213921297},
		{"Skellam", skellam, 4, 1.04967780135647},
		{"Skellam", skellam, 16, 1.01078995824839},
		{"Skellam", skellam, 100, 1.00167571294032},
		{"Skellam", skellam, 400, 1.00041722792145},
		{"geometric", geometric, 0.5, 1.17898074282},
		{"geometric", geometric, 1, 1.23203538534},
		{"geometric", geometric, 3, 1.25083857867},
		{"geometric", geometric, 10, 1.25309012212},
	} {
		_, s, sd := c.of(c.x)
		got := s.step * sd
		low, high := 1e-15, 2e-12
		switch {
		case c.name == "geometric":
			low, high = 1e-11, 1e-11 // as many digits as there are
		case c.x == 400:
			high = 1e-11 // errors of twenty ratios about the centre add up
		}
		if !(got >= c.want*(1-low) && got <= c.want*(1+high)) || !s.all {
			t.Errorf("%s %v: D·sd = %.15g, want %.15g; all steps: %v", c.name, c.x, got, c.want, s.all)
		}
	}
}

// TestFarSteps: single steps far out (integer-noise-errata.md, F7).
func TestFarSteps(t *testing.T) {
	g, _ := gaussianLaw(4)
	k, _ := skellamLaw(100)
	for _, c := range []struct {
		law      *integerLaw
		sd, want float64
		j        int
	}{{g, 4, 1.00177709434, 70}, {k, 10, 0.6407179455, 410}} {
		a, _ := firstProbit(c.law.tail[c.j], 0)
		b, _ := firstProbit(c.law.tail[c.j+1], 0)
		if got := (b - a) * c.sd; math.Abs(got-c.want) > 1e-10 {
			t.Errorf("step %d times the deviation %v: %.12g, want %.12g", c.j, c.sd, got, c.want)
		}
	}
}

// TestSumOfTwo: the sum of two discrete Gaussians is none; that of two Skellams is one (errata, "Sums").
func TestSumOfTwo(t *testing.T) {
	for _, c := range []struct{ sigma, sum, one float64 }{{0.5, 1.83590837, 1.55837669}, {1, 0.72259776, 0.72251969}} {
		l, _ := gaussianLaw(c.sigma)
		two, err := l.sumOf(2)
		if err != nil {
			t.Fatal(err)
		}
		_, wrong := gaussianLaw(c.sigma * math.Sqrt2)
		if s := two.step(); math.Abs(s.step-c.sum) > 1e-8 || math.Abs(wrong.step-c.one) > 1e-8 {
			t.Errorf("σ = %v: %.10g and %.10g, want %v and %v", c.sigma, s.step, wrong.step, c.sum, c.one)
		}
	}
	l, _ := skellamLaw(3)
	two, err := l.sumOf(5)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := skellamLaw(15)
	for j := range 60 {
		if d := two.mass[j] - want.mass[j]; math.Abs(d) > two.massErr[j]+want.massErr[j] || math.Abs(d) > 1e-12 {
			t.Errorf("%d: %v, want %v (%v, %v)", j, two.mass[j], want.mass[j], two.massErr[j], want.massErr[j])
		}
	}
}

// TestProbitError: the error of a probit covers that of its tail, however large.
func TestProbitError(t *testing.T) {
	for _, log := range []float64{-0.7, -1, -3, -20, -700, -5e5} {
		for _, err := range []float64{1e-15, 1e-9, 1e-3, 0.5} {
			z, dz := firstProbit(log, err)
			for _, at := range []float64{log - err, min(log+err, -math.Ln2)} {
				if x, _ := firstProbit(at, 0); math.Abs(x-z) > dz {
					t.Errorf("log %v ± %v: %v ± %v, but %v at %v", log, err, z, dz, x, at)
				}
			}
		}
	}
}

// TestGaussianRipple: a sum of discrete Gaussians is one up to the ripple of Lemma 4, and no less.
func TestGaussianRipple(t *testing.T) {
	for _, c := range []struct {
		sigma float64
		n     int64
	}{{1, 2}, {1, 3}, {1.2, 2}, {1.2, 5}, {1.4, 10}} {
		ripple := gaussianRipple(c.sigma, c.n)
		one, _ := gaussianLaw(c.sigma)
		sum, err := one.sumOf(c.n)
		if err != nil {
			t.Fatal(err)
		}
		near, _ := nearlyGaussian(c.sigma*math.Sqrt(float64(c.n)), 0)
		most := 0.0
		for j := range 4 * int(c.sigma*math.Sqrt(float64(c.n))) {
			most = max(most, math.Abs(sum.mass[j]-near.mass[j])-sum.massErr[j]-near.massErr[j])
		}
		if !(most <= ripple) || c.n <= 3 && most < ripple/1000 {
			t.Errorf("σ = %v, %d clients: masses differ by e^±%.3g, bound %.3g", c.sigma, c.n, most, ripple)
		}
	}
}

// TestGeometricSum: the three-term recurrence against convolution, and its steps against those of one law after another.
func TestGeometricSum(t *testing.T) {
	for _, c := range []struct {
		b float64
		n int64
	}{{0.5, 2}, {1, 3}, {1, 40}, {4, 7}} {
		one, _ := geometricLaw(c.b)
		want, err := one.sumOf(c.n)
		if err != nil {
			t.Fatal(err)
		}
		got, s, err := geometricSum(c.b, c.n)
		if err != nil {
			t.Fatal(err)
		}
		for j := range len(want.mass) / 2 {
			if d := got.mass[j] - want.mass[j]; math.Abs(d) > got.massErr[j]+want.massErr[j] || math.Abs(d) > 1e-9 {
				t.Fatalf("b = %v, n = %d, %d: %v, want %v (%v, %v)", c.b, c.n, j, got.mass[j], want.mass[j], got.massErr[j], want.massErr[j])
			}
		}
		if w := want.step(); math.Abs(w.step/s.step-1) > 1e-9 || !s.all {
			t.Errorf("b = %v, n = %d: D = %v, want %v; all %v", c.b, c.n, s.step, w.step, s.all)
		}
	}
}

// TestSkellamTail: where Lemma 3‴ goes on from the last listed step, the D that it covers is that of all steps one by one; a
// D that is too small is not covered.
func TestSkellamTail(t *testing.T) {
	for _, v := range []float64{0.25, 16, 5000, 1e6} {
		l, s := skellamLaw(v)
		if !s.all {
			t.Fatalf("variance %v: not all steps", v)
		}
		last := s
		last.step = 0.97 * math.Asinh(float64(s.last)/v) / s.z // of the next one
		if last.skellamTail(v) {
			t.Errorf("variance %v: D = %v is said to cover all steps; the last has %v", v, last.step, s.z)
		}
		if want := (1 + 1/(6*v)) / math.Sqrt(v); v >= 5000 && !(s.step > want*(1-1e-9) && s.step < want*(1+3e-6)) {
			t.Errorf("variance %v: D = %v, want %v (%d masses)", v, s.step, want, len(l.mass))
		}
	}
}

// TestRateCountsWhatIsLost: the rate at which a sum is continued holds what its last mass may lack, which is small beside the one before.
func TestRateCountsWhatIsLost(t *testing.T) {
	m := &masses{w: []float64{0.5, 0.2, 1e-2, 1e-8}, lost: 9e-18}
	l := m.law()
	if n := len(l.mass); n != 4 {
		t.Fatalf("%d masses are known well, want 4", n)
	}
	// Of −log((w − lost)/w′) = −log(w/w′) + 9e-10 only the second part is in question.
	if got := l.rate - math.Log(1e6); !(got >= 9e-10) {
		t.Errorf("the rate is log 10^6 + %v, want at least 9e-10 more", got)
	}
}

// TestRestsCountTheirProducts: the error of P[N ≥ j]/P[N = j] has the rounding of its products and of its sums. Ratios near
// 1 − 1/1024.4 are chosen so that both are rounded up, by as much as can be, at each of 30,000 numbers.
func TestRestsCountTheirProducts(t *testing.T) {
	const n, ratio = 30000, 1 - 1/1024.4
	ratios := make([]float64, n)
	ratios[n-1] = ratio
	rest := 1 / (1 - ratio)
	exact := oracle.Div(oracle.F(1), oracle.Sub(oracle.F(1), oracle.F(ratio)))
	for j := n - 1; j > 0; j-- {
		most := -1.
		for r, k := ratio, 0; k < 40 && j < n-1; k++ {
			r = math.Nextafter(r, 0)
			x := r * rest
			if up := -math.FMA(r, rest, -x) + (1 + x - x - 1); up > most {
				most, ratios[j] = up, r
			}
		}
		rest = 1 + ratios[j]*rest
		exact = oracle.Add(oracle.F(1), oracle.Mul(oracle.F(ratios[j]), exact))
	}
	l := fromRatios(ratios, make([]float64, n), 0)
	// Both sides make 1: the mass at 0 is one over twice the rest less 1.
	off, _ := oracle.Add(oracle.F(l.mass[0]), oracle.Log(oracle.Sub(oracle.Scale(exact, 2), oracle.F(1)))).Float64()
	if math.Abs(off) > l.massErr[0] || math.Abs(off) < l.massErr[0]/5 {
		t.Errorf("log P[N = 0] is off by %v, within %v: want no more, and not much less", off, l.massErr[0])
	}
}
