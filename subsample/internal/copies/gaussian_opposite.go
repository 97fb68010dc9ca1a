// §7, pair A: the pair that Zhao and Liu 2023 compose (equations 6 to 8). No bound.

package copies

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// GaussianOpposite is the pair (Σ_u p_u N(uθ/2, 1), Σ_u p_u N(−uθ/2, 1)): all other
// records contribute 0 and the two substitutes are opposite (docs/theory/subsampling.md §7,
// pair A; equations (7) and (8) of Zhao and Liu 2023). Its loss is odd and
// increasing. What the table leaves out is moved to u = 0.
type GaussianOpposite struct{ shifts }

// NewGaussianOpposite returns the pair at noise 1 with distance theta for each copy.
func NewGaussianOpposite(law Law, theta float64) *GaussianOpposite {
	return &GaussianOpposite{shifts{law, theta / 2}}
}

// side returns log Σ p_u e^{uφx − u²φ²/2} with its slope and the size of its
// rounding error; relative accuracy is kept where it is near 0.
func (p *GaussianOpposite) side(x float64) (log, slope, size float64) {
	top := 0.0
	end := p.Last()
	for u := range p.LogP {
		e := p.Exponent(u, x)
		top = max(top, e+p.LogP[u])
		// Past the peak of the ratios the rest is less than what is above.
		if float64(u)*p.theta > x && p.LogAbove[u]+max(0, e) < top+min(0, math.Log(p.Eta)+math.Log(min(1, math.Abs(x)+p.theta)))-70 {
			end = u
			break
		}
	}
	var a, w, e float64
	for u := 1; u <= end; u++ {
		if math.IsInf(p.LogP[u], -1) {
			continue
		}
		x0, s := p.Exponent(u, x), float64(u)*p.theta
		var term, full float64
		if top < 30 {
			full = math.Exp(p.LogP[u] + x0)
			term = math.Exp(p.LogP[u]) * math.Expm1(min(x0, 700))
			if x0 > 30 {
				term = full
			}
		} else {
			full = math.Exp(p.LogP[u] + x0 - top)
			term = full
		}
		a += term
		w += full * s
		e += math.Abs(term)*(p.Err[u]+xmath.U*(4+2*math.Abs(p.LogP[u]))) + full*xmath.U*4*s*(math.Abs(x)+s)
	}
	if top < 30 {
		return math.Log1p(a), w / (1 + a), e/(1+a) + 4*xmath.U*math.Abs(a)/(1+a)
	}
	a += math.Exp(p.LogNone - top)
	return top + math.Log(a), w / a, e/a + 4*xmath.U*top
}

func (p *GaussianOpposite) loss(x float64) (loss, slope, size float64) {
	f, fs, fe := p.side(x)
	g, gs, ge := p.side(-x)
	return f - g, fs + gs, fe + ge + xmath.U*(math.Abs(f)+math.Abs(g))
}

// threshold solves loss = ε by Newton's method inside a bracket.
func (p *GaussianOpposite) threshold(eps, tol float64) (x, dx float64) {
	if eps < 0 {
		x, dx = p.threshold(-eps, tol)
		return -x, dx
	}
	_, s0, _ := p.loss(0)
	if eps == 0 {
		return 0, tol / s0
	}
	lo, hi := 0.0, 1.0
	for l, _, _ := p.loss(hi); l < eps; l, _, _ = p.loss(hi) {
		lo, hi = hi, 2*hi
	}
	x = lo + (hi-lo)/2
	for range 200 {
		l, slope, size := p.loss(x)
		if l < eps {
			lo = x
		} else {
			hi = x
		}
		next := x - (l-eps)/slope
		if math.Abs(next-x) <= 1e-15*math.Abs(x) || hi-lo <= 2*xmath.U*hi {
			return x, math.Abs(next-x) + (tol+size+2*xmath.U*eps)/slope*(1+1e-6) + 4*xmath.U*x
		}
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		x = next
	}
	return x, hi - lo
}

// SelfReverse implements profiles.SelfReverser.
func (p *GaussianOpposite) SelfReverse() bool { return true }

func (p *GaussianOpposite) Tails(eps, tol float64) profiles.Tails {
	x, dx := p.threshold(eps, tol)
	var t profiles.Tails
	var e1, e2 float64
	t.P, e1 = p.mixedTail(x, dx, 1)
	t.Q, e2 = p.mixedTail(x, dx, -1)
	t.Err = max(e1, e2)
	t.PC, e1 = p.mixedTail(-x, dx, -1)
	t.QC, e2 = p.mixedTail(-x, dx, 1)
	t.ErrC = max(e1, e2)
	return t
}

func (p *GaussianOpposite) Support() profiles.Support {
	return profiles.Support{Min: math.Inf(-1), Max: math.Inf(1), LogPInf: math.Inf(-1), LogQInf: math.Inf(-1), Spike: math.NaN()}
}
