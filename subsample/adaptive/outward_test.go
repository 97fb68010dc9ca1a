package adaptive

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// TestRecursionCountsItsWeights: where the weights of G are of size e^500, their rounding is more than that of the
// transform: one value of G, moved by a law of one loss, is where it was, from below and above.
func TestRecursionCountsItsWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	const top, at = 3, 2
	for range 60 {
		step := 0.5 + rng.Float64()
		for _, upper := range []bool{false, true} {
			r := recursion{step: step, c: (500 + 25*rng.Float64()) / (top * step), laws: []massLaw{{index: []int{1}, mass: []float64{1}}}, upper: upper,
				join: func(v [][]float64, g []float64) { copy(g, v[0]) }}
			g := make([]float64, top+1)
			g[at] = 1e-3
			if err := r.run(t.Context(), g, 1); err != nil {
				t.Fatal(err)
			}
			if upper && g[at+1] < 1e-3 || !upper && g[at+1] > 1e-3 || math.Abs(g[at+1]-1e-3) > 1e-13 {
				t.Errorf("step %v, c %v, upper %v: %.20g after a step, was 1e-3", step, r.c, upper, g[at+1])
			}
		}
	}
}

// TestPaletteProfileIsWhole: the masses of the profile make 1 under P and under Q, so that no run loses any.
func TestPaletteProfileIsWhole(t *testing.T) {
	for _, g := range [][]float64{{0.4, 0.2, 0.1, 0.05}, {0.01, 0.005, 0}, {0.9, 0.8, 0.75}} {
		p, err := symmetric(0.5, g)
		if err != nil {
			t.Fatal(err)
		}
		if x := p.Tails(-100, 0); x.P < -1e-14 || x.Q+math.Log1p(g[len(g)-1]) < -1 {
			t.Errorf("%v: masses e^%v and e^%v", g, x.P, x.Q)
		}
	}
}

// TestSliceHoldsItsExponent: with nothing of the other parts left, log k is −y²/2, whose rounding is its error.
func TestSliceHoldsItsExponent(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 3))
	f := slice{logA: math.Inf(-1), logB: -800}
	for range 100 {
		y := 30 * rng.Float64()
		p := f.at(y)
		want := oracle.Scale(oracle.Mul(oracle.F(y), oracle.F(y)), -0.5)
		if off, _ := oracle.Sub(oracle.F(p.log), want).Float64(); math.Abs(off) > p.err {
			t.Errorf("y = %v: log k = %v is off by %v, within %v", y, p.log, off, p.err)
		}
	}
}

// TestAttackBelowZero: a δ that is reached at negative ε only has its ε there, at the last lattice point that exceeds it.
func TestAttackBelowZero(t *testing.T) {
	a := &Attack{r: recursion{step: 0.5}, g: []float64{0.1, 0.05, 0}}
	// G(e^{−x}) = 1 − e^{−x} + e^{−x}·G(e^x): 0.424 at x = 0.5 and 0.632 at 1.
	for _, c := range []struct{ delta, want float64 }{{0.3, -0.5}, {0.5, -1}, {1, math.Inf(-1)}} {
		if got := a.Epsilon(c.delta); got > c.want || got < c.want-1e-12 {
			t.Errorf("ε(%v) ≥ %v, want %v", c.delta, got, xmath.Down(c.want, 2))
		}
	}
}

// TestStepBoundIsRoundedUp: the bound of a configuration is at least the product and the sum that it is, exactly.
func TestStepBoundIsRoundedUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	for range 50 {
		s := stepBound{theta: 1, p1: rng.Float64()}
		w := share{logA: -1 - rng.Float64(), logB: -rng.Float64(), rest: 0.1 * rng.Float64()}
		g := triangle{1.5, 1.5, 1}
		x := triangle{g.s / 2, g.t / 2, g.r / 2}.excess(w.logA, w.logB)
		want := oracle.Add(oracle.Mul(oracle.F(s.p1), oracle.Exp(oracle.F(max(-700, x)))), oracle.F(w.rest))
		if got := s.at([]share{w}, g); oracle.F(got).Cmp(want) < 0 {
			t.Errorf("%+v: at most %.20g, want at least %.20g", w, got, want)
		}
	}
}
