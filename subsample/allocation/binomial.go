package allocation

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// binomialTail returns Pr[Bin(n, q) ≥ k] and a bound on its relative error, for 0 < q < 1: the
// positive terms of the tail, from one that is computed.
func binomialTail(n, k int64, q float64) (p, err float64) {
	switch {
	case k <= 0:
		return 1, 0
	case k > n:
		return 0, 0
	}
	first, err := binomial(n, k, q)
	odds := q / (1 - q)
	sum, term := 1.0, 1.0
	terms := 1.0
	mode := int64(q * float64(n+1))
	for j := k; j < n; j++ {
		term *= float64(n-j) / float64(j+1) * odds
		sum += term
		terms++
		// What is left is below a geometric series.
		if r := float64(n-j) / float64(j+1) * odds; j > mode && r < 1 && term*r/(1-r) < 1e-17*sum {
			break
		}
		if sum > 1e280 {
			break // far below the mean: the tail is within 1e-280 of 1
		}
	}
	if sum > 1e280 {
		return 1, 1e-12
	}
	// odds have 3 u; each term is a product of ratios with 5 u; and terms are added.
	err += 8*u*terms + 1e-16
	if xmath.Log(first)+xmath.Log(sum) > -1e-12 {
		return 1, err + 2e-12 // the truth is at least e^−1e-12 less err
	}
	return first * sum, err
}

// binomial returns Pr[Bin(n, q) = k] and a bound on its relative error.
func binomial(n, k int64, q float64) (p, err float64) {
	l, err := xmath.LogBinomial(k, n, q, 1-q)
	return math.Exp(l), err + 4*u*(1+math.Abs(l)) // of the exponential, and its argument
}
