package xmath_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

func TestTailRatio(t *testing.T) {
	r := xmath.Ratios()
	rnd := rand.New(rand.NewPCG(3, 5))
	var xs []float64
	for k := range 41 * 8 { // where the distance to a node is largest
		xs = append(xs, float64(k)/8, float64(k)/8+1./16, float64(k)/8+1./16-1e-12)
	}
	for range 500 {
		xs = append(xs, rnd.Float64()*9)
	}
	for _, x := range xs {
		want := oracle.Mills(oracle.F(x))
		if u := oracle.Ulps(r.At(x), want); !(u <= 3) {
			t.Errorf("At(%v) = %v is off by %v ulps", x, r.At(x), u)
		}
		if u := oracle.Ulps(xmath.NormalDensity(x), oracle.NormalDensity(oracle.F(x))); x < 37 && !(u <= 3) {
			t.Errorf("NormalDensity(%v) is off by %v ulps", x, u)
		}
		for _, y := range []float64{x, -x} {
			if u := oracle.Ulps(r.Tail(y), oracle.NormalTail(oracle.F(y))); x < 37 && !(u <= 6) {
				t.Errorf("Tail(%v) is off by %v ulps", y, u)
			}
		}
	}
}

var sink float64

func BenchmarkTailRatio(b *testing.B) {
	r := xmath.Ratios()
	for i := range b.N {
		sink += r.At(float64(i%1024) / 128)
	}
}

func BenchmarkRatios(b *testing.B) {
	for range b.N {
		xmath.Ratios()
	}
}

// TestBisect: both ends are neighbours where that is asked for, whichever of them is the larger, and never change sides.
func TestBisect(t *testing.T) {
	below := func(x float64) bool { return x*x <= 2 }
	for _, search := range []func(in, out float64, halvings int, holds func(float64) bool) (float64, float64){xmath.Bisect, xmath.BisectLog} {
		in, out := search(0.5, 7, 200, below)
		if !below(in) || below(out) || out-in > 4e-16 {
			t.Errorf("the root of 2 is between %v and %v", in, out)
		}
		out, in = search(7, 0.5, 200, func(x float64) bool { return !below(x) })
		if !below(in) || below(out) || out-in > 4e-16 {
			t.Errorf("from above, the root of 2 is between %v and %v", in, out)
		}
	}
	if in, out := xmath.Bisect(0, 8, 2, below); in != 0 || out != 2 {
		t.Errorf("two halvings of [0, 8]: [%v, %v]", in, out)
	}
}
