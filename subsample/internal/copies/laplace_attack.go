// §7, pair B, for Laplace noise: attained when all other records agree with the
// substitute.

package copies

import (
	"math"
	"sort"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// LaplaceAttack is the pair (Σ_u p_u Lap(uθ), Lap(0)) of scale 1. Its loss
//
//	L(t) = log Σ_u p_u e^{|t| − |t − uθ|}
//
// increases from t = 0 to the last centre and is constant outside: two atoms.
//
// Outputs beyond the centre of a number of copies from which on the loss hardly
// changes any more are taken for one: an adversary who does not look closer loses
// next to nothing, and no lattice could resolve the steps, each a small fraction
// of the one before, in which the loss grows there.
type LaplaceAttack struct {
	shifts
	low  []float64 // low[k] = log Σ_{u≤k} p_u e^{uθ}
	high []float64 // high[k] = log Σ_{u>k} p_u e^{−uθ}
	knot []float64 // knot[k] = L(kθ)
	err  float64   // of the three
	last int       // centres from here on are one outcome
	top  float64   // its loss
}

// blur is how much of the range of the loss may lie beyond the outcomes that are
// told apart.
const blur = 1e-3

// perTerm bounds the roundings of a term that comes to a sum whose terms ascend: of the exponential of the distance to the
// largest one so far, which rounds the more the less it leaves, of the product and of the sum.
const perTerm = 5

func NewLaplaceAttack(law Law, theta float64) *LaplaceAttack {
	p := &LaplaceAttack{shifts: shifts{law, theta}}
	n := len(law.LogP)
	p.low, p.high, p.knot = make([]float64, n), make([]float64, n), make([]float64, n)
	worst, size := 0.0, 0.0
	sum := newLogSum()
	for k, l := range law.LogP {
		sum.add(l+float64(k)*theta, 0)
		p.low[k] = sum.now()
		if !math.IsInf(l, -1) { // the largest loss may come from a rare u
			worst = max(worst, law.Err[k])
		}
	}
	sum = newLogSum()
	for k := n - 1; k >= 0; k-- {
		p.high[k] = sum.now()
		sum.add(law.LogP[k]-float64(k)*theta, 0)
		p.knot[k] = xmath.LogAdd(p.low[k], p.high[k]+2*float64(k)*theta)
		size = max(size, math.Abs(p.knot[k]), xmath.FiniteAbs(p.low[k]), float64(k)*theta)
	}
	p.err = worst + xmath.U*(8+4*size+float64(perTerm*n))
	lo, hi := p.knot[0], p.knot[n-1]
	for p.last < n-1 && hi-p.knot[p.last] > blur*(hi-lo) {
		p.last++
	}
	t := p.beyond(float64(p.last)*theta, 0)
	p.top = max(p.knot[p.last], t.P-t.Q)
	p.err += 2 * t.Err
	return p
}

func (p *LaplaceAttack) ends() (lo, hi float64) { return p.knot[0], p.top }

func (p *LaplaceAttack) Tails(eps, tol float64) profiles.Tails {
	lo, hi := p.ends()
	inf := math.Inf(-1)
	switch {
	case eps < lo:
		return everything()
	case eps >= hi:
		return profiles.Tails{P: inf, Q: inf, PC: 0, QC: 0}
	}
	// On the segment that starts at knot k: e^ε = e^low + e^{2t + high}.
	k := sort.SearchFloat64s(p.knot, math.Nextafter(eps, math.Inf(1))) - 1
	k = min(max(k, 0), p.last)
	t, dt := 0.0, 0.0
	if k == p.last {
		t = float64(k) * p.theta // one outcome is left
	} else if eps > lo {
		rest := xmath.LogSub(eps, p.low[k])
		left, right := float64(k)*p.theta, float64(k+1)*p.theta
		t = min(max(left, (rest-p.high[k])/2), right)
		if math.IsInf(rest, -1) {
			t = left
		}
		// The difference magnifies the error of ε and low by e^{ε−rest}; the
		// segment bounds it.
		dt = min((tol+p.err+2*xmath.U*math.Abs(eps))*(1+math.Exp(min(100, eps-rest))), right-left)
	}
	return p.beyond(t, dt)
}

// beyond returns the tails of the outputs above t ≥ 0, which is known to dt.
func (p *LaplaceAttack) beyond(t, dt float64) profiles.Tails {
	above, below := newLogSum(), newLogSum()
	for u, l := range p.LogP {
		if math.IsInf(l, -1) {
			continue
		}
		centre := float64(u) * p.theta
		up, down := laplaceTails(t - centre)
		// A tail moves by at most what the output moves; the roundings are of centre, distance, tail and term.
		e := p.Err[u] + dt + xmath.U*(4+t+4*centre+math.Abs(l))
		above.add(l+up, e)
		below.add(l+down, e)
	}
	var r profiles.Tails
	r.P, r.Err = above.value(perTerm * len(p.LogP))
	r.PC, r.ErrC = below.value(perTerm * len(p.LogP))
	r.Q, r.QC = laplaceTails(t)
	e := dt + xmath.U*(4+2*t)
	r.Err, r.ErrC = max(r.Err, e), max(r.ErrC, e)
	return r
}

// laplaceTails returns log P(X > y) and log P(X ≤ y) for X ~ Lap(0, 1).
func laplaceTails(y float64) (up, below float64) {
	if y >= 0 {
		up = -y - math.Ln2
		return up, xmath.Log1mExp(up)
	}
	below = y - math.Ln2
	return xmath.Log1mExp(below), below
}

func (p *LaplaceAttack) Support() profiles.Support {
	lo, hi := p.ends()
	return profiles.Support{Min: lo, Max: hi, LogPInf: math.Inf(-1), LogQInf: math.Inf(-1),
		Atoms: []float64{lo, hi}, Spike: hi, LossErr: p.err}
}

// Knots returns the outputs between which the loss is one exponential.
func (p *LaplaceAttack) Knots() []float64 { return p.knot[:p.last+1] }
