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
	if math.Log(first)+math.Log(sum) > -1e-12 {
		return 1, err + 2e-12 // the truth is at least e^−1e-12 less err
	}
	return first * sum, err
}

// binomial returns Pr[Bin(n, q) = k] and a bound on its relative error, in Loader's form ("Fast
// and accurate computation of binomial probabilities", 2000).
func binomial(n, k int64, q float64) (p, err float64) {
	x, m := float64(k), float64(n)
	var l float64
	switch k {
	case 0:
		l = m * math.Log1p(-q)
	case n:
		l = m * math.Log(q)
	default:
		l = stirling(m) - stirling(x) - stirling(m-x) - xmath.Deviance(x, m*q) - xmath.Deviance(m-x, m*(1-q)) -
			0.5*(math.Log(2*math.Pi)+math.Log(x)+math.Log1p(-x/m))
	}
	return math.Exp(l), u * (16 + 10*math.Abs(l) + 6*math.Abs(x-m*q))
}

// stirling returns log n! − log(√(2πn)(n/e)^n) to a few ulps of 1.
func stirling(n float64) float64 {
	if n < 16 {
		l, _ := math.Lgamma(n + 1)
		return l - (0.5*math.Log(2*math.Pi*n) + n*math.Log(n) - n)
	}
	// The alternating series: the first term left out is below 1e-18.
	z := 1 / (n * n)
	return (1./12 - (1./360-(1./1260-(1./1680-(1./1188-(691./360360-z/156)*z)*z)*z)*z)*z) / n
}
