package pld_test

import (
	"math"
	"math/big"
	"sort"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/pld"
)

const readPrec = 128

func hp(x float64) *big.Float { return new(big.Float).SetPrec(readPrec).SetFloat64(x) }

// reader reads δ(ε) off a law in 128 bits: the law is a table of numbers, so that
// this is the truth of the table. Losses are Offset + Index·Step, exactly.
type reader struct {
	law   *pld.Law
	loss  []*big.Float
	mass  []*big.Float // exp of the stored logarithms, to 2 ulp
	above []*big.Float // mass at losses ≥ loss[i], +∞ counted
	delta []*big.Float // δ at loss[i]
}

// exp2u returns e^x to about 2 u without underflow.
func exp2u(x float64) *big.Float {
	k := math.Round(x / math.Ln2)
	r := math.FMA(-k, math.Ln2, x) - k*2.319046813846299616e-17
	return new(big.Float).SetMantExp(hp(math.Exp(r)), int(k))
}

func newReader(l *pld.Law) *reader {
	n := len(l.Loss)
	r := &reader{law: l, loss: make([]*big.Float, n), mass: make([]*big.Float, n), above: make([]*big.Float, n+1), delta: make([]*big.Float, n+1)}
	r.above[n] = hp(0)
	if !math.IsInf(l.LogPInf, -1) {
		r.above[n] = exp2u(l.LogPInf)
	}
	steps := map[int64]*big.Float{}
	for i := n - 1; i >= 0; i-- {
		if l.Index != nil {
			r.loss[i] = hp(0).Add(hp(l.Offset), hp(0).Mul(hp(float64(l.Index[i])), hp(l.Step)))
		} else {
			r.loss[i] = hp(l.Loss[i])
		}
		r.mass[i] = exp2u(l.LogMass[i])
		r.above[i] = hp(0).Add(r.above[i+1], r.mass[i])
		if i == n-1 {
			r.delta[i] = r.above[n]
			continue
		}
		// 1 − e^{t−l} = (1−ρ) + ρ(1 − e^{t'−l}) for ρ = e^{t−t'}: sums of positive terms.
		var rho *big.Float
		if l.Index != nil {
			d := l.Index[i+1] - l.Index[i]
			if rho = steps[d]; rho == nil {
				rho = hp(0).Set(oracle.Exp(oracle.Scale(oracle.F(l.Step), float64(-d))))
				steps[d] = rho
			}
		} else {
			rho = hp(0).Set(oracle.Exp(hp(0).Sub(r.loss[i], r.loss[i+1])))
		}
		r.delta[i] = mix(rho, r.delta[i+1], r.above[i+1])
	}
	return r
}

// mix returns ρ·a + (1−ρ)·b.
func mix(rho, a, b *big.Float) *big.Float {
	x := hp(0).Mul(rho, a)
	return x.Add(x, hp(0).Mul(hp(0).Sub(hp(1), rho), b))
}

// at returns δ(ε).
func (r *reader) at(eps float64) *big.Float {
	e := hp(eps)
	n := len(r.loss)
	i := sort.Search(n, func(i int) bool { return r.loss[i].Cmp(e) > 0 })
	if i == n {
		return r.above[n]
	}
	rho := hp(0).Set(oracle.Exp(hp(0).Sub(e, r.loss[i])))
	return mix(rho, r.delta[i], r.above[i])
}

// total returns all of the mass.
func (r *reader) total() float64 {
	f, _ := r.above[0].Float64()
	return f
}
