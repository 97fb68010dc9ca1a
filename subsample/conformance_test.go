package subsample

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/profiles"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// core.md §9.3, q = 0.01 as a decimal: float64 0.01 is off by 0.4 u of it, which
// moves the results by conditioning × u.
func TestInverseGolden(t *testing.T) {
	const q = 0.01
	for _, c := range []struct{ eps, want, tol float64 }{
		{-0.01005, -10.3114707616163, 1e-10}, // ill-conditioned: 1e-16 in ε moves the 11th digit
		{-0.010, -5.30164792333893, 1e-13},
		{-0.001, -0.105304980158284962, 1e-15},
		{1e-10, 9.99999995050000033e-9, 1e-23},
		{0.5, 4.18771539407008975, 4e-15},
		{40, 44.6051701859880914, 1.5e-14},
		{800, 804.605170185988091, 2.5e-13},
	} {
		y, dy := inversePoisson(c.eps, 0, q, math.Log(q), math.Log1p(-q))
		if math.Abs(y-c.want) > c.tol || dy > 100*c.tol {
			t.Errorf("inverse(%v) = %.17g ± %.2g, want %.17g", c.eps, y, dy, c.want)
		}
	}
}

// The inverse map is everywhere within its stated error of 320 bits.
func TestInverseAccuracy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := math.Exp(-rapid.Float64Range(0.001, 45).Draw(t, "-log rate"))
		log1m := math.Log1p(-rate)
		var eps float64
		switch rapid.IntRange(0, 2).Draw(t, "where") {
		case 0: // above the edge, from 1e-14 of it on
			eps = log1m * (1 - math.Exp(-rapid.Float64Range(0, 32).Draw(t, "edge")))
		case 1:
			eps = math.Exp(rapid.Float64Range(-40, 7).Draw(t, "log eps"))
		case 2:
			eps = log1m * rapid.Float64Range(0, 0.999).Draw(t, "part")
		}
		e := oracle.Sub(oracle.Exp(oracle.F(eps)), oracle.Sub(oracle.F(1), oracle.F(rate)))
		if e.Sign() <= 0 {
			return
		}
		want := oracle.LogF(oracle.Div(e, oracle.F(rate)))
		y, dy := inversePoisson(eps, 0, rate, math.Log(rate), log1m)
		if math.IsInf(y, -1) { // taken for the edge: its distance must be rounding
			if eps-log1m > 16*xmath.U*math.Abs(log1m) {
				t.Fatalf("inverse(%v) at rate %v is −Inf, exactly %v", eps, rate, want)
			}
			return
		}
		// The truth itself has about 2^-230: e^ε is within 2^-320 relative of 1 here,
		// and its series loses some of that.
		if !(math.Abs(y-want) <= dy+xmath.U*math.Abs(want)+0x1p-230) {
			t.Fatalf("inverse(%v) at rate %v = %v, exactly %v: off by %.3g, stated %.3g", eps, rate, y, want, y-want, dy)
		}
	})
}

type base struct {
	name  string
	p     profiles.Profile
	exact profiletest.Exact
	size  float64
}

func bases() []base {
	var out []base
	for _, s := range []float64{0.05, 0.3, 1, 4, 1e4} {
		out = append(out, base{fmt.Sprintf("gaussian %g", s), must(profiles.NewGaussian(s)), profiletest.Gaussian(s), 1/s + 0.5/(s*s)})
	}
	for _, b := range []float64{0.1, 1, 20} {
		out = append(out, base{fmt.Sprintf("laplace %g", b), must(profiles.NewLaplace(b)), profiletest.Laplace(b), 0.3 / b})
	}
	bigs := func(xs ...float64) []*big.Float {
		var out []*big.Float
		for _, x := range xs {
			out = append(out, oracle.F(x))
		}
		return out
	}
	return append(out,
		base{"finite", must(profiles.NewFinite([]float64{0.5, 0.25, 0.25, 0}, []float64{0.25, 0.25, 0, 0.5})),
			profiletest.Finite(bigs(0.5, 0.25, 0.25, 0), bigs(0.25, 0.25, 0, 0.5)), 0.4},
		base{"finite, no ends", must(profiles.NewFinite([]float64{0.75, 0.125, 0.125}, []float64{0.125, 0.125, 0.75})),
			profiletest.Finite(bigs(0.75, 0.125, 0.125), bigs(0.125, 0.125, 0.75)), 1},
		base{"disjoint", must(profiles.NewFinite([]float64{1, 0}, []float64{0, 1})), profiletest.Finite(bigs(1, 0), bigs(0, 1)), 1},
		base{"gaussian ±1", mixture(must(profiles.NewGaussianMechanism(1)), 0.1), profiletest.GaussianPlusMinus(1, 0.1), 0.3},
		base{"laplace ±1", mixture(must(profiles.NewLaplaceMechanism(1)), 0.1), nil, 0.2},
	)
}

func mixture(b profiles.Mechanism, rate float64) profiles.Profile {
	p, _, err := b.(substituteMixer).SubstituteMixture(rate)
	return must(p, err)
}

func TestConformance(t *testing.T) {
	slow.Test(t)
	for _, b := range bases() {
		for _, rate := range []float64{1e-9, 0.01, 0.99} {
			// Losses near log(1−q+qe^l).
			size := math.Log1p(rate*math.Expm1(min(b.size, 500))) + rate*1e-3
			run := func(name string, p profiles.Profile, exact profiletest.Exact) {
				t.Run(fmt.Sprintf("%s/%s/%g", name, b.name, rate), func(t *testing.T) {
					grid := profiletest.Grid(p, size)
					edge := math.Log1p(-rate)
					for _, k := range []float64{3, 10, 20, 30, 40} { // towards log(1−q)
						grid = append(grid, edge*(1-math.Exp2(-k)), -edge*(1-math.Exp2(-k)))
					}
					slices.Sort(grid)
					profiletest.Run(t, p, exact, slices.Compact(grid))
				})
			}
			p := must(PoissonProfile(b.p, rate))
			if b.exact == nil { // too slow: everything else is checked
				run("poisson", p, nil)
				run("poisson add", profiles.Reverse(p), nil)
				run("envelope", must(Envelope(b.p, rate)), nil)
				continue
			}
			run("poisson", p, profiletest.Poisson(b.exact, rate))
			run("poisson add", profiles.Reverse(p), profiletest.Reverse(profiletest.Poisson(b.exact, rate)))
			e := must(Envelope(b.p, rate))
			run("envelope", e, profiletest.Envelope(b.exact, rate))
			run("envelope reversed", profiles.Reverse(e), profiletest.Reverse(profiletest.Envelope(b.exact, rate)))
		}
	}
}
