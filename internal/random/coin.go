package random

// Coins of an exact probability. A draw takes as many bits as it needs, and no float64 decides it.

import (
	crand "crypto/rand"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
)

// Coin is true with probability exactly p, a float64 in [0, 1].
func Coin(src rand.Source, p float64) bool {
	for p < 1 && p > 0 {
		// Compare 64 more bits of a uniform number with those of p; the scaling by
		// a power of two and the subtraction are exact.
		t := math.Ldexp(p, 64)
		whole := math.Floor(t)
		r := src.Uint64()
		if w := uint64(whole); r != w {
			return r < w
		}
		p = t - whole
	}
	return p >= 1
}

// Fraction is true with probability exactly that of the rational number exact(), of
// which approx is within 2^−48 relatively. The exact value is asked for only when 64
// random bits do not decide.
func Fraction(src rand.Source, approx float64, exact func() *big.Rat) bool {
	return fraction(src, approx, 0x1p-48, exact)
}

// fraction is Fraction with another relative error of approx.
func fraction(src rand.Source, approx, slack float64, exact func() *big.Rat) bool {
	r := src.Uint64()
	t := math.Ldexp(approx, 64)
	x := float64(r)
	// float64(r) is within 2^10 of r, t within slack·2^64 of its exact value.
	near := 2*slack*0x1p64 + 0x1p11
	if x < t-near {
		return true
	}
	if x > t+near {
		return false
	}
	p := exact()
	scale := new(big.Rat).SetInt(new(big.Int).Lsh(one, 64))
	for {
		p = new(big.Rat).Mul(p, scale)
		p.Sub(p, new(big.Rat).SetInt(new(big.Int).SetUint64(r)))
		if p.Sign() <= 0 {
			return false
		}
		if p.Cmp(big.NewRat(1, 1)) >= 0 {
			return true
		}
		r = src.Uint64()
	}
}

var one = big.NewInt(1)

// expCoin is true with probability e^{−x}, 0 ≤ x ≤ 1, of coins of given probabilities (Canonne, Kamath and Steinke, NeurIPS 2020,
// Algorithm 1): of heads that come with probability x/k at toss k, the first k − 1 are heads with probability x^{k−1}/(k−1)!, and k
// is odd with probability Σ (−x)^k/k!.
func expCoin(coin func(p *big.Rat) bool, x *big.Rat) bool {
	odd := true
	for k := int64(1); coin(new(big.Rat).Quo(x, new(big.Rat).SetInt64(k))); k++ {
		odd = !odd
	}
	return odd
}

// Where bits come from: nil is the operating system.

// Source returns src, and where that is nil a generator (ChaCha8) with a secret seed of
// the operating system. It is not safe for concurrent use.
func Source(src rand.Source) rand.Source {
	if src != nil {
		return src
	}
	var seed [32]byte
	crand.Read(seed[:]) // never fails: it ends the program instead
	return rand.NewChaCha8(seed)
}

// Seeded returns a reproducible source. Whoever knows the seed knows every draw.
func Seeded(seed uint64) rand.Source {
	var b [32]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	return rand.NewChaCha8(b)
}

// Split returns a generator of its own, whose seed is drawn from src.
func Split(src rand.Source) *rand.ChaCha8 {
	var seed [32]byte
	for i := 0; i < len(seed); i += 8 {
		binary.LittleEndian.PutUint64(seed[i:], src.Uint64())
	}
	return rand.NewChaCha8(seed)
}
