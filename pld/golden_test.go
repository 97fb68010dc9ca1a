package pld_test

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func gaussian(sigma float64) profiles.Profile { return must(profiles.NewGaussian(sigma)) }
func laplace(b float64) profiles.Profile      { return must(profiles.NewLaplace(b)) }

func sampled(p profiles.Profile, rate float64) profiles.Profile {
	return must(subsample.PoissonProfile(p, rate))
}

func massAt(l *pld.Law, k int64) float64 {
	for i, j := range l.Index {
		if j == k {
			return math.Exp(l.LogMass[i])
		}
	}
	return 0
}

// rounding returns κ·tail at the golden lattice point i, of the smaller tail.
func rounding(p profiles.Profile, i int64) float64 {
	at := float64(i) * 1e-3
	x := p.Tails(at, 2*0x1p-53*math.Abs(at)) // the lattice point is a product
	if x.PC < x.P {
		return (x.ErrC + 0x1p-52) * math.Exp(x.PC)
	}
	return (x.Err + 0x1p-52) * math.Exp(x.P)
}

// core.md §9.1: q = 0.01, σ = 1, remove direction, Δ = 1e-3, o = 0, indices
// −11 … 12000.
func goldenGrid() (profiles.Profile, pld.Grid) {
	return sampled(gaussian(1), 0.01), pld.Uniform(0, 1e-3, -11, 12000)
}

// core.md §9.1, first table: tails (columns p, q).
func TestGoldenTails(t *testing.T) {
	p, _ := goldenGrid()
	for _, c := range []struct{ i, p, q float64 }{
		{-11, 1, 1},
		{-10, 0.99999922100943895, 0.99999921317401223},
		{-9, 0.96141064141197082, 0.96104977552930961},
		{-8, 0.86412535870305143, 0.86293619591362673},
		{-5, 0.57867687206576047, 0.57560183676313669},
		{0, 0.31236678795146716, 0.3085375387259869},
		{1, 0.27961615907999265, 0.27580288266943647},
		{10, 0.11898136815021475, 0.11591611809035694},
		{100, 0.0018642483437000237, 0.0016208786690311695},
		{1000, 2.4249501298133641e-8, 7.9158429458307736e-9},
		{5000, 4.6081292017131083e-22, 2.8053296384802705e-24},
		{12000, 1.173379788281702e-60, math.NaN()},
	} {
		x := p.Tails(c.i*1e-3, 0)
		// i·1e-3 and 0.01 are decimals: half an ulp each, worth dy/dε·u ≤ u/q near the
		// edge; the tail's own error.
		tol := x.Err + 200*0x1p-53*(1+math.Abs(x.P))
		if got := math.Exp(x.P); math.Abs(got/c.p-1) > tol {
			t.Errorf("p(t_%v) = %.17g, want %.17g", c.i, got, c.p)
		}
		if got := math.Exp(x.Q); math.Abs(got/c.q-1) > tol {
			t.Errorf("q(t_%v) = %.17g, want %.17g", c.i, got, c.q)
		}
	}
}

// core.md §9.1, first table: masses of the upper law (column m_i), and P-mass at
// +∞.
func TestGoldenUpperMasses(t *testing.T) {
	p, g := goldenGrid()
	up, _ := pld.Discretize(p, g)
	for _, c := range []struct {
		i int64
		m float64
	}{
		{-11, 6.3741357048272342e-9},
		{-10, 0.011880669616220388},
		{-9, 0.073204975444826503},
		{-8, 0.10385477342914782},
		{-5, 0.077488896805999785},
		{0, 0.035285556251397317},
		{1, 0.030501361734795385},
		{10, 0.0099445347697880162},
		{100, 5.5545933642731959e-5},
		{1000, 1.9695406462556957e-10},
		{5000, 4.2734755349672742e-24},
	} {
		got := massAt(up, c.i)
		// Outward rounding raises the tails by E_i ≈ 4κ·tail/Δ (core.md §2.2), and a mass
		// is a difference of two of them.
		tol := 4*(rounding(p, c.i-1)+rounding(p, c.i)+rounding(p, c.i+1))/1e-3 + 1e-15*c.m
		if math.Abs(got-c.m) > tol {
			t.Errorf("m_%d = %.17g, want %.17g: off by %.3g, allowed %.3g", c.i, got, c.m, got-c.m, tol)
		}
	}
	if got, want := math.Exp(up.LogPInf), 1.173379788281702e-60; math.Abs(got/want-1) > 1e-12 {
		t.Errorf("mass at +∞ = %v, want %v", got, want)
	}
}

// core.md §9.1, second table: K, mean and variance of the tilted upper law.
func TestGoldenTilted(t *testing.T) {
	p, g := goldenGrid()
	up, _ := pld.Discretize(p, g)
	nan := math.NaN()
	for _, c := range []struct{ theta, k, mean, variance float64 }{
		{1, 1.7198025431839999e-4, 2.623551301178364e-4, 1.855540624196853e-4},
		{4, 0.0018763372356143, nan, nan},
		{5, 0.0029199931167485816, 0.0011886383306611667, 3.1277578760977963e-4},
		{6.687, 0.0055208663456304535, 0.0021077235607330623, 0.0012788664632709644},
		{8, 0.014259301795025598, 0.024206489001870661, 0.084957726590892169},
		{10, 4.4070588480036001, 5.7737254568377447, 1.452007662121262},
	} {
		k, mean, variance := up.Tilted(c.theta)
		// A tail that is larger by E_i moves that much P-mass up by Δ, which changes the
		// tilted sums by ∂/∂l of e^{θl}(1, l, l²): with ΔE_i ≈ 4κ·tail and d the distance to
		// the mean, K by Σ 4κ·tail·e^{θt−K}·θ, the mean by …·(1 + θd), the variance by
		// …·(2d + θd²).
		var dk, dm, dv float64
		for i := g.Lo; i <= g.Hi; i++ {
			at := float64(i) * 1e-3
			e := 4 * rounding(p, i) * math.Exp(c.theta*at-c.k)
			d := math.Abs(at - mean)
			dk, dm, dv = dk+e*c.theta, dm+e*(1+c.theta*d), dv+e*(2*d+c.theta*d*d)
		}
		if math.Abs(k-c.k) > dk+1e-13*math.Abs(c.k)+1e-15 {
			t.Errorf("K(%v) = %.17g, want %.17g: off by %.3g, allowed %.3g", c.theta, k, c.k, k-c.k, dk)
		}
		if !math.IsNaN(c.mean) && math.Abs(mean-c.mean) > dm+1e-14*math.Sqrt(c.variance) {
			t.Errorf("mean(%v) = %.17g, want %.17g: off by %.3g, allowed %.3g", c.theta, mean, c.mean, mean-c.mean, dm)
		}
		if !math.IsNaN(c.variance) && math.Abs(variance-c.variance) > dv+1e-13*c.variance {
			t.Errorf("variance(%v) = %.17g, want %.17g: off by %.3g, allowed %.3g", c.theta, variance, c.variance, variance-c.variance, dv)
		}
		kk, err := up.K(c.theta)
		if kk != k || !(err > 0 && err < 1e-9) {
			t.Errorf("K(%v) = %v ± %v, Tilted says %v", c.theta, kk, err, k)
		}
	}
}

// core.md §9.1, lower masses with the shifted touching points. The shift is taken
// from the rates of neighbouring cells, not from half cells: the two agree up to
// the change of the rate over a cell, which is of the order of the rate itself
// next to the spike (i = −5) and falls off with the distance from it. So the
// masses differ by that part of what the whole shift does (part: measured, rounded
// up to one digit; the last row is limited by the digits given).
func TestGoldenLowerMasses(t *testing.T) {
	p, g := goldenGrid()
	_, low := pld.Discretize(p, g)
	for _, c := range []struct {
		i               int64
		middle, shifted float64
		part            float64
	}{
		{-5, 0.077384107551, 0.077305084001, 0.3},
		{0, 0.0351585908924, 0.0351671519690, 0.006},
		{10, 0.00992503320724, 0.00992612300939, 0.001},
		{100, 5.553496322515e-5, 5.553514573575e-5, 1e-4},
		{1000, 1.969519996774e-10, 1.969520064464e-10, 0.03},
	} {
		got := massAt(low, c.i)
		t.Logf("m_%d = %.13g: %.3g of the shift's effect off, relative %.3g", c.i, got,
			(got-c.shifted)/(c.middle-c.shifted), got/c.shifted-1)
		if d := math.Abs(got - c.shifted); d > c.part*math.Abs(c.middle-c.shifted) {
			t.Errorf("m_%d = %.13g, want %.13g (%.13g without shift)", c.i, got, c.shifted, c.middle)
		}
	}
	if !low.SecondOrder {
		t.Error("the lower law is of first order")
	}
}

// The masses sum to 1 up to outward rounding, on the right side of it.
func TestGoldenTotals(t *testing.T) {
	p, g := goldenGrid()
	up, low := pld.Discretize(p, g)
	if m := newReader(up).total(); m < 1 || m > 1+1e-10 {
		t.Errorf("upper law has mass 1 %+.3g", m-1)
	}
	if m := newReader(low).total(); m > 1 || m < 1-1e-10 {
		t.Errorf("lower law has mass 1 %+.3g", m-1)
	}
}
