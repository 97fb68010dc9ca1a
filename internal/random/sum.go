package random

// Numbers with noise as the real numbers that they are: comparing them, and rounding them to a grid.

import (
	"math"
	"math/big"
)

// A Sum is a number with noise: the sum of fixed float64s and of scaled random ones, all
// taken as the real numbers that they are. Fixed numbers may be ±Inf (not both), scales
// are finite.
type Sum struct {
	Fixed []float64
	Noise []Term
}

// A Term is a random number times a scale.
type Term struct {
	Scale float64
	Z     *Real
}

// Noisy returns value + scale·z.
func Noisy(value, scale float64, z *Real) Sum {
	return Sum{[]float64{value}, []Term{{scale, z}}}
}

// Less reports that s is below t, exactly. Equal numbers, which have probability 0 where
// there is noise, are not below each other.
func (s Sum) Less(t Sum) bool {
	var d Sum // t − s
	d.Fixed = append(d.Fixed, t.Fixed...)
	for _, x := range s.Fixed {
		d.Fixed = append(d.Fixed, -x)
	}
	d.Noise = append(d.Noise, t.Noise...)
	for _, n := range s.Noise {
		d.Noise = append(d.Noise, Term{-n.Scale, n.Z})
	}
	return d.positive()
}

// approx returns the sum of finite numbers from the first digits of the random ones, and
// how far it is off at most.
func (s Sum) approx() (total, slack float64) {
	size := 0.0
	for _, x := range s.Fixed {
		total += x
		size += math.Abs(x)
	}
	for _, n := range s.Noise {
		z := n.Z.approx()
		total += n.Scale * z
		size += math.Abs(n.Scale) * (1 + math.Abs(z))
	}
	// A term is off by 2^−52·scale·(1 + |z|) and one rounding; n additions round by
	// 2^−53 of a partial sum each, which is at most size.
	return total, float64(len(s.Fixed)+len(s.Noise)+4)*0x1p-51*size + 0x1p-1000
}

func (s Sum) positive() bool {
	for _, x := range s.Fixed {
		if math.IsInf(x, 0) {
			return x > 0
		}
	}
	total, slack := s.approx()
	if math.Abs(total) > slack && !math.IsInf(total, 0) {
		return total > 0
	}
	for words := 1; ; words++ {
		lo, hi, _ := s.bounds(words, 0)
		switch {
		case lo.Sign() > 0, lo.Sign() == 0 && hi.Sign() > 0:
			return true // digits go on beyond lo with probability 1
		case hi.Sign() <= 0:
			return false
		}
	}
}

// Floor returns ⌊s/unit⌋ exactly, for a finite sum and unit > 0.
func (s Sum) Floor(unit float64) *big.Int {
	if n, ok := s.quickFloor(unit); ok {
		return big.NewInt(int64(n))
	}
	for words := 1; ; words++ {
		lo, hi, e := s.bounds(words, exponent(unit))
		u := fixedPoint(unit, e)
		u.Lsh(u, uint(64*words))
		n := new(big.Int)
		n.Div(lo, u) // Euclidean: rounds down, as u > 0
		if lo.Cmp(hi) != 0 {
			hi.Sub(hi, one) // the end itself has probability 0
		}
		if m := new(big.Int).Div(hi, u); n.Cmp(m) == 0 {
			return n
		}
	}
}

// quickFloor is Floor where the first digits decide, which they nearly always do. Of the
// quotients the division and the sum with slack are rounded by 2^−53 of them each, which is
// less than another slack; where they underflow, and lose their sign, nothing is decided.
func (s Sum) quickFloor(unit float64) (float64, bool) {
	total, slack := s.approx()
	a, b := (total-2*slack)/unit, (total+2*slack)/unit
	lo, hi := math.Floor(a), math.Floor(b)
	return lo, lo == hi && math.Abs(lo) < 1<<53 && min(math.Abs(a), math.Abs(b)) > 0x1p-1000
}

// Nearest returns the multiple of unit that is nearest to the sum, rounded once more to a
// float64 where it has more than 53 bits.
func (s Sum) Nearest(unit float64) float64 {
	s.Fixed = append(s.Fixed[:len(s.Fixed):len(s.Fixed)], unit/2)
	if f, _ := math.Frexp(unit); f == 0.5 { // the product is exact, or rounded once
		if n, ok := s.quickFloor(unit); ok {
			return n * unit
		}
	}
	x := new(big.Float).SetInt(s.Floor(unit))
	y, _ := x.Mul(x, new(big.Float).SetFloat64(unit)).Float64()
	return y
}

// bounds returns integers around the sum in units of 2^(e − 64·words), e ≤ least, from
// that many words of every random number.
func (s Sum) bounds(words, least int) (lo, hi *big.Int, e int) {
	e = least
	for _, x := range s.Fixed {
		e = min(e, exponent(x))
	}
	for _, n := range s.Noise {
		e = min(e, exponent(n.Scale))
	}
	lo = new(big.Int)
	for _, x := range s.Fixed {
		lo.Add(lo, fixedPoint(x, e))
	}
	lo.Lsh(lo, uint(64*words))
	hi = new(big.Int).Set(lo)
	for _, n := range s.Noise {
		if n.Scale == 0 {
			continue
		}
		c := fixedPoint(n.Scale, e)
		if n.Z.negative {
			c.Neg(c)
		}
		z := n.Z.floor(words)
		z.Mul(z, c)
		lo.Add(lo, z)
		hi.Add(hi, z)
		if c.Sign() > 0 {
			hi.Add(hi, c)
		} else {
			lo.Add(lo, c)
		}
	}
	return lo, hi, e
}

// exponent returns e for which x is a whole multiple of 2^e; that of 0 is large.
func exponent(x float64) int {
	if x == 0 {
		return math.MaxInt
	}
	_, e := math.Frexp(x)
	return max(e-53, -1074)
}

// fixedPoint returns x/2^e, for e at most exponent(x).
func fixedPoint(x float64, e int) *big.Int {
	if x == 0 {
		return new(big.Int)
	}
	f, k := math.Frexp(x) // f·2^53 is whole
	n := big.NewInt(int64(f * 0x1p53))
	if k -= 53 + e; k >= 0 {
		return n.Lsh(n, uint(k))
	}
	return n.Rsh(n, uint(-k)) // a subnormal number: the bits shifted out are 0
}
