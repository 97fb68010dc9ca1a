package campaign

// Sums of Laplace losses, exactly. One run has, with m the largest loss, under the first data
// set the law e^{(L−m)/2}·(½δ_m + ½δ_{−m} + ¼·dL on [−m, m]). The exponential factors of k
// runs multiply to e^{(L−km)/2}, and what remains is a k-fold convolution of atoms and uniform
// pieces: atoms, and truncated powers (κ − L)₊^{n−1}/(n−1)!, at knots κ that are multiples of m.
//
// 1 − e^{ε−L} times the exponential factor is e^{(ε−km)/2}·2·sinh((L−ε)/2). So the term of order n
// at κ adds S_n(κ − ε) to δ(ε), up to a factor, where S₀ is 2·sinh(y/2) and S_n is its n-th integral
// from 0. Terms cancel, by about k·log₂(1/m) bits: hence the many bits.

import (
	"math"
	"math/big"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

const (
	splineBits  = 1500
	mostLaplace = 8 // runs
)

func wide(x float64) *big.Float { return new(big.Float).SetPrec(splineBits).SetFloat64(x) }

func mul(a, b *big.Float) *big.Float { return wide(0).Mul(a, b) }
func add(a, b *big.Float) *big.Float { return wide(0).Add(a, b) }
func sub(a, b *big.Float) *big.Float { return wide(0).Sub(a, b) }
func quo(a, b *big.Float) *big.Float { return wide(0).Quo(a, b) }

// wideExp returns e^x: halved until it is small, a series, squared again.
func wideExp(x *big.Float) *big.Float {
	halvings := max(x.MantExp(nil)+40, 0)
	y := wide(0).SetMantExp(wide(0).Set(x), -halvings)
	sum, term := wide(1), wide(1)
	for n := 1; term.Sign() != 0 && term.MantExp(nil) > -splineBits; n++ {
		term = quo(mul(term, y), wide(float64(n)))
		sum = add(sum, term)
	}
	for range halvings {
		sum = mul(sum, sum)
	}
	return sum
}

// coefficient returns what the law of k runs has at a knot in units of m, of the (order−1)-th power of what is missing to it: order
// of the runs are between ±m, and of the others so many at m that they meet at the knot.
func coefficient(k, order, knot int) float64 {
	sum := 0
	for up := range k - order + 1 {
		lower := up + order - (k+knot)/2 // of the runs in between, those whose piece begins at −m
		if lower < 0 || lower > order {
			continue
		}
		ways := combin.Binomial(k, up) * combin.Binomial(k-up, order) * combin.Binomial(order, lower)
		if lower%2 == 1 {
			ways = -ways
		}
		sum += ways
	}
	return math.Ldexp(float64(sum), -k-order) // ½ for an atom, ¼ for a piece
}

// laplaceRuns is δ of k runs of Laplace noise whose largest loss is m.
func laplaceRuns(k int, m *big.Float) curve {
	return func(eps *big.Float) *big.Float {
		sum := wide(0)
		for knot := -k; knot <= k; knot += 2 {
			y := sub(mul(m, wide(float64(knot))), eps)
			if y.Sign() <= 0 {
				continue
			}
			up := wideExp(mul(y, wide(0.5)))
			down := quo(wide(1), up)
			// S₋₁ and S₀; and S_{n+1} = 4·(S_{n−1} − yⁿ/n!), as the second integral of 2·sinh(x/2) is four times it but for a line.
			last, s, power := mul(add(up, down), wide(0.5)), sub(up, down), wide(1)
			for n := range k + 1 {
				sum = add(sum, mul(wide(coefficient(k, n, knot)), s))
				last, s = s, mul(wide(4), sub(last, power))
				power = quo(mul(power, y), wide(float64(n+1)))
			}
		}
		return oracle.New().Set(mul(wideExp(mul(sub(eps, mul(m, wide(float64(k)))), wide(0.5))), sum))
	}
}
