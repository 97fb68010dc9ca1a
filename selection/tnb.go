// The negative binomial family: moments, closed forms of its price, and an exact
// sampler.

package selection

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// tnb is the negative binomial law of shape eta, truncated to k ≥ 1; the
// logarithmic law when eta is 0; exactly one run when gamma is 1.
type tnb struct {
	eta, gamma float64
	b          float64 // −log γ
	m, slope   float64 // log f'(1) and log f''(1), as computed
}

func newTNB(eta, gamma float64) tnb {
	l := tnb{eta: eta, gamma: gamma, b: -xmath.Log(gamma)}
	l.m = xmath.Log(l.Mean())
	l.slope = l.m + math.Log1p(eta) + xmath.Log((1-gamma)/gamma)
	return l
}

// ratio returns expm1(s·a)/expm1(s·b) for 0 ≤ a ≤ b, its limit a/b at s = 0,
// without overflow.
func ratio(s, a, b float64) float64 {
	switch {
	case math.Abs(s*b) < 1e-17:
		return a / b
	case s > 0:
		return math.Exp(s*(a-b)) * math.Expm1(-s*a) / math.Expm1(-s*b)
	}
	return math.Expm1(s*a) / math.Expm1(s*b)
}

func (l tnb) String() string {
	switch l.eta {
	case 0:
		return fmt.Sprintf("logarithmic(gamma=%.6g)", l.gamma)
	case 1:
		return fmt.Sprintf("geometric(gamma=%.6g)", l.gamma)
	}
	return fmt.Sprintf("negative-binomial(shape=%g, gamma=%.6g)", l.eta, l.gamma)
}

// Mean is −η(1−γ)/(γ·expm1(η log γ)): every factor keeps its relative accuracy. (1−γ)/γ is at most
// 1e300, and what it is multiplied with below 1e6 and normal, where γ times it need not be.
func (l tnb) Mean() float64 {
	switch {
	case l.gamma == 1:
		return 1
	case math.Abs(l.eta*l.b) < 1e-17:
		return (1 - l.gamma) / l.gamma / l.b
	}
	return (1 - l.gamma) / l.gamma * (-l.eta / math.Expm1(-l.eta*l.b))
}

func (l tnb) logMean() float64 {
	// Mean carries at most 8 u, plus u·|η log γ| from the argument of expm1.
	return log1ulps(l.m, 8+math.Abs(l.eta)*l.b)
}

// log1ulps returns a bound from above on the logarithm of a number whose
// computed logarithm is x and which is off by at most n u, relatively.
func log1ulps(x, n float64) float64 { return x + 2*xmath.U*(n+1+math.Abs(x)) }

func (l tnb) PGF(x float64) float64 {
	if l.gamma == 1 {
		return x
	}
	return ratio(l.eta, -math.Log1p(-(1-l.gamma)*x), l.b)
}

func (l tnb) LogDPGF(u float64) float64 {
	return l.m - (l.eta+1)*math.Log1p((1-l.gamma)*u/l.gamma)
}

func (l tnb) Hit(p float64) float64 {
	switch {
	case l.gamma == 1:
		return p
	case l.straight(p, l.gamma):
		return p * l.Mean()
	}
	return ratio(-l.eta, math.Log1p((1-l.gamma)*p/l.gamma), l.b)
}

// straight reports that f' changes by less than an ulp over a probability p, where γ + (1−γ)u is w:
// products with what is so small would not be normal numbers.
func (l tnb) straight(p, w float64) bool { return (2+math.Abs(l.eta))*((1-l.gamma)*p/w) < 1e-17 }

func (l tnb) PMF(k int) float64 {
	switch {
	case k < 1:
		return 0
	case l.gamma == 1:
		if k == 1 {
			return 1
		}
		return 0
	}
	// p_1 = m γ^{η+1}.
	logP1 := xmath.Log(l.Mean()) - (l.eta+1)*l.b
	p, scale := 1.0, logP1
	for j := 1; j < k; j++ {
		p *= (1 - l.gamma) * (float64(j) + l.eta) / float64(j+1)
		if p > 1e200 || p < 1e-200 {
			scale += xmath.Log(p)
			p = 1
		}
	}
	if scale == logP1 {
		return p * l.Mean() * math.Pow(l.gamma, l.eta+1)
	}
	return p * math.Exp(scale)
}

func (l tnb) Family() (shape, gamma float64, ok bool) { return l.eta, l.gamma, true }

func (l tnb) MaxRuns() (int, bool) {
	if l.gamma == 1 {
		return 1, true
	}
	return 0, false
}

// pureRatio is (η+1)·t* with the closed form of t* for the profile of pure DP,
// (e^ε − e^t)₊/(1+e^ε): t* = log((e^ε+γ)/(1+γe^ε)).
func (l tnb) pureRatio(eps float64) float64 {
	return xmath.RoundUp((l.eta+1)*pureRoot(eps, l.gamma), 4)
}

// pureRoot is log((e^ε+γ)/(1+γe^ε)), rounded up. The quotient is written so that
// nothing cancels and nothing overflows: 1 + (1−γ)(1−e^−ε)/(γ+e^−ε).
func pureRoot(eps, gamma float64) float64 {
	if gamma == 0 {
		return eps
	}
	e := math.Exp(-eps)
	t := math.Log1p((1 - gamma) * -math.Expm1(-eps) / (gamma + e))
	return min(eps, xmath.RoundUp(t, 16))
}

// upMul returns a·b, rounded up.
func upMul(a, b float64) float64 {
	p := a * b
	if math.FMA(a, b, -p) > 0 {
		p = math.Nextafter(p, math.Inf(1))
	}
	return p
}

func (l tnb) profileRatio(b Bound) (float64, error) {
	t, err := b.root(math.Log1p(-l.gamma), -l.b)
	return xmath.RoundUp((l.eta+1)*t, 4), err
}

// without is again negative binomial; γ is rounded down, which can only raise a
// price.
func (l tnb) without(p float64) Law {
	return newTNB(l.eta, min(1, (l.gamma+(1-l.gamma)*p)*(1-8*xmath.U)))
}

func (l tnb) Sample(rng *rand.Rand) int {
	if l.gamma == 1 {
		return 1
	}
	if l.eta > 1 {
		return sampleShape(rng, l.eta, l.gamma, math.MaxInt64)
	}
	for {
		if k, ok := l.trySample(rng, math.MaxInt); ok {
			return k
		}
	}
}

// sampleShape draws a number in [1, most] of the negative binomial law of a shape of at least 1.
func sampleShape(rng *rand.Rand, eta, gamma float64, most int64) int {
	b := new(big.Rat).Sub(rat(1), rat(gamma))
	return int(random.Panjer(rng, new(big.Rat).Mul(b, rat(eta)), b, 1, most))
}

// trySample makes one attempt of a rejection sampler for shapes up to 1, whose every coin has a
// rational probability, tossed exactly; it gives up beyond limit.
func (l tnb) trySample(rng *rand.Rand, limit int) (int, bool) {
	eta, gamma := l.eta, l.gamma
	if eta < 0 {
		// Sibuya's law (the limit γ → 0) has the rational hazard −η/k; each further
		// run survives with probability 1−γ.
		for k := 1; k <= limit; k++ {
			if random.Fraction(rng, -eta/float64(k), func() *big.Rat { return quo(-eta, float64(k)) }) {
				return k, true
			}
			if random.Coin(rng, gamma) {
				return 0, false
			}
		}
		return 0, false
	}
	// A geometric proposal; the ratio of successive weights to its own is (k+η)/(k+1) ≤ 1.
	for k := 1; k <= limit; k++ {
		if random.Coin(rng, gamma) {
			return k, true
		}
		if eta < 1 && !random.Fraction(rng, (float64(k)+eta)/float64(k+1), func() *big.Rat { return stepOf(eta, 0, k) }) {
			return 0, false
		}
	}
	return 0, false
}

// stepOf returns the ratio of two successive weights, (1−γ)(k+η)/(k+1), exactly.
func stepOf(eta, gamma float64, k int) *big.Rat {
	x := new(big.Rat).Sub(rat(1), rat(gamma))
	x.Mul(x, new(big.Rat).Add(rat(float64(k)), rat(eta)))
	return x.Mul(x, quo(1, float64(k+1)))
}
