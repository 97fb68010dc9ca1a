package contour

import (
	"math"
	"math/rand/v2"
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
		if _, _, got := x.columnSum(eps); got < xmath.U*math.Sqrt2/2*math.Abs(1e6-0.1*eps) {
			t.Errorf("ε = %v: the phases are said to cost %v", eps, got)
		}
	}
}

// Chernoff's bound is at least the sum that it is, exactly: of runs, the weight and the slope.
func TestChernoffIsRoundedUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for range 200 {
		s, logM, eps := math.Exp(6*rng.Float64()-3), 10*rng.NormFloat64(), 5*rng.NormFloat64()
		runs := float64(1 + rng.IntN(1000))
		b := &bound{s: s, terms: 1}
		b.sum.add(runs, logM)
		x := oracle.F(s)
		up := oracle.Add(oracle.F(1), x)
		// log w(s) = s log s − (1+s) log(1+s)
		want := oracle.Sub(oracle.Mul(x, oracle.Log(x)), oracle.Mul(up, oracle.Log(up)))
		want = oracle.Add(want, oracle.Sub(oracle.Mul(oracle.F(runs), oracle.F(logM)), oracle.Mul(x, oracle.F(eps))))
		if got := b.at(eps); oracle.F(got).Cmp(want) < 0 {
			t.Errorf("s = %v, ε = %v, %v runs of log M = %v: log δ ≤ %v is below %.20g", s, eps, runs, logM, got, want)
		}
	}
}
