// Package oracle evaluates a few functions to hundreds of bits, slowly, as the
// truth that tests measure float64 code against. Nothing but tests uses it.
package oracle

import (
	"math"
	"math/big"
	"sync"
)

// Prec is the working precision in bits. What is subtracted below cancels at
// most some 100 of them.
const Prec = 320

// F returns x as a Float of the working precision.
func F(x float64) *big.Float { return New().SetFloat64(x) }

// New returns zero with the working precision.
func New() *big.Float { return new(big.Float).SetPrec(Prec) }

// Add, Sub, Mul and Div return new numbers.
func Add(a, b *big.Float) *big.Float {
	// A term below the last bit would still be shifted into place, however far.
	switch gap := a.MantExp(nil) - b.MantExp(nil); {
	case a.Sign() == 0 || b.Sign() == 0:
	case gap > 2*Prec:
		return New().Set(a)
	case gap < -2*Prec:
		return New().Set(b)
	}
	return New().Add(a, b)
}

// Sub returns a − b.
func Sub(a, b *big.Float) *big.Float { return Add(a, Neg(b)) }

// Mul returns a·b.
func Mul(a, b *big.Float) *big.Float { return New().Mul(a, b) }

// Div returns a/b.
func Div(a, b *big.Float) *big.Float { return New().Quo(a, b) }

// Neg returns −a.
func Neg(a *big.Float) *big.Float { return New().Neg(a) }

// Scale returns a·x.
func Scale(a *big.Float, x float64) *big.Float { return New().Mul(a, F(x)) }

// arctanhInv returns atanh(1/n) = Σ n^{−(2k+1)}/(2k+1); arctanInv alternates.
func arcInv(n int64, alternate bool) *big.Float {
	p := Div(F(1), F(float64(n)))
	n2 := F(float64(n * n))
	sum := New()
	for k := 0; p.Sign() != 0 && p.MantExp(nil) > -Prec-20; k++ {
		t := Div(p, F(float64(2*k+1)))
		if alternate && k%2 == 1 {
			t.Neg(t)
		}
		sum.Add(sum, t)
		p = Div(p, n2)
	}
	return sum
}

// Ln2 returns log 2 = 18 atanh(1/26) − 2 atanh(1/4801) + 8 atanh(1/8749).
var Ln2 = sync.OnceValue(func() *big.Float {
	a := Scale(arcInv(26, false), 18)
	a.Sub(a, Scale(arcInv(4801, false), 2))
	return a.Add(a, Scale(arcInv(8749, false), 8))
})

// Pi returns π by Machin's formula.
var Pi = sync.OnceValue(func() *big.Float {
	return Scale(Sub(Scale(arcInv(5, true), 4), arcInv(239, true)), 4)
})

// Exp returns e^x.
func Exp(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return F(1)
	}
	f, _ := Div(x, Ln2()).Float64()
	k := math.Round(f)
	const halvings = 20
	r := Sub(x, Scale(Ln2(), k))
	r.SetMantExp(r, -halvings)
	sum, term, number := F(1), F(1), New()
	for n := 1; term.Sign() != 0 && term.MantExp(nil) > -Prec-10; n++ {
		term.Mul(term, r)
		term.Quo(term, number.SetInt64(int64(n)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(k))
}

// Log returns log x for x > 0 by Newton's method.
func Log(x *big.Float) *big.Float {
	m := New()
	e := x.MantExp(m)
	f, _ := m.Float64()
	y := Add(F(math.Log(f)), Scale(Ln2(), float64(e)))
	for range 3 {
		d := Sub(Mul(x, Exp(Neg(y))), F(1))
		y.Add(y, d)
		// Second order of the logarithm: log(1+d) = d − d²/2 + ….
		y.Sub(y, Scale(Mul(d, d), 0.5))
	}
	return y
}

// Log1m returns log(1 − x) to full relative precision, for 0 ≤ x < 1.
func Log1m(x *big.Float) *big.Float {
	if f, _ := x.Float64(); f > 0x1p-20 {
		return Log(Sub(F(1), x))
	}
	sum, term := New(), New().Copy(x)
	for n := 1; n < 20; n++ {
		sum.Sub(sum, Div(term, F(float64(n))))
		term.Mul(term, x)
	}
	return sum
}

// LogF returns log x as a float64, −Inf for x = 0.
func LogF(x *big.Float) float64 {
	if x.Sign() == 0 {
		return math.Inf(-1)
	}
	f, _ := Log(x).Float64()
	return f
}

// NormalDensity returns φ(x).
func NormalDensity(x *big.Float) *big.Float {
	return Div(Exp(Scale(Mul(x, x), -0.5)), New().Sqrt(Scale(Pi(), 2)))
}

// NormalTail returns Φ̄(x): by the Taylor series φ(x)·Σ x^{2n+1}/(2n+1)!! of
// Φ − ½ near 0, by Laplace's continued fraction beyond 6 (whose error after n
// terms is about e^{−2x√(2n)}, below 2^−400 for n = 300).
func NormalTail(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return Sub(F(1), NormalTail(Neg(x)))
	}
	if f, _ := x.Float64(); f < 6 {
		x2 := Mul(x, x)
		sum, term, odd := New(), New().Copy(x), New()
		for n := 1; term.Sign() != 0 && term.MantExp(nil) > -Prec-10; n++ {
			sum.Add(sum, term)
			term.Mul(term, x2)
			term.Quo(term, odd.SetInt64(int64(2*n+1)))
		}
		return Sub(F(0.5), Mul(NormalDensity(x), sum))
	}
	return Div(NormalDensity(x), millsCF(x))
}

// LogNormalTail returns log Φ̄(x), for arguments whose tail is beyond the range
// of exponents too.
func LogNormalTail(x *big.Float) *big.Float {
	switch f, _ := x.Float64(); {
	case f < -6:
		return Log1m(NormalTail(Neg(x)))
	case f < 6:
		return Log(NormalTail(x))
	}
	half := Scale(Add(Mul(x, x), Log(Scale(Pi(), 2))), -0.5)
	return Sub(half, Log(millsCF(x)))
}

// millsCF returns φ/Φ̄ = x + 1/(x + 2/(x + 3/(x + …))) for x ≥ 1. Convergents A/B lie on both sides of it in turn, and two that follow
// each other differ by n!/(B·B'), which ends the sum; all terms are positive, so that rounding grows by their number alone.
func millsCF(x *big.Float) *big.Float {
	a0, a1 := F(1), New().Copy(x)
	b0, b1 := F(0), F(1)
	number, product := New(), New()
	factorial := 0.0 // log2 n!
	next := func(old, last *big.Float) {
		old.Mul(old, number)
		old.Add(old, product.Mul(x, last))
	}
	for n := 1; ; n++ {
		number.SetInt64(int64(n))
		factorial += math.Log2(float64(n))
		next(a0, a1)
		next(b0, b1)
		a0, a1, b0, b1 = a1, a0, b1, b0
		if factorial-float64(b0.MantExp(nil)+b1.MantExp(nil)-2) < -Prec-10 {
			return Div(a1, b1)
		}
	}
}

// Mills returns Φ̄(x)/φ(x).
func Mills(x *big.Float) *big.Float {
	if f, _ := x.Float64(); f >= 6 {
		return Div(F(1), millsCF(x))
	}
	return Div(NormalTail(x), NormalDensity(x))
}

// Ulps returns |got − want|/|want| in units of 2^−53.
func Ulps(got float64, want *big.Float) float64 {
	if want.Sign() == 0 {
		if got == 0 {
			return 0
		}
		return math.Inf(1)
	}
	d := Div(Sub(F(got), want), want)
	f, _ := d.Float64()
	return math.Abs(f) * 0x1p53
}
