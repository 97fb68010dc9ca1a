package profiles_test

import (
	"math/big"

	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

var bigOne = oracle.F(1)

func masses(p, q, pc, qc *big.Float) profiletest.Masses {
	return profiletest.Masses{P: p, Q: q, PC: pc, QC: qc}
}

// laplaceTail is P(Lap(0, 1) > x).
func laplaceTail(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return oracle.Sub(bigOne, oracle.Scale(oracle.Exp(x), 0.5))
	}
	return oracle.Scale(oracle.Exp(oracle.Neg(x)), 0.5)
}

// exactExponential is the exponential mechanism with losses in a range of length e.
func exactExponential(e float64) profiletest.Exact {
	m := oracle.F(e)
	rise := func(x *big.Float) *big.Float { return oracle.Sub(oracle.Exp(x), bigOne) }
	fall := func(x *big.Float) *big.Float { return oracle.Sub(bigOne, oracle.Exp(oracle.Neg(x))) }
	return func(eps *big.Float) profiletest.Masses {
		switch {
		case eps.Cmp(m) >= 0:
			return masses(oracle.New(), oracle.New(), bigOne, bigOne)
		case eps.Cmp(oracle.Neg(m)) < 0:
			return masses(bigOne, bigOne, oracle.New(), oracle.New())
		}
		a, b := oracle.Scale(oracle.Sub(m, eps), 0.5), oracle.Scale(oracle.Add(m, eps), 0.5)
		return masses(oracle.Div(fall(a), fall(m)), oracle.Div(rise(a), rise(m)),
			oracle.Div(rise(b), rise(m)), oracle.Div(fall(b), fall(m)))
	}
}

// exactPlusMinus is (1−rate)Lap(0,b) + rate·Lap(±1, b), with 1/b rounded to
// float64. The output at which the loss is ε comes by bisection.
func exactPlusMinus(b, rate float64) profiletest.Exact {
	m := oracle.F(1 / b)
	r := oracle.F(rate)
	c := oracle.Sub(bigOne, r)
	mix := func(x, y *big.Float) *big.Float { return oracle.Add(oracle.Mul(r, x), oracle.Mul(c, y)) }
	density := func(x *big.Float) *big.Float { return oracle.Exp(oracle.Neg(oracle.New().Abs(x))) }
	ratio := func(x *big.Float) *big.Float { // of P to Q at output x·b
		return oracle.Div(mix(density(oracle.Sub(x, m)), density(x)), mix(density(oracle.Add(x, m)), density(x)))
	}
	top := ratio(m)
	return func(eps *big.Float) profiletest.Masses {
		e := oracle.Exp(eps)
		switch {
		case e.Cmp(top) >= 0:
			return masses(oracle.New(), oracle.New(), bigOne, bigOne)
		case e.Cmp(oracle.Div(bigOne, top)) < 0:
			return masses(bigOne, bigOne, oracle.New(), oracle.New())
		}
		lo, hi := oracle.Neg(m), m
		for range 140 {
			x := oracle.Scale(oracle.Add(lo, hi), 0.5)
			if ratio(x).Cmp(e) > 0 {
				hi = x
			} else {
				lo = x
			}
		}
		tails := func(x, m *big.Float) (p, q *big.Float) {
			return mix(laplaceTail(oracle.Sub(x, m)), laplaceTail(x)), mix(laplaceTail(oracle.Add(x, m)), laplaceTail(x))
		}
		p, q := tails(hi, m)
		pc, qc := tails(oracle.Neg(hi), oracle.Neg(m))
		return masses(p, q, pc, qc)
	}
}
