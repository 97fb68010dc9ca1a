package audit

import "github.com/dpaccountant/accountant/internal/xmath"

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
		_, tail := xmath.BinomialTail(int64(n-k), int64(n), 1-p, p)
		return tail <= alpha
	})
	return p
}
