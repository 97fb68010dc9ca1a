package pate

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Over the whole range of parameters costs are numbers between 0 and λ/σ², they
// grow with q, and nothing hangs.
func TestExtremeParameters(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	logUniform := func(lo, hi float64) float64 { return math.Exp(math.Log(lo) + r.Float64()*math.Log(hi/lo)) }
	for range 3000 {
		sigma := logUniform(minSigma, maxSigma)
		order := min(maxOrder, 1+logUniform(1e-9, maxOrder))
		g := gnMax{sigma}
		a, b := -logUniform(1e-12, 1e18), -logUniform(1e-12, 1e18)
		low, high := must(g.DependentRDP(min(a, b), order)), must(g.DependentRDP(max(a, b), order))
		ind := g.RDP(order)
		if !(low >= 0 && low <= ind*(1+1e-14) && high <= ind*(1+1e-14)) {
			t.Fatalf("σ=%v λ=%v: cost %v at %v, %v at %v, λ/σ² = %v", sigma, order, low, min(a, b), high, max(a, b), ind)
		}
		// Values are rounded up by their error bounds, of which the smaller may
		// have the larger.
		if _, e := g.cost(order).at(min(a, b)); low > high+2*e {
			t.Fatalf("σ=%v λ=%v: cost falls from %v at %v to %v at %v", sigma, order, low, min(a, b), high, max(a, b))
		}
		l := lnMax{logUniform(1e-9, 100)}
		if x := l.upper(a, order); !(x >= 0 && x <= l.RDP(order)) {
			t.Fatalf("%v λ=%v: cost %v at %v, at most %v", l, order, x, a, l.RDP(order))
		}
		v := (2*r.Float64() - 1) * logUniform(1, 1e12)
		if x := must(thresholdRDP(0, sigma, v, order)); !(x >= 0 && x <= ind) {
			t.Fatalf("check σ1=%v λ=%v v=%v: cost %v", sigma, order, v, x)
		}
		if x, err := theorem6(a, order+logUniform(1e-9, 100), logUniform(1e-9, 100), 1+logUniform(1e-9, 100), logUniform(1e-9, 100), order); err == nil && !(x >= 0) {
			t.Fatalf("Theorem 6 at log q=%v: %v", a, x)
		}
		beta := logUniform(1e-11, 1) / order
		if x, err := (GNSS{order, beta}).RDP(sigma); err == nil && !(x >= 0) {
			t.Fatalf("GNSS λ=%v β=%v σ=%v: %v", order, beta, sigma, x)
		}
	}
}

// Wherever the conditions hold, arrays ascend, end in the plateau or where
// nothing lies further down, and start at the local bound.
func TestArraysAscend(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	passed := 0
	for range 400 {
		m := 2 + r.IntN(8)
		n := make([]int64, m)
		for range 1 + r.IntN(300) {
			n[min(r.IntN(m), r.IntN(m))]++
		}
		sigma, order := math.Exp(r.Float64()*6-1), 1+math.Exp(r.Float64()*5-1)
		b, err := newLocalBound(sigma, order, m, sum(n))
		if err != nil {
			if !strings.Contains(err.Error(), ": condition C") {
				t.Fatal(err)
			}
			continue
		}
		l, err := b.AtDistance(n)
		if err != nil {
			t.Fatalf("%v σ=%v λ=%v: %v", n, sigma, order, err)
		}
		passed++
		if len(l) != int(sum(n))+1 || !slices.IsSorted(l) || l[0] < 0 || l[len(l)-1] > b.plateau {
			t.Fatalf("%v σ=%v λ=%v: plateau %v, array %v", n, sigma, order, b.plateau, l)
		}
		if x := b.At(must(gnMax{sigma}.LogQ(n))); math.Abs(l[0]-x) > 1e-9*x {
			t.Fatalf("%v σ=%v λ=%v: L[0] = %v, local bound %v", n, sigma, order, l[0], x)
		}
	}
	if passed < 100 {
		t.Errorf("the conditions held only %d times", passed)
	}
}
