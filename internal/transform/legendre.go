// The error of Gauss–Legendre quadrature by the Bernstein ellipse.
//
// Let f be analytic inside the ellipse of foci ±1 whose semi-axes add up to ρ, and
// |f| ≤ B there. Its Chebyshev coefficients are at most 2Bρ^{−k}. n nodes integrate
// all polynomials of degree 2n − 1, odd ones are integrated to 0, and for an even k
// the integral of T_k is at most 2/(k² − 1) and its sum at most 2 (the weights are positive
// and add up to 2). For n ≥ 2 the error is thus at most
//
//	Σ_{k=2n,2n+2,…} 2Bρ^{−k}·(2 + 2/15) = (64/15)·B·ρ^{−2n}/(1 − ρ^{−2}).
//
// (Trefethen, Approximation Theory and Approximation Practice, Theorem 19.3.)
//
// It assumes that f is analytic within the ellipses that are tried. It returns the least number of nodes whose error is
// proved to be small enough.

package transform

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// legendreSizes are the numbers of nodes that are used, ascending.
var legendreSizes = []int{4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32}

// legendreErr bounds the relative error of the weights of these, and a node is wrong
// by at most 4 u: the tests compare them with long arithmetic.
const legendreErr = 16 * xmath.U

var legendreTables [33]struct {
	once sync.Once
	x, w []float64
}

// legendre returns the nodes and weights of the rule with n nodes on [−1, 1].
func legendre(n int) (x, w []float64) {
	t := &legendreTables[n]
	t.once.Do(func() {
		t.x, t.w = make([]float64, n), make([]float64, n)
		quad.Legendre{}.FixedLocations(t.x, t.w, -1, 1)
	})
	return t.x, t.w
}

// heights of the ellipses that are tried, below π, where g has zeros, and as multiples
// of half of the range.
var (
	heights      = []float64{2.9, 2.3, 1.7}                           // steers: time for nodes
	rangeHeights = []float64{0.3, 0.6, 1, 1.6, 2.5, 4, 8, 16, 32, 64} // steers: time for nodes
)

// ellipses calls f with the heights for a half-length h.
func ellipses(h float64, f func(y float64)) {
	for _, y := range heights {
		f(y)
	}
	for _, s := range rangeHeights {
		if y := s * h; y < heights[0] {
			f(y)
		}
	}
}

// enough returns the number of nodes that brings the error on [v0, v1] of p below the
// tolerance, and the logarithm of a bound of that error; ok is false if more
// than the most nodes are needed, which are returned then.
func (r *rule) enough(p *Piece, v0, v1 float64) (n int, logErr float64, ok bool) {
	most := legendreSizes[len(legendreSizes)-1]
	need, at, rate := math.Inf(1), 0.0, 0.0
	ellipses((v1-v0)/2, func(y float64) {
		b, logRho := r.ellipse(p, v0, v1, y)
		if k := (b - r.logTol) / (2 * logRho); k < need {
			need, at, rate = k, b, logRho
		}
	})
	if math.IsInf(at, -1) {
		return legendreSizes[0], at, true
	}
	n = most
	for _, s := range legendreSizes {
		if float64(s) >= need {
			n = s
			break
		}
	}
	logErr = at - 2*float64(n)*rate
	logErr += 1e-9 + 64*xmath.U*math.Abs(at) // rounding of the bound itself
	if math.IsNaN(logErr) || math.IsInf(need, 1) {
		return most, math.Inf(1), false
	}
	return n, logErr, float64(n) >= need
}

// widestArg returns the largest arg(x + re^{iφ}) for 0 ≤ r ≤ 1 and 0 ≤ φ ≤ y < π. It grows
// with r. With φ it grows up to cos φ = −1/x, where it is asin 1/x, and falls from there.
func widestArg(x, y float64) float64 {
	if sin, cos := math.Sincos(y); x*cos > -1 {
		return math.Atan2(sin, x+cos)
	}
	return math.Asin(1 / x)
}

// ellipse returns log ρ of the ellipse of half-height y around [v0, v1], and the logarithm
// of ρ^{2n} times the error of n nodes.
func (r *rule) ellipse(p *Piece, v0, v1, y float64) (logBound, logRho float64) {
	h, mid := (v1-v0)/2, v0+(v1-v0)/2
	s := y / h // (ρ − 1/ρ)/2
	logRho = math.Asinh(s)
	reach := h * math.Hypot(1, s)
	left, right := mid-reach, mid+reach
	// |g| is at most g at the right end; the two terms of g enclose an angle of at most y, so
	// that |g| ≥ g·cos(y/2).
	hi, _ := p.logRatio(right, 0)
	lo, _ := p.logRatio(left, 0)
	lo += xmath.Log(math.Cos(y / 2))
	hi, lo = hi+1e-9, lo-1e-9
	logJump := xmath.Log(p.Share) + right - p.Center
	arg := y
	if floor := p.Floor * (1 - 1e-9); floor > 0 {
		arg = widestArg(math.Exp(min(700, xmath.Log(floor)-logJump)), y) * (1 + 1e-9)
	}
	// |L| = |log g|: by its parts, or by its series.
	size := max(hi, -lo) + arg
	far := max(math.Abs(right-p.Center), math.Abs(left-p.Center))
	// |e^w − 1| ≤ e^{max(0, Re w)}·|w|, |w| ≤ far + y.
	if rho := p.Lift + p.Share*math.Exp(min(700, max(0, right-p.Center)))*(far+y); rho <= 0.5 {
		size = min(size, -math.Log1p(-rho))
	}
	logP := p.LogWeight - 2*math.Ln2 - left/2
	lHi, lLo := -lo, -hi
	if !p.Reversed {
		logP += hi
		lHi, lLo = hi, lo
	}
	tilt := max(r.theta*lHi, r.theta*lLo) + r.t*arg
	logF := logP + tilt
	if r.second {
		// |ex(w)| ≤ ½|w|²e^{max(0, Re w)}.
		z := math.Hypot(r.theta, r.t)
		logF = logP + 2*xmath.Log(size) + xmath.LogAdd(2*xmath.Log(z)+max(0, tilt), xmath.Log(z)+max(0, -lLo)) - math.Ln2
	}
	return xmath.Log(64.0/15) + xmath.Log(h) + logF - xmath.Log(-math.Expm1(-2*logRho)), logRho
}
