package contour

import (
	"math"
	"math/rand/v2"
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
// foldTable is the table of laws at a tilt with n points; sHigh and sLow are the lines beside.
func foldTable(t testing.TB, theta float64, n int, fft FFT, excess float64, factors ...Factor) *table {
	t.Helper()
	c := newComposition(t, factors...)
	step := factors[0].Transform.(*Law).Step
	c.Fold(step, 1<<23, fft)
	x, err := c.fold(t.Context(), choice{theta: theta, lambda: (float64(n) - 0.5) * step / longer, sHigh: theta + excess, sLow: -1 - theta}, goal{work: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	if x.folded.n < int64(n) {
		t.Fatalf("%d points, asked for %d", x.folded.n, n)
	}
	return x
}

func law(l *pld.Law, runs int64) Factor { return Factor{NewLaw(l), runs} }

var unscaled = terms{aliasing: 1, truncation: 1, transform: 1, rounding: 1, infinite: 1}

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
		beside         float64
	}{
		{4, 16384, 0.0018763372356143, 0.00255229807769, 13.61, 64, 2, 2},
		{5, 15000, 0.0029199931167485816, 0.00543760267574, 4.17, 0, 0, 2},
		{5, 16384, 0.0029199931167485816, 0, 0, 0, 0, 2},
		{6, 16384, 0, 0.00839762883763, 1.77, 0, 0, 2},
		{6.665244495984, 31104, 0, 0.00846094937919, 0, 0, 0, 1},
	} {
		x := foldTable(t, c.theta, c.n, Gonum{}, c.beside, law(up, 1000))
		excess := 1000 * NewLaw(up).Excess
		r, sum := x.read(1.8, &unscaled), x.folded
		at, _ := sum.at(1.8)
		k := (x.re0 + excess) / 1000
		if c.k != 0 {
			near(t, "K", k, c.k, raised(p, grid, c.theta)+1e-15)
		}
		if c.s != 0 {
			// S depends on K: δ = e^{TK−θε}S. Relative, twice the tolerance; the whole sum has the periods beside, too.
			near(t, "S", at.s, c.s, c.s*(2*tol+1e-11+math.Abs(math.Expm1(r.mid-at.label-math.Log(at.s)))))
		}
		if c.cond != 0 {
			near(t, "condition", r.condition, c.cond, 0.005)
		}
		if c.kept != 0 {
			near(t, "frequencies kept", float64(len(sum.freqs)), float64(c.kept), float64(c.keptSlop))
		}
		// S_q/S: the slope's own derivative −d²log δ/dε² ~ 1 times the shift of ε.
		near(t, "slope", -r.slope, 7.4974490832, tol)
		near(t, "log δ", r.mid+excess, logDelta, tol)
		if r.high+excess < logDelta {
			t.Errorf("θ=%v N=%d: upper %.13g is below the exact law's %.13g", c.theta, c.n, r.high, logDelta)
		}
		// The certificate: a reading of the rounded-up law minus its widening.
		if r.low+excess > logDelta+tol {
			t.Errorf("θ=%v N=%d: lower %.13g is above %.13g", c.theta, c.n, r.low, logDelta)
		}
		if w := r.high - r.low; !(w > 0 && w < 1e-8) {
			t.Errorf("θ=%v N=%d: certificate %g wide", c.theta, c.n, w)
		}
	}
}

// One transform serves many ε (core.md §9.1: θ = 5, N = 16384).
func TestGoldenOneTransformManyReadings(t *testing.T) {
	up, _ := goldenLaws(t)
	p, grid := dpsgd(t, 0.01, 1), pld.Uniform(0, 1e-3, -11, 12000)
	x := foldTable(t, 5, 16384, Gonum{}, 1, law(up, 1000))
	for _, c := range []struct{ eps, theta, want float64 }{
		{1.0, 5.9, -5.944558972875},
		{1.5, 6.5, -9.117385856489},
		{2.0, 6.8, -12.829458400343},
		{2.5, 7, -16.824443824346},
	} {
		r := x.read(c.eps, &unscaled)
		near(t, "log δ", r.mid, c.want, 1000*raised(p, grid, c.theta)+1e-11*r.condition)
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
		u := foldTable(t, c.theta, 1<<16, Gonum{}, 1, law(up, 1000)).read(c.eps, &unscaled)
		l := foldTable(t, c.theta, 1<<16, Gonum{}, 1, law(lo, 1000)).read(c.eps, &unscaled)
		near(t, "log δ upper", u.mid, c.upper, 1000*raised(p, grid, c.theta))
		truth := (c.upper + 2*c.shifted) / 3 // core.md §3.4: errors +2 : −1
		if !(l.mid > c.middle && l.mid < truth) {
			t.Errorf("ε=%v: lower log δ = %.13g is not in (%.13g, %.13g)", c.eps, l.mid, c.middle, truth)
		}
		near(t, "log δ lower", l.mid, c.shifted, 0.1*(c.shifted-c.middle))
	}
}

// ε(δ) at Δ = 1e-3 (core.md §9.1).
func TestGoldenEpsilonOfLaws(t *testing.T) {
	up, lo := goldenLaws(t)
	for _, c := range []struct{ delta, theta, middle, shifted, truth, upper float64 }{
		{1e-5, 6.7, 1.827838942, 1.827871020, 1.82823666652, 1.828934413},
		{1e-15, 7.44, 4.854138136, 4.854170522, 4.85453775060, 4.855239449},
		{1e-40, 7.8, 12.285808805, 12.285842573, 12.28622822112, 12.286964631},
	} {
		var r [2]EpsilonAnswer
		for i, l := range []*pld.Law{up, lo} {
			f := law(l, 1000)
			comp := newComposition(t, f)
			comp.Fold(1e-3, 1<<20, Gonum{})
			var err error
			if r[i], err = comp.Epsilon(t.Context(), math.Log(c.delta)-1000*NewLaw(l).Excess, Options{Relative: 1e-10}); err != nil {
				t.Fatal(err)
			}
		}
		// The digits printed, and the width asked for.
		near(t, "upper", r[0].Upper, c.upper, 4e-8)
		near(t, "lower", r[1].Lower, c.shifted, 0.15*(c.shifted-c.middle))
		if !(r[1].Lower <= c.truth && c.truth <= r[0].Upper) {
			t.Errorf("δ=%g: [%.10g, %.10g] misses %.12g", c.delta, r[1].Lower, r[0].Upper, c.truth)
		}
	}
}

// Short periods alias, and say so: each reading holds the value of a long one, with the aliasing that it had (core.md §5.1)
// and without it not.
func TestAliasingOfLaws(t *testing.T) {
	up, _ := goldenLaws(t)
	for _, c := range []struct {
		theta float64
		n     int
		width float64 // of log δ, at the most
	}{
		{5, 3000, 2e-2},
		{5, 4000, 2e-3},
		{5, 6000, 2e-5},
		{4, 5000, 2e-5},
		{6, 6000, 4e-3},
		{6.5, 8000, 6e-3},
	} {
		long := foldTable(t, c.theta, 30000, Gonum{}, 1, law(up, 1000)).read(1.8, &unscaled)
		best := reading{low: math.Inf(-1), high: math.Inf(1)}
		for _, excess := range []float64{0.1, 0.3, 0.6, 1, 1.7, 2.5, 3.5} {
			x := foldTable(t, c.theta, c.n, Gonum{}, excess, law(up, 1000))
			r := x.read(1.8, &unscaled)
			if !(r.low <= long.low && long.high <= r.high) {
				t.Errorf("θ=%v N=%d: [%v, %v] misses [%v, %v]", c.theta, c.n, r.low, r.high, long.low, long.high)
			}
			best.low, best.high = max(best.low, r.low), min(best.high, r.high)
			none := unscaled
			none.aliasing = 0
			if r := x.read(1.8, &none); c.n == 3000 && r.low <= long.low && long.high <= r.high {
				t.Errorf("θ=%v N=%d: without aliasing [%v, %v] holds", c.theta, c.n, r.low, r.high)
			}
		}
		if w := best.high - best.low; !(w < c.width) {
			t.Errorf("θ=%v N=%d: %v wide", c.theta, c.n, w)
		}
	}
}

// Theorem 10 on every side, with periods that hardly hold the losses: δ of a few runs of a few losses, listed.
func TestFoldedInEveryStrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 27))
	held := 0
	for range 400 {
		step := math.Exp2(float64(rng.IntN(5)) - 4)
		l := &pld.Law{Offset: step * (rng.Float64() - 0.5), Step: step, LogPInf: math.Log(0.01 * float64(rng.IntN(2)))}
		for k := range int64(2 + rng.IntN(5)) {
			k += k*k*int64(rng.IntN(2)) - 2
			l.Index, l.Loss, l.LogMass = append(l.Index, k), append(l.Loss, l.Offset+float64(k)*step), append(l.LogMass, math.Log(rng.Float64()))
		}
		runs := 1 + rng.IntN(5)
		sums, f := listed(l, runs), NewLaw(l)
		eps := float64(runs) * (l.Loss[0] + (l.MaxLoss()-l.Loss[0])*rng.Float64())
		if rng.IntN(4) == 0 {
			eps = float64(runs)*l.Offset + step*math.Round(eps/step) // at a lattice point, about
		}
		for _, theta := range []float64{2, 0.4, -0.4, -0.9, -1.5, -3} {
			n := 2 + rng.IntN(200)
			beside := 0.3 + rng.Float64()
			c := newComposition(t, Factor{f, int64(runs)})
			c.Fold(step, 1<<20, Gonum{})
			x, err := c.fold(t.Context(), choice{theta: theta, lambda: (float64(n) - 0.5) * step / longer, sHigh: theta + beside + 0.01, sLow: theta - beside - 0.02}, goal{work: 1 << 40})
			if err != nil {
				t.Fatal(err)
			}
			r := x.read(eps, &unscaled)
			want := sums.quantity(sideOf(theta), eps)
			if !(want > 1e-9) {
				continue // Q may have more than P
			}
			log := math.Log(want)
			if !(r.low <= log+1e-12 && log-1e-12 <= r.high) {
				t.Errorf("%d runs of %v, ε = %v, θ = %v, N = %d: [%v, %v] misses %v", runs, l, eps, theta, x.folded.n, r.low, r.high, log)
			}
			if r.high-r.low < 1e-6 {
				held++
			}
		}
	}
	if t.Logf("%d narrow", held); held < 600 {
		t.Errorf("%d readings are narrow", held)
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
			m, e := math.Frexp(1 / c.sigma / div)
			step := math.Ldexp(math.Floor(m*8)/8, e)
			n := 400.0 / math.Sqrt(float64(c.runs)) // half width of a law in sd of one step: ≥ 10
			n = math.Max(14, n) / c.sigma / step
			mid := math.Round((0.5/c.sigma/c.sigma + theta/c.sigma/c.sigma) / step)
			grid := pld.Uniform(0, step, int64(mid-n), int64(mid+n))
			up, lo := pld.Discretize(one, grid)
			size := Gonum{}.Length(int(40 * mu / step))
			T := float64(c.runs)
			u := foldTable(t, theta, size, Gonum{}, theta/2, law(up, c.runs))
			l := foldTable(t, theta, size, Gonum{}, theta/2, law(lo, c.runs))
			finite := func(x *table, l *pld.Law) float64 {
				x.m0 = mass{} // all but no mass is at +∞, and more than δ
				return x.read(eps, &unscaled).mid + T*NewLaw(l).Excess
			}
			y, _, _ := u.folded.place(eps)
			frac := 1 - y/step
			b2 := frac*frac - frac + 1.0/6
			wantU, wantL := (T/12-b2/2)*step*step*g, (T/24+b2/2)*step*step*g
			near(t, "upper/law", (finite(u, up)-truth)/wantU, 1, c.tol[i])
			near(t, "lower/law", (truth-finite(l, lo))/wantL, 1, c.tol[i])
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
