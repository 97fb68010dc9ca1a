package transform

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// TestLogSumUpIsAbove: a sum of exponentials by logarithms is rounded up.
func TestLogSumUpIsAbove(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		xs := make([]float64, 1+r.IntN(5))
		sum := oracle.F(0)
		at := 300 * r.NormFloat64()
		for i := range xs {
			xs[i] = at + r.NormFloat64()
			sum = oracle.Add(sum, oracle.Exp(oracle.F(xs[i])))
		}
		if off, _ := oracle.Sub(oracle.F(logSumUp(xs...)), oracle.Log(sum)).Float64(); off < 0 {
			t.Fatalf("log Σ e^%v is below the truth by %v", xs, -off)
		}
	}
}

// TestLogComplexBoundCoversTheScale: the logarithm of a modulus at a large scale is within its bound.
func TestLogComplexBoundCoversTheScale(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		re, im, scale := r.NormFloat64(), r.NormFloat64(), 300*r.NormFloat64()
		// Near a modulus of e^−scale the logarithm is small, and only the scale is left of the error.
		if shrink := math.Exp(-scale); shrink > 1e-100 && shrink < 1e100 {
			re, im = re*shrink, im*shrink
		}
		got, _, bound := logComplex(0, re, im, 0, scale)
		a, b := oracle.F(re), oracle.F(im)
		want := oracle.Add(oracle.F(scale), oracle.Scale(oracle.Log(oracle.Add(oracle.Mul(a, a), oracle.Mul(b, b))), 0.5))
		if off, _ := oracle.Sub(oracle.F(got), want).Float64(); math.Abs(off) > bound {
			t.Fatalf("%v + %vi at e^%v: off by %v, more than %v", re, im, scale, off, bound)
		}
	}
}
