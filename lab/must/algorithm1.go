// Algorithm 1 of Zhao and Liu (arXiv:2312.13389) as its authors run it: with the
// closed forms of their supplement S6 where it has them, the cell of the peak and
// the error term of their notebook. It reproduces their Figure S2 and the last
// column of their Table 8; none of its values is a bound of this library.

package main

import (
	"math"
	"math/cmplx"
	"sort"

	"github.com/dpaccountant/accountant/internal/xmath"
	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
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
