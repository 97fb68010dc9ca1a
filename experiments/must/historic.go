package main

import (
	"fmt"
	"math"
	"math/cmplx"
	"sort"

	"gonum.org/v1/gonum/dsp/fourier"
)

// algorithm1 is the Fourier accountant of Zhao and Liu (arXiv:2312.13389,
// Algorithm 1) for a pair of any normal mixtures: the privacy loss density on r
// points of [−L, L), its inverse found point by point, its derivative a
// difference quotient (the paper has closed forms of both for Poisson sampling
// and without replacement, and this for its two stages), and a circular
// convolution.
//
// It is an estimate for reproduction and no bound, whatever its three values are
// called. That they bound is not proved, and on a coarse grid it is false, with
// closed forms too: the masses of a cell are moved to its left end, so that one
// Gaussian run with Δ/σ = 1, L = 10, r = 100 has the "upper" δ(2) = 0.020495 and
// the exact 0.020924. With the difference quotient a narrow peak may fall between
// two points; and the paper's pairs do not dominate
// (docs/theory/must-composition.md). Use package accountant instead.
type algorithm1 struct {
	l, dx              float64
	r                  int
	lower, mid, higher []complex128
}

// A normalMixture is Σ Weight_i N(Mean_i, σ²).
type normalMixture struct {
	Weight, Mean []float64
}

// newAlgorithm1 prepares the estimate for one run with the pair (p, q) of mixtures
// with noise sigma, whose privacy loss must increase with the output.
func newAlgorithm1(p, q normalMixture, sigma, l float64, r int) (*algorithm1, error) {
	switch {
	case !(sigma > 0) || math.IsInf(sigma, 1):
		return nil, fmt.Errorf("historic: sigma: %v is not in (0, ∞)", sigma)
	case !(l > 0 && l <= 1000):
		return nil, fmt.Errorf("historic: l: %v is not in (0, 1000]", l)
	case r < 4 || r%2 != 0 || r > 1<<24:
		return nil, fmt.Errorf("historic: r: %d is not an even number in [4, %d]", r, 1<<24)
	}
	for name, m := range map[string]normalMixture{"p": p, "q": q} {
		if len(m.Weight) == 0 || len(m.Weight) != len(m.Mean) {
			return nil, fmt.Errorf("historic: %s: has %d weights and %d means, which is not in [1, ∞) of each", name, len(m.Weight), len(m.Mean))
		}
	}
	h := &algorithm1{l: l, dx: 2 * l / float64(r), r: r}
	h.transform(h.density(newLogMixture(p, sigma), newLogMixture(q, sigma)))
	return h, nil
}

// transform prepares the transforms of the density at the r+1 points.
func (h *algorithm1) transform(omega []float64) {
	r := h.r
	c := [3][]float64{make([]float64, r), make([]float64, r), make([]float64, r)}
	for i := range r {
		a, b := omega[i], omega[i+1]
		// Half the interval is swapped: index 0 is loss 0.
		j := (i + r/2) % r
		c[0][j], c[1][j], c[2][j] = h.dx*min(a, b), h.dx*a, h.dx*max(a, b)
	}
	f := fourier.NewFFT(r)
	h.lower, h.mid, h.higher = f.Coefficients(nil, c[0]), f.Coefficients(nil, c[1]), f.Coefficients(nil, c[2])
}

// density returns ω at the r+1 points: f(g(s))·(g(s+dx) − g(s))/dx with g the
// inverse of the loss, 0 where the loss does not reach s.
func (h *algorithm1) density(p, q logMixture) []float64 {
	loss := func(t float64) float64 { return p.log(t) - q.log(t) }
	far := 1e4 * p.sigma // beyond, differences of the log densities drown in rounding
	reach := func(s float64) bool { return loss(-far) < s && s < loss(far) }
	n := h.r + 2
	g := make([]float64, n)
	in := make([]bool, n)
	lo := -1.0
	for i := range n {
		s := -h.l + float64(i)*h.dx
		if in[i] = reach(s); !in[i] {
			continue
		}
		if i == 0 || !in[i-1] {
			for loss(lo) >= s {
				lo *= 2
			}
		} else {
			lo = g[i-1]
		}
		// The next root is about where the last step leads.
		step := 1e-3
		if i > 1 && in[i-2] {
			step = 2 * (g[i-1] - g[i-2])
		}
		hi := lo + step
		for loss(hi) < s {
			lo, hi = hi, hi+2*(hi-lo)
		}
		g[i] = root(func(t float64) float64 { return loss(t) - s }, lo, hi)
	}
	omega := make([]float64, h.r+1)
	for i := range omega {
		if in[i] && in[i+1] {
			omega[i] = math.Exp(p.log(g[i])) * (g[i+1] - g[i]) / h.dx
		}
	}
	return omega
}

// root finds the zero of an increasing f in [lo, hi] by the Illinois method.
func root(f func(float64) float64, lo, hi float64) float64 {
	a, b := f(lo), f(hi)
	for range 100 {
		if hi-lo <= 1e-12*(1+math.Abs(hi)) || b == a {
			break
		}
		t := hi - b*(hi-lo)/(b-a)
		if !(t > lo && t < hi) {
			t = lo + (hi-lo)/2
		}
		y := f(t)
		if math.Abs(y) < 1e-13 {
			return t
		}
		if y > 0 {
			if hi, b = t, y; a < 0 {
				a /= 2
			}
		} else {
			if lo, a = t, y; b > 0 {
				b /= 2
			}
		}
	}
	return lo + (hi-lo)/2
}

// delta returns the paper's lower, central and upper values of δ(ε) after k
// runs. None is a bound.
func (h *algorithm1) delta(eps float64, k int) (lower, center, upper float64) {
	out := [3]float64{}
	for i, z := range [][]complex128{h.lower, h.mid, h.higher} {
		w := make([]complex128, len(z))
		for j, v := range z {
			w[j] = cmplx.Pow(v, complex(float64(k), 0))
		}
		u := fourier.NewFFT(h.r).Sequence(nil, w)
		first := sort.Search(h.r, func(i int) bool { return -h.l+float64(i)*h.dx > eps })
		for i2 := first; i2 < h.r; i2++ {
			s := -h.l + float64(i2)*h.dx
			out[i] += -math.Expm1(eps-s) * u[(i2+h.r/2)%h.r] / float64(h.r)
		}
	}
	return out[0], out[1], out[2]
}

// logMixture evaluates the logarithm of a mixture's density.
type logMixture struct {
	logW, mean []float64
	sigma      float64
}

func newLogMixture(m normalMixture, sigma float64) logMixture {
	l := logMixture{sigma: sigma}
	top := 0.0
	for _, w := range m.Weight {
		top = max(top, w)
	}
	for i, w := range m.Weight {
		if w > 0 {
			l.logW, l.mean = append(l.logW, math.Log(w)), append(l.mean, m.Mean[i])
		}
	}
	return l
}

func (l logMixture) log(t float64) float64 {
	top, s := math.Inf(-1), 0.0
	for i, w := range l.logW {
		z := (t - l.mean[i]) / l.sigma
		e := w - z*z/2
		switch {
		case e < top-40:
		case e > top:
			s, top = s*math.Exp(top-e)+1, e
		default:
			s += math.Exp(e - top)
		}
	}
	return top + math.Log(s) - math.Log(l.sigma) - 0.5*math.Log(2*math.Pi)
}
