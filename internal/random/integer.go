package random

// Poisson and discrete Gaussian numbers with exact laws.

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// Poisson returns a number of the Poisson law of a mean in (0, 2^40], exactly.
//
// With k₀ = ⌊mean⌋ and W such that the masses at k₀ ± W are at most half of that at k₀, those W·i away are at most 2^−i of it, as
// the law is log-concave. A side, a block i with probability 2^−i−1 and a place in it are drawn, and taken with probability
// 2^i times the mass over that at k₀: a rational number, of which 64 bits decide unless its float64 is too close.
func Poisson(src rand.Source, mean *big.Rat) int64 {
	m, _ := mean.Float64()
	mode := int64(new(big.Int).Quo(mean.Num(), mean.Denom()).Int64())
	wide := int64(1)
	up, down := m/float64(mode+1), float64(mode)/m
	for ; up > 0.499 || down > 0.499; wide++ {
		up *= m / float64(mode+wide+1)
		down *= max(0, float64(mode-wide)/m)
	}
	r := rand.New(src)
	for {
		above, block := src.Uint64()>>63 == 1, int64(0)
		for src.Uint64()>>63 == 1 {
			block++
		}
		t := block*wide + r.Int64N(wide)
		if !above && t >= mode {
			continue
		}
		approx, terms := 1.0, t
		if above { // at mode + t
			for j := mode + 1; j <= mode+t; j++ {
				approx *= m / float64(j)
			}
		} else { // at mode − 1 − t
			terms++
			for j := mode; j >= mode-t; j-- {
				approx *= float64(j) / m
			}
		}
		// Each factor has been rounded, and m.
		slack := (3*float64(terms) + 4) * 0x1p-53
		if fraction(src, math.Ldexp(approx, int(block)), slack, func() *big.Rat {
			p := big.NewRat(1, 1)
			for i := range terms {
				if above {
					p.Mul(p, new(big.Rat).Quo(mean, new(big.Rat).SetInt64(mode+1+i)))
				} else {
					p.Mul(p, new(big.Rat).Quo(new(big.Rat).SetInt64(mode-i), mean))
				}
			}
			return p.Mul(p, new(big.Rat).SetInt(new(big.Int).Lsh(one, uint(block))))
		}) {
			if above {
				return mode + t
			}
			return mode - 1 - t
		}
	}
}

// DiscreteGaussian returns k with probability proportional to e^{−k²/2σ²}, exactly (Canonne, Kamath and Steinke, NeurIPS 2020,
// Algorithm 3), for a finite σ > 0.
func DiscreteGaussian(src rand.Source, sigma float64) *big.Int {
	c := NewCoins(src)
	scale := math.Floor(sigma) + 1
	v := new(big.Rat).SetFloat64(sigma)
	v.Mul(v, v)
	for {
		y := Geometric(src, scale)
		y.Sub(y, Geometric(src, scale))
		// e^{−(|y| − σ²/scale)²/2σ²}
		x := new(big.Rat).Sub(new(big.Rat).SetInt(new(big.Int).Abs(y)), new(big.Rat).Quo(v, new(big.Rat).SetFloat64(scale)))
		x.Mul(x, x).Quo(x, v)
		x.Quo(x, big.NewRat(2, 1))
		whole, rest := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
		taken := expCoin(c, rest, x.Denom())
		for n := whole.Int64(); taken && n > 0; n-- {
			taken = expCoin(c, one, one)
		}
		if taken {
			return y
		}
	}
}
