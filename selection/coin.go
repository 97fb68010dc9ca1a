package selection

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// coin is true with probability exactly p, a float64 in [0, 1].
func coin(rng *rand.Rand, p float64) bool {
	for p < 1 && p > 0 {
		// Compare 64 more bits of a uniform number with those of p; the scaling by
		// a power of two and the subtraction are exact.
		t := math.Ldexp(p, 64)
		whole := math.Floor(t)
		r := rng.Uint64()
		if w := uint64(whole); r != w {
			return r < w
		}
		p = t - whole
	}
	return p >= 1
}

// rationalCoin is true with probability exactly that of the rational number
// exact(), of which approx is within 2^−48 relatively. The exact value is asked
// for only when 64 random bits do not decide.
func rationalCoin(rng *rand.Rand, approx float64, exact func() *big.Rat) bool {
	r := rng.Uint64()
	t := math.Ldexp(approx, 64)
	x := float64(r)
	// float64(r) is within 2^10 of r, t within 2^16 of its exact value.
	if x < t-0x1p17 {
		return true
	}
	if x > t+0x1p17 {
		return false
	}
	p := exact()
	scale := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 64))
	for {
		p = new(big.Rat).Mul(p, scale)
		p.Sub(p, new(big.Rat).SetInt(new(big.Int).SetUint64(r)))
		if p.Sign() <= 0 {
			return false
		}
		if p.Cmp(big.NewRat(1, 1)) >= 0 {
			return true
		}
		r = rng.Uint64()
	}
}

func rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

func quo(a, b float64) *big.Rat { return new(big.Rat).Quo(rat(a), rat(b)) }
