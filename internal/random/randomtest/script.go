// Package randomtest makes a source return what a test wants drawn. It has the words that make the
// samplers of internal/random accept a number with chosen digits. So it shows that the number is
// possible.
package randomtest

import (
	"math"
	"math/big"
)

// A Script is a source of given words, then of zeros; it counts what is drawn.
type Script struct {
	Words []uint64
	Drawn int
}

// Uint64 implements rand.Source.
func (s *Script) Uint64() uint64 {
	s.Drawn++
	if s.Drawn > len(s.Words) {
		return 0
	}
	return s.Words[s.Drawn-1]
}

const half, most = uint64(1) << 63, math.MaxUint64

// Split returns the sign of z, the whole part of its size, and the first 64 binary digits after the point.
func Split(z *big.Float) (negative bool, whole int, digits uint64) {
	a := new(big.Float).SetPrec(400).Abs(z)
	w, _ := a.Int(nil)
	a.Sub(a, new(big.Float).SetPrec(400).SetInt(w))
	d, _ := a.SetMantExp(a, 64).Int(nil)
	return z.Signbit(), int(w.Int64()), d.Uint64()
}

// Exponential makes random.Exponential return |z|, to its first 64 digits after the point.
func Exponential(z *big.Float) []uint64 {
	_, whole, digits := Split(z)
	var words []uint64
	for range whole { // x = ½ > u > …, and the chain ends at an odd length: refused, a whole more
		words = append(words, half, 1, most)
	}
	return append(words, digits, most)
}

// Laplace makes random.Laplace return z.
func Laplace(z *big.Float) []uint64 { return append(Exponential(z), sign(z)) }

// Normal makes random.Normal return z: k coins of e^{−1/2}, one that fails, k(k−1) more, and k + 1 of Karney's B.
func Normal(z *big.Float) []uint64 {
	_, k, digits := Split(z)
	var words []uint64
	for range k {
		words = append(words, half)
	}
	words = append(words, 1, half)
	for range k * (k - 1) {
		words = append(words, half)
	}
	words = append(words, digits)
	for range k + 1 {
		words = append(words, most)
	}
	return append(words, sign(z))
}

func sign(z *big.Float) uint64 {
	if z.Signbit() {
		return half
	}
	return 0
}

// Between returns (to − from)/scale, exactly to 400 bits: the noise that leads from one to the other.
func Between(from, to, scale float64) *big.Float {
	b := func(x float64) *big.Float { return new(big.Float).SetPrec(2200).SetFloat64(x) }
	z := b(to)
	z.Sub(z, b(from))
	return z.Quo(z, b(scale))
}
