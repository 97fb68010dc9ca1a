// §7, pair B: the loss that is attained when all other records agree with the
// substitute. A lower profile under substitution, exact under add-remove (§8).

package copies

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// GaussianAttack is the pair (Σ_u p_u N(uθ, 1), N(0, 1)): all other records agree with
// the substitute (docs/theory/subsampling.md §7, pair B). Its loss log Σ p_u e^{uθx − u²θ²/2}
// increases in the output x, from log p_0.
type GaussianAttack struct {
	shifts
}

// NewGaussianAttack moves what the table leaves out to u = 0, which only lowers the
// divergence: every set {x > t} loses P-mass.
func NewGaussianAttack(law Law, theta float64) *GaussianAttack {
	return &GaussianAttack{shifts{law, theta}}
}

// Cost implements hook.Costly.
func (p *GaussianAttack) Cost() float64 { return p.cost(perCopy) }

// threshold returns the output at which the loss is ε, and its error; ok is
// false for ε ≤ log p_0, where every output has more.
func (p *GaussianAttack) threshold(eps, tol float64) (x, dx float64, ok bool) {
	logC, dLogC, ok := p.excess(eps, tol)
	if !ok {
		return math.Inf(-1), 0, false
	}
	x, dx = p.solve(1, logC, dLogC)
	return x, dx, true
}

// excess returns log(e^ε − p_0) and its error; ok is false for ε ≤ log p_0.
func (p *GaussianAttack) excess(eps, tol float64) (logC, dLogC float64, ok bool) {
	known, at := max(p.EtaErr, p.Err[0]), max(eps, min(0, p.LogNone))
	switch {
	case math.IsInf(p.LogNone, -1):
		logC = eps
	case eps > 40:
		logC = xmath.LogSub(eps, p.LogNone)
	case eps > p.LogNone/2 && p.LogNone > -1: // else e^ε is far from p_0
		logC = xmath.Log(math.Expm1(eps) + p.Eta)
		known, at = p.EtaErr, max(eps, 0) // η ≤ 1
	case eps-p.LogNone > 40:
		logC = xmath.LogSub(eps, p.LogNone)
	default:
		logC = p.LogNone + xmath.Log(math.Expm1(eps-p.LogNone))
	}
	if math.IsNaN(logC) || math.IsInf(logC, -1) {
		return logC, 0, false
	}
	// The error of c: that of ε (times e^ε), of η or p_0, and a rounding.
	// Its effect on log c grows towards the edge, where c may be all error.
	d := math.Exp(min(700, eps-logC))*math.Expm1(min(tol+4*xmath.U*(1+math.Abs(eps)), 1)) + known*math.Exp(at-logC)
	dLogC = 750
	if d < 1 {
		dLogC = min(dLogC, -math.Log1p(-d))
	}
	return logC, dLogC + 4*xmath.U*math.Abs(logC), true
}

// solve returns the x at which log Σ_{u≥first} p_u r_u(x) is logC: convex and
// increasing in x, so that Newton's method falls monotonically to the root from
// any point at its right, such as the leftmost root of a single term.
func (c *shifts) solve(first int, logC, dLogC float64) (x, dx float64) {
	x = math.Inf(1)
	for u := first; u <= c.Last(); u++ {
		if math.IsInf(c.LogP[u], -1) {
			continue
		}
		s := float64(u) * c.theta
		x = min(x, (logC-c.LogP[u])/s+s/2)
	}
	for i := 0; ; i++ {
		sum, slope, bend, size := newLogSum(), 0.0, 0.0, 0.0
		top := math.Inf(-1)
		for u := first; u <= c.Last(); u++ {
			e := c.Exponent(u, x) + c.LogP[u]
			if e < top-far || math.IsInf(e, -1) {
				continue
			}
			if e > top {
				f := math.Exp(top - e)
				slope, bend, size, top = slope*f, bend*f, size*f, e
			}
			w := math.Exp(e - top)
			s := float64(u) * c.theta
			slope += w * s
			bend += w * s * s
			size += w * (c.Err[u] + xmath.U*(4+4*s*math.Abs(x)+3*s*s+2*math.Abs(e)))
			sum.add(e, 0)
		}
		slope /= sum.s
		step := (sum.now() - logC) / slope
		x -= step
		if !(step > 1e-14*(1+math.Abs(x))) || i == 200 {
			return x, math.Abs(step) + moves(size/sum.s+dLogC, slope, bend/sum.s, float64(max(1, first))*c.theta) + 4*xmath.U*math.Abs(x)
		}
	}
}

// moves bounds by how much the output moves for a sum whose logarithm moves by d,
// from its derivatives over itself and the least slope of its logarithm. To the right
// d/slope would do, as the logarithm is convex; to the left the slope falls, but the
// sum's second derivative falls, too.
func moves(d, slope, bend, least float64) float64 {
	fall := -math.Expm1(-d)
	if root := slope*slope - 2*bend*fall; root > 0 {
		return max(d/slope, min(d/least, 2*fall/(slope+math.Sqrt(root))))
	}
	return d / least
}

func (p *GaussianAttack) Tails(eps, tol float64) profiles.Tails {
	x, dx, ok := p.threshold(eps, tol)
	if !ok {
		return everything()
	}
	var t profiles.Tails
	var e1 float64
	t.P, e1 = p.mixedTail(x, dx, 1)
	t.Q = xmath.LogNormalTail(x)
	t.Err = max(e1, normalErr(t.Q, x, dx))
	t.PC, e1 = p.mixedTail(-x, dx, -1)
	t.QC = xmath.LogNormalTail(-x)
	t.ErrC = max(e1, normalErr(t.QC, -x, dx))
	return t
}

// everything is the tails below the whole support.
func everything() profiles.Tails {
	inf := math.Inf(-1)
	return profiles.Tails{P: 0, Q: 0, PC: inf, QC: inf}
}

func (p *GaussianAttack) Support() profiles.Support {
	return profiles.Support{Min: xmath.Down(p.LogNone, 8), Max: math.Inf(1), LogPInf: math.Inf(-1), LogQInf: math.Inf(-1), Spike: p.LogNone}
}
