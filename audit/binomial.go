package audit

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// This file has the tails of the binomial law as intervals. It assumes that n is at most
// maxRows, 0 ≤ k ≤ n and that p, q > 0 are each within a relative 4u of numbers that add
// up to 1, u = 2^-53. The logarithm and exponential of package math are within an ulp or two,
// as docs/theory/accuracy.md assumes.

// logMass returns log P[Bin(n, p) = k] with an absolute error of at most err: that of
// xmath.LogBinomial, and what p and q are off by, which enters through |k − np| (the
// derivatives by log p and log q are k − np and its negative).
func logMass(n, k int, p, q float64) (logP, err float64) {
	logP, err = xmath.LogBinomial(int64(k), int64(n), p, q)
	return logP, err + 8*xmath.U*math.Abs(float64(k)-float64(n)*p)
}

// upperTail returns bounds of P[Bin(n, p) ≥ k].
func upperTail(n, k int, p, q float64) (lower, upper float64) {
	switch {
	case k <= 0:
		return 1, 1
	case k > n:
		return 0, 0
	case float64(k) <= float64(n)*p: // the other tail is the smaller one
		lo, up := upperTail(n, n-k+1, q, p)
		return max(0, xmath.Down(1-up, 1)), min(1, xmath.Up(1-lo, 1))
	}
	l, err := logMass(n, k, p, q)
	// The masses fall from here on, by a ratio that falls itself: what is left out at the
	// end is below a geometric series. Each ratio has at most 14 roundings.
	sum, term, terms := 1.0, 1.0, 1.0
	rest := 0.0
	for j := k; j < n; j++ {
		ratio := float64(n-j) / float64(j+1) * (p / q)
		next := term * ratio
		if ratio < 1 && next < 1e-18*sum*(1-ratio) {
			rest = next / (1 - ratio)
			break
		}
		term = next
		sum += term
		terms++
	}
	slack := err + 16*xmath.U*terms*2
	lower = math.Exp(l-slack)*sum*(1-1e-15) - underflow*sum
	upper = math.Exp(l+slack)*(sum+2*rest)*(1+1e-15) + underflow*(sum+2*rest)
	return max(0, lower), min(1, upper)
}

// underflow bounds what an exponential below the normal numbers, and a product, are off by.
const underflow = 8 * math.SmallestNonzeroFloat64

// proportionAbove returns a number that the probability of an event is at most, unless
// what has a chance of at most alpha happened: k of n independent trials had the event
// (Clopper and Pearson 1934). It is the root of P[Bin(n, p) ≤ k] = alpha, rounded up.
func proportionAbove(n, k int, alpha float64) float64 {
	if k >= n {
		return 1
	}
	// P[Bin(n, p) ≤ k] = P[Bin(n, q) ≥ n − k] falls in p.
	search := xmath.BisectLog
	if k == 0 {
		search = xmath.Bisect
	}
	p, _ := search(1, float64(k)/float64(n), 60, func(p float64) bool {
		_, tail := upperTail(n, n-k, 1-p, p)
		return tail <= alpha
	})
	return p
}
