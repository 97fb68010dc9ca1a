// Exact laws that profiles are compared with.

package profiletest

import (
	"math/big"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// Masses are the tails at one ε: P(L > ε), Q(L > ε), P(L ≤ ε), Q(L ≤ ε).
type Masses struct{ P, Q, PC, QC *big.Float }

// Delta returns P − e^ε·Q.
func (m Masses) Delta(eps *big.Float) *big.Float {
	return oracle.Sub(m.P, oracle.Mul(oracle.Exp(eps), m.Q))
}

// Exact is a profile to hundreds of bits, at every ε that is not an atom.
type Exact func(eps *big.Float) Masses

var one = oracle.F(1)

// Gaussian is N(1/σ, 1) against N(0, 1).
func Gaussian(sigma float64) Exact {
	mu := oracle.Div(one, oracle.F(sigma))
	half := oracle.Scale(mu, 0.5)
	return func(eps *big.Float) Masses {
		e := oracle.Div(eps, mu)
		x, z := oracle.Sub(e, half), oracle.Add(e, half)
		return Masses{P: oracle.NormalTail(x), Q: oracle.NormalTail(z),
			PC: oracle.NormalTail(oracle.Neg(x)), QC: oracle.NormalTail(oracle.Neg(z))}
	}
}

// laplaceTail is P(Lap(0, 1) > x).
func laplaceTail(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return oracle.Sub(one, oracle.Scale(oracle.Exp(x), 0.5))
	}
	return oracle.Scale(oracle.Exp(oracle.Neg(x)), 0.5)
}

// Laplace is Lap(1, b) against Lap(0, b), with 1/b rounded to float64.
func Laplace(b float64) Exact { return LaplaceOf(oracle.F(1 / b)) }

// LaplaceOf is Laplace noise whose largest loss is m.
func LaplaceOf(m *big.Float) Exact {
	return func(eps *big.Float) Masses {
		switch {
		case eps.Cmp(m) >= 0:
			return none()
		case eps.Cmp(oracle.Neg(m)) < 0:
			return all()
		}
		// The loss at output x ∈ [0, 1] is (2x − 1)m.
		x := oracle.Scale(oracle.Add(eps, m), 0.5) // in units of b
		return Masses{P: laplaceTail(oracle.Sub(x, m)), Q: laplaceTail(x),
			PC: laplaceTail(oracle.Sub(m, x)), QC: laplaceTail(oracle.Neg(x))}
	}
}

func all() Masses  { return Masses{P: one, Q: one, PC: oracle.New(), QC: oracle.New()} }
func none() Masses { return Masses{P: oracle.New(), Q: oracle.New(), PC: one, QC: one} }

// Finite lists the outcomes of two distributions.
func Finite(p, q []*big.Float) Exact {
	return func(eps *big.Float) Masses {
		e := oracle.Exp(eps)
		m := Masses{P: oracle.New(), Q: oracle.New(), PC: oracle.New(), QC: oracle.New()}
		for i := range p {
			if p[i].Cmp(oracle.Mul(e, q[i])) > 0 {
				m.P, m.Q = oracle.Add(m.P, p[i]), oracle.Add(m.Q, q[i])
			} else {
				m.PC, m.QC = oracle.Add(m.PC, p[i]), oracle.Add(m.QC, q[i])
			}
		}
		return m
	}
}

// Reverse is the pair (Q, P).
func Reverse(x Exact) Exact {
	return func(eps *big.Float) Masses {
		m := x(oracle.Neg(eps))
		return Masses{P: m.QC, Q: m.PC, PC: m.Q, QC: m.P}
	}
}

// Poisson is the pair (rate·P + (1−rate)·Q, Q).
func Poisson(x Exact, rate float64) Exact {
	r := oracle.F(rate)
	c := oracle.Sub(one, r)
	mix := func(p, q *big.Float) *big.Float { return oracle.Add(oracle.Mul(r, p), oracle.Mul(c, q)) }
	return func(eps *big.Float) Masses {
		e := oracle.Sub(oracle.Exp(eps), c)
		if e.Sign() <= 0 {
			return all()
		}
		m := x(oracle.Log(oracle.Div(e, r)))
		return Masses{P: mix(m.P, m.Q), Q: m.Q, PC: mix(m.PC, m.QC), QC: m.QC}
	}
}

// Envelope is the pair whose profile is rate·δ(log(1 + (e^ε−1)/rate)) for ε ≥ 0
// and its reflection, by the reverse of x, below.
func Envelope(x Exact, rate float64) Exact {
	up, down := Poisson(x, rate), Poisson(Reverse(x), rate)
	return func(eps *big.Float) Masses {
		if eps.Sign() >= 0 {
			m := up(eps)
			return Masses{P: m.P, Q: m.Q, PC: oracle.Sub(one, m.P), QC: oracle.Sub(one, m.Q)}
		}
		m := down(oracle.Neg(eps))
		return Masses{P: oracle.Sub(one, m.Q), Q: oracle.Sub(one, m.P), PC: m.Q, QC: m.P}
	}
}

// GaussianPlusMinus is (1−rate)N(0,1) + rate·N(±1/σ, 1).
func GaussianPlusMinus(sigma, rate float64) Exact {
	mu := oracle.Div(one, oracle.F(sigma))
	r := oracle.F(rate)
	c := oracle.Sub(one, r)
	s := oracle.Mul(r, oracle.Exp(oracle.Scale(oracle.Mul(mu, mu), -0.5)))
	mix := func(a, b *big.Float) *big.Float {
		return oracle.Add(oracle.Mul(r, oracle.NormalTail(a)), oracle.Mul(c, oracle.NormalTail(b)))
	}
	return func(eps *big.Float) Masses {
		// s·w² + c(1−E)·w − E·s = 0 for w = e^{μx}, E = e^ε.
		e := oracle.Exp(eps)
		b := oracle.Mul(c, oracle.Sub(e, one))
		root := oracle.Add(oracle.Mul(b, b), oracle.Scale(oracle.Mul(oracle.Mul(s, s), e), 4))
		root.Sqrt(root)
		w := oracle.Div(oracle.Add(b, root), oracle.Scale(s, 2))
		if b.Sign() < 0 { // the same without cancellation
			w = oracle.Div(oracle.Scale(oracle.Mul(s, e), 2), oracle.Sub(root, b))
		}
		x := oracle.Div(oracle.Log(w), mu)
		n := oracle.Neg(x)
		return Masses{P: mix(oracle.Sub(x, mu), x), Q: mix(oracle.Add(x, mu), x),
			PC: mix(oracle.Add(n, mu), n), QC: mix(oracle.Sub(n, mu), n)}
	}
}
