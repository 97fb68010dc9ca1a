// §7, pair A: the pair that Zhao and Liu 2023 compose (equations 6 to 8). No bound.

package copies

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// GaussianOpposite is the pair (Σ_u p_u N(uθ/2, 1), Σ_u p_u N(−uθ/2, 1)): all other
// records contribute 0 and the two substitutes are opposite (docs/theory/subsampling.md §7,
// pair A; equations (7) and (8) of Zhao and Liu 2023). Its loss is odd and
// increasing. What the table leaves out is moved to u = 0.
type GaussianOpposite struct {
	shifts
	p      []float64 // Pr[U = u]
	logEta float64
}

// NewGaussianOpposite returns the pair at noise 1 with distance theta for each copy.
func NewGaussianOpposite(law Law, theta float64) *GaussianOpposite {
	p := &GaussianOpposite{shifts: shifts{law, theta / 2}, p: make([]float64, len(law.LogP)), logEta: xmath.Log(law.Eta)}
	for u, l := range law.LogP {
		p.p[u] = math.Exp(l)
	}
	return p
}

// Cost implements hook.Costly.
func (p *GaussianOpposite) Cost() float64 { return p.cost(perOpposite) }

// side returns log Σ p_u e^{uφx − u²φ²/2} with its slope and the size of its
// rounding error; relative accuracy is kept where it is near 0.
func (p *GaussianOpposite) side(x float64) (log, slope, size float64) {
	top := p.LogNone
	end := p.Last()
	small := min(0, p.logEta+xmath.Log(min(1, math.Abs(x)+p.theta)))
	for u := 1; u < len(p.LogP); u++ {
		e := p.Exponent(u, x)
		top = max(top, e+p.LogP[u])
		// Past the peak of the ratios the rest is less than what is above.
		if float64(u)*p.theta > x && p.LogAbove[u]+max(0, e) < min(top, 0)+small-70 {
			end = u
			break
		}
	}
	// The sum is at least e^top, and the logarithm is far from 0 outside of this.
	if top > -6 && top < 2 {
		if log, slope, size, ok := p.nearNone(x, end); ok {
			return log, slope, size
		}
	}
	a := math.Exp(p.LogNone - top)
	e := a * (p.EtaErr + p.Err[0] + xmath.U*(4+2*xmath.FiniteAbs(p.LogNone)))
	w := 0.0
	for u := 1; u <= end; u++ {
		x0, s := p.Exponent(u, x), float64(u)*p.theta
		t := p.LogP[u] + x0 - top
		if !(t > -far) {
			continue
		}
		full := math.Exp(t)
		a += full
		w += full * s
		e += full * (p.Err[u] + xmath.U*(4+2*math.Abs(p.LogP[u])+4*s*(math.Abs(x)+s)))
	}
	return top + xmath.Log(a), w / a, e/a + xmath.U*(4*math.Abs(top)+float64(end)) + float64(end)*leftOut
}

// nearNone is side as log(1 + Σ p_u(e^… − 1)); ok is false where that loses digits.
func (p *GaussianOpposite) nearNone(x float64, end int) (log, slope, size float64, ok bool) {
	var a, w, e float64
	for u := 1; u <= end; u++ {
		x0, s := p.Exponent(u, x), float64(u)*p.theta
		less := -1.0 // e^x0 − 1
		if x0 > -40 {
			less = math.Expm1(min(x0, 700))
		}
		term, full := p.p[u]*less, p.p[u]*(1+less)
		a += term
		w += full * s
		e += math.Abs(term)*(p.Err[u]+xmath.U*(4+2*xmath.FiniteAbs(p.LogP[u]))) + full*xmath.U*4*s*(math.Abs(x)+s)
	}
	if !(a > -0.5) {
		return 0, 0, 0, false
	}
	return math.Log1p(a), w / (1 + a), e/(1+a) + (4+float64(end))*xmath.U*math.Abs(a)/(1+a), true
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
	for i := 0; ; i++ {
		l, slope, size := p.loss(x)
		if l < eps {
			lo = x
		} else {
			hi = x
		}
		next := x - (l-eps)/slope
		if math.Abs(next-x) <= 1e-15*math.Abs(x) || hi-lo <= 2*xmath.U*hi || i == 199 {
			return x, p.reach(x, eps, tol, math.Abs(next-x)+(tol+size+2*xmath.U*eps)/slope*(1+1e-6)+4*xmath.U*x)
		}
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		x = next
	}
}

// reach returns a distance, dx or more, such that the loss, which increases, is beyond ε ± tol at both ends.
func (p *GaussianOpposite) reach(x, eps, tol, dx float64) float64 {
	if tol == 0 {
		return dx // of the order of roundings, over which the slope is one
	}
	for range 60 {
		up, _, upErr := p.loss(x + dx)
		down, _, downErr := p.loss(x - dx)
		if up-upErr >= eps+tol && down+downErr <= eps-tol {
			break
		}
		dx *= 1.25
	}
	return dx
}

// SelfReverse implements hook.SelfReverser.
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

// §12: an attack on zero-out in a batch of fixed size, all other records opposing the one
// whose place is emptied.

// How the outputs are told apart: cells of cellWidth up to cellReach from the centres of the
// likeliest numbers of copies. Only how much is lost depends on them, not what is proved:
// an attacker who sees cells sees less.
const (
	cellWidth   = 0.025
	cellReach   = 12
	cellCentres = 6     // numbers of copies that get cells
	cellRare    = 1e-12 // less likely ones get none
)

// NewGaussianOpposed returns the pair (Σ_u p_u N(2uθ, 1), Σ_u p_u N(uθ, 1)) with its outputs
// told apart by cells only, which is a pair that is attained: all other records are −x, where
// x is at distance theta from an empty place (docs/theory/subsampling.md §12).
func NewGaussianOpposed(law Law, theta float64) (*profiles.Discrete, error) {
	ends := cellEnds(law, theta)
	n := len(ends) + 1
	var atoms []profiles.Atom
	massErr, lossErr := 0.0, 0.0
	for i := range n {
		lo, hi := math.Inf(-1), math.Inf(1)
		if i > 0 {
			lo = ends[i-1]
		}
		if i < n-1 {
			hi = ends[i]
		}
		p, pErr := cellMass(law, 2*theta, lo, hi)
		q, qErr := cellMass(law, theta, lo, hi)
		if math.IsInf(p, -1) || math.IsInf(q, -1) {
			continue // less than any float64; left out, which only lowers
		}
		atoms = append(atoms, profiles.Atom{Loss: p - q, LogP: p, LogQ: q})
		massErr = max(massErr, pErr/(1-p), qErr/(1-q))
		lossErr = max(lossErr, pErr+qErr+xmath.U*math.Abs(p-q))
	}
	none := math.Inf(-1)
	return profiles.NewDiscrete(atoms, none, none, massErr, lossErr)
}

// cellEnds returns the ends between the cells, ascending.
func cellEnds(law Law, theta float64) []float64 {
	centres := []float64{0}
	for u := 1; u < len(law.LogP) && len(centres) < 2*cellCentres; u++ {
		if law.LogP[u] > xmath.Log(cellRare) || u == 1 {
			centres = append(centres, float64(u)*theta, 2*float64(u)*theta)
		}
	}
	slices.Sort(centres)
	var ends []float64
	for _, c := range slices.Compact(centres) {
		steps := int(2 * cellReach / cellWidth)
		for i := range steps + 1 {
			x := c - cellReach + float64(i)*cellWidth
			if len(ends) == 0 || x >= ends[len(ends)-1]+cellWidth {
				ends = append(ends, x)
			}
		}
	}
	return ends
}

// cellMass returns log Σ_u p_u P(lo < N(u·shift, 1) ≤ hi), and its error.
func cellMass(law Law, shift, lo, hi float64) (log, err float64) {
	s := newLogSum()
	n := 0
	for u, l := range law.LogP {
		if u > 0 && law.LogAbove[u]+far < s.now() {
			break
		}
		c := float64(u) * shift
		a, b := lo-c, hi-c
		round := xmath.U * (2*c + math.Abs(c)) // of the centre
		var m, e float64
		switch {
		case math.IsInf(lo, -1):
			m = xmath.LogNormalTail(-b)
			e = normalErr(m, -b, round+xmath.U*math.Abs(b))
		case math.IsInf(hi, 1):
			m = xmath.LogNormalTail(a)
			e = normalErr(m, a, round+xmath.U*math.Abs(a))
		default:
			w := hi - lo
			m, e = xmath.LogNormalBetween((a+b)/2, w)
			far := math.Abs(a+b)/2 + w/2
			moved := round + 2*xmath.U*(math.Abs(a)+math.Abs(b))
			// The interval moves by moved; its width is off by an ulp of its ends.
			e += (far+moved)*moved + 2*xmath.U*(math.Abs(lo)+math.Abs(hi))/w*(1+w*far)
		}
		s.add(l+m, law.Err[u]+e)
		n++
	}
	log, err = s.value(n)
	return log, err + leftOut
}

func notGaussian(b profiles.Mechanism) error {
	return fault.New("mechanism", "%q is not in [gaussian]", b.Name())
}
