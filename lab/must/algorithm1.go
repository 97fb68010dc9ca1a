// Algorithm 1 of Zhao and Liu (arXiv:2312.13389) as its authors run it: with the
// closed forms of their supplement S6 where it has them, the cell of the peak and
// the error term of their notebook. It reproduces their Figure S2 and the last
// column of their Table 8; none of its values is a bound of this library.

package main

import (
	"math"
	"math/cmplx"
	"sort"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// algorithm1 is the Fourier accountant: the density of the privacy loss on r points
// of [−L, L) and a circular convolution. The "upper" mass of a cell is the larger
// density of its two ends times its width, in the cell of the peak the peak's; the
// "lower" mass is the smaller one.
//
// That these bound is not proved, and on a coarse grid it is false: the mass of a
// cell stands at its left end, its smallest loss, so that one Gaussian run with
// Δ/σ = 1, L = 10, r = 100 has the "upper" δ(2) = 0.020495 and the exact 0.020924.
// Besides, the paper's pairs do not dominate (docs/theory/must-composition.md). Use
// package accountant instead.
type algorithm1 struct {
	l, dx                float64
	r                    int
	lower, centre, upper []complex128
	higher               []float64 // the upper masses, in ascending order of the loss
}

// A lossDensity is the density ω of a privacy loss.
type lossDensity interface {
	// grid returns ω at n points from the first on.
	grid(first, step float64, n int) []float64
	at(s float64) float64
}

// newAlgorithm1 prepares the values for one run with the loss density omega.
func newAlgorithm1(omega lossDensity, l float64, r int) *algorithm1 {
	h := &algorithm1{l: l, dx: 2 * l / float64(r), r: r, higher: make([]float64, r)}
	w := omega.grid(-l, h.dx, r+1)
	low, mid, high := make([]float64, r), make([]float64, r), make([]float64, r)
	peak, top := h.peak(omega, w)
	for i := range r {
		a, b := w[i], w[i+1]
		h.higher[i] = h.dx * max(a, b)
		if i == peak {
			h.higher[i] = h.dx * top
		}
		// Half the interval is swapped: index 0 is loss 0.
		j := (i + r/2) % r
		low[j], mid[j], high[j] = h.dx*min(a, b), h.dx*a, h.higher[i]
	}
	f := fourier.NewFFT(r)
	h.lower, h.centre, h.upper = f.Coefficients(nil, low), f.Coefficients(nil, mid), f.Coefficients(nil, high)
	return h
}

// peak returns the cell of the maximum of ω and the maximum, which is sought between
// the neighbours of the largest value on the grid.
func (h *algorithm1) peak(omega lossDensity, w []float64) (cell int, top float64) {
	best := floats.MaxIdx(w)
	point := func(i int) float64 { return -h.l + float64(i)*h.dx }
	lo, hi := point(max(0, best-1)), point(min(h.r, best+1))
	at := lo
	xmath.GoldenSection(func(t float64) float64 {
		v := omega.at(t)
		if v > top {
			at, top = t, v
		}
		return -v
	}, lo, hi, 1e-8*(hi-lo))
	return min(h.r-1, max(0, int(math.Floor((at+h.l)/h.dx)))), top
}

// forgotten is the mass up to which the authors' error term leaves a cell out: they
// filter by numpy's isclose, whose absolute tolerance it is.
const forgotten = 1e-8

// wrap returns the authors' term for what the convolution wraps around, with λ = L/2,
// after k runs: Theorem 7 of Koskela and Honkela (arXiv:2102.12412), over the cells
// with more mass than least.
func (h *algorithm1) wrap(k int, least float64) float64 {
	lambda := h.l / 2
	alpha := func(sign float64) float64 {
		var terms []float64
		for i, m := range h.higher {
			if m > least {
				terms = append(terms, xmath.Log(m)+sign*lambda*(-h.l+float64(i)*h.dx))
			}
		}
		return floats.LogSumExp(terms)
	}
	common := -lambda*h.l - math.Log1p(-math.Exp(-2*lambda*h.l))
	return math.Exp(float64(k)*alpha(1)+common) + math.Exp(float64(k)*alpha(-1)+common)
}

// delta returns the paper's lower, central and upper values of δ(ε) after k
// runs, with the error term of the authors' code. None is a bound.
func (h *algorithm1) delta(eps float64, k int) (lower, centre, upper float64) {
	read := func(z []complex128) (delta float64) {
		w := make([]complex128, len(z))
		for j, v := range z {
			w[j] = cmplx.Pow(v, complex(float64(k), 0))
		}
		u := fourier.NewFFT(h.r).Sequence(nil, w)
		first := sort.Search(h.r, func(i int) bool { return -h.l+float64(i)*h.dx > eps })
		for i := first; i < h.r; i++ {
			s := -h.l + float64(i)*h.dx
			delta += -math.Expm1(eps-s) * u[(i+h.r/2)%h.r] / float64(h.r)
		}
		return delta
	}
	e := h.wrap(k, forgotten)
	unit := func(x float64) float64 { return min(1, max(0, x)) }
	return unit(read(h.lower) - e), read(h.centre), unit(read(h.upper) + e)
}

// Densities of privacy losses: closed forms for Poisson sampling, without replacement (the paper's
// supplement S6) and the Gaussian mechanism, and for any pair of normal mixtures a root per point with a
// difference quotient, as the authors compute sampling with replacement and their two stages.

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
