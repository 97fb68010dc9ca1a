package random

// Poisson, negative binomial and discrete Gaussian numbers with exact laws.

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// Poisson returns a number of the Poisson law of a positive mean, exactly.
func Poisson(src rand.Source, mean *big.Rat) int64 {
	return Panjer(src, mean, new(big.Rat), 0, math.MaxInt64)
}

// Panjer returns a number in [least, most] of the law whose masses at k + 1 and at k are as a + b·k and k + 1, exactly, for
// 0 ≤ b ≤ 1 and b ≤ a, least ≥ 0, and b < 1 where there is no end: a Poisson law, or a negative binomial one of shape 1 or more.
//
// The ratio falls with k, so that the law is log-concave. With the mode k₀ and W such that the masses at k₀ ± W are at most half of
// that at k₀, those W·i away are at most 2^−i of it. A side, a block i with probability 2^−i−1 and a place in it are drawn, and taken
// with probability 2^i times the mass over that at k₀: a rational number, of which 64 bits decide unless its float64 is too close.
func Panjer(src rand.Source, a, b *big.Rat, least, most int64) int64 {
	af, _ := a.Float64()
	bf, _ := b.Float64()
	rise := func(k int64) float64 { // the mass at k + 1 over that at k
		if k >= most {
			return 0
		}
		return (af + bf*float64(k)) / float64(k+1)
	}
	fall := func(k int64) float64 { // the mass at k − 1 over that at k
		if k <= least {
			return 0
		}
		return float64(k) / (af + bf*float64(k-1))
	}
	mode, unit := most, big.NewRat(1, 1)
	if slope := new(big.Rat).Sub(unit, b); slope.Sign() > 0 { // it is the first k with a + b·k < k + 1
		x := new(big.Rat).Sub(a, unit)
		x.Quo(x, slope)
		if last := new(big.Int).Div(x.Num(), x.Denom()); last.IsInt64() && last.Int64() < most {
			mode = max(least, last.Int64()+1)
		}
	}
	wide := int64(1)
	for up, down := rise(mode), fall(mode); up > 0.499 || down > 0.499; wide++ {
		up *= rise(mode + wide)
		down *= fall(mode - wide)
	}
	r := rand.New(src)
	for {
		above, block := src.Uint64()>>63 == 1, int64(0)
		for src.Uint64()>>63 == 1 {
			block++
		}
		t := block*wide + r.Int64N(wide)
		k := mode + t
		if !above {
			k = mode - 1 - t
		}
		if k < least || k > most {
			continue
		}
		approx := 1.0
		from, to := min(k, mode), max(k, mode)
		for j := from; j < to; j++ {
			if above {
				approx *= rise(j)
			} else {
				approx *= fall(j + 1)
			}
		}
		// Each factor has at most five roundings, and its product one.
		slack := (6*float64(to-from) + 4) * 0x1p-53
		if fraction(src, math.Ldexp(approx, int(block)), slack, func() *big.Rat {
			p := new(big.Rat).SetInt(new(big.Int).Lsh(one, uint(block)))
			for j := from; j < to; j++ {
				x := new(big.Rat).Mul(b, new(big.Rat).SetInt64(j))
				x.Add(x, a).Quo(x, new(big.Rat).SetInt64(j+1))
				if !above {
					x.Inv(x)
				}
				p.Mul(p, x)
			}
			return p
		}) {
			return k
		}
	}
}

// DiscreteGaussian returns k with probability proportional to e^{−k²/2σ²}, exactly (Canonne, Kamath and Steinke, NeurIPS 2020,
// Algorithm 3), for a finite σ > 0.
func DiscreteGaussian(src rand.Source, sigma float64) *big.Int {
	coin := func(p *big.Rat) bool {
		approx, _ := p.Float64()
		return Fraction(src, approx, func() *big.Rat { return p })
	}
	unit := big.NewRat(1, 1)
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
		taken := expCoin(coin, new(big.Rat).SetFrac(rest, x.Denom()))
		for n := whole.Int64(); taken && n > 0; n-- {
			taken = expCoin(coin, unit)
		}
		if taken {
			return y
		}
	}
}
