package contour

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// TestPolarErrorCoversItsLogarithm: log|z| is within the error that is stated of it, at every distance from the unit circle.
func TestPolarErrorCoversItsLogarithm(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		z := cmplx.Rect(math.Pow(10, -6*r.Float64()), 2*math.Pi*r.Float64())
		got, _, err := polar(z)
		a, b := oracle.F(real(z)), oracle.F(imag(z))
		want := oracle.Scale(oracle.Log(oracle.Add(oracle.Mul(a, a), oracle.Mul(b, b))), 0.5)
		off, _ := oracle.Sub(oracle.F(got), want).Float64()
		if math.Abs(off) > err {
			t.Fatalf("log|%v| is off by %v, more than %v", z, off, err)
		}
	}
}
