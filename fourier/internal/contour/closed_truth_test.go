package contour

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

func newComposition(t testing.TB, factors ...Factor) *Composition {
	t.Helper()
	c, err := New(factors...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A truth is log δ, log(1−δ) and log(δ − 1 + e^ε) of the Gaussian pair with means m apart, to
// hundreds of bits: the finite part has masses e^{m0} and e^{m1}.
type truth struct{ delta, complement, excess *big.Float }

func gaussianTruth(m, eps, m0, m1 float64) truth {
	one := oracle.F(1)
	tail := func(x *big.Float) *big.Float { return oracle.Exp(oracle.LogNormalTail(x)) }
	M, E := oracle.F(m), oracle.Add(oracle.F(eps), oracle.Sub(oracle.F(m1), oracle.F(m0)))
	mass0, mass1 := oracle.Exp(oracle.F(m0)), oracle.Exp(oracle.F(m1))
	half := oracle.Scale(M, 0.5)
	x, y := oracle.Sub(oracle.Div(E, M), half), oracle.Add(oracle.Div(E, M), half)
	neg := oracle.Neg
	e := oracle.Mul(mass1, oracle.Exp(oracle.F(eps)))
	above, below := oracle.Mul(mass0, tail(x)), oracle.Mul(mass0, tail(neg(x))) // P(L > ε), P(−∞ < L ≤ ε)
	qAbove, qBelow := oracle.Mul(e, tail(y)), oracle.Mul(e, tail(neg(y)))
	return truth{
		delta:      oracle.Add(oracle.Sub(above, qAbove), oracle.Sub(one, mass0)),
		complement: oracle.Add(below, qAbove),
		excess:     oracle.Add(oracle.Sub(qBelow, below), oracle.Sub(oracle.Exp(oracle.F(eps)), e)),
	}
}

// contains reports whether e^low ≤ x ≤ e^high, by the exact exponentials.
func contains(low, high float64, x *big.Float) bool {
	above := math.IsInf(low, -1) || oracle.Exp(oracle.F(low)).Cmp(x) <= 0
	return above && (math.IsInf(high, 1) || oracle.Exp(oracle.F(high)).Cmp(x) >= 0)
}

// The closed form of one Gaussian of mean difference μ√T is the truth of T of them, for
// δ from 1 − 1e-6 down to 1e-300 and counts to 1e12.
func TestGaussianEpsilon(t *testing.T) {
	for _, g := range []struct{ mu, root float64 }{
		{0.125, 10}, {1, 1}, {1, 3}, {3, 2}, {0x1p-10, 1e3}, {0x1p-10, 32000}, {0x1p-13, 1e6}, {0x1p-26, 1e6}, {0.5, 100},
	} {
		count := int64(g.root * g.root)
		for _, delta := range []float64{0.3, 1e-5, 1e-10, 1e-30, 1e-300, 0.7, 1 - 0x1p-20} {
			t.Run(fmt.Sprintf("mu=%v/T=%v/delta=%v", g.mu, count, delta), func(t *testing.T) {
				c := newComposition(t, Factor{gauss{mu: g.mu}, count})
				logDelta := math.Log(delta)
				a, err := c.Epsilon(context.Background(), logDelta, Options{})
				t.Log(describe(a))
				if err != nil {
					t.Error(err)
				}
				// log δ is rounded, so compare with e^{log δ}.
				d := oracle.Exp(oracle.F(logDelta))
				m := g.mu * g.root
				if x := gaussianTruth(m, a.Lower, 0, 0).delta; x.Cmp(d) < 0 {
					t.Errorf("δ(%v) is below δ", a.Lower)
				}
				if x := gaussianTruth(m, a.Upper, 0, 0).delta; x.Cmp(d) > 0 {
					t.Errorf("δ(%v) is above δ", a.Upper)
				}
			})
		}
	}
}

// δ and 1 − δ for every ε, each to a relative accuracy, and with masses at
// infinity: correction 3 of the page, where M(0) < 1 and M(−1) < 1.
func TestGaussianDelta(t *testing.T) {
	for _, g := range []struct{ mu, root, pInf, qInf float64 }{
		{0.5, 2, 0, 0}, {2, 1, 0, 0}, {0x1p-10, 1e3, 0, 0}, {0.5, 2, 0x1p-13, 0x1p-12}, {0.5, 2, 0, 0x1p-6}, {1, 3, 0x1p-40, 0},
	} {
		f := gauss{g.mu, g.pInf, g.qInf}
		count := int64(g.root * g.root)
		m0, m1 := float64(count)*math.Log1p(-g.pInf), float64(count)*math.Log1p(-g.qInf)
		c := newComposition(t, Factor{f, count})
		for _, eps := range []float64{-60, -20, -5, -1, -0.1, 0, 0.1, 1, 5, 20, 60} {
			want := gaussianTruth(g.mu*g.root, eps, m0, m1)
			name := fmt.Sprintf("%+v ε=%v", g, eps)
			a, err := c.Delta(context.Background(), eps, Options{})
			if err != nil {
				t.Errorf("%s: %v: %+v", name, err, a)
			}
			// The reference's m₀ is that of a rounded logarithm: ulps of 1 − m₀.
			slack := 0.0
			if g.pInf+g.qInf > 0 {
				slack = 8 * xmath.U
			}
			if !contains(a.LogLower-slack, a.LogUpper+slack, want.delta) {
				t.Errorf("%s: log δ in [%.17g, %.17g] is not %v", name, a.LogLower, a.LogUpper, oracle.LogF(want.delta))
			}
			// The reference has about 90 digits.
			if a.LogLower > -140 && !contains(a.LogComplementLower-slack, a.LogComplementUpper+slack, want.complement) {
				t.Errorf("%s: log(1−δ) in [%.17g, %.17g] is not %v", name, a.LogComplementLower, a.LogComplementUpper, oracle.LogF(want.complement))
			}
			if w, v := a.LogUpper-a.LogLower, a.LogComplementUpper-a.LogComplementLower; w > 1e-9*math.Max(1, -a.LogLower) && v > 1e-9*math.Max(1, -a.LogComplementLower) {
				t.Errorf("%s: %+v is wide", name, a)
			}
		}
	}
}

// With a mass at infinity δ never falls below it.
func TestInfiniteLossEpsilon(t *testing.T) {
	c := newComposition(t, Factor{gauss{0.5, 0x1p-13, 0}, 4})
	floor := -math.Expm1(4 * math.Log1p(-0x1p-13))
	a, err := c.Epsilon(context.Background(), math.Log(floor)-1e-3, Options{})
	if err != nil || !math.IsInf(a.Lower, 1) || !math.IsInf(a.Upper, 1) {
		t.Errorf("below the mass: %+v, %v", a, err)
	}
	for _, over := range []float64{1e-8, 1e-5, 1e-3} {
		logDelta := math.Log(floor + over)
		a, err = c.Epsilon(context.Background(), logDelta, Options{Relative: 1e-7})
		if err != nil {
			t.Errorf("%v above the mass: %+v, %v", over, a, err)
		}
		m0 := 4 * math.Log1p(-0x1p-13)
		d := oracle.Exp(oracle.F(logDelta))
		if gaussianTruth(1, a.Lower, m0, 0).delta.Cmp(d) < 0 || gaussianTruth(1, a.Upper, m0, 0).delta.Cmp(d) > 0 {
			t.Errorf("%v above the mass: [%v, %v] is wrong", over, a.Lower, a.Upper)
		}
	}
	// As close above the mass as floating point goes, an answer is refused or right, not invented.
	if a, err := c.Epsilon(context.Background(), math.Nextafter(math.Log(floor), 0), Options{}); err == nil {
		t.Errorf("an ulp above the mass: %+v", a)
	}
}
