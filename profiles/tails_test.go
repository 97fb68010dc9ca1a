package profiles_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/dpaccountant/accountant/internal/steady" // the same draws in every run

	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/profiles"
)

// quadrature returns ∫ (P − e^ε·Q)₊ over outputs by the midpoint rule, with the
// integrand's kinks and the sign change among the nodes of no special care: the
// error is O(h²).
func quadrature(p, q func(x float64) float64, eps, lo, hi float64, n int) float64 {
	h := (hi - lo) / float64(n)
	e := math.Exp(eps)
	var s xmath.Sum
	for i := range n {
		x := lo + (float64(i)+0.5)*h
		s.Add(max(0, p(x)-e*q(x)))
	}
	return s.Value() * h
}

// The pairs at ±1 against the integral over outputs: nothing of the loss, its
// inverse or its tails is used.
func TestMixturesAgainstOutputs(t *testing.T) {
	normal := func(sigma float64) func(float64) float64 {
		return func(x float64) float64 { return math.Exp(-x*x/(2*sigma*sigma)) / (sigma * math.Sqrt(2*math.Pi)) }
	}
	laplace := func(b float64) func(float64) float64 {
		return func(x float64) float64 { return math.Exp(-math.Abs(x)/b) / (2 * b) }
	}
	for _, c := range []struct {
		name        string
		base        profiles.Mechanism
		density     func(float64) float64
		scale, rate float64
	}{
		{"gaussian", must(profiles.NewGaussianMechanism(1)), normal(1), 1, 0.1},
		{"gaussian", must(profiles.NewGaussianMechanism(3)), normal(3), 3, 0.5},
		{"gaussian", must(profiles.NewGaussianMechanism(0.5)), normal(0.5), 0.5, 0.9},
		{"laplace", must(profiles.NewLaplaceMechanism(1)), laplace(1), 1, 0.1},
		{"laplace", must(profiles.NewLaplaceMechanism(3)), laplace(3), 3, 0.5},
		{"laplace", must(profiles.NewLaplaceMechanism(0.5)), laplace(0.5), 0.5, 0.9},
	} {
		p := mixture(c.base, c.rate)
		at := func(s float64) func(float64) float64 {
			return func(x float64) float64 { return c.rate*c.density(x-s) + (1-c.rate)*c.density(x) }
		}
		for _, eps := range []float64{-2, -0.5, -0.05, 0, 0.05, 0.3, 0.8, 1.5} {
			reach := 1 + 30*c.scale
			const n = 60000
			got, _ := profiles.LogDelta(p, eps)
			want := quadrature(at(1), at(-1), eps, -reach, reach, n)
			// Midpoint rule: h²/24·∫|f''| plus h²/8 per kink times its slope, with ∫|f''| and
			// slopes at most 4/scale² each at this size.
			h := 2 * reach / n
			tol := (1 + math.Exp(eps)) * h * h / (c.scale * c.scale) * 2
			if d := math.Abs(math.Exp(got) - want); d > tol {
				t.Errorf("%s %v, rate %v, ε = %v: δ = %v, integral over outputs %v (tolerance %g)", c.name, c.scale, c.rate, eps, math.Exp(got), want, tol)
			}
		}
	}
}

// core.md §9.2 (first row): ε at δ of one Gaussian with σ = 1; and σ = 0.02.
func TestGaussianGolden(t *testing.T) {
	for _, c := range []struct{ sigma, eps, delta float64 }{
		{1, 4.377178095681225, 1e-5},
		{1, 8.165579695504254, 1e-15},
		{1, 13.61092094098934, 1e-40},
		{1, 21.62750809364838, 1e-100},
		{1, 34.19453538806096, 1e-250},
		{0.02, 1462.28501596478, 1e-5},
		{0.02, 1646.139250457602, 1e-15},
		{0.02, 2939.215419256323, 1e-250},
	} {
		got, err := profiles.LogDelta(must(profiles.NewGaussian(c.sigma)), c.eps)
		// ε is given to half a unit of its 16th digit, worth −d log δ/dε ≤ (ε/μ − μ/2)/μ + 2.
		mu := 1 / c.sigma
		slope := (c.eps/mu-mu/2)/mu + 2
		if tol := err + slope*c.eps*1e-15; math.Abs(got-math.Log(c.delta)) > tol {
			t.Errorf("σ = %v, ε = %v: log δ = %v, want log %v = %v (tolerance %g)", c.sigma, c.eps, got, c.delta, math.Log(c.delta), tol)
		}
	}
}

// δ of a Gaussian is within its stated error of 320 bits wherever one method hands
// over to another, and that error is small.
func TestGaussianDeltaAccuracy(t *testing.T) {
	for _, mu := range []float64{1e-7, 1e-3, 0.05, 0.2, 0.2499, 0.25, 0.26, 1, 5} {
		g := must(profiles.NewGaussian(1 / mu))
		exact := profiletest.Gaussian(1 / mu)
		for x := -12.5; x < 20; x += 0.237 {
			eps := mu * (x + mu/2)
			got, err := profiles.LogDelta(g, eps)
			want := oracle.LogF(exact(oracle.F(eps)).Delta(oracle.F(eps)))
			if !(math.Abs(got-want) <= err+xmath.U*math.Abs(want)) {
				t.Errorf("μ = %v, ε = %v: log δ = %v, exactly %v: off by %.3g, stated %.3g", mu, eps, got, want, got-want, err)
			}
			// Below μ = ¼ twice the size of MillsSlope's error, (40 + 4x²)u, and that of the
			// argument, up to 5|x|u times the slope |x| + 3. Above, nothing but the tails is
			// used, which cancel.
			limit := 2e-14 * (1 + x*x/2 + math.Abs(x))
			if mu >= 0.25 {
				continue
			}
			if err > limit {
				t.Errorf("μ = %v, ε = %v: stated error %.3g, above %.3g", mu, eps, err, limit)
			}
		}
	}
}

// must.md §1.3: the profiles of the Laplace and the Gaussian mechanism in closed
// form, every real ε.
func TestClosedForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		theta := math.Exp(rapid.Float64Range(-6, 2).Draw(t, "log theta"))
		eps := theta * rapid.Float64Range(-2, 2).Draw(t, "eps/theta")
		l := must(profiles.NewLaplace(1 / theta))
		got, err := profiles.LogDelta(l, eps)
		want := 0.0
		switch {
		case eps < -theta:
			want = -math.Expm1(eps)
		case eps < theta:
			want = -math.Expm1((eps - theta) / 2)
		}
		if math.IsInf(err, 1) {
			if want > 1e-12 {
				t.Fatalf("laplace θ = %v: no error bound at ε = %v, where δ = %v", theta, eps, want)
			}
			return
		}
		// Near ±θ the location of the atom, an ulp of θ, is all there is.
		if tol := want*math.Expm1(err) + 8*xmath.U*(theta+math.Abs(eps)); math.Abs(math.Exp(got)-want) > tol {
			t.Fatalf("laplace θ = %v, ε = %v: δ = %v, want %v", theta, eps, math.Exp(got), want)
		}
	})
}

// Repeat composes exactly: k runs at σ are one at σ/√k.
func TestGaussianRepeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sigma := math.Exp(rapid.Float64Range(-3, 6).Draw(t, "log sigma"))
		k := rapid.Int64Range(1, 1e9).Draw(t, "k")
		g := must(profiles.NewGaussian(sigma)).Repeat(k, nil)
		want := oracle.Div(oracle.F(sigma), oracle.New().Sqrt(oracle.F(float64(k))))
		// 1/σ, √ and 1/μ: 1 u each, and their effect; Tails counts on 3 u of μ.
		if u := oracle.Ulps(g.NoiseMultiplier(), want); u > 4 {
			t.Fatalf("σ = %v, k = %d: off by %.3g u", sigma, k, u)
		}
		two := must(profiles.NewGaussian(sigma)).Repeat(k, g)
		if u := oracle.Ulps(two.NoiseMultiplier(), oracle.Div(want, oracle.New().Sqrt(oracle.F(2)))); u > 4 {
			t.Fatalf("σ = %v, 2·%d: off by %.3g u", sigma, k, u)
		}
	})
}

// Random tables: enumeration in 320 bits, through the whole conformance test.
func TestFiniteRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		n := 2 + rng.IntN(8)
		draw := func() []float64 {
			xs := make([]float64, n)
			left := 1 << 20 // dyadic masses sum to 1 exactly
			for i := range xs {
				xs[i] = float64(rng.IntN(left + 1))
				if i == n-1 {
					xs[i] = float64(left)
				}
				left -= int(xs[i])
				xs[i] /= 1 << 20
			}
			rng.Shuffle(n, func(i, j int) { xs[i], xs[j] = xs[j], xs[i] })
			return xs
		}
		p, q := draw(), draw()
		d := must(profiles.NewFinite(p, q))
		exact := profiletest.Finite(bigs(p...), bigs(q...))
		profiletest.Run(t, d, exact, profiletest.Grid(d, 1))
		r := profiles.Reverse(d)
		profiletest.Run(t, r, profiletest.Reverse(exact), profiletest.Grid(r, 1))
		if t.Failed() {
			t.Fatalf("p = %v, q = %v", p, q)
		}
	}
}

// Sums keep their relative accuracy over the whole range of exponents.
func TestDiscreteSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		deep := rapid.Float64Range(1, 3000).Draw(t, "deep")
		var atoms []profiles.Atom
		for i := range n {
			x := -rapid.Float64Range(0, deep).Draw(t, "x") - math.Log(float64(n))
			atoms = append(atoms, profiles.Atom{Loss: float64(i), LogP: x, LogQ: x})
		}
		total := oracle.New()
		for _, a := range atoms {
			total.Add(total, oracle.Exp(oracle.F(a.LogP)))
		}
		// What is left to 1 lies below all atoms under P, above them under Q: outside of the sums that are looked at.
		all := atoms
		if rest := oracle.Sub(oracle.F(1), total); rest.Sign() > 0 {
			x := oracle.LogF(rest)
			all = append(all, profiles.Atom{Loss: -1, LogP: x, LogQ: math.Inf(-1)}, profiles.Atom{Loss: float64(n), LogP: math.Inf(-1), LogQ: x})
		}
		d := must(profiles.NewDiscrete(all, math.Inf(-1), math.Inf(-1), 0, 0))
		up, lo := oracle.New(), oracle.New()
		for i := n - 1; i >= 0; i-- {
			up.Add(up, oracle.Exp(oracle.F(atoms[i].LogP)))
			x := d.Tails(float64(i)-0.5, 0)
			if want := oracle.LogF(up); math.Abs(x.P-want) > x.Err {
				t.Fatalf("from atom %d on: log sum %v, exactly %v, stated error %g", i, x.P, want, x.Err)
			}
		}
		for i := range n {
			lo.Add(lo, oracle.Exp(oracle.F(atoms[i].LogQ)))
			x := d.Tails(float64(i), 0)
			if want := oracle.LogF(lo); math.Abs(x.QC-want) > x.ErrC {
				t.Fatalf("up to atom %d: log sum %v, exactly %v, stated error %g", i, x.QC, want, x.ErrC)
			}
		}
	})
}

func TestDiscreteMergesAndRejects(t *testing.T) {
	half := -math.Ln2
	d := must(profiles.NewDiscrete([]profiles.Atom{{Loss: 1, LogP: half, LogQ: half}, {Loss: math.Nextafter(1, 2), LogP: half, LogQ: half},
		{Loss: 5, LogP: math.Inf(-1), LogQ: math.Inf(-1)}}, math.Inf(-1), math.Inf(-1), 0, 0))
	if got := d.Atoms(); len(got) != 1 || got[0].Loss != math.Nextafter(1, 2) || math.Abs(got[0].LogP) > 2*xmath.U {
		t.Errorf("atoms = %v, want one of mass 1 at the larger loss", got)
	}
	if e := d.Support().LossErr; e < 2*xmath.U || e > 8*xmath.U {
		t.Errorf("the merge moved mass by an ulp, LossErr = %g", e)
	}
	for _, c := range []struct {
		name string
		a    profiles.Atom
		pinf float64
	}{
		{"NaN loss", profiles.Atom{Loss: math.NaN()}, math.Inf(-1)},
		{"infinite loss", profiles.Atom{Loss: math.Inf(1)}, math.Inf(-1)},
		{"NaN mass", profiles.Atom{LogP: math.NaN()}, math.Inf(-1)},
		{"NaN mass under Q", profiles.Atom{LogQ: math.NaN()}, math.Inf(-1)},
		{"mass above 1", profiles.Atom{LogP: 0.1}, math.Inf(-1)},
		{"mass above 1 with infinity", profiles.Atom{LogP: 0}, -1},
		{"mass below 1 under P", profiles.Atom{LogP: -1e-14}, math.Inf(-1)},
		{"mass below 1 under Q", profiles.Atom{LogQ: -1e-14}, math.Inf(-1)},
		{"no mass under P", profiles.Atom{LogP: math.Inf(-1)}, math.Inf(-1)},
	} {
		if _, err := profiles.NewDiscrete([]profiles.Atom{c.a}, c.pinf, math.Inf(-1), 0, 0); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
	// What the masses may be wrong by may be missing: n of them have the entropy log n.
	const n, massErr = 1000, 1e-12
	for _, c := range []struct {
		less float64
		ok   bool
	}{{0.9, true}, {1.1, false}} {
		log := -math.Log(n)
		less := c.less * massErr * (1 - log)
		atoms := make([]profiles.Atom, n)
		for i := range atoms {
			atoms[i] = profiles.Atom{Loss: float64(i), LogP: log - less, LogQ: log}
		}
		if _, err := profiles.NewDiscrete(atoms, math.Inf(-1), math.Inf(-1), massErr, 0); (err == nil) != c.ok {
			t.Errorf("%v of the error of the masses is missing: %v", c.less, err)
		}
	}
}

func TestConstructorErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	e1 := func(f func(float64) error) func(float64) string {
		return func(x float64) string {
			if err := f(x); err != nil {
				return err.Error()
			}
			return ""
		}
	}
	gaussian := e1(func(x float64) error { _, err := profiles.NewGaussian(x); return err })
	laplace := e1(func(x float64) error { _, err := profiles.NewLaplaceMechanism(x); return err })
	pure := e1(func(x float64) error { _, err := profiles.NewPure(x); return err })
	delta := e1(func(x float64) error { _, err := profiles.NewApproximate(1, x); return err })
	rr := e1(func(x float64) error { _, err := profiles.NewRandomizedResponse(x, 2); return err })
	cats := e1(func(x float64) error { _, err := profiles.NewRandomizedResponse(0.5, int(x)); return err })
	dg := e1(func(x float64) error { _, err := profiles.NewDiscreteGaussianMechanism(1, x); return err })
	fin := e1(func(x float64) error {
		_, err := profiles.NewFinite([]float64{x, 0.5}, []float64{0.5, 0.5})
		return err
	})
	for _, c := range []struct {
		f    func(float64) string
		x    float64
		want string
	}{
		{gaussian, 0, "gaussian: noise-multiplier: 0 is not in [1e-06, 1e+15]"},
		{gaussian, -1, "gaussian: noise-multiplier: -1 is not in [1e-06, 1e+15]"},
		{gaussian, nan, "gaussian: noise-multiplier: NaN is not in [1e-06, 1e+15]"},
		{gaussian, inf, "gaussian: noise-multiplier: +Inf is not in [1e-06, 1e+15]"},
		{laplace, 1e-7, "laplace: noise-multiplier: 1e-07 is not in [1e-06, 1e+15]"},
		{pure, -1, "pure: epsilon: -1 is not in [0, 1e+06]"},
		{pure, nan, "pure: epsilon: NaN is not in [0, 1e+06]"},
		{delta, 1.5, "approximate: delta: 1.5 is not in [0, 1]"},
		{rr, nan, "randomized-response: probability: NaN is not in [0, 1]"},
		{cats, 1, "randomized-response: categories: 1 is not an integer in [2, 1000000000]"},
		{dg, 0, "discrete-gaussian: sensitivity: 0 is not an integer in [1, 1000000]"},
		{dg, 1e5, "discrete-gaussian: noise-multiplier: 1 times sensitivity 100000 is not at most 20000"},
		{fin, 0.7, "finite: p: sums to 1.2, must sum to 1 within 1e-9"},
		{fin, -0.5, "finite: p[0]: -0.5 is not a probability in [0, 1]"},
		{fin, nan, "finite: p[0]: NaN is not a probability in [0, 1]"},
		{fin, 0.5, ""},
		{pure, 0, ""},
		{pure, 1e6, ""},
		{delta, 0, ""},
		{delta, 1, ""},
		{rr, 0, ""},
		{rr, 1, ""},
		{gaussian, 1e-6, ""},
		{gaussian, 1e15, ""},
	} {
		if got := c.f(c.x); got != c.want {
			t.Errorf("%v: error %q, want %q", c.x, got, c.want)
		}
	}
}

// Extreme parameters give tails, not NaN.
func TestExtremeArguments(t *testing.T) {
	ps := []profiles.Profile{must(profiles.NewGaussian(1e-6)), must(profiles.NewGaussian(1e15)),
		must(profiles.NewLaplace(1e-6)), must(profiles.NewLaplace(1e15)),
		mixture(must(profiles.NewGaussianMechanism(1e-3)), 1e-300), mixture(must(profiles.NewGaussianMechanism(1e10)), 0.3),
		mixture(must(profiles.NewLaplaceMechanism(1e-3)), 1e-300), mixture(must(profiles.NewLaplaceMechanism(1e10)), 0.3),
		pair(must(profiles.NewPure(1e6)), profiles.AddRemove)}
	for i, p := range ps {
		for _, e := range []float64{0, 1e-300, -1e-300, 1, -1, 1e6, -1e6, 1e12, -1e12, 1e300, -1e300} {
			x := p.Tails(e, 0)
			d, err := profiles.LogDelta(p, e)
			if slices.ContainsFunc([]float64{x.P, x.Q, x.PC, x.QC, x.Err, x.ErrC, d, err}, math.IsNaN) {
				t.Errorf("profile %d at ε = %v: tails %+v, log δ = %v ± %v", i, e, x, d, err)
			}
		}
	}
}

// Equal sees values, not identities.
func TestEqual(t *testing.T) {
	rr := func() profiles.Profile {
		return pair(must(profiles.NewRandomizedResponse(0.5, 2)), profiles.AddRemove)
	}
	g := must(profiles.NewGaussian(2))
	for _, c := range []struct {
		p, q profiles.Profile
		want bool
	}{
		{rr(), rr(), true},
		{g, must(profiles.NewGaussian(2)), true},
		{g, must(profiles.NewGaussian(3)), false},
		{g, must(profiles.NewLaplace(2)), false},
		{rr(), g, false},
		{profiles.Reverse(g), g, true},
	} {
		if got := profiles.Equal(c.p, c.q); got != c.want {
			t.Errorf("Equal(%v, %v) = %v", c.p, c.q, got)
		}
	}
}
