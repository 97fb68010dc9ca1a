package labeldp

import (
	"math/big"
	"math/rand/v2"
)

// The noise of a private histogram is drawn from integer coins alone, as Canonne,
// Kamath and Steinke do it (NeurIPS 2020, Algorithms 1 and 2): its law is exact,
// whatever ε. A uniform float inverted through a logarithm leaves values out of
// reach, in the tail every other one and beyond it all of them, and what a release
// cannot be tells which counts it does not come from.

// A coin is the source of all randomness of the noise.
type coin interface {
	// flip is true with probability num/den, 0 ≤ num ≤ den.
	flip(num, den *big.Int) bool
	// bits returns a uniform integer of n bits.
	bits(n uint) *big.Int
}

// sourceCoin makes coins of a source of uniform bits.
type sourceCoin struct{ src rand.Source }

func (c sourceCoin) bits(n uint) *big.Int {
	x := new(big.Int)
	for left := n; left > 0; {
		take := min(left, 64)
		word := c.src.Uint64() >> (64 - take)
		x.Lsh(x, take).Or(x, new(big.Int).SetUint64(word))
		left -= take
	}
	return x
}

// flip compares num with a uniform integer below den, by rejection.
func (c sourceCoin) flip(num, den *big.Int) bool {
	n := uint(new(big.Int).Sub(den, one).BitLen())
	for {
		if x := c.bits(n); x.Cmp(den) < 0 {
			return x.Cmp(num) < 0
		}
	}
}

var one = big.NewInt(1)

// expCoin is true with probability e^{−num/den}, 0 ≤ num ≤ den: of heads that come
// with probability γ/k at toss k, γ = num/den, the first k − 1 are heads with
// probability γ^{k−1}/(k−1)!, and k is odd with probability Σ (−γ)^k/k!.
func expCoin(c coin, num, den *big.Int) bool {
	odd := true
	for k := new(big.Int).Set(den); c.flip(num, k); k.Add(k, den) {
		odd = !odd
	}
	return odd
}

// geometricCoin returns n ≥ 0 with probability proportional to e^{−n·num/2^bits}, for
// num ≥ 1: a geometric number of rate 2^−bits is u + 2^bits·v, where u below 2^bits
// has weight e^{−u/2^bits} and v is geometric of rate 1; of every num of them one
// counts.
func geometricCoin(c coin, num *big.Int, bits uint) *big.Int {
	den := new(big.Int).Lsh(one, bits)
	u := c.bits(bits)
	for !expCoin(c, u, den) {
		u = c.bits(bits)
	}
	for expCoin(c, one, one) {
		u.Add(u, den)
	}
	return u.Quo(u, num)
}

// roundedLaplace returns Laplace noise of scale 2^bits/num steps, rounded to the
// nearest whole step: 0 with probability 1 − e^{−r/2}, r = num/2^bits ≤ 2, and
// otherwise ±(1 + n) with n geometric of rate r.
func roundedLaplace(c coin, num *big.Int, bits uint) *big.Int {
	if !expCoin(c, num, new(big.Int).Lsh(one, bits+1)) {
		return new(big.Int)
	}
	z := geometricCoin(c, num, bits)
	z.Add(z, one)
	if c.flip(one, big.NewInt(2)) {
		z.Neg(z)
	}
	return z
}
