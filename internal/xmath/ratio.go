// Mills' ratio from a table, where it is asked very often.

package xmath

import (
	"math"
	"sync"
)

// A TailRatio computes Mills' ratio Φ̄(x)/φ(x) for x ≥ 0 from a table, in a few
// nanoseconds: a sum of many normal tails whose densities are multiples of one
// another needs no exponential per term.
//
// At the nodes k/8 it has the Taylor coefficients of degree 10; the first one left
// out counts below 2^-56. With a_n = |R^(n)|/n! they obey
// a_{n−1} = (n+1)a_{n+1} + x·a_n and a_{−1} = 1, all terms positive, so that they
// come from continued fractions to 2 u per degree; a_0 dominates the sum. The
// error is below 4 u.
type TailRatio [ratioNodes][ratioDegree + 1]float64

const (
	ratioNodes  = 40*8 + 1
	ratioDegree = 10
)

// Ratios returns the table.
var Ratios = sync.OnceValue(func() *TailRatio {
	t := new(TailRatio)
	for k := range t {
		x := float64(k) / 8
		if k == 0 { // √(π/2), 1, and a_{n+1} = a_{n−1}/(n+1)
			t[0][0], t[0][1] = math.Sqrt(math.Pi/2), -1
			for n := 2; n <= ratioDegree; n++ {
				t[0][n] = t[0][n-2] / float64(n)
			}
			continue
		}
		// Backwards for the ratios q_n = a_n/a_{n−1} = 1/(x + (n+1)q_{n+1}); what is
		// left of the wrong start falls like e^{−2x√n}.
		var a [ratioDegree + 1]float64
		q := 0.0
		for n := int(440/(x*x)) + 60; n >= 0; n-- {
			q = 1 / (x + float64(n+1)*q)
			if n <= ratioDegree {
				a[n] = q
			}
		}
		c := 1.0
		for n := range a {
			c *= a[n]
			t[k][n] = c
			if n%2 == 1 {
				t[k][n] = -c
			}
		}
	}
	return t
})

// At returns Φ̄(x)/φ(x) for x ≥ 0.
func (t *TailRatio) At(x float64) float64 {
	k := int(x*8 + 0.5)
	if !(x < 40) {
		return asymptoticMills(x, 9) / x
	}
	h := x - float64(k)/8
	c := &t[k]
	h2 := h * h
	return ((((c[10]*h2+c[8])*h2+c[6])*h2+c[4])*h2+c[2])*h2 + h*((((c[9]*h2+c[7])*h2+c[5])*h2+c[3])*h2+c[1]) + c[0]
}

// NormalDensity returns φ(x), to 4 u as long as it is a normal number.
func NormalDensity(x float64) float64 {
	h := x * x
	return rSqrt2Pi * math.Exp(-h/2) * (1 - math.FMA(x, x, -h)/2)
}

// Tail returns Φ̄(x), to 9 u.
func (t *TailRatio) Tail(x float64) float64 {
	if x < 0 {
		return 1 - NormalDensity(x)*t.At(-x)
	}
	return NormalDensity(x) * t.At(x)
}

// Deviance returns x·log(x/m) + m − x ≥ 0 without cancellation near x = m: to 10 u of itself
// and 2 u of |x − m|. Beyond x = 2m and m = 2x the terms are at most five times their sum.
func Deviance(x, m float64) float64 {
	if 3*math.Abs(x-m) >= x+m {
		return x*Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	s := (x - m) * v
	e := 2 * x * v
	v *= v
	for j := 1; j < 200; j++ {
		e *= v
		next := s + e/float64(2*j+1)
		if next == s {
			break
		}
		s = next
	}
	return s
}
