package transform

import (
	"math"
	"math/big"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// A bigComplex is a complex number of the working precision.
type bigComplex struct{ Re, Im *big.Float }

// bigC returns x + iy.
func bigC(x, y float64) bigComplex { return bigComplex{oracle.F(x), oracle.F(y)} }

// bigReal returns x as a complex number.
func bigReal(x *big.Float) bigComplex { return bigComplex{x, oracle.New()} }

// Plus, Minus, Times and Over return new numbers.
func (a bigComplex) Plus(b bigComplex) bigComplex {
	return bigComplex{oracle.Add(a.Re, b.Re), oracle.Add(a.Im, b.Im)}
}
func (a bigComplex) Minus(b bigComplex) bigComplex {
	return bigComplex{oracle.Sub(a.Re, b.Re), oracle.Sub(a.Im, b.Im)}
}
func (a bigComplex) Times(b bigComplex) bigComplex {
	return bigComplex{oracle.Sub(oracle.Mul(a.Re, b.Re), oracle.Mul(a.Im, b.Im)), oracle.Add(oracle.Mul(a.Re, b.Im), oracle.Mul(a.Im, b.Re))}
}

// Over returns a/b.
func (a bigComplex) Over(b bigComplex) bigComplex {
	n := oracle.Add(oracle.Mul(b.Re, b.Re), oracle.Mul(b.Im, b.Im))
	c := a.Times(bigComplex{b.Re, oracle.Neg(b.Im)})
	return bigComplex{oracle.Div(c.Re, n), oracle.Div(c.Im, n)}
}

// Abs returns |a|.
func (a bigComplex) Abs() *big.Float {
	return oracle.New().Sqrt(oracle.Add(oracle.Mul(a.Re, a.Re), oracle.Mul(a.Im, a.Im)))
}

// bigExp returns e^a.
func bigExp(a bigComplex) bigComplex {
	turn := oracle.Scale(oracle.Pi(), 2)
	f, _ := oracle.Div(a.Im, turn).Float64()
	y := oracle.Sub(a.Im, oracle.Scale(turn, math.Round(f)))
	const halvings = 20
	y.SetMantExp(y, -halvings)
	// e^{iy} by the Taylor series, in turn real and imaginary: |y| < 2^−18.
	sum, term := bigC(1, 0), oracle.F(1)
	for n := 1; n < 20; n++ {
		term = oracle.Div(oracle.Mul(term, y), oracle.F(float64(n)))
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
	return sum.Times(bigReal(oracle.Exp(a.Re)))
}

// bigLegendre returns the nodes and weights of the Gauss–Legendre rule on [−1, 1] with n
// nodes, by Newton's method.
func bigLegendre(n int) (x, w []*big.Float) {
	for i := range n {
		z := oracle.F(math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5)))
		var dp *big.Float
		for range 8 {
			p0, p1 := oracle.F(1), z
			for k := 2; k <= n; k++ {
				p0, p1 = p1, oracle.Scale(oracle.Sub(oracle.Scale(oracle.Mul(z, p1), float64(2*k-1)), oracle.Scale(p0, float64(k-1))), 1)
				p1 = oracle.Div(p1, oracle.F(float64(k)))
			}
			if n == 1 {
				p0, p1 = oracle.F(1), z
			}
			one := oracle.Sub(oracle.Mul(z, z), oracle.F(1))
			dp = oracle.Div(oracle.Scale(oracle.Sub(oracle.Mul(z, p1), p0), float64(n)), one)
			z = oracle.Sub(z, oracle.Div(p1, dp))
		}
		x = append(x, z)
		w = append(w, oracle.Div(oracle.F(2), oracle.Mul(oracle.Sub(oracle.F(1), oracle.Mul(z, z)), oracle.Mul(dp, dp))))
	}
	return x, w
}

func TestExpC(t *testing.T) {
	for _, x := range []float64{0, 1e-9, 0.3, 2, -31.7, 1e4} {
		v := bigExp(bigC(0.25, x))
		re, _ := v.Re.Float64()
		im, _ := v.Im.Float64()
		if e := math.Exp(0.25); math.Abs(re-e*math.Cos(x)) > 1e-15*(2+math.Abs(x)) || math.Abs(im-e*math.Sin(x)) > 1e-15*(2+math.Abs(x)) {
			t.Errorf("e^(1/4+%vi) = %v+%vi", x, re, im)
		}
		// e^{2iy} = (e^{iy})² to the working precision.
		w := bigExp(bigC(0.5, 2*x)).Minus(v.Times(v))
		if d, _ := w.Abs().Float64(); d > 1e-80 {
			t.Errorf("e^(1/2+%vi) differs from the square by %v", 2*x, d)
		}
	}
}

func TestLegendre(t *testing.T) {
	x, w := bigLegendre(12)
	for k := 0; k < 24; k += 2 { // ∫x^k = 2/(k+1)
		sum := oracle.New()
		for i := range x {
			p := oracle.F(1)
			for range k {
				p = oracle.Mul(p, x[i])
			}
			sum = oracle.Add(sum, oracle.Mul(w[i], p))
		}
		if d, _ := oracle.Sub(sum, oracle.Div(oracle.F(2), oracle.F(float64(k+1)))).Float64(); math.Abs(d) > 1e-85 {
			t.Errorf("the integral of x^%d is off by %v", k, d)
		}
	}
}
