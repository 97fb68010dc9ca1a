// Poisson, binomial and fixed numbers of runs: their moments, what they cost a
// candidate, and exact samplers.

package selection

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// poisson is the Poisson law: f(x) = e^{μ(x−1)}.
type poisson struct{ mu float64 }

func (l poisson) String() string { return fmt.Sprintf("poisson(mean=%.6g)", l.mu) }

func (l poisson) Mean() float64                           { return l.mu }
func (l poisson) logMean() float64                        { return log1ulps(xmath.Log(l.mu), 1) }
func (l poisson) PGF(x float64) float64                   { return math.Exp(l.mu * (x - 1)) }
func (l poisson) LogDPGF(u float64) float64               { return xmath.Log(l.mu) - l.mu*u }
func (l poisson) Hit(p float64) float64                   { return -math.Expm1(-l.mu * p) }
func (l poisson) MaxRuns() (int, bool)                    { return 0, false }
func (l poisson) Family() (shape, gamma float64, ok bool) { return 0, 0, false }

func (l poisson) PMF(k int) float64 {
	if k < 0 {
		return 0
	}
	g, _ := math.Lgamma(float64(k) + 1)
	return math.Exp(float64(k)*xmath.Log(l.mu) - l.mu - g)
}

// pureRatio is μ·TV, and the total variation of ε-close laws is at most
// tanh(ε/2).
func (l poisson) pureRatio(eps float64) float64 { return xmath.RoundUp(l.mu*math.Tanh(eps/2), 8) }

func (l poisson) profileRatio(b Bound) (float64, error) {
	return xmath.RoundUp(l.mu*math.Exp(min(0, b(0))), 8), nil
}

func (l poisson) without(p float64) Law { return poisson{l.mu * (1 - p)} }

// Sample implements Law.
func (l poisson) Sample(rng *rand.Rand) int { return int(random.Poisson(rng, rat(l.mu))) }

// binomial is the binomial law: f(x) = (1−p+px)^n. With p = 1 it is exactly n ≥ 2 runs.
type binomial struct {
	n int
	p float64
}

func (l binomial) String() string {
	if l.p == 1 {
		return fmt.Sprintf("fixed(n=%d)", l.n)
	}
	return fmt.Sprintf("binomial(n=%d, p=%.6g)", l.n, l.p)
}

func (l binomial) Mean() float64    { return float64(l.n) * l.p }
func (l binomial) logMean() float64 { return log1ulps(xmath.Log(l.Mean()), 2) }

func (l binomial) PGF(x float64) float64 {
	return math.Exp(float64(l.n) * math.Log1p(-l.p*(1-x)))
}

func (l binomial) LogDPGF(u float64) float64 {
	return xmath.Log(l.Mean()) + float64(l.n-1)*math.Log1p(-l.p*u)
}

func (l binomial) Hit(p float64) float64                   { return -math.Expm1(float64(l.n) * math.Log1p(-l.p*p)) }
func (l binomial) MaxRuns() (int, bool)                    { return l.n, true }
func (l binomial) Family() (shape, gamma float64, ok bool) { return 0, 0, false }

func (l binomial) PMF(k int) float64 {
	logP, _ := xmath.LogBinomial(int64(k), int64(l.n), l.p, 1-l.p)
	return math.Exp(logP)
}

// pureRatio is (n−1)·t_b with t_b = log((1−p+e^ε)/(1+(1−p)e^ε)): the same root
// as that of the negative binomial family with 1−p in the place of γ.
func (l binomial) pureRatio(eps float64) float64 {
	return xmath.RoundUp(float64(l.n-1)*pureRoot(eps, 1-l.p), 4)
}

func (l binomial) profileRatio(b Bound) (float64, error) {
	if l.p == 1 {
		return 0, fault.New("law", "%v is priced for pure and approximate candidates only", l)
	}
	t, err := b.root(xmath.Log(l.p), math.Log1p(-l.p))
	return xmath.RoundUp(float64(l.n-1)*t, 4), err
}

// without is again binomial; its p is rounded up, which can only raise a price. 1 − p·p' is a
// sum of positive terms: as a difference it would have no digits where both are near 1.
func (l binomial) without(p float64) Law {
	stay := l.p * (1 - p)
	return binomial{l.n, min(1, xmath.RoundUp(stay/((1-l.p)+stay), 8))}
}

func (l binomial) Sample(rng *rand.Rand) int {
	k := 0
	for range l.n {
		if random.Coin(rng, l.p) {
			k++
		}
	}
	return k
}
