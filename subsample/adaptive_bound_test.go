package subsample

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/adaptive"
)

// epsilonAt returns ε(δ) of a profile.
func epsilonAt(p profiles.Profile, delta float64) float64 {
	lo, hi := 0.0, 100.0
	for range 80 {
		m := (lo + hi) / 2
		if l, _ := profiles.LogDelta(p, m); l > math.Log(delta) {
			lo = m
		} else {
			hi = m
		}
	}
	return hi
}

// Families take a second each: tests share them.
var sharedBounds = map[string]adaptive.Bound{}

func boundOf(t *testing.T, s FixedSize, sigma float64) adaptive.Bound {
	t.Helper()
	id := fmt.Sprint(s, sigma)
	if sharedBounds[id] == nil {
		a, err := s.NewAdaptiveBound(gaussian(sigma))
		if err != nil {
			t.Fatal(err)
		}
		sharedBounds[id] = a
	}
	return sharedBounds[id]
}

// small is a scheme for which the family is not near the limits of anything.
func small() (s FixedSize, sigma float64) { return must(NewWithoutReplacement(3, 1)), 1.5 }

// TestAdaptiveBoundGolden compares with must-gap.md §5.4 and §6: the two-point
// attack (Richardson) from below, the coarse and the corner cover from above.
// Those were computed on a lattice step twice as wide, which costs 7e-4.
func TestAdaptiveBoundGolden(t *testing.T) {
	slow.Test(t)
	paper, replaced, _, _, _ := paperSetting()
	for _, c := range []struct {
		name         string
		s            FixedSize
		sigma        float64
		k            int64
		guess        float64
		lower, upper float64
	}{
		{"WOR", paper, 4, 100, 0.4443, 0.406447, 0.406945 * (1 + 7e-4)},
		{"WOR", paper, 4, 1000, 1.5339, 1.332183, 1.337672},
		// No cover was computed for WR; its envelope is 0.447864 (§6).
		{"WR", replaced, 4, 100, 0.4479, 0.409507, 0.4125},
		// Second setting: n = 1000, m = 50.
		{"WOR 2", must(NewWithoutReplacement(1000, 50)), 5, 1000, 3.1306, 2.782489, 2.793608},
	} {
		if c.sigma == 5 && !slow.All() {
			continue // seconds
		}
		a := boundOf(t, c.s, c.sigma)
		p, err := a.Upper(t.Context(), c.k, c.guess, math.Log(1e-5), 1<<15)
		if err != nil {
			t.Fatal(err)
		}
		if got := epsilonAt(p, 1e-5); got < c.lower || got > c.upper {
			t.Errorf("%s, k=%d: ε ≤ %v is not in [%v, %v]", c.name, c.k, got, c.lower, c.upper)
		}
		if c.k == 1000 {
			continue // to save time
		}
		at, err := a.Attack(t.Context(), c.k, c.guess, math.Log(1e-5), 1<<15)
		if err != nil {
			t.Fatal(err)
		}
		if got := at.Epsilon(1e-5); got > c.lower*(1+1e-6) || got < c.lower*(1-2e-3) {
			t.Errorf("%s, k=%d: attack reaches %v, golden %v", c.name, c.k, got, c.lower)
		}
	}
}

// TestAdaptiveBoundOrder checks that the bound lies between the attack and the
// profile of one step, composed, and has the shape of a profile.
func TestAdaptiveBoundOrder(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		s     FixedSize
		sigma float64
	}{{must(NewWithoutReplacement(3, 1)), 1.5}, {must(NewWithReplacement(3, 2)), 3}} {
		s := c.s
		a := boundOf(t, s, c.sigma)
		m := ok(s.Apply(gaussian(c.sigma), profiles.Substitute))
		p, err := a.Upper(t.Context(), 1, 1.5, math.Log(1e-3), 1<<15)
		if err != nil {
			t.Fatal(err)
		}
		at, err := a.Attack(t.Context(), 1, 1.5, math.Log(1e-3), 1<<15)
		if err != nil {
			t.Fatal(err)
		}
		for eps := 0.0; eps < 1.2; eps += 0.03 {
			up, _ := profiles.LogDelta(p, eps)
			one, _ := profiles.LogDelta(m.Directions[0].Upper, eps)
			pair, _ := profiles.LogDelta(m.Directions[0].Lower, eps)
			if up < pair {
				t.Errorf("%s ε=%v: one step is bounded by %v, pair B has %v", s.Name(), eps, up, pair)
			}
			// Chords between nodes 7 % apart cost (0.07·cx)²/8 where log δ has slope c:
			// here cx < 6.
			if math.Exp(up) > math.Exp(one)*(1+2.3e-2) {
				t.Errorf("%s ε=%v: %v is above the single-step profile %v", s.Name(), eps, up, one)
			}
			if d := at.Delta(eps); d > math.Exp(up) {
				t.Errorf("%s ε=%v: the attack reaches %v, above %v", s.Name(), eps, d, math.Exp(up))
			}
		}
	}
}

// TestAdaptiveBoundStaged compares one step with the largest divergences found by
// exhaustive search over the other records' places: must-gap.md §4, columns
// "free" and, where it is not given, "const"; σ = 3.
func TestAdaptiveBoundStaged(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		s     FixedSize
		exact map[float64]float64
	}{
		{must(NewMustOW(4, 2, 3)), map[float64]float64{0.1: 0.15609, 0.5: 0.09011, 1: 0.04665}},
		{must(NewMustOW(5, 3, 3)), map[float64]float64{0.5: 0.05565, 1: 0.02205}},
	} {
		a := ok(c.s.NewAdaptiveBound(gaussian(3)))
		p, err := a.Upper(t.Context(), 1, 4, math.Log(1e-5), 1<<15)
		if err != nil {
			t.Errorf("%s: %v", c.s.Name(), err)
			continue
		}
		for eps, exact := range c.exact {
			l, _ := profiles.LogDelta(p, eps)
			// The search's quadrature has an error of 1e-5; the bound for several copies
			// is R6, above the exact value by up to 5 %.
			if d := math.Exp(l); d < exact-1e-5 || d > exact*1.05 {
				t.Errorf("%s ε=%v: %v, exact %v", c.s.Name(), eps, d, exact)
			}
		}
	}
}

func TestAdaptiveBoundRefuses(t *testing.T) {
	wor, _, _, ww, base := paperSetting()
	if _, err := ww.NewAdaptiveBound(base); err == nil {
		t.Error("must-ww has no recursion")
	}
	if _, err := wor.NewAdaptiveBound(laplace(1)); err == nil {
		t.Error("Laplace noise has no recursion")
	}
	a := boundOf(t, wor, 4)
	for _, c := range []struct {
		k        int64
		eps, log float64
	}{{0, 1, -10}, {10, 0, -10}, {10, 1, 0}, {10, math.NaN(), -10}, {10, math.Inf(1), -10}, {100, 1e-9, math.Log(1e-5)}} {
		if p, err := a.Upper(t.Context(), c.k, c.eps, c.log, 1<<15); err == nil {
			t.Errorf("%+v: %v", c, p)
		}
	}
}
