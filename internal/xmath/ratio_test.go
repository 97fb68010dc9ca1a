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
