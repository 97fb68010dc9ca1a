// What a search does to a block of outcomes: the mass that the winner has on it, and how
// fast the weight of an outcome changes with its rank. Each value is off by at most the
// relative error that its law declares; nothing near-equal is subtracted.

package selection

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// The methods of this file, of every law with generating function f:
//
//	logSlope(u)   log f''(1−u)
//	block(u, p)   f(1−u) − f(1−u−p): the probability that the winner is in a block of
//	              probability p below one of probability u
//	relErr()      a bound of the relative errors of f' and f'' (from their logarithms) and
//	              of block, for arguments taken as exact
//
// Values below the smallest normal number may be any number below it.

// A fromBelow is a law with a largest number of runs n, so that f is a polynomial of degree n:
//
//	below(s, p)   f(s+p) − f(s): block of what has the probability s below it
//
// It grows with both, and where they grow by a factor, by the n-th power of it at most: s and p off by a
// relative r make it off by 2nr at most, where that is below 1. At the bottom, where f' may
// vanish and 1 − u has no digits, that is what keeps them.
type fromBelow interface{ below(s, p float64) float64 }

// belowPower is (s+p)^n − s^n.
func belowPower(n, s, p float64) float64 {
	if p == 0 {
		return 0
	}
	return math.Exp(n*xmath.Log(s+p)) * -math.Expm1(-n*math.Log1p(p/s))
}

// tiny is added to what is rounded up, for values that underflow.
const tiny = 0x1p-1022

func (l tnb) logSlope(u float64) float64 {
	if l.gamma == 1 {
		return math.Inf(-1)
	}
	return l.slope - (l.eta+2)*math.Log1p((1-l.gamma)/l.gamma*u)
}

func (l tnb) block(u, p float64) float64 {
	if l.gamma == 1 {
		return p
	}
	w := l.gamma + (1-l.gamma)*u
	if l.straight(p, w) {
		return p * math.Exp(l.LogDPGF(u))
	}
	x := math.Log1p((1 - l.gamma) * p / w) // log of the ratio of w at the two ends
	switch e := math.Abs(l.eta); {
	case e*l.b < 1e-17:
		return x / l.b
	case l.eta > 0:
		return math.Exp(-e*math.Log1p((1-l.gamma)*u/l.gamma)) * math.Expm1(-e*x) / math.Expm1(-e*l.b)
	default:
		return math.Exp(e*xmath.Log(w)) * math.Expm1(e*x) / -math.Expm1(-e*l.b)
	}
}

func (l tnb) relErr() float64 { return 64 * xmath.U * (2 + math.Abs(l.eta)) * (2 + l.b) }

func (l poisson) logSlope(u float64) float64 { return 2*xmath.Log(l.mu) - l.mu*u }

func (l poisson) block(u, p float64) float64 { return math.Exp(-l.mu*u) * -math.Expm1(-l.mu*p) }

// Exponents beyond 750 underflow; smaller ones are off by u of themselves.
func (l poisson) relErr() float64 {
	return 16 * xmath.U * (1 + min(l.mu, 750) + math.Abs(xmath.Log(l.mu)))
}

func (l binomial) logSlope(u float64) float64 {
	n := float64(l.n)
	return xmath.Log(n*l.p) + xmath.Log((n-1)*l.p) + times(n-2, math.Log1p(-l.p*u))
}

func (l binomial) block(u, p float64) float64 {
	n, w := float64(l.n), math.Log1p(-l.p*u)
	if math.IsInf(w, -1) {
		return 0
	}
	return math.Exp(n*w) * -math.Expm1(n*math.Log1p(-min(1, l.p*p/(1-l.p*u))))
}

func (l binomial) below(s, p float64) float64 {
	return belowPower(float64(l.n), 1-l.p+l.p*s, l.p*p)
}

func (l binomial) relErr() float64 {
	n, whole := float64(l.n), 1/(1-l.p) // of 1 − p·u, whose product rounds
	if l.p == 1 {
		whole = 0
	}
	return 16 * xmath.U * (2 + min(-n*math.Log1p(-l.p), 750) + xmath.Log(n) + math.Abs(xmath.Log(l.p)) + whole)
}

func (l *capped) logSlope(u float64) float64 {
	x, sum := 1-u, 0.0
	for k := len(l.used) - 1; k >= 2; k-- {
		sum = sum*x + float64(k)*float64(k-1)*l.used[k]
	}
	return xmath.Log(sum)
}

func (l *capped) block(u, p float64) float64 {
	p = min(p, 1-u)
	return p * l.divided(1-u, max(0, 1-u-p))
}

func (l *capped) below(s, p float64) float64 { return p * l.divided(min(1, s+p), s) }

func (l *capped) relErr() float64 { return l.slack() + 16*xmath.U*752 }

// times returns n·x, which is 0 for n = 0 even where x is infinite.
func times(n, x float64) float64 {
	if n == 0 {
		return 0
	}
	return n * x
}

// lawWork says how many elementary functions one value of f' takes as long as: measured, ten terms of a table for one.
func lawWork(l Law) int {
	if c, ok := l.(*capped); ok {
		return 1 + len(c.used)/10
	}
	return 1
}

// A weight is f'(1−u) of a law, rounded outward.
type weight struct {
	l   Law
	err float64
}

func newWeight(l Law) weight { return weight{l, l.relErr()} }

func (w weight) up(u float64) float64 {
	return math.Exp(w.l.LogDPGF(u))*(1+w.err) + tiny
}

func (w weight) down(u float64) float64 {
	return max(0, math.Exp(w.l.LogDPGF(min(u, 1)))*(1-w.err)-tiny)
}

// slopes returns bounds of f”(1−u) from both sides.
func (w weight) slopes(u float64) (down, up float64) {
	s := math.Exp(w.l.logSlope(min(u, 1)))
	return max(0, s*(1-w.err)-tiny), s*(1+w.err) + tiny
}

// affords takes what n values of f' need of a limit of work beyond what they need of a law in closed form, which counts
// with what they are made for; false where there is not so much left.
func affords(ctx context.Context, l Law, n int) bool {
	return parallel.Take(ctx, float64(n)*float64(lawWork(l)-1)) == nil
}
