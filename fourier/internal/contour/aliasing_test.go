package contour

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// tableFor makes the table of a plan by hand.
func tableFor(t testing.TB, c *Composition, p plan) *table {
	t.Helper()
	p.h = floorBits(p.h)
	if p.tol == 0 {
		p.tol = 1e-14
	}
	tab := &table{plan: p}
	if err := tab.extend(context.Background(), c, nil); err != nil {
		t.Fatal(err)
	}
	return tab
}

// quantityOf picks what a table on a side bounds.
func (x truth) of(d side) *big.Float {
	switch d {
	case right:
		return x.delta
	case middle:
		return x.complement
	}
	return x.excess
}

// The table of all positions of θ, s₊ and s₋ (correction 10), with m₀, m₁ < 1, at periods so
// short that the series and the remainders matter.
func TestTheorem2InEveryStrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	strip := [3]func() float64{
		func() float64 { return 0.1 + 3*rng.Float64() },
		func() float64 { return -0.95 + 0.9*rng.Float64() },
		func() float64 { return -1.1 - 3*rng.Float64() },
	}
	tight, seriesMatter, wide := 0, 0, 0
	for i := range 600 {
		theta := strip[i%3]()
		// Any line on each side, near and far, in every strip that lies there.
		sHigh, sLow := theta+5*rng.Float64(), theta-5*rng.Float64()
		if other := strip[rng.IntN(3)](); other > theta {
			sHigh = other
		} else {
			sLow = other
		}
		g := gauss{0.5 + rng.Float64(), 0, 0}
		if rng.IntN(2) == 0 {
			g.pInf, g.qInf = 0.1*rng.Float64(), 0.1*rng.Float64()
		}
		eps := 4 * (rng.Float64() - 0.4)
		c := newComposition(t, Factor{g, 1})
		lambda := 1 + 9*rng.Float64()
		tab := tableFor(t, c, plan{theta: theta, h: 2 * math.Pi / lambda, sHigh: sHigh, sLow: sLow, n: 60})
		r := tab.read(eps, &c.scale)
		want := gaussianTruth(g.mu, eps, math.Log1p(-g.pInf), math.Log1p(-g.qInf)).of(sideOf(theta))
		slack := 1e-14
		if !contains(r.low-slack, r.high+slack, want) {
			t.Errorf("%+v θ=%v s=(%v, %v) λ=%v ε=%v: [%v, %v] is not %v", g, theta, sLow, sHigh, lambda, eps, r.low, r.high, oracle.LogF(want))
		}
		if r.high-r.low < 1e-3 {
			tight++
			// Without its series the same table is wrong.
			far := *tab
			far.m0.log, far.m1.log = math.Inf(-1), math.Inf(-1)
			if q := far.read(eps, &c.scale); !contains(q.low-slack, q.high+slack, want) {
				seriesMatter++
			}
		} else if math.IsInf(r.high-r.low, 1) || math.IsNaN(r.mid) {
			wide++
		}
	}
	t.Logf("%d tight, the series matter in %d of them, %d say nothing", tight, seriesMatter, wide)
	if tight < 100 || seriesMatter < 20 || wide > 400 {
		t.Errorf("the cases test little: %d tight, series in %d, %d say nothing", tight, seriesMatter, wide)
	}
}

// V = S + series is above δ when both remainders lie beyond the poles: the aliasing is
// one-sided.
func TestAliasingIsOneSided(t *testing.T) {
	c := newComposition(t, Factor{gauss{mu: 1}, 1})
	last := math.Inf(1)
	for _, lambda := range []float64{4, 5, 6, 7} {
		tab := tableFor(t, c, plan{theta: 2, h: 2 * math.Pi / lambda, sHigh: 5, sLow: -4, n: 40})
		eps := 2.0
		r := tab.read(eps, &c.scale)
		want := oracle.LogF(gaussianTruth(1, eps, 0, 0).delta)
		over := r.mid - want
		if over < -1e-14 || over > last {
			t.Errorf("λ=%v: log V − log δ = %v, at the period before %v", lambda, over, last)
		}
		last = over
	}
	if last > 1e-6 {
		t.Errorf("at λ = 7 the sum is still %v above", last)
	}
}

// shifted is a transform that is wrong by as much as it admits.
type shifted struct {
	transform.Transform
	by float64
}

func (s shifted) Line(ctx context.Context, theta, tMax, tol float64, n int) (transform.Line, error) {
	l, err := s.Transform.Line(ctx, theta, tMax, tol, n)
	return shiftedLine{l, s.by}, err
}

type shiftedLine struct {
	transform.Line
	by float64
}

func (l shiftedLine) LogM(t float64) (re, im, err float64) {
	re, im, err = l.Line.LogM(t)
	return re + l.by, im, err + math.Abs(l.by)*(1+4*xmath.U)
}

// Every term of the certificate is needed: with the term the interval contains the truth in
// each of these cases, without it at least once it does not.
func TestEveryTermOfTheCertificateIsNeeded(t *testing.T) {
	// All numbers of the last one are short in binary, so that the transform is exact and
	// only floating point is left: M of one Gaussian with μ² = 1/4 at θ = 1/2, h = 1/4.
	exact := exactGauss{gauss{mu: 0.5}}
	for _, k := range []struct {
		name string
		f    transform.Transform
		plan plan
		drop func(*terms)
		n    int64
	}{
		{"aliasing beyond the poles", gauss{mu: 1}, plan{theta: 2, h: 1.2, sHigh: 4, sLow: -3, n: 40}, func(s *terms) { s.aliasing = 0 }, 1},
		{"aliasing between the poles", gauss{mu: 3}, plan{theta: 0.5, h: 0.8, sHigh: 4, sLow: -0.5, n: 40}, func(s *terms) { s.aliasing = 0 }, 1},
		{"aliasing for 1 − δ", gauss{mu: 1}, plan{theta: -0.5, h: 1.2, sHigh: 2, sLow: -3, n: 40}, func(s *terms) { s.aliasing = 0 }, 1},
		{"truncation", gauss{mu: 1}, plan{theta: 2, h: 0.5, sHigh: 9, sLow: -8, n: 6}, func(s *terms) { s.truncation = 0 }, 1},
		{"transform, too large", shifted{gauss{mu: 0.5}, 1e-9}, plan{theta: 2, h: 0.5, sHigh: 9, sLow: -8, n: 30}, func(s *terms) { s.transform = 0 }, 4},
		{"transform, too small", shifted{gauss{mu: 0.5}, -1e-9}, plan{theta: 2, h: 0.5, sHigh: 9, sLow: -8, n: 30}, func(s *terms) { s.transform = 0 }, 4},
		{"rounding", exact, plan{theta: 0.5, h: 0.25, sHigh: 90, sLow: -90, n: 90}, func(s *terms) { s.rounding = 0 }, 1},
	} {
		t.Run(k.name, func(t *testing.T) {
			c := newComposition(t, Factor{k.f, k.n})
			mu := 1.0
			switch f := k.f.(type) {
			case gauss:
				mu = f.mu
			case exactGauss:
				mu = f.mu
			}
			if k.n == 4 {
				mu = 1 // 4 runs of ½
			}
			missed := 0
			for i := range 60 {
				eps := 0.3 + float64(i)/16
				tab := tableFor(t, c, k.plan)
				want := gaussianTruth(mu, eps, 0, 0).of(sideOf(k.plan.theta))
				if r := tab.read(eps, &c.scale); !contains(r.low, r.high, want) {
					t.Errorf("ε=%v: [%.17g, %.17g] is not %.17g", eps, r.low, r.high, oracle.LogF(want))
				}
				without := c.scale
				k.drop(&without)
				d := newComposition(t, Factor{k.f, k.n})
				d.scale = without
				tab = tableFor(t, d, k.plan)
				if r := tab.read(eps, &without); !math.IsNaN(r.mid) && !contains(r.low, r.high, want) {
					missed++
				}
			}
			if missed == 0 {
				t.Error("no case needs this term")
			}
			t.Logf("missed %d of 60 without it", missed)
		})
	}
}

// So is the error of the mass at infinity: far out δ is that mass, p, and the log of it
// went through log1p and expm1.
func TestErrorOfTheInfiniteMassIsNeeded(t *testing.T) {
	missed := 0
	for i := range 60 {
		p := 0.001 * float64(i+1)
		c := newComposition(t, Factor{gauss{mu: 0.5, pInf: p}, 1})
		tab := tableFor(t, c, plan{theta: 20, h: 2, sHigh: 60, sLow: -60, n: 60})
		want := oracle.F(p)
		if r := tab.read(20, &c.scale); !contains(r.low, r.high, want) {
			t.Errorf("p=%v: [%.17g, %.17g] is not %.17g", p, r.low, r.high, oracle.LogF(want))
		}
		without := c.scale
		without.infinite = 0
		if r := tab.read(20, &without); !contains(r.low, r.high, want) {
			missed++
		}
	}
	if missed == 0 {
		t.Error("no case needs this term")
	}
	t.Logf("missed %d of 60 without it", missed)
}

// exactGauss admits no error: for numbers so short that it makes none.
type exactGauss struct{ gauss }

func (g exactGauss) Line(ctx context.Context, theta, tMax, tol float64, n int) (transform.Line, error) {
	l, err := g.gauss.Line(ctx, theta, tMax, tol, n)
	return exactLine{l}, err
}

type exactLine struct{ transform.Line }

func (l exactLine) LogM(t float64) (re, im, err float64) {
	re, im, _ = l.Line.LogM(t)
	return re, im, 0
}

// Sabotage of a table of the golden case A: half the period, half the frequencies. The
// interval must get wider, and never exclude the golden value.
func TestSabotageWidens(t *testing.T) {
	c := newComposition(t, Factor{poisson(t, 0.01, 1, false), 1000})
	logDelta := math.Log(1e-5)
	const golden = 1.8282366665165768731
	a, err := c.Epsilon(context.Background(), logDelta, Options{})
	if err != nil {
		t.Fatal(err)
	}
	honest := c.tables[len(c.tables)-1].plan
	for _, k := range []struct {
		name string
		bad  func(*plan)
	}{
		{"half the period", func(p *plan) { p.h *= 2; p.n /= 2 }},
		{"a third of the period", func(p *plan) { p.h *= 3; p.n /= 3 }},
		{"half the frequencies", func(p *plan) { p.n /= 2 }},
		{"a quarter of the frequencies", func(p *plan) { p.n /= 4 }},
		{"a tilt too small", func(p *plan) { p.theta /= 3 }},
		{"a tilt too large", func(p *plan) { p.theta *= 1.5; p.sHigh *= 1.5 }},
		{"remainders on bad lines", func(p *plan) { p.sHigh = p.theta * 1.05; p.sLow = p.theta * 0.95 }},
	} {
		p := honest
		k.bad(&p)
		tab := tableFor(t, c, p)
		f := tab.solve(logDelta, 0, golden, math.Inf(-1), math.Inf(1), &c.scale)
		t.Logf("%s: [%.12g, %.12g]", k.name, f.lower, f.upper)
		if !(f.lower <= golden && golden <= f.upper) {
			t.Errorf("%s: [%.17g, %.17g] does not contain %v", k.name, f.lower, f.upper, golden)
		}
		if f.upper-f.lower <= a.Upper-a.Lower {
			t.Errorf("%s: the width %v is not above %v", k.name, f.upper-f.lower, a.Upper-a.Lower)
		}
	}
}

// Correction 7: where θ is small and ε and λ are large and about equal, the exponent
// ε − F − (θ+1)λ of the second series loses far more than its share of u, and the series
// are not multiples of e^F.
func TestErrorOfTheSeriesAtLargeEpsilon(t *testing.T) {
	// μ√T = 1024, ε around its mean loss of 2^19.
	g := exactGauss{gauss{mu: 0x1p-10}}
	c := newComposition(t, Factor{g, 1 << 40})
	for i := range 40 {
		eps := 0x1p19 + float64(i*i)*3.7
		// Lines on the far side of both poles, λ about ε.
		p := plan{theta: 0x1p-17, h: 2 * math.Pi / (eps * (1 + float64(i%7)/50)), sHigh: 0x1p-15, sLow: -1 - 0x1p-16, n: 2000}
		tab := tableFor(t, c, p)
		r := tab.read(eps, &c.scale)
		want := gaussianTruth(1024, eps, 0, 0).delta
		if !contains(r.low, r.high, want) {
			t.Errorf("ε=%v: [%.17g, %.17g] is not %.17g", eps, r.low, r.high, oracle.LogF(want))
		}
		// The allowance has the size of the exponents, in units of the series.
		f := tab.re0 - p.theta*eps
		lambda := tab.lambda()
		a1 := math.Exp(eps - f + logGeometric((1+p.theta)*lambda))
		a0 := math.Exp(-f + logGeometric(p.theta*lambda))
		s, _, _ := tab.columnSum(eps)
		v := s - a0 + a1
		if need := 8 * xmath.U * (a1*(eps+(1+p.theta)*lambda+math.Abs(f)) + a0*(p.theta*lambda+math.Abs(f))) / v; !(r.rounding >= need) && !math.IsNaN(r.mid) {
			t.Errorf("ε=%v: rounding of %v is below %v", eps, r.rounding, need)
		}
	}
}

// Correction 6, the engine's half: where |M| is so small that nothing is known about its
// logarithm, the term is left out of the sum and its bound counted.
func TestUnknownLogarithmIsCountedAndNotSummed(t *testing.T) {
	for _, blind := range []float64{math.Inf(1), 3} {
		c := newComposition(t, Factor{blindAbove{gauss{mu: 1}, 2.9, blind}, 1})
		tab := tableFor(t, c, plan{theta: 2, h: 0.5, sHigh: 9, sLow: -8, n: 30})
		for k := 6; k <= 30; k++ {
			if tab.modulus[k] != 0 {
				t.Errorf("frequency %d is summed", k)
			}
		}
		for _, eps := range []float64{0, 1, 2, 3} {
			want := gaussianTruth(1, eps, 0, 0).delta
			r := tab.read(eps, &c.scale)
			if !contains(r.low, r.high, want) {
				t.Errorf("ε=%v: [%v, %v] is not %v", eps, r.low, r.high, oracle.LogF(want))
			}
			if r.quadrature < 1e-6 || r.quadrature > 1 {
				t.Errorf("ε=%v: the terms left out count %v", eps, r.quadrature)
			}
		}
	}
}

// blindAbove knows only an upper bound of |M| from a frequency on, or errors of err.
type blindAbove struct {
	gauss
	from, err float64
}

func (b blindAbove) Line(ctx context.Context, theta, tMax, tol float64, n int) (transform.Line, error) {
	l, err := b.gauss.Line(ctx, theta, tMax, tol, n)
	return blindLine{l, b}, err
}

type blindLine struct {
	transform.Line
	b blindAbove
}

func (l blindLine) LogM(t float64) (re, im, err float64) {
	re, im, err = l.Line.LogM(t)
	if t < l.b.from {
		return re, im, err
	}
	if math.IsInf(l.b.err, 1) {
		return re + 1e-9, 77, l.b.err
	}
	// Off by nearly the error, within it.
	return re - l.b.err*0.7, im + l.b.err*0.7, l.b.err
}

// Both ends carry the rounding that the reading states, beside that of the table, which stays as it is:
// no truth misses it alone, as what phases and series really round by is a fraction of it.
func TestEndsCarryTheRoundingOfTheReading(t *testing.T) {
	c := newComposition(t, Factor{exactGauss{gauss{mu: 0.5}}, 1})
	without := c.scale
	without.rounding = 0
	tab := tableFor(t, c, plan{theta: 0.5, h: 0.25, sHigh: 90, sLow: -90, n: 90})
	tried := 0
	for i := range 60 {
		eps := 0.3 + float64(i)/16
		r, q := tab.read(eps, &c.scale), tab.read(eps, &without)
		stated := r.rounding - q.rounding
		if !(stated > 1e-13 && r.rounding < 1e-3) {
			continue
		}
		tried++
		// The ends are logarithms of a few ulps, and up to 1e-3 of what is stated is curvature.
		least := 0.99*stated - 16*xmath.U*(1+math.Abs(r.mid))
		if !(r.high-q.high >= least && q.low-r.low >= least) {
			t.Errorf("ε=%v: rounding of %v widens the ends by %v and %v", eps, stated, q.low-r.low, r.high-q.high)
		}
	}
	if tried < 10 {
		t.Errorf("%d cases round enough", tried)
	}
}
