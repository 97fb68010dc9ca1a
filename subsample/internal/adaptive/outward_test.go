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

// TestKernelIsRoundedUp: the masses of a law, times e^{(τ−1)x}, make at least their exact sum from above, where the exponent is
// what is rounded most.
func TestKernelIsRoundedUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 100 {
		l, err := newLadder(0.5+rng.Float64(), 1, 20, 20, 8, 1<<10)
		if err != nil {
			t.Fatal(err)
		}
		at, mass := 5+rng.IntN(5), rng.Float64()
		k, err := l.kernel(massLaw{index: []int{at}, mass: []float64{mass}}, true)
		if err != nil {
			t.Fatal(err)
		}
		x := oracle.Scale(oracle.F(l.step), float64(at)*(l.tilt-1))
		if want := oracle.Mul(oracle.F(mass), oracle.Exp(x)); oracle.F(k.sum).Cmp(want) < 0 {
			t.Errorf("%v at %d times %v: at most %.20g, want at least %.20g", mass, at, l.step, k.sum, want)
		}
	}
}

// TestStretchWithinAPart: a stretch may end within a part, where its integral is below 0 though that of the whole part is not.
func TestStretchWithinAPart(t *testing.T) {
	const mid = 1.5
	weight := newWeight(0, 0, math.Ln2, mid)
	// On the left 0.058 + (α − mid), whose integral is 0.0004, and −0.086 up to where it is 0; on the right 0.028 more than is needed.
	p := part{end: math.Ln2, width: math.Ln2, from: 1, to: 2, mid: mid, upFrom: 10, upTo: 10, right: weight, left: weight}
	p.up, p.down = nearPoint{value: 0.54}, nearPoint{value: 0.558, slope: 1}
	c := &check{p: palette{x: []float64{0, math.Ln2}}, parts: []part{p}, least: make([]float64, 1), sum: make([]float64, 1)}
	nodes := []float64{0.5, 0.5}
	if ok, _ := c.holds(nodes, nodes); ok {
		t.Error("what the left lacks within the part is not seen")
	}
	c.parts[0].up.value = 2
	if ok, _ := c.holds(nodes, nodes); !ok {
		t.Error("what the left lacks is not made up for on the right")
	}
}
