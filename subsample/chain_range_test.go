package subsample

import (
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// Records that are copied in whole, n of n draws from a population of one: each moves Laplace noise 0.07 by n, so that a chain of two
// has losses of 2n·2/0.07 = 57n, and one of them attains δ(ε) next to 1 for ε below 28n. The upper profile must be above that and end
// where the losses do. (From n = 25 on, e^loss above all numbers, it was NaN and counted as 0; below, infinite losses had 1.)
func TestChainOfLargeLosses(t *testing.T) {
	b, err := profiles.NewLaplaceMechanism(0.07)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{1, 5, 12, 24, 25, 26, 30, 300} {
		s, err := NewWithReplacement(1, n)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ofPersons(t.Context(), b, s, profiles.Substitute, 2)
		if err != nil {
			t.Fatal(err)
		}
		most := 2 * 2 * float64(n) / 0.07
		for d, dir := range m.Directions {
			if top := dir.Upper.Support(); top.LogPInf > math.Inf(-1) || !(top.Max <= most*(1+1e-9)) {
				t.Errorf("%d copies, direction %d: losses up to %v, with %v beyond; %v are possible", n, d, top.Max, top.LogPInf, most)
			}
			for _, eps := range []float64{0, most / 8, most/2 - 5, most/2 - 1e-3, most/2 + 5} {
				low, lowErr := profiles.LogDelta(dir.Lower, eps)
				up, upErr := profiles.LogDelta(dir.Upper, eps)
				if !(up+upErr >= low-lowErr) && !math.IsInf(low, -1) {
					t.Errorf("%d copies, direction %d: log δ(%v) ≤ %v, and %v is attained", n, d, eps, up+upErr, low-lowErr)
				}
			}
		}
	}
}

// Ends of numbers next to a crossing of tangents: slopes of 0 and of infinity leave the box, never less.
func TestCornersAtTheEndsOfNumbers(t *testing.T) {
	for _, c := range []struct{ high, low float64 }{{800, 700}, {800, -800}, {10, -800}, {-740, -800}, {-800, -900}, {800, 799.9999999999}} {
		b, a := tangentPoint{eps: c.high, x: 0, y: 0.25}, tangentPoint{eps: c.low, x: 0.5, y: 0.75}
		highest := 0.0
		for _, k := range corners(b, a) {
			if math.IsNaN(k.x) || math.IsNaN(k.y) || k.x > a.x {
				t.Errorf("slopes e^%v and e^%v: corner %v", c.high, c.low, k)
			}
			highest = max(highest, k.y)
		}
		if highest < a.y {
			t.Errorf("slopes e^%v and e^%v: no corner is as high as %v", c.high, c.low, a.y)
		}
	}
}

// TestNoCornerIsAboveItsPolygon: of corners that lie on a side but for rounding, all are on or below the polygon that is made of them, in
// exact arithmetic: leaving many out of one side must not count the error of one.
func TestNoCornerIsAboveItsPolygon(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	exact := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	for range 300 {
		// Sides of falling slopes, with many corners each.
		var ks []kink
		x, y, slope := 0.0, 0.0, math.Exp(2*rng.Float64())
		scale := math.Exp(-40 * rng.Float64())
		for range 3 {
			for range 1 + rng.IntN(60) {
				dx := scale * rng.Float64() / 200
				x, y = x+dx, y+slope*dx
				ks = append(ks, kink{x, y})
			}
			slope *= 0.5
		}
		r := roc{append([]kink{{0, 0}}, ks...), 1}.clean()
		for _, k := range ks {
			i := sort.Search(len(r.kinks), func(i int) bool { return r.kinks[i].x >= k.x })
			if i == 0 || i == len(r.kinks) {
				continue // right of the last corner, which has the largest height
			}
			a, b := r.kinks[i-1], r.kinks[i]
			// (b.y − a.y)(k.x − a.x) ≥ (k.y − a.y)(b.x − a.x)
			left := new(big.Rat).Mul(new(big.Rat).Sub(exact(b.y), exact(a.y)), new(big.Rat).Sub(exact(k.x), exact(a.x)))
			right := new(big.Rat).Mul(new(big.Rat).Sub(exact(k.y), exact(a.y)), new(big.Rat).Sub(exact(b.x), exact(a.x)))
			if left.Cmp(right) < 0 {
				t.Fatalf("%v is above the side from %v to %v", k, a, b)
			}
		}
	}
}
