package xmath_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// exactBinomial is log Pr[Bin(n, p) = x] to some hundred bits, q = 1 − p: a product of min(x, n−x) factors.
func exactBinomial(x, n int64, p, q *big.Float) *big.Float {
	c := oracle.F(1)
	for i := range min(x, n-x) {
		c = oracle.Div(oracle.Mul(c, oracle.F(float64(n-i))), oracle.F(float64(i+1)))
	}
	l := oracle.Add(oracle.Mul(oracle.F(float64(x)), oracle.Log(p)), oracle.Mul(oracle.F(float64(n-x)), oracle.Log(q)))
	return oracle.Add(oracle.Log(c), l)
}

// TestLogBinomial: the error is within its bound. The named ones were not: next to the place where x·log(x/m) + m − x began to
// cancel, and where nearly all of very many trials succeed.
func TestLogBinomial(t *testing.T) {
	check := func(x, n int64, p float64) {
		got, err := xmath.LogBinomial(x, n, p, 1-p)
		q := oracle.Sub(oracle.F(1), oracle.F(p))
		if diff := oracle.Sub(oracle.F(got), exactBinomial(x, n, oracle.F(p), q)); diff.Abs(diff).Cmp(oracle.F(err)) > 0 {
			t.Errorf("log Pr[Bin(%d, %v) = %d] = %v: off by %.3g, bound %.3g", n, p, x, got, diff, err)
		}
	}
	check(519, 998, 0.6402839033772746)
	check(273, 542, 0.39256159841081206)
	check(3110700618979383, 3110700618979390, 1-0x1p-52*12)
	r := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		n := 1 + int64(math.Exp(5.5*r.Float64()))
		p := math.Exp(-3 * r.Float64())
		mean := float64(n) * p
		x := int64(mean * []float64{1.2222, 0.8182, 2, 0.5, 2 * r.Float64(), 1}[r.IntN(6)])
		if r.IntN(4) == 0 { // many trials, few of which fail or succeed
			n = 1 << (20 + r.IntN(33))
			k := r.Int64N(40)
			p, x = float64(1+r.Int64N(60))/float64(n), k
			if r.IntN(2) == 0 {
				p, x = 1-p, n-k
			}
		}
		if 0 <= x && x <= n && p < 1 {
			check(x, n, p)
		}
	}
}
