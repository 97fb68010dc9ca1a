package fourier

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// sampled returns a Poisson-sampled Gaussian.
func sampled(t testing.TB, sigma, rate float64) profiles.Profile {
	t.Helper()
	g, err := profiles.NewGaussian(sigma)
	if err != nil {
		t.Fatal(err)
	}
	p, err := subsample.PoissonProfile(g, rate)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Losses of 1e-7 each: masses of a cell are subtracted as differences of tails,
// and the lattice does not start at the far end of the support. δ(0) is that of a
// Gaussian with μ = rate·√(T(e^{1/σ²}−1)), 2Φ(μ/2)−1 = 9.99973256e-7, up to a
// relative error of third moments, rate/√T·(…) < 1e-6.
func TestTinyLosses(t *testing.T) {
	const sigma, rate, runs = 126160.0, 0.01, 1000
	mu := rate * math.Sqrt(runs*math.Expm1(1/(sigma*sigma)))
	want := math.Erf(mu / 2 / math.Sqrt2)
	for _, accuracy := range []float64{1e-3, 1e-4, 1e-5} {
		r := delta(t, sum(t, Options{Relative: accuracy}, sampled(t, sigma, rate), runs), 0)
		if !(r.Lower <= want*(1+1e-6) && r.Upper >= want*(1-1e-6)) {
			t.Errorf("[%g, %g] misses %g", r.Lower, r.Upper, want)
		}
		if w := (r.Upper - r.Lower) / want; w > 1.01*accuracy || len(r.Warnings) > 0 {
			t.Errorf("accuracy %g: width %g, warnings %v", accuracy, w, r.Warnings)
		}
	}
}

// A billion runs at a rate of 1e-8. δ(0.000656653) is 1.0006529934124e-5 by the
// inversion integral of the moment generating function along two lines (its
// logarithm from E[(e^L)^a − 1 − a(e^L − 1)]; trapezoidal rule, 3000 nodes).
func TestTinyRateOften(t *testing.T) {
	const at, want = 0.000656653, 1.0006529934124e-5
	r := epsilon(t, sum(t, Options{}, sampled(t, 1, 1e-8), 1_000_000_000), want)
	contains(t, r, at)
	if w := (r.Upper - r.Lower) / at; w > 2e-3 {
		t.Errorf("[%g, %g]: relative width %g", r.Lower, r.Upper, w)
	}
}

// Ten runs of a loss that is rarely large and then heavy-tailed, much smaller than
// any exponential: with the tail followed to e^−30·δ no tilt brought mass to ε, and
// round-off kept the steps shrinking to a million points. The interval must come
// from a short transform, and contain what a finer accuracy says.
func TestHeavyTails(t *testing.T) {
	slow.Test(t)
	g, err := profiles.NewGaussianMechanism(4)
	if err != nil {
		t.Fatal(err)
	}
	scheme, err := subsample.NewWithReplacement(10000, 200)
	if err != nil {
		t.Fatal(err)
	}
	m, err := scheme.Apply(g, profiles.Substitute)
	if err != nil {
		t.Fatal(err)
	}
	p := m.Directions[0].Lower
	for _, c := range []struct{ eps, width float64 }{{0.5, 1e-3}, {8, 2e-2}} {
		s := sum(t, Options{Relative: c.width}, p, 10) // more than the width would only take longer
		r := delta(t, s, c.eps)
		if !(r.Lower > 0 && r.Upper/r.Lower-1 <= c.width) || r.Points > 1<<19 {
			t.Errorf("δ(%g) in [%g, %g] from %d points, %v", c.eps, r.Lower, r.Upper, r.Points, r.Warnings)
		}
		other := delta(t, sum(t, Options{Relative: 3e-2}, p, 10), c.eps)
		if other.Lower > r.Upper || other.Upper < r.Lower {
			t.Errorf("δ(%g): [%g, %g] and [%g, %g] are apart", c.eps, r.Lower, r.Upper, other.Lower, other.Upper)
		}
		back := epsilon(t, s, r.Upper)
		if back.Lower > c.eps {
			t.Errorf("ε(%g) ≥ %g is above %g", r.Upper, back.Lower, c.eps)
		}
	}
}

// More accuracy asked for must not give less.
func TestAskingForMore(t *testing.T) {
	slow.Test(t)
	// Atoms of a subsampled Laplace have no differences of tails: rounding decides.
	l, err := profiles.NewLaplace(2e4)
	if err != nil {
		t.Fatal(err)
	}
	p, err := subsample.PoissonProfile(l, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	before := math.Inf(1)
	for _, accuracy := range []float64{1e-3, 1e-5, 1e-7} {
		r := epsilon(t, sum(t, Options{Relative: accuracy, Absolute: 1e-12, MaxPoints: 1 << 19}, p, 100000), 1e-6)
		w := (r.Upper - r.Lower) / r.Upper
		if w > 1.5*before || w > accuracy && len(r.Warnings) == 0 {
			t.Errorf("accuracy %g: width %g after %g, warnings %v", accuracy, w, before, r.Warnings)
		}
		before = min(before, w)
	}
}

// Where a transform would be too long, a Chernoff bound is the upper end; and a
// pass that fails is a warning, no error.
func TestChernoffStandsIn(t *testing.T) {
	for _, c := range []struct{ eps, at float64 }{{1.8, 1.2442e-5}, {5, 3.392e-16}} { // core.md §9.1
		r := delta(t, sum(t, Options{MaxPoints: 16}, sampled(t, 1, 0.01), 1000), c.eps)
		if !(r.Upper >= c.at*0.99 && r.Upper <= 30*c.at) || len(r.Warnings) == 0 {
			t.Errorf("δ(%g) ≤ %g, is about %g; warnings %v", c.eps, r.Upper, c.at, r.Warnings)
		}
	}
}
