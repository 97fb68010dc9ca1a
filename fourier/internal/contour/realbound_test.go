package contour

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// A bound of log M on the real line is above the value with its error, added without rounding.
func TestRealBoundIsRoundedUp(t *testing.T) {
	f, err := transform.NewPoissonGaussian(0.01, 0, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []float64{-3, -0.7, 0.3, 2, 11, 40} {
		k, _, e := f.Real(s)
		if got := realBound(f, s); oracle.F(got).Cmp(oracle.Add(oracle.F(k), oracle.F(e))) < 0 {
			t.Errorf("s = %v: %v is below %v + %v", s, got, k, e)
		}
	}
}

// The error of a sum has the rounding of its phases: a phase of a million is known to 1e-10 only.
func TestPhasesCarryTheirRounding(t *testing.T) {
	x := table{im: []float64{0, 1e6}, a: []float64{1, 0.5}, b: []float64{0, 0.5}, modulus: []float64{1, math.Sqrt2 / 2}, plan: plan{h: 0.1, theta: 1}}
	for _, eps := range []float64{0, -1e7, 3} {
		if _, _, got := x.at(eps); got < xmath.U*math.Sqrt2/2*math.Abs(1e6-0.1*eps) {
			t.Errorf("ε = %v: the phases are said to cost %v", eps, got)
		}
	}
}
