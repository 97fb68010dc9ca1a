// Sums over the copies in plain numbers, where those give what logarithms give: a
// speed-up of the files below, which proves nothing.

package copies

import (
	"math"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// fastSums evaluates sums over the numbers of copies in plain numbers. The
// likelihood ratios r_u = e^{uθx − u²θ²/2} are those at an anchor near x times the
// powers of one number, and the normal tails follow from them by Mills' ratio,
// Φ̄(x − uθ) = φ(x)·r_u(x)·R(x − uθ): one exponential for all u.
type fastSums struct {
	*shifts
	ratio *xmath.TailRatio

	p              []float64 // Pr[U = u]
	above, below   []float64 // Pr[U ≥ u] of the table, Pr[U < u]
	aboveE, belowE []float64 // absolute errors of these
	anchors        [2*lastAnchor + 1]atomic.Pointer[anchor]
}

// An anchor holds q_u = p_u r_u at x = 4k, with bounds of the relative rounding
// errors of q_u·w^u at |x − 4k| ≤ 2, and of Φ̄ by it. What is left out is below
// e^−far of what is not, there and left of there.
type anchor struct{ q, rough []float64 }

const (
	fastReach  = 36 // outputs up to which the squares' exponentials stay in range
	lastAnchor = fastReach / 4
)

// newPowers returns nil where one cannot do without logarithms, or the law is
// too long or its copies too close for sums of all to pay.
func newFastSums(c *shifts) *fastSums {
	if !(c.theta >= 1./64 && c.theta <= 7) || len(c.LogP) > 2048 {
		return nil
	}
	n := len(c.LogP)
	w := &fastSums{shifts: c, ratio: xmath.Ratios(), p: make([]float64, n),
		above: make([]float64, n+1), below: make([]float64, n+1), aboveE: make([]float64, n+1), belowE: make([]float64, n+1)}
	for u, l := range c.LogP {
		w.p[u] = math.Exp(l)
	}
	// Compensated sums of exponentials: 4 u, and u for each rounding of a logarithm.
	own := func(u int) float64 { return w.p[u] * (c.Err[u] + xmath.U*(4+xmath.FiniteAbs(c.LogP[u]))) }
	var s xmath.Sum
	for u := n - 1; u >= 0; u-- {
		s.Add(w.p[u])
		w.above[u], w.aboveE[u] = s.Value(), w.aboveE[u+1]+own(u)
	}
	s = xmath.Sum{}
	for u := range n {
		s.Add(w.p[u])
		w.below[u+1], w.belowE[u+1] = s.Value(), w.belowE[u]+own(u)
	}
	return w
}

// at returns the anchor of x and the power of one copy; nil where x is too far.
func (w *fastSums) at(x float64) (a *anchor, power float64) {
	if !(math.Abs(x) <= fastReach) {
		return nil, 0
	}
	k := int(math.RoundToEven(x / 4))
	p := &w.anchors[k+lastAnchor]
	if a = p.Load(); a == nil {
		a = w.anchor(4 * float64(k))
		p.Store(a)
	}
	if len(a.q) == 0 {
		return nil, 0
	}
	return a, math.Exp(w.theta * (x - 4*float64(k)))
}

func (w *fastSums) anchor(x float64) *anchor {
	logs, top := make([]float64, len(w.p)), math.Inf(-1) // at the right end
	for u, l := range w.LogP {
		logs[u] = l + w.Exponent(u, x+2)
		if u > 0 {
			top = max(top, logs[u])
		}
	}
	m, rest := len(logs), 0.0
	for ; m > 2; m-- {
		if rest += math.Exp(logs[m-1] - top); rest > math.Exp(-far)/2 {
			break
		}
	}
	a := &anchor{}
	// Nothing must underflow that counts at the left end.
	if m < 2 || !(top-4*float64(m)*w.theta > -600) {
		return a
	}
	for u := range m {
		s := float64(u) * w.theta
		e := w.LogP[u] + w.Exponent(u, x)
		a.q = append(a.q, math.Exp(e))
		// Of the exponent: u of s = uθ, of x − s/2 and of the product, and of the sum.
		// Then the exponential, u powers of 3 u and of their argument's rounding; Mills'
		// ratio of 4 u and of an argument off by (s + |x−s|)u, by whose error it moves at
		// most; density, products.
		a.rough = append(a.rough, xmath.U*(s*(math.Abs(x-s)+2*math.Abs(x-s/2))+xmath.FiniteAbs(e)+
			float64(u)*(3+2*w.theta)+s+math.Abs(x-s)+16))
	}
	return a
}

// A value is Σ_{1≤u} p_u r_u, its relative error, and the first two derivatives.
type value struct{ sum, err, slope, bend float64 }

func (w *fastSums) sum(x float64) (v value, ok bool) {
	a, power := w.at(x)
	if a == nil {
		return v, false
	}
	t := 1.0
	for u := 1; u < len(a.q); u++ {
		t *= power
		q := a.q[u] * t
		f := float64(u)
		v.sum += q
		v.slope += f * q
		v.bend += f * f * q
		v.err += q * (w.Err[u] + a.rough[u])
	}
	v.slope *= w.theta
	v.bend *= w.theta * w.theta
	v.err = v.err/v.sum + xmath.U*float64(len(a.q)) + leftOut
	return v, v.sum > 0
}

// mixed holds Σ p_u Φ̄(x − uθ) and Σ p_u Φ(x − uθ) over the first u, with absolute
// errors, and minus the derivative of the first.
type mixed struct{ up, down, upErr, downErr, density float64 }

// mixed sums over u ≤ last. With y = x − uθ a term is p_u φ(x)r_u R(y) for y ≥ 0,
// and p_u less that at −y otherwise; the two sums of these are all there is, and at
// most half of the masses that they are taken from.
func (w *fastSums) mixed(x float64, last int) (m mixed, ok bool) {
	a, power := w.at(x)
	if a == nil {
		return m, false
	}
	last = min(last, w.Last())
	end := min(last+1, len(a.q))
	split := min(max(0, int(math.Floor(x/w.theta))+1), last+1) // first u beyond x
	// φ(x), which may be next to underflow, multiplies the sums and not each power.
	phi := xmath.NormalDensity(x)
	t := 1.0
	var near, nearLaw, nearErr, off, offLaw, offErr float64
	u := 0
	for ; u < min(split, end); u++ {
		q := a.q[u] * t
		t *= power
		m.density += q
		q *= w.ratio.At(math.Abs(x - float64(u)*w.theta))
		near += q
		nearLaw += q * w.Err[u]
		nearErr += q * a.rough[u]
	}
	for ; u < end; u++ {
		q := a.q[u] * t
		t *= power
		m.density += q
		q *= w.ratio.At(math.Abs(float64(u)*w.theta - x))
		off += q
		offLaw += q * w.Err[u]
		offErr += q * a.rough[u]
	}
	m.density *= phi
	near, nearLaw, nearErr = near*phi, nearLaw*phi, nearErr*phi
	off, offLaw, offErr = off*phi, offLaw*phi, offErr*phi
	above, aboveE := w.above[split]-w.above[last+1], max(0, w.aboveE[split]-w.aboveE[last+1]*(1-1e-9))
	m.up, m.down = above-off+near, w.below[split]-near+off
	// The error of a weight counts as much as the weight.
	size := xmath.U*(float64(end)+8) + 100*leftOut // what is left out, times the ratio of Mills' ratios
	rounding := nearErr + offErr + (near+off)*size
	m.upErr = max(0, aboveE-offLaw) + nearLaw + rounding + 3*xmath.U*(above+w.above[split])
	m.downErr = max(0, w.belowE[split]-nearLaw) + offLaw + rounding + 3*xmath.U*w.below[split]
	return m, true
}

// A threshold finder: where a function of the output, with its slope, has a value.
// It is an interpolation of a table, for Newton's method to start from.
type inverse struct {
	once     sync.Once
	x, f, df []float64
}

// fill tabulates f at a distance of ½ from start on.
func (v *inverse) fill(start float64, f func(x float64) (value, slope float64, ok bool)) {
	v.once.Do(func() {
		for x := start; x <= fastReach; x += 0.5 {
			y, dy, ok := f(x)
			if !ok || len(v.f) > 0 && !(y > v.f[len(v.f)-1]) || !(dy > 0) {
				if len(v.f) > 0 {
					break
				}
				continue
			}
			v.x, v.f, v.df = append(v.x, x), append(v.f, y), append(v.df, dy)
		}
	})
}

// guess interpolates the inverse by a cubic.
func (v *inverse) guess(y float64) (x float64, ok bool) {
	n := len(v.f)
	if n < 2 || !(y >= v.f[0] && y <= v.f[n-1]) {
		return 0, false
	}
	i := min(max(1, sort.SearchFloat64s(v.f, y)), n-1)
	h := v.f[i] - v.f[i-1]
	s, w := (y-v.f[i-1])/h, v.x[i]-v.x[i-1]
	a, b := h/v.df[i-1]-w, w-h/v.df[i]
	return v.x[i-1] + s*w + s*(1-s)*(a*(1-s)+b*s), true
}
