package allocation

import (
	"math/big"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// tailOf is Pr[Bin(n, q) ≥ k] in 320 bits, by its terms.
func tailOf(n, k int64, q float64) *big.Float {
	p, rest := oracle.F(q), oracle.Sub(oracle.F(1), oracle.F(q))
	term := oracle.Mul(raised(p, k), raised(rest, n-k))
	term = oracle.Mul(term, oracle.New().SetInt(new(big.Int).Binomial(n, k)))
	odds, sum := oracle.Div(p, rest), oracle.New()
	for j := k; ; j++ {
		sum = oracle.Add(sum, term)
		if j == n || term.MantExp(nil) < sum.MantExp(nil)-200 && float64(j) > q*float64(n) {
			return sum
		}
		term = oracle.Mul(oracle.Mul(term, odds), oracle.Div(oracle.F(float64(n-j)), oracle.F(float64(j+1))))
	}
}

func raised(x *big.Float, n int64) *big.Float {
	y := oracle.F(1)
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			y = oracle.Mul(y, x)
		}
		x = oracle.Mul(x, x)
	}
	return y
}

type bin struct {
	n, k int64
	q    float64
}

var binomials = []bin{
	{20, 5, 0.2}, {1, 1, 0.3}, {40, 40, 0.9}, {300, 3, 0.3}, {1000, 700, 0.6}, {1000, 2, 1e-5}, {3000, 1500, 0.7}, {9000, 60, 1. / 3},
	{20000, 1990, 0.1}, {20000, 9000, 0.49},
}

// TestBinomialTailErrors: tails against sums of 320 bits. In the last one the odds 0.41/0.59 are off by three roundings, which add up over
// the terms to more than the error of the first one.
func TestBinomialTailErrors(t *testing.T) {
	for _, c := range append(slices.Clone(binomials), bin{60000, 24600, 0.41}) {
		lower, upper := xmath.BinomialTail(c.k, c.n, c.q, 1-c.q)
		truth := tailOf(c.n, c.k, c.q)
		if oracle.F(lower).Cmp(truth) > 0 || oracle.F(upper).Cmp(truth) < 0 || !(upper-lower <= 1e-9*upper) {
			t.Errorf("%+v: in [%v, %v], the truth is %.20g", c, lower, upper, truth)
		}
	}
}

// TestOverflowHoldsTheTruth: both numbers of Theorem 7 lie between their bounds.
func TestOverflowHoldsTheTruth(t *testing.T) {
	for _, c := range binomials {
		if c.k >= c.n {
			continue
		}
		o := truncatedScheme{rate: c.q, cap: c.k, population: c.n}.overflow(c.n)
		tau := tailOf(c.n-1, c.k, c.q)
		rate := oracle.Div(oracle.Mul(tailOf(c.n, c.k+1, c.q), oracle.Div(oracle.F(float64(c.k)), oracle.F(float64(c.n)))), tau)
		if oracle.F(o.tauLow).Cmp(tau) > 0 || oracle.F(o.tauHigh).Cmp(tau) < 0 {
			t.Errorf("%+v: τ in [%v, %v], the truth is %.20g", c, o.tauLow, o.tauHigh, tau)
		}
		if oracle.F(o.rateLow).Cmp(rate) > 0 || oracle.F(o.rateHigh).Cmp(rate) < 0 {
			t.Errorf("%+v: rate in [%v, %v], the truth is %.20g", c, o.rateLow, o.rateHigh, rate)
		}
	}
}
