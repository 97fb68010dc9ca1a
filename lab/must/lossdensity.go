// Densities of privacy losses for Algorithm 1: closed forms for Poisson sampling,
// without replacement (the paper's supplement S6) and the Gaussian mechanism, and for
// any pair of normal mixtures a root per point with a difference quotient, as the
// authors compute sampling with replacement and their two stages.

package main

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A closedForm is ω in closed form.
type closedForm func(s float64) float64

func (f closedForm) at(s float64) float64 { return f(s) }

func (f closedForm) grid(first, step float64, n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = f(first + float64(i)*step)
	}
	return w
}

// normal is the density of N(mean, σ²).
func normal(x, mean, sigma float64) float64 {
	z := (x - mean) / sigma
	return math.Exp(-z*z/2) / (sigma * math.Sqrt(2*math.Pi))
}

// poissonLoss is ω of q N(1, σ²) + (1−q) N(0, σ²) against N(0, σ²), with the inverse
// g(s) = σ² log((eˢ−(1−q))/q) + ½ of the loss and g'(s) = σ²eˢ/(eˢ−(1−q)).
func poissonLoss(q, sigma float64) closedForm {
	return func(s float64) float64 {
		y := math.Expm1(s) + q
		if y <= 0 {
			return 0 // the loss stays above log(1−q)
		}
		g := sigma*sigma*xmath.Log(y/q) + 0.5
		return ((1-q)*normal(g, 0, sigma) + q*normal(g, 1, sigma)) * sigma * sigma * math.Exp(s) / y
	}
}

// withoutReplacementLoss is ω of q N(1, σ²) + (1−q) N(0, σ²) against
// q N(−1, σ²) + (1−q) N(0, σ²). With a = ((1−q)/q)·e^{1/2σ²} the inverse of the loss
// is g(s) = σ²(s/2 + asinh(a sinh(s/2))), which equals the paper's form and does
// not cancel.
func withoutReplacementLoss(q, sigma float64) closedForm {
	v := sigma * sigma
	a := (1 - q) / q * math.Exp(1/(2*v))
	return func(s float64) float64 {
		sinh := a * math.Sinh(s/2)
		g := v * (s/2 + math.Asinh(sinh))
		slope := v / 2 * (1 + a*math.Cosh(s/2)/math.Hypot(1, sinh))
		return ((1-q)*normal(g, 0, sigma) + q*normal(g, 1, sigma)) * slope
	}
}

// A quotient is ω = f(g(s))·(g(s+h) − g(s))/h for a pair of normal mixtures with f
// the density of the first, g the inverse of the loss, which must increase with the
// output, and h the step of the grid.
type quotient struct{ p, q normalMixture }

func (d quotient) loss(t float64) float64 { return d.p.log(t) - d.q.log(t) }

// at takes the step of the authors' code.
func (d quotient) at(s float64) float64 {
	const h = 2e-5
	return d.grid(s, h, 1)[0]
}

// grid is 0 where the loss does not reach.
func (d quotient) grid(first, step float64, points int) []float64 {
	far := 1e4 * d.p.sigma // beyond, differences of the log densities drown in rounding
	least, most := d.loss(-far), d.loss(far)
	n := points + 1
	g := make([]float64, n)
	in := make([]bool, n)
	lo := -1.0
	for i := range n {
		s := first + float64(i)*step
		if in[i] = least < s && s < most; !in[i] {
			continue
		}
		halvings := 30 // leave 1e-9 of a bracket that is some steps of the grid wide
		if i == 0 || !in[i-1] {
			halvings = 60
			for d.loss(lo) >= s {
				lo *= 2
			}
		} else {
			lo = g[i-1]
		}
		// The next root is about where the last step leads.
		ahead := 1e-3
		if i > 1 && in[i-2] {
			ahead = 2 * (g[i-1] - g[i-2])
		}
		hi := lo + ahead
		for d.loss(hi) < s {
			lo, hi = hi, hi+2*(hi-lo)
		}
		g[i], _ = xmath.Bisect(lo, hi, halvings, func(t float64) bool { return d.loss(t) < s })
	}
	omega := make([]float64, points)
	for i := range omega {
		if in[i] && in[i+1] {
			omega[i] = math.Exp(d.p.log(g[i])) * (g[i+1] - g[i]) / step
		}
	}
	return omega
}

// A normalMixture is Σ e^logW_i N(mean_i, σ²).
type normalMixture struct {
	logW, mean []float64
	sigma      float64
}

// mostParts is how many normal laws are in a mixture at most.
const mostParts = 26

// log returns the logarithm of the density.
func (m normalMixture) log(t float64) float64 {
	terms := make([]float64, 0, mostParts)
	for i, w := range m.logW {
		z := (t - m.mean[i]) / m.sigma
		terms = append(terms, w-z*z/2)
	}
	return floats.LogSumExp(terms) - xmath.Log(m.sigma) - 0.5*xmath.Log(2*math.Pi)
}
