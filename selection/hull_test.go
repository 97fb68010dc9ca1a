package selection

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// TestHullOfManyPoints: of n points a hull of few may be left, and each point left out may be above it
// by 6u for each of them. The mixture is above all of that, in height and in slope.
func TestHullOfManyPoints(t *testing.T) {
	const n = 100_000
	var px, py []float64
	for i := range 12 {
		x := math.Exp(0.4 * float64(i-12))
		px, py = append(px, x), append(py, math.Sqrt(x))
	}
	xs, ys := upperHull(px, py)
	m := mixtureOf(xs, ys, n)
	for i := 1; i < len(xs); i++ {
		for _, slope := range []float64{0, 1, (ys[i] - ys[i-1]) / (xs[i] - xs[i-1]), ys[i] / xs[i] * (1 - 1e-15)} {
			want := ys[i]*(1+6*n*xmath.U) - slope*xs[i]
			if got := support(m, slope); got < want {
				t.Errorf("slope %v supports %v, and a point may have %v", slope, got, want)
			}
		}
	}
}

// support is Σ w_j[1 − z·e^{−c_j}]₊.
func support(m mixture, z float64) float64 {
	sum := new(big.Float).SetPrec(300)
	for j, w := range m.w {
		x := new(big.Float).SetPrec(300).Quo(big.NewFloat(z), bigExpPrec(m.c[j], 300))
		if x.Sub(big.NewFloat(1), x); x.Sign() > 0 {
			sum.Add(sum, x.Mul(x, big.NewFloat(w)))
		}
	}
	v, _ := sum.Float64()
	return v
}

// TestHullOfSmallPoints: weights whose products underflow keep their vertices.
func TestHullOfSmallPoints(t *testing.T) {
	px, py := []float64{0}, []float64{0}
	for i := 1; i <= 20; i++ {
		x := 1e-250 * float64(i) * float64(i)
		px, py = append(px, x), append(py, 1e-200*float64(i))
	}
	if xs, _ := upperHull(px, py); len(xs) != len(px) {
		t.Errorf("%d of %d points of an arc are left", len(xs), len(px))
	}
}

// TestVerticesAtOneAlpha: attacks at two ε's that are one in hundreds of bits give two vertices at one α, of which the hull has the lower one.
func TestVerticesAtOneAlpha(t *testing.T) {
	at := func(alpha, v float64) vertex {
		x := big.NewFloat(alpha).SetPrec(200)
		return vertex{math.Log(alpha), x, big.NewFloat(v).SetPrec(200)}
	}
	first := at(0, 1)
	for _, vs := range [][]vertex{
		{first, at(0.5, 0.7), at(0.5, 0.7), at(2, 0.1)},
		{first, at(0.5, 0.7), at(0.5, 0.75), at(2, 0.1)},
		{first, at(0.5, 0.75), at(0.5, 0.7), at(2, 0.1)},
		{first, at(0, 0.9), at(0.5, 0.7), at(2, 0.1), at(2, 0.1)},
	} {
		hull, falls := lowerHull(vs)
		if len(hull) != 3 || len(falls) != 3 {
			t.Fatalf("%d vertices and %d falls", len(hull), len(falls))
		}
		if v, _ := hull[1].v.Float64(); v != 0.7 {
			t.Errorf("the hull has %v at 0.5", v)
		}
		p := pairOf(vs, false)
		if total := p.pInf + p.p[0] + p.p[1]; math.Abs(total-1) > 1e-9 {
			t.Errorf("P has the mass %v", total)
		}
	}
}

// TestPolygonIsItsOwnReverse: what a bound is turned into is symmetric to the last bit, so that both directions of a sum are one.
func TestPolygonIsItsOwnReverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 60 {
		p, q := brutePair(rng, 2+rng.IntN(3))
		d := must(finiteCandidate(p, q).Bound().Discretize(t.Context(), 1e-2, -60))
		if !profiles.Equal(d, profiles.Reverse(d)) {
			t.Errorf("%v, %v: not the reverse of itself", p, q)
		}
	}
	for _, sigma := range []float64{0.3, 0.7, 1.3, 2.9} {
		d := must(gaussianCandidate(sigma).Bound().Discretize(t.Context(), 1e-3, -60))
		if !profiles.Equal(d, profiles.Reverse(d)) {
			t.Errorf("σ = %v: not the reverse of itself", sigma)
		}
	}
}
