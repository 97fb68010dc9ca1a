package oracle

import (
	"math"
	"math/big"
)

// A Complex is a complex number of the working precision.
type Complex struct{ Re, Im *big.Float }

// C returns x + iy.
func C(x, y float64) Complex { return Complex{F(x), F(y)} }

// Real returns x as a complex number.
func Real(x *big.Float) Complex { return Complex{x, New()} }

// Plus, Minus, Times and Over return new numbers.
func (a Complex) Plus(b Complex) Complex  { return Complex{Add(a.Re, b.Re), Add(a.Im, b.Im)} }
func (a Complex) Minus(b Complex) Complex { return Complex{Sub(a.Re, b.Re), Sub(a.Im, b.Im)} }
func (a Complex) Times(b Complex) Complex {
	return Complex{Sub(Mul(a.Re, b.Re), Mul(a.Im, b.Im)), Add(Mul(a.Re, b.Im), Mul(a.Im, b.Re))}
}

// Over returns a/b.
func (a Complex) Over(b Complex) Complex {
	n := Add(Mul(b.Re, b.Re), Mul(b.Im, b.Im))
	c := a.Times(Complex{b.Re, Neg(b.Im)})
	return Complex{Div(c.Re, n), Div(c.Im, n)}
}

// Abs returns |a|.
func (a Complex) Abs() *big.Float {
	return New().Sqrt(Add(Mul(a.Re, a.Re), Mul(a.Im, a.Im)))
}

// ExpC returns e^a.
func ExpC(a Complex) Complex {
	turn := Scale(Pi(), 2)
	f, _ := Div(a.Im, turn).Float64()
	y := Sub(a.Im, Scale(turn, math.Round(f)))
	const halvings = 20
	y.SetMantExp(y, -halvings)
	// e^{iy} by the Taylor series, in turn real and imaginary: |y| < 2^−18.
	sum, term := C(1, 0), F(1)
	for n := 1; n < 20; n++ {
		term = Div(Mul(term, y), F(float64(n)))
		part := sum.Re
		if n%2 == 1 {
			part = sum.Im
		}
		if n%4 < 2 {
			part.Add(part, term)
		} else {
			part.Sub(part, term)
		}
	}
	for range halvings {
		sum = sum.Times(sum)
	}
	return sum.Times(Real(Exp(a.Re)))
}

// Legendre returns the nodes and weights of the Gauss–Legendre rule on [−1, 1] with n
// nodes, by Newton's method.
func Legendre(n int) (x, w []*big.Float) {
	for i := range n {
		z := F(math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5)))
		var dp *big.Float
		for range 8 {
			p0, p1 := F(1), z
			for k := 2; k <= n; k++ {
				p0, p1 = p1, Scale(Sub(Scale(Mul(z, p1), float64(2*k-1)), Scale(p0, float64(k-1))), 1)
				p1 = Div(p1, F(float64(k)))
			}
			if n == 1 {
				p0, p1 = F(1), z
			}
			one := Sub(Mul(z, z), F(1))
			dp = Div(Scale(Sub(Mul(z, p1), p0), float64(n)), one)
			z = Sub(z, Div(p1, dp))
		}
		x = append(x, z)
		w = append(w, Div(F(2), Mul(Sub(F(1), Mul(z, z)), Mul(dp, dp))))
	}
	return x, w
}
