// The law of the number of ones among independent votes, in products without
// cancellation.

package darrm

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A coin shows 1 with probability p; q = 1 − p to full relative accuracy.
type coin struct{ p, q float64 }

// PoissonBinomial returns the law of the number of ones among independent
// votes that are 1 with the given probabilities. It is the product recurrence:
// every term is non-negative, so that each entry keeps its relative accuracy.
func PoissonBinomial(p []float64) ([]float64, error) {
	coins := make([]coin, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fault.New(fmt.Sprintf("p[%d]", i), "%v is not in [0, 1]", v)
		}
		coins[i] = coin{v, 1 - v}
	}
	return poissonBinomial(coins), nil
}

func poissonBinomial(coins []coin) []float64 {
	a := make([]float64, len(coins)+1)
	a[0] = 1
	for n, c := range coins {
		a[n+1] = c.p * a[n]
		for l := n; l > 0; l-- {
			a[l] = c.q*a[l] + c.p*a[l-1]
		}
		a[0] *= c.q
	}
	return a
}

// binomial returns the law of the number of ones among k votes: probabilities
// from log-gamma, which neither overflows nor cancels.
func binomial(k int, c coin) []float64 {
	a := make([]float64, k+1)
	switch {
	case c.p == 0:
		a[0] = 1
		return a
	case c.q == 0:
		a[k] = 1
		return a
	}
	if k <= 60 {
		coins := make([]coin, k)
		for i := range coins {
			coins[i] = c
		}
		return poissonBinomial(coins)
	}
	lp, lq := xmath.Log(c.p), xmath.Log(c.q)
	lk, _ := math.Lgamma(float64(k) + 1)
	for l := range a {
		x, _ := math.Lgamma(float64(l) + 1)
		y, _ := math.Lgamma(float64(k-l) + 1)
		a[l] = math.Exp(lk - x - y + float64(l)*lp + float64(k-l)*lq)
	}
	return a
}

// differences returns d_l = α_l − α_{K−l} for l = n..K.
func differences(a []float64) []float64 {
	k := len(a) - 1
	n := half(k)
	d := make([]float64, k+1-n)
	for j := range d {
		d[j] = a[n+j] - a[k-n-j]
	}
	return d
}

// Error returns |Pr[answer = 1] − Pr[majority = 1]|, the total variation
// distance of the released bit from the noise-free majority, when vote i is 1
// with probability p[i] (Definition 2.4 of the paper).
func Error(g Gamma, p []float64) (float64, error) {
	d, err := votesLaw(g, p)
	if err != nil {
		return 0, err
	}
	e := 0.0
	for j, v := range differences(d) {
		e += (1 - g.right()[j]) * v
	}
	return math.Abs(e) / 2, nil
}

// Disagreement returns the probability that the released bit is not the
// majority of the votes, half of the probability of a tie included. It is never below Error, which is blind to mistakes
// that cancel: at p ≡ ½ Error is 0 for every noise function.
func Disagreement(g Gamma, p []float64) (float64, error) {
	a, err := votesLaw(g, p)
	if err != nil {
		return 0, err
	}
	e := 0.0
	for l, v := range a {
		e += v * (1 - g[l])
	}
	return e / 2, nil
}

func votesLaw(g Gamma, p []float64) ([]float64, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	if len(p) != len(g)-1 {
		return nil, fault.New("p", "has %d entries, must have one for each of the %d mechanisms", len(p), len(g)-1)
	}
	return PoissonBinomial(p)
}
