package fourier

import (
	"flag"
	"math"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/internal/slow"
	_ "github.com/dpaccountant/accountant/internal/steady" // the same draws in every run

	"github.com/dpaccountant/accountant/fourier/godsp"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// sum composes profiles, each a number of times, by the laws that most tests here are about.
func sum(t testing.TB, o Options, add ...any) *Sum {
	t.Helper()
	o.Laws = true
	return integral(t, o, add...)
}

// integral composes profiles by the integral first.
func integral(t testing.TB, o Options, add ...any) *Sum {
	t.Helper()
	s := New(o)
	for i := 0; i < len(add); i += 2 {
		if err := s.Add(add[i].(profiles.Profile), int64(add[i+1].(int))); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// dpsgd returns the remove direction of the Poisson-subsampled Gaussian.
func dpsgd(t testing.TB, rate, sigma float64) profiles.Profile {
	t.Helper()
	return sampled(t, sigma, rate)
}

// declared returns the profile of a base mechanism.
func declared(t testing.TB) func(b profiles.Mechanism, err error) profiles.Profile {
	return func(b profiles.Mechanism, err error) profiles.Profile {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		p, err := b.Pair(profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

func epsilon(t testing.TB, s *Sum, delta float64) Result {
	t.Helper()
	r, err := s.Epsilon(t.Context(), delta)
	if err != nil {
		t.Fatal(err)
	}
	ordered(t, r)
	return r
}

func delta(t testing.TB, s *Sum, eps float64) Result {
	t.Helper()
	r, err := s.Delta(t.Context(), eps)
	if err != nil {
		t.Fatal(err)
	}
	ordered(t, r)
	return r
}

func ordered(t testing.TB, r Result) {
	t.Helper()
	if !(r.Lower <= r.Estimate && r.Estimate <= r.Upper) {
		t.Errorf("Lower %v ≤ Estimate %v ≤ Upper %v does not hold", r.Lower, r.Estimate, r.Upper)
	}
}

func contains(t testing.TB, r Result, x float64) {
	t.Helper()
	if !(r.Lower <= x && x <= r.Upper) {
		t.Errorf("[%.17g, %.17g] misses %.17g", r.Lower, r.Upper, x)
	}
}

// The edge cases of core.md §9.5.
func TestEdgeSingleGaussian(t *testing.T) {
	g, _ := profiles.NewGaussian(1)
	r := epsilon(t, sum(t, Options{}, g, 1), 1e-5)
	contains(t, r, 4.377178095681225) // core.md §9.2 row 1
	if w := r.Upper - r.Lower; w >= 1e-12 {
		t.Errorf("width %g, want < 1e-12", w)
	}
}

func TestEdgeApproximateBelowItsDelta(t *testing.T) {
	const d0 = 1e-4
	p := declared(t)(profiles.NewApproximate(0.5, d0))
	s := sum(t, Options{}, p, 3)
	inf := -math.Expm1(3 * math.Log1p(-d0)) // 1 − (1−δ0)³
	if r := epsilon(t, s, inf*(1-1e-9)); !math.IsInf(r.Lower, 1) || !math.IsInf(r.Upper, 1) {
		t.Errorf("just below: [%v, %v], want +Inf", r.Lower, r.Upper)
	}
	if r := epsilon(t, s, inf*(1+1e-9)); math.IsInf(r.Upper, 1) || r.Upper < 1.49 || r.Upper > 1.5 {
		t.Errorf("just above: [%v, %v], want about the cap 1.5", r.Lower, r.Upper)
	}
	// Within rounding of it: honest both ways.
	if r := epsilon(t, s, inf); math.IsInf(r.Lower, 1) && !math.IsInf(r.Upper, 1) {
		t.Errorf("at it: [%v, %v]", r.Lower, r.Upper)
	}
	contains(t, delta(t, s, 2), inf)
	// Many copies through the lattice.
	many := sum(t, Options{}, p, 5000, dpsgd(t, 0.01, 1), 10)
	inf = -math.Expm1(5000 * math.Log1p(-d0))
	if r := epsilon(t, many, inf*(1-1e-9)); !math.IsInf(r.Lower, 1) {
		t.Errorf("5000 copies, below: [%v, %v], want +Inf", r.Lower, r.Upper)
	}
	if r := epsilon(t, many, inf*(1+1e-3)); math.IsInf(r.Upper, 1) {
		t.Errorf("5000 copies, above: [%v, %v], want finite", r.Lower, r.Upper)
	}
}

func TestEdgePureTenTenTimes(t *testing.T) {
	s := sum(t, Options{}, declared(t)(profiles.NewPure(10)), 10)
	r := epsilon(t, s, 0)
	if r.Lower < 100-1e-12 || r.Upper > 100+1e-12 {
		t.Errorf("δ=0: [%.17g, %.17g], want 100", r.Lower, r.Upper)
	}
	// δ(ε) just below the cap is m(1 − e^{ε−100}), m = (1+e^−10)^−10.
	m := math.Exp(-10 * math.Log1p(math.Exp(-10)))
	r = epsilon(t, s, 1e-5)
	contains(t, r, 100+math.Log1p(-1e-5/m))
	if r.Upper > 100 || r.Upper-r.Lower > 1e-9 {
		t.Errorf("δ=1e-5: [%.17g, %.17g]", r.Lower, r.Upper)
	}
	if r := epsilon(t, s, 1e-300); r.Upper > 100+1e-12 || r.Lower < 100-1e-9 {
		t.Errorf("δ=1e-300: [%.17g, %.17g], want 100", r.Lower, r.Upper)
	}
}

func TestEdgeRandomizedResponse(t *testing.T) {
	// Replaced with probability ½ of 2 answers: loss ± log 3, truth ¾. A peer's
	// upper bound for 1000 runs at 1e-5 is 673.61; the exact sum says 673.537.
	p := declared(t)(profiles.NewRandomizedResponse(0.5, 2))
	s := sum(t, Options{}, p, 1000)
	total, logP := binomialSums(math.Log(3), 1000)
	r := epsilon(t, s, 1e-5)
	if binomialLogDelta(total, logP, r.Lower) < math.Log(1e-5)-1e-9 || binomialLogDelta(total, logP, r.Upper) > math.Log(1e-5)+1e-9 {
		t.Errorf("[%v, %v] misses the exact sum", r.Lower, r.Upper)
	}
	if w := r.Upper - r.Lower; w > 1e-6 {
		t.Errorf("width %g, want round-off", w)
	}
	if r.Upper > 673.61 {
		t.Errorf("upper %v is above the peer's 673.61", r.Upper)
	}
}

// Two mechanisms whose atoms share no lattice: sound and as accurate as asked,
// or with a warning.
func TestEdgeMisalignedAtoms(t *testing.T) {
	a, _ := profiles.NewLaplace(1)
	b, _ := profiles.NewLaplace(math.Sqrt2)
	s := sum(t, Options{}, a, 10, b, 10)
	r := epsilon(t, s, 1e-6)
	fine := epsilon(t, sum(t, Options{Relative: 1e-5, Absolute: 1e-9}, a, 10, b, 10), 1e-6)
	if r.Upper < fine.Lower || r.Lower > fine.Upper {
		t.Errorf("[%v, %v] and [%v, %v] are disjoint", r.Lower, r.Upper, fine.Lower, fine.Upper)
	}
	if w := r.Upper - r.Lower; w > 1e-3*r.Estimate && len(r.Warnings) == 0 {
		t.Errorf("width %g without a warning", w)
	}
	if top := 10 + 10/math.Sqrt2; r.Upper > top*(1+1e-15) {
		t.Errorf("upper %v is above the cap %v", r.Upper, top)
	}
}

// δ near 1: ε is finite and negative where 1 − e^ε says so.
func TestEdgeLargeDelta(t *testing.T) {
	g, _ := profiles.NewGaussian(20)
	for _, d := range []float64{0.5, 0.9, 1 - 1e-6} {
		all := g.Repeat(30, nil)
		want := gaussianEpsilon(t, all, d)
		r := epsilon(t, sum(t, Options{}, hidden{g}, 30), d)
		contains(t, r, want)
		if w := r.Upper - r.Lower; w > max(1e-3*math.Abs(want), 1e-6) {
			t.Errorf("δ=%v: width %g", d, w)
		}
		if r.Upper >= 0 || math.IsInf(r.Lower, 0) {
			t.Errorf("δ=%v: [%v, %v], want finite and negative", d, r.Lower, r.Upper)
		}
		contains(t, delta(t, sum(t, Options{}, hidden{g}, 30), want), d)
	}
}

// A first step far coarser than the loss: refined, never invalid.
func TestEdgeCoarseAccuracy(t *testing.T) {
	p := dpsgd(t, 0.001, 0.8)
	for _, relative := range []float64{0.9, 0.5, 0.1} {
		r := epsilon(t, sum(t, Options{Relative: relative, Absolute: 0.5}, p, 10000), 1e-5)
		contains(t, r, 0.7823877811) // core.md §9.4
	}
}

func TestEdgeTinyRate(t *testing.T) {
	p := dpsgd(t, 1e-8, 1)
	r := epsilon(t, sum(t, Options{}, p, 1), 1e-12)
	want, _ := profiles.LogDelta(p, r.Estimate)
	near(t, "log δ at ε, one run", want, math.Log(1e-12), 1e-6)
	// A billion runs, whose mean loss is 1e9·q²(e−1)/2 ≈ 1e-7.
	r = epsilon(t, sum(t, Options{}, p, int(1e9)), 1e-6)
	if !(r.Lower > 0 && r.Upper < 0.05) {
		t.Errorf("1e9 runs: [%g, %g]", r.Lower, r.Upper)
	}
	if w := r.Upper - r.Lower; w > max(1e-3*r.Upper, 1e-6) && len(r.Warnings) == 0 {
		t.Errorf("1e9 runs: width %g without a warning", w)
	}
}

// Very many runs: the interval is honest, tested on Gaussians, and the round-off
// share is reported.
func TestEdgeManyRuns(t *testing.T) {
	slow.Test(t)
	for i, c := range []struct {
		sigma float64
		k     int
	}{{1e4, 1e8}, {3e4, 1e9}, {1e6, 1e12}} {
		g, _ := profiles.NewGaussian(c.sigma)
		all := g.Repeat(int64(c.k), nil)
		for j, d := range []float64{1e-5, 1e-15} {
			if (i+j)%2 != 0 && !slow.All() {
				continue // a second each
			}
			r := epsilon(t, sum(t, Options{}, hidden{g}, c.k), d)
			truth := gaussianEpsilon(t, all, d)
			contains(t, r, truth)
			if w := r.Upper - r.Lower; w > 1e-3*truth && len(r.Warnings) == 0 {
				t.Errorf("σ=%v k=%v: width %g without a warning", c.sigma, c.k, w)
			}
			if len(r.Warnings) == 0 && !(r.Budget.RoundOff > 0) {
				t.Errorf("σ=%v k=%v: no round-off in %+v", c.sigma, c.k, r.Budget)
			}
		}
	}
	g, _ := profiles.NewGaussian(1)
	s := New(Options{Laws: true})
	if err := s.Add(g, 1<<53); err != nil {
		t.Errorf("2^53 runs: %v", err)
	}
	if err := s.Add(g, 1); err == nil || !strings.Contains(err.Error(), "count") {
		t.Errorf("2^53 + 1 runs: %v, want an error", err)
	}
}

// DP-SGD 1e8 and 1e9 runs. core.md §6.3 computed both; peers.json extra, reference:
// 6.6719… at q=1e-4, σ=1, T=1e8, δ=1e-6.
func TestEdgeManySubsampledRuns(t *testing.T) {
	r := epsilon(t, sum(t, Options{}, dpsgd(t, 1e-4, 1), int(1e8)), 1e-6)
	if r.Lower > 6.6720 || r.Upper < 6.6718 || r.Upper-r.Lower > 1e-3*6.672 {
		t.Errorf("T=1e8: [%v, %v], want 6.6719 and 1e-3 relative; %q", r.Lower, r.Upper, r.Warnings)
	}
	r = epsilon(t, sum(t, Options{}, dpsgd(t, 1e-5, 1), int(1e9)), 1e-6)
	if w := r.Upper - r.Lower; w > 1e-3*r.Estimate && len(r.Warnings) == 0 {
		t.Errorf("T=1e9: [%v, %v] without a warning", r.Lower, r.Upper)
	}
}

// Small noise, losses of 1e3 … 1e6: in bounded memory.
func TestEdgeSmallNoise(t *testing.T) {
	g, _ := profiles.NewGaussian(0.02)
	contains(t, epsilon(t, sum(t, Options{}, hidden{g}, 1), 1e-5), 1462.28501596478) // core.md §9.2
	for _, c := range []struct {
		sigma float64
		k     int
	}{{0.05, 2}, {0.05, 1000}, {0.02, 2}, {0.02, 1000}} {
		g, _ := profiles.NewGaussian(c.sigma)
		all := g.Repeat(int64(c.k), nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := epsilon(t, sum(t, Options{}, hidden{g}, c.k), 1e-6)
		runtime.ReadMemStats(&after)
		truth := gaussianEpsilon(t, all, 1e-6)
		contains(t, r, truth)
		if w := r.Upper - r.Lower; w > 1e-3*truth {
			t.Errorf("σ=%v k=%v: width %g of %g, %q", c.sigma, c.k, w, truth, r.Warnings)
		}
		// Everything ever allocated, which bounds the peak.
		if mb := float64(after.TotalAlloc-before.TotalAlloc) / 1e6; mb > 100 {
			t.Errorf("σ=%v k=%v: allocated %.0f MB", c.sigma, c.k, mb)
		}
	}
}

func TestEdgeDisjointSupports(t *testing.T) {
	p := declared(t)(profiles.NewFiniteMechanism([]float64{1, 0}, []float64{0, 1}))
	for _, k := range []int{1, 1000} {
		s := sum(t, Options{}, p, k, dpsgd(t, 0.01, 1), 5)
		for _, e := range []float64{-3, 0, 7, 1e6} {
			if r := delta(t, s, e); r.Lower < 1-1e-15 || r.Upper != 1 {
				t.Errorf("δ(%v) in [%v, %v], want 1", e, r.Lower, r.Upper)
			}
		}
		if r := epsilon(t, s, 0.999); !math.IsInf(r.Lower, 1) {
			t.Errorf("ε in [%v, %v], want +Inf", r.Lower, r.Upper)
		}
	}
}

func TestEdgeNoLoss(t *testing.T) {
	p := declared(t)(profiles.NewPure(0))
	for _, s := range []*Sum{New(Options{Laws: true}), sum(t, Options{}, p, 1000)} {
		for _, e := range []float64{-2, -1e-9, 0, 1} {
			want := max(0, -math.Expm1(e))
			if r := delta(t, s, e); math.Abs(r.Lower-want) > 1e-15 || math.Abs(r.Upper-want) > 1e-15 {
				t.Errorf("δ(%v) in [%v, %v], want %v", e, r.Lower, r.Upper, want)
			}
		}
		// log ¾ to within an ulp, and outward.
		if r := epsilon(t, s, 0.25); !(r.Lower <= math.Log(0.75) && math.Log(0.75) <= r.Upper) || r.Upper-r.Lower > 1e-15 {
			t.Errorf("ε(¼) in [%v, %v], want log ¾", r.Lower, r.Upper)
		}
		if r := epsilon(t, s, 0); r.Lower != 0 || r.Upper != 0 {
			t.Errorf("ε(0) in [%v, %v], want 0", r.Lower, r.Upper)
		}
	}
}

// Discrete laws with masses down to e^−1000 beside ordinary ones, and gaps.
func TestEdgeSubnormalMasses(t *testing.T) {
	inf := math.Inf(-1)
	hi := -math.Log1p(math.Exp(-1)) // randomized response of loss 1
	p, err := profiles.NewDiscrete([]profiles.Atom{
		{Loss: -1, LogP: hi - 1, LogQ: hi},
		{Loss: 1, LogP: hi, LogQ: hi - 1},
		{Loss: 10, LogP: -990, LogQ: -1000},
		{Loss: 700, LogP: -1000, LogQ: -1700},
	}, inf, inf, 1e-15, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := sum(t, Options{}, p, 20000)
	for _, d := range []float64{1e-5, 1e-100, 1e-300} {
		r := epsilon(t, s, d)
		// The tiny masses change δ by 20000·e^−990 at most.
		want := epsilon(t, sum(t, Options{}, declared(t)(profiles.NewPure(1)), 20000), d)
		if r.Upper < want.Lower || r.Lower > want.Upper || r.Upper-r.Lower > 1e-3*want.Upper {
			t.Errorf("δ=%g: [%v, %v], without the tiny masses [%v, %v]", d, r.Lower, r.Upper, want.Lower, want.Upper)
		}
	}
}

// A count equals as many single steps, to the bit.
func TestEdgeCountsMerge(t *testing.T) {
	p := dpsgd(t, 0.01, 1)
	one := New(Options{Laws: true})
	for range 1000 {
		if err := one.Add(dpsgd(t, 0.01, 1), 1); err != nil {
			t.Fatal(err)
		}
	}
	a, b := epsilon(t, one, 1e-5), epsilon(t, sum(t, Options{}, p, 1000), 1e-5)
	if a.Lower != b.Lower || a.Estimate != b.Estimate || a.Upper != b.Upper {
		t.Errorf("%v and %v", a, b)
	}
}

// Bad arguments get errors.
func TestBadArguments(t *testing.T) {
	slow.Test(t)
	s := sum(t, Options{}, dpsgd(t, 0.01, 1), 10)
	for _, d := range []float64{-1, 1.5, math.NaN(), math.Inf(1)} {
		if _, err := s.Epsilon(t.Context(), d); err == nil || !strings.HasPrefix(err.Error(), "delta: ") {
			t.Errorf("Epsilon(%v): %v", d, err)
		}
	}
	for _, e := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := s.Delta(t.Context(), e); err == nil || !strings.HasPrefix(err.Error(), "epsilon: ") {
			t.Errorf("Delta(%v): %v", e, err)
		}
	}
	if err := s.Add(dpsgd(t, 0.01, 1), -1); err == nil {
		t.Error("Add(−1) is accepted")
	}
	if r := epsilon(t, s, 1); !math.IsInf(r.Upper, -1) {
		t.Errorf("ε(1) = %v, want −Inf", r.Upper)
	}
	for _, e := range []float64{-800, -40, -1e-300, 1e-300, 300, 1e10, 1e300, -1e300} {
		delta(t, s, e)
	}
	for _, d := range []float64{0, 5e-324, 1e-310, 1e-300, 1 - 0x1p-53} {
		epsilon(t, s, d)
	}
}

// go-dsp and gonum give the same within what both certify for their transform.
func TestTwoTransforms(t *testing.T) {
	g, _ := profiles.NewGaussian(20)
	l, _ := profiles.NewLaplace(10)
	for _, add := range [][]any{
		{dpsgd(t, 0.01, 1), 1000},
		{dpsgd(t, 256.0/60000, 1.1), 14062},
		{dpsgd(t, 0.01, 1), 500, l, 200, g, 50},
		{l, 1000},
	} {
		for _, d := range []float64{1e-5, 1e-40} {
			a := epsilon(t, sum(t, Options{}, add...), d)
			b := epsilon(t, sum(t, Options{Transform: godsp.Transform}, add...), d)
			if a.Lower > b.Upper || b.Lower > a.Upper {
				t.Errorf("δ=%g: [%v, %v] and [%v, %v]", d, a.Lower, a.Upper, b.Lower, b.Upper)
			}
			// Same step, so the same discretisation: the ends differ by what the two
			// certificates hold, the solver's tolerance 1e-6·width, and aliasing.
			if a.Step == b.Step {
				tol := a.Budget.RoundOff + a.Budget.Aliasing + b.Budget.RoundOff + b.Budget.Aliasing + 1e-5*(a.Upper-a.Lower)
				if math.Abs(a.Lower-b.Lower) > tol || math.Abs(a.Upper-b.Upper) > tol {
					t.Errorf("δ=%g: [%v, %v] and [%v, %v] differ by more than %g", d, a.Lower, a.Upper, b.Lower, b.Upper, tol)
				}
			}
		}
	}
}

// Listing a small discrete sum gives what the transform gives.
func TestEnumerateAgainstTransform(t *testing.T) {
	rr := declared(t)(profiles.NewRandomizedResponse(0.4, 5))
	ap := declared(t)(profiles.NewApproximate(0.3, 1e-7))
	fin := declared(t)(profiles.NewFiniteMechanism([]float64{0.5, 0.3, 0.2, 0}, []float64{0.2, 0.3, 0.4, 0.1}))
	for _, add := range [][]any{{rr, 40}, {ap, 100}, {fin, 30}, {rr, 10, fin, 4}, {ap, 3, rr, 20}} {
		s := sum(t, Options{}, add...)
		if s.steps.List() == nil {
			t.Fatalf("%v: not listed", add)
		}
		f := sum(t, Options{}, add...)
		f.listed = true // takes the transform
		for _, d := range []float64{0.3, 1e-3, 1e-6} {
			a, b := epsilon(t, s, d), epsilon(t, f, d)
			// Losses that share no lattice may need too long a transform.
			if b.Points == 0 && len(b.Warnings) == 0 && b.Upper > 0 && !math.IsInf(b.Upper, 1) {
				t.Errorf("%v: not through the transform", add)
			}
			if a.Lower > b.Upper || b.Lower > a.Upper {
				t.Errorf("δ=%g: listed [%.15g, %.15g], transformed [%.15g, %.15g]", d, a.Lower, a.Upper, b.Lower, b.Upper)
			}
			if w := a.Upper - a.Lower; w > 1e-10 {
				t.Errorf("δ=%g: listed, %g wide", d, w)
			}
		}
	}
}

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.checks", "50"); err != nil {
		panic(err)
	}
	m.Run()
}

// drawProfile draws a profile of some kind with a step count.
func drawProfile(t *rapid.T, i string) (profiles.Profile, int64) {
	var b profiles.Mechanism
	var err error
	switch rapid.IntRange(0, 4).Draw(t, "kind"+i) {
	case 0, 1:
		b, err = profiles.NewGaussianMechanism(math.Exp(rapid.Float64Range(-0.7, 2.5).Draw(t, "log σ"+i)))
	case 2:
		b, err = profiles.NewLaplaceMechanism(math.Exp(rapid.Float64Range(-0.7, 3).Draw(t, "log b"+i)))
	case 3:
		b, err = profiles.NewRandomizedResponse(rapid.Float64Range(0.05, 0.95).Draw(t, "p"+i), rapid.IntRange(2, 9).Draw(t, "k"+i))
	case 4:
		b, err = profiles.NewApproximate(rapid.Float64Range(0.01, 3).Draw(t, "ε0"+i), 1e-9)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Pair(profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "sampled"+i) {
		rate := math.Exp(rapid.Float64Range(-6, -0.01).Draw(t, "log q"+i))
		if p, err = subsample.PoissonProfile(p, rate); err != nil {
			t.Fatal(err)
		}
	}
	if rapid.Bool().Draw(t, "reversed"+i) {
		p = profiles.Reverse(p)
	}
	return p, int64(rapid.IntRange(1, 400).Draw(t, "count"+i))
}

// For random compositions: intervals are ordered; ε and δ are inverse; a Chernoff
// proof never contradicts a lower bound; adding steps never lowers ε; a finer
// answer does not contradict a coarser one.
func TestRandomCompositions(t *testing.T) {
	slow.Test(t)
	rapid.Check(t, func(t *rapid.T) {
		s, fine := New(Options{Laws: true}), New(Options{Laws: true, Relative: 1e-4})
		n := rapid.IntRange(1, 2).Draw(t, "steps")
		for i := range n {
			p, k := drawProfile(t, string(rune('a'+i)))
			for _, x := range []*Sum{s, fine} {
				if err := x.Add(p, k); err != nil {
					t.Fatal(err)
				}
			}
		}
		d := math.Exp(rapid.Float64Range(-90, -0.5).Draw(t, "log δ"))
		r, err := s.Epsilon(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		if !(r.Lower <= r.Estimate && r.Estimate <= r.Upper) {
			t.Fatalf("Lower %v ≤ Estimate %v ≤ Upper %v does not hold", r.Lower, r.Estimate, r.Upper)
		}
		if w := r.Upper - r.Lower; w > max(1e-3*math.Abs(r.Estimate), 1e-6)*1.01 && len(r.Warnings) == 0 {
			t.Fatalf("[%v, %v] is wider than asked, without a warning", r.Lower, r.Upper)
		}
		f, err := fine.Epsilon(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		if f.Lower > r.Upper || r.Lower > f.Upper {
			t.Fatalf("[%v, %v] and finer [%v, %v] are disjoint", r.Lower, r.Upper, f.Lower, f.Upper)
		}
		if !math.IsInf(r.Upper, 0) {
			back, err := s.Delta(t.Context(), r.Upper)
			if err != nil {
				t.Fatal(err)
			}
			if back.Lower > d*(1+1e-9) {
				t.Fatalf("ε ≤ %v for δ = %v, but δ(%v) ≥ %v", r.Upper, d, r.Upper, back.Lower)
			}
			for _, x := range []float64{0.5, 0.9, 0.99, 0.999, 1, 1.001, 1.1} {
				e := r.Lower * x
				if e < r.Lower-1e-9 && s.Proves(t.Context(), e, d) {
					t.Fatalf("Proves(%v, %v), but ε ≥ %v", e, d, r.Lower)
				}
			}
		}
		p, k := drawProfile(t, "z")
		if err := s.Add(p, k); err != nil {
			t.Fatal(err)
		}
		more, err := s.Epsilon(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		if more.Upper < r.Lower {
			t.Fatalf("another step lowers ε from at least %v to at most %v", r.Lower, more.Upper)
		}
	})
}

// Between widely spaced losses δ(ε) is a staircase: it stays, then falls by
// orders of magnitude right at a loss. The search for ε must not lose itself on
// a step. With losses at multiples of 23.018… and δ between two steps, ε is the
// loss at the edge, 40 × 23.0184….
func TestStaircase(t *testing.T) {
	b, err := profiles.NewDiscreteGaussianNumber(0.170183098929591, 3)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Pair(profiles.Substitute)
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Laws: true})
	if err := s.Add(p, 8); err != nil {
		t.Fatal(err)
	}
	r, err := s.Epsilon(t.Context(), 1.2276317906763581e-30)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) > 0 || r.Upper-r.Lower > 1e-3*r.Upper {
		t.Errorf("ε in [%v, %v] %v", r.Lower, r.Upper, r.Warnings)
	}
	// The exact sum, on multiples of the spacing, decides.
	atoms := p.(*profiles.Discrete).Atoms()
	n := len(atoms)
	spacing := (atoms[n-1].Loss - atoms[0].Loss) / float64(n-1)
	sum := []float64{0} // log masses at (i − 8(n−1)/2)·spacing in the end
	for range 8 {
		next := make([]float64, len(sum)+n-1)
		for i := range next {
			next[i] = math.Inf(-1)
		}
		for i, a := range sum {
			for j, b := range atoms {
				next[i+j] = xmath.LogAdd(next[i+j], a+b.LogP)
			}
		}
		sum = next
	}
	logDelta := math.Log(1.2276317906763581e-30)
	for _, end := range []struct{ eps, sign float64 }{{r.Lower, +1}, {r.Upper, -1}} {
		d := math.Inf(-1)
		for i, m := range sum {
			if l := (float64(i) - 4*float64(n-1)) * spacing; l > end.eps {
				d = xmath.LogAdd(d, m+xmath.Log1mExp(end.eps-l))
			}
		}
		// Losses near 920 have an ulp of 1e-13, 1e-10 of the distance to the edge.
		if end.sign*(d-logDelta) < -1e-8 {
			t.Errorf("log δ(%v) = %v, want it on the right side of %v", end.eps, d, logDelta)
		}
	}
}

// Near δ = 1 the estimate may round to 1; the budget is still that of a δ.
func TestBudgetOfDeltaOne(t *testing.T) {
	s := New(DefaultOptions())
	for scale, runs := range map[float64]int64{0.74: 72, 2.4: 3} {
		b, err := profiles.NewDiscreteLaplaceMechanism(scale, 1)
		if err != nil {
			t.Fatal(err)
		}
		m, err := profiles.Unsampled(t.Context(), b, profiles.Substitute)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Add(m.Directions[0].Upper, runs); err != nil {
			t.Fatal(err)
		}
	}
	for eps := 0.0; eps < 0.5; eps += 0.05 {
		r, err := s.Delta(t.Context(), eps)
		if b := r.Budget; err != nil || !(b.Discretization+b.Truncation+b.Aliasing+b.RoundOff < 1e-6) {
			t.Errorf("delta(%v) = %+v, %v", eps, r, err)
		}
	}
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.16g, want %.16g ± %.1g (off by %.3g)", what, got, want, tol, got-want)
	}
}

// gaussianEpsilon returns ε(δ) of one Gaussian from its closed form, by
// bisection.
func gaussianEpsilon(t testing.TB, g profiles.Gaussian, delta float64) float64 {
	t.Helper()
	lo, hi := math.Log1p(-delta), 1.0
	f := func(e float64) bool { v, _ := profiles.LogDelta(g, e); return v > math.Log(delta) }
	for f(hi) {
		hi *= 2
	}
	for range 200 {
		if m := lo + (hi-lo)/2; f(m) {
			lo = m
		} else {
			hi = m
		}
	}
	return hi
}
