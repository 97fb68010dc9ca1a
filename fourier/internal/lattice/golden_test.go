package lattice

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// goldenLaws returns the laws of core.md §9.1: q0 = 0.01, σ = 1, remove
// direction, Δ = 1e-3, o = 0, indices −11 … 12000.
func goldenLaws(t testing.TB) (upper, lower *pld.Law) {
	t.Helper()
	return pld.Discretize(dpsgd(t, 0.01, 1), pld.Uniform(0, 1e-3, -11, 12000))
}

// dpsgd returns the remove direction of the Poisson-subsampled Gaussian.
func dpsgd(t testing.TB, rate, sigma float64) profiles.Profile {
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

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.16g, want %.16g ± %.1g (off by %.3g)", what, got, want, tol, got-want)
	}
}

// raised bounds by how much outward rounding may raise K(θ) of the upper law, to
// first order: every P-tail U_i is raised by at most the error of the cell mass
// that moves up, (errP + errQ)/(1−e^{−Δ}), each at most 2·Err of the tails that
// are subtracted plus 10u of the masses (core.md §2.2), and by Err of the tail
// above; raising U_i by x adds x(e^{θt_{i+1}} − e^{θt_i}) to M(θ). Read at its
// saddle the log δ of T copies is raised by about T times this: exactly so if the
// tilted law were the law given the total, which at T = 1000 differs by
// O(1/√(T·K”)) ~ 1/1.1; hence the factor 1.25.
func raised(p profiles.Profile, g pld.Grid, theta float64) float64 {
	const u = 0x1p-53
	sum, m := 0.0, 0.0
	t := func(i int64) float64 { return g.Offset + float64(i)*g.Step }
	for i := g.Lo; i < g.Hi; i++ {
		a, b := p.Tails(t(i), 2*u*math.Abs(t(i))), p.Tails(t(i+1), 2*u*math.Abs(t(i+1)))
		small, err := math.Exp(min(a.P, b.PC)), max(a.Err, b.Err)
		if b.PC < a.P {
			err = max(a.ErrC, b.ErrC)
		}
		cell := math.Exp(a.P) - math.Exp(b.P)
		e := 4*(small*err+10*u*cell)/-math.Expm1(-g.Step) + small*err + 8*u*small
		sum += e * math.Exp(theta*t(i)) * math.Expm1(theta*g.Step)
		m += cell * math.Exp(theta*t(i))
	}
	return 1.25 * sum / m
}

// One transform of 1000 copies, read at ε = 1.8 (core.md §9.1). Every pair of
// tilt and length must give the same δ; S and the condition number are its own.
func TestGoldenReading(t *testing.T) {
	up, _ := goldenLaws(t)
	p := dpsgd(t, 0.01, 1)
	grid := pld.Uniform(0, 1e-3, -11, 12000)
	const logDelta = -11.2944238831
	tol := 1000 * raised(p, grid, 6.665244495984)
	if tol > 2e-8 {
		t.Fatalf("rounding may raise log δ by %g: the tolerance would prove little", tol)
	}
	for _, c := range []struct {
		theta          float64
		n              int
		k, s, cond     float64 // 0: not in the table
		kept, keptSlop int
	}{
		{4, 16384, 0.0018763372356143, 0.00255229807769, 13.61, 64, 2},
		{5, 15000, 0.0029199931167485816, 0.00543760267574, 4.17, 0, 0},
		{5, 16384, 0.0029199931167485816, 0, 0, 0, 0},
		{6, 16384, 0, 0.00839762883763, 1.77, 0, 0},
		{6.665244495984, 31104, 0, 0.00846094937919, 0, 0, 0},
	} {
		x := compose(nil, []term{{up, 1000, nil}}, c.theta, c.n, Gonum{}, []float64{0.5, 1, 2})
		r := x.read(1.8)
		k := x.tk.Value() / 1000
		if c.k != 0 {
			near(t, "K", k, c.k, raised(p, grid, c.theta)+1e-15)
		}
		if c.s != 0 {
			// S depends on K: δ = e^{TK−θε}S. Relative, twice the tolerance.
			near(t, "S", r.s, c.s, c.s*(2*tol+1e-11))
		}
		if c.cond != 0 {
			near(t, "condition", r.cond, c.cond, 0.005)
		}
		if c.kept != 0 {
			near(t, "frequencies kept", float64(len(x.freqs)), float64(c.kept), float64(c.keptSlop))
		}
		// S_q/S: the slope's own derivative −d²log δ/dε² ~ 1 times the shift of ε.
		near(t, "slope", r.slope, 7.4974490832, tol)
		near(t, "log δ", r.logValue, logDelta, tol)
		if r.upper() < logDelta {
			t.Errorf("θ=%v N=%d: upper %.13g is below the exact law's %.13g", c.theta, c.n, r.upper(), logDelta)
		}
		// The certificate: a reading of the rounded-up law minus its widening.
		if r.lower() > logDelta+tol {
			t.Errorf("θ=%v N=%d: lower %.13g is above %.13g", c.theta, c.n, r.lower(), logDelta)
		}
		if w := r.upper() - r.lower(); !(w > 0 && w < 1e-8) {
			t.Errorf("θ=%v N=%d: certificate %g wide", c.theta, c.n, w)
		}
	}
}

// One transform serves many ε (core.md §9.1: θ = 5, N = 16384).
func TestGoldenOneTransformManyReadings(t *testing.T) {
	up, _ := goldenLaws(t)
	p, grid := dpsgd(t, 0.01, 1), pld.Uniform(0, 1e-3, -11, 12000)
	x := compose(nil, []term{{up, 1000, nil}}, 5, 16384, Gonum{}, []float64{0.5, 1, 2})
	for _, c := range []struct{ eps, theta, want float64 }{
		{1.0, 5.9, -5.944558972875},
		{1.5, 6.5, -9.117385856489},
		{2.0, 6.8, -12.829458400343},
		{2.5, 7, -16.824443824346},
	} {
		r := x.read(c.eps)
		near(t, "log δ", r.logValue, c.want, 1000*raised(p, grid, c.theta)+1e-11*r.cond)
	}
}

// Readings of both laws at their saddles (core.md §9.1). The tangents of the
// lower law touch where pld.balance puts them: not quite the shift of the golden
// lower values, but never below what touching in the middle gives, and never
// above the profile.
func TestGoldenBothLaws(t *testing.T) {
	up, lo := goldenLaws(t)
	p, grid := dpsgd(t, 0.01, 1), pld.Uniform(0, 1e-3, -11, 12000)
	for _, c := range []struct{ eps, theta, upper, middle, shifted float64 }{
		{0.5, 4.117359594543, -3.486306917537, -3.488655727859, -3.488587182489},
		{1.8, 6.665244495984, -11.294423883103, -11.302622375136, -11.302381589922},
		{5, 7.457123682059, -35.6201894748, -35.628477993732, -35.628234887245},
	} {
		u := compose(nil, []term{{up, 1000, nil}}, c.theta, 1<<16, Gonum{}, []float64{0.5, 1, 2}).read(c.eps)
		l := compose(nil, []term{{lo, 1000, nil}}, c.theta, 1<<16, Gonum{}, []float64{0.5, 1, 2}).read(c.eps)
		near(t, "log δ upper", u.logValue, c.upper, 1000*raised(p, grid, c.theta))
		truth := (c.upper + 2*c.shifted) / 3 // core.md §3.4: errors +2 : −1
		if !(l.logValue > c.middle && l.logValue < truth) {
			t.Errorf("ε=%v: lower log δ = %.13g is not in (%.13g, %.13g)", c.eps, l.logValue, c.middle, truth)
		}
		near(t, "log δ lower", l.logValue, c.shifted, 0.1*(c.shifted-c.middle))
	}
}

// ε(δ) at Δ = 1e-3 (core.md §9.1).
func TestGoldenEpsilon(t *testing.T) {
	up, lo := goldenLaws(t)
	for _, c := range []struct{ delta, theta, middle, shifted, truth, upper float64 }{
		{1e-5, 6.7, 1.827838942, 1.827871020, 1.82823666652, 1.828934413},
		{1e-15, 7.44, 4.854138136, 4.854170522, 4.85453775060, 4.855239449},
		{1e-40, 7.8, 12.285808805, 12.285842573, 12.28622822112, 12.286964631},
	} {
		ps := &pass{step: 1e-3, n: 1 << 17,
			upper: compose(nil, []term{{up, 1000, nil}}, c.theta, 1<<17, Gonum{}, []float64{0.5, 1, 2}),
			lower: compose(nil, []term{{lo, 1000, nil}}, c.theta, 1<<17, Gonum{}, []float64{0.5, 1, 2})}
		r := ps.epsilon(nil, math.Log(c.delta), -1, math.Inf(1), c.truth, 1e-3)
		// The digits printed, the root's tolerance 1e-9, and the certificate's
		// share (1e-9/θ at most).
		near(t, "upper", r.Upper, c.upper, 4e-8)
		near(t, "lower", r.Lower, c.shifted, 0.15*(c.shifted-c.middle))
		if !(r.Lower <= c.truth && c.truth <= r.Upper) {
			t.Errorf("δ=%g: [%.10g, %.10g] misses %.12g", c.delta, r.Lower, r.Upper, c.truth)
		}
		// core.md §9.1: the combined estimate was off by 1.1e-5 at a width of 1.1e-3.
		near(t, "estimate", r.Estimate, c.truth, 1.2e-5)
		// Where the upper law does not fall to δ below the largest loss, that loss is the answer, to the last bit.
		if r := ps.epsilon(nil, math.Log(c.delta), -1, c.truth, c.truth-1e-3, 1e-3); r.Upper != c.truth {
			t.Errorf("δ=%g: ε ≤ %v, which nothing proves: want %v", c.delta, r.Upper, c.truth)
		}
	}
}

// Aliasing of the golden case at ε = 1.8, in units of δ (core.md §5.1): S − V is
// measured against a window of 30000 points.
func TestAliasingBounds(t *testing.T) {
	up, _ := goldenLaws(t)
	excess := []float64{0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1, 1.3, 1.7, 2, 2.5, 3, 3.5, 4}
	for _, c := range []struct {
		theta             float64
		n                 int
		diff, left, right float64
	}{
		{5, 3000, 2.187e-7, 3.06e-7, 1.83e-7},
		{5, 4000, 2.209e-9, 2.06e-9, 1.48e-8},
		{5, 6000, 1.67e-12, 9.4e-14, 9.7e-11},
		{4, 5000, 1.977e-9, 2.06e-9, 1.1e-11},
		{6, 6000, 6.35e-10, 2.3e-16, 3.1e-8},
		{6.5, 8000, 1.09e-9, 2.6e-23, 5.5e-8},
	} {
		x := compose(nil, []term{{up, 1000, nil}}, c.theta, c.n, Gonum{}, excess).read(1.8)
		v := compose(nil, []term{{up, 1000, nil}}, c.theta, 30000, Gonum{}, excess).read(1.8)
		scale := math.Exp(x.logScale)
		diff := (x.s - v.s) * scale
		noise := (x.roundOff + v.roundOff) * scale
		near(t, "S − V", diff, c.diff, 0.01*c.diff+noise)
		near(t, "left bound", x.aliasLeft*scale, c.left, 0.02*c.left)
		// The bound is a minimum over the abscissae tried, here as in the table.
		if r := x.aliasRight * scale; r < 0.9*c.right || r > 1.5*c.right {
			t.Errorf("θ=%v N=%d: right bound %.3g, want 0.9 to 1.5 times %.3g", c.theta, c.n, r, c.right)
		}
		if diff > (x.aliasLeft+x.aliasRight)*scale+noise {
			t.Errorf("θ=%v N=%d: S − V = %.3g exceeds the bound", c.theta, c.n, diff)
		}
		if -diff > x.foldRight*scale+noise {
			t.Errorf("θ=%v N=%d: S − V = %.3g is below the bound", c.theta, c.n, diff)
		}
		// And in the certificate: both contain the value of the long window.
		if l := v.logValue; !(x.lower() <= l && l <= x.upper()) {
			t.Errorf("θ=%v N=%d: [%v, %v] misses %v", c.theta, c.n, x.lower(), x.upper(), l)
		}
	}
}

// The error law of core.md §3.4 on Gaussians, whose truth is known:
// log δ_up − log δ = (T/12 − B2/2)Δ²g and log δ − log δ_low = (T/24 + B2/2)Δ²g
// with g = f_T/δ exact. The table's ratios, up to 1.063 and 0.925, are those of
// the law with θ(1+θ) in place of g; with g itself they are closer to 1 the more
// steps there are and the finer the lattice.
func TestErrorLaw(t *testing.T) {
	for _, c := range []struct {
		sigma, delta float64
		runs         int64
		tol          [3]float64 // of the ratio at Δ = s/3, s/8, s/20
	}{
		{10, 1e-5, 1000, [3]float64{0.03, 0.004, 0.001}},
		{50, 1e-100, 1e5, [3]float64{0.03, 0.004, 0.001}},
		{1000, 1e-15, 1e6, [3]float64{0.03, 0.004, 0.001}},
		{3, 1e-10, 30, [3]float64{0.04, 0.004, 0.001}},
	} {
		one, err := profiles.NewGaussian(c.sigma)
		if err != nil {
			t.Fatal(err)
		}
		all := one.Repeat(c.runs, nil)
		eps := gaussianEpsilon(t, all, c.delta)
		truth, _ := profiles.LogDelta(all, eps)
		mu := 1 / all.NoiseMultiplier()
		x := eps/mu - mu/2
		g := math.Exp(-x*x/2 - math.Log(mu*math.Sqrt(2*math.Pi)) - truth)
		theta := saddleOf(g)
		for i, div := range []float64{3, 8, 20} {
			step := ladder(1 / c.sigma / div)
			n := 400.0 / math.Sqrt(float64(c.runs)) // half width of a law in sd of one step: ≥ 10
			n = math.Max(14, n) / c.sigma / step
			mid := math.Round((0.5/c.sigma/c.sigma + theta/c.sigma/c.sigma) / step)
			grid := pld.Uniform(0, step, int64(mid-n), int64(mid+n))
			up, lo := pld.Discretize(one, grid)
			size := Gonum{}.Length(int(40 * mu / step))
			T := float64(c.runs)
			all := compose(nil, []term{{up, T, nil}}, theta, size, Gonum{}, []float64{theta / 4, theta / 2})
			u := all.read(eps)
			l := compose(nil, []term{{lo, T, nil}}, theta, size, Gonum{}, []float64{theta / 4, theta / 2}).read(eps)
			b2 := u.frac*u.frac - u.frac + 1.0/6
			wantU, wantL := (T/12-b2/2)*step*step*g, (T/24+b2/2)*step*step*g
			near(t, "upper/law", (u.logValue-truth)/wantU, 1, c.tol[i])
			near(t, "lower/law", (truth-l.logValue)/wantL, 1, c.tol[i])
			if i == 2 {
				near(t, "density/δ", all.density(u)/g, 1, 0.002)
			}
		}
	}
}

// saddleOf returns θ with θ(1+θ) = g.
func saddleOf(g float64) float64 { return (math.Sqrt(1+4*g) - 1) / 2 }

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
