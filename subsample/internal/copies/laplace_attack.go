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
	up   []knotSums
	down []knotSums
	last int     // centres from here on are one outcome
	top  float64 // its loss
}

// knotSums holds the logarithm of Σ p_u over the copies on one side of a knot, its
// rounding error, what errors of the p_u make of it and the least of these, and what
// rounding and they make of low or high.
type knotSums struct{ log, err, law, least, expErr, expLaw float64 }

// blur is how much of the range of the loss may lie beyond the outcomes that are
// told apart.
const blur = 1e-3

func NewLaplaceAttack(law Law, theta float64) *LaplaceAttack {
	p := &LaplaceAttack{shifts: shifts{law, theta}}
	n := len(law.LogP)
	p.low, p.high, p.knot = make([]float64, n), make([]float64, n), make([]float64, n)
	worst := 0.0
	p.up, p.down = make([]knotSums, n), make([]knotSums, n)
	// side goes through the copies of one side.
	side := func(first, last, step int, sums []knotSums, exps []float64, after bool) {
		all, exp := newLogSum(), newLogSum()
		allLaw, expLaw, least := newLogSum(), newLogSum(), math.Inf(1)
		put := func(k int) {
			v := &sums[k]
			v.log, v.err = all.value(0)
			exps[k], v.expErr = exp.now(), 0
			if exp.s > 0 {
				v.expErr = exp.mean() + xmath.U*(4+2*math.Abs(exps[k])+math.Abs(exp.top))
			} else {
				exps[k] = math.Inf(-1)
			}
			v.law, v.expLaw, v.least = allLaw.mean(), expLaw.mean(), least
			if math.IsInf(least, 1) {
				v.least = 0
			}
		}
		for k := first; k != last; k += step {
			if after {
				put(k)
			}
			if l := law.LogP[k]; !math.IsInf(l, -1) {
				t := l + float64(step*k)*theta
				all.accumulate(l, 0)
				exp.accumulate(t, xmath.U*(float64(k)*theta+math.Abs(t)))
				allLaw.add(l, law.Err[k])
				expLaw.add(t, law.Err[k])
				least = min(least, law.Err[k])
			}
			if !after {
				put(k)
			}
		}
	}
	side(0, n, 1, p.down, p.low, false)
	side(n-1, -1, -1, p.up, p.high, true)
	for k, l := range law.LogP {
		if l > -60 {
			worst = max(worst, law.Err[k])
		}
	}
	size := 0.0
	for k := range p.knot {
		p.knot[k] = xmath.LogAdd(p.low[k], p.high[k]+2*float64(k)*theta)
		size = max(size, math.Abs(p.knot[k]), xmath.FiniteAbs(p.low[k]), float64(k)*theta)
	}
	for u, l := range law.LogP { // the largest loss may come from a rare u
		if !math.IsInf(l, -1) {
			worst = max(worst, law.Err[u])
		}
	}
	p.err = worst + xmath.U*(8+4*size+float64(n))
	lo, hi := p.knot[0], p.knot[n-1]
	for p.last < n-1 && hi-p.knot[p.last] > blur*(hi-lo) {
		p.last++
	}
	t := p.beyond(p.last, float64(p.last)*theta, 0)
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
	return p.beyond(k, t, dt)
}

// beyond returns the tails of the outputs above t between knots k and k+1, which is
// known to dt: with A = ½e^{low−t} and B = ½e^{high+t}, Pr[U > k] − B + A and
// Pr[U ≤ k] − A + B.
func (p *LaplaceAttack) beyond(k int, t, dt float64) profiles.Tails {
	a, b := p.low[k]-t-math.Ln2, p.high[k]+t-math.Ln2
	near, off := &p.down[k], &p.up[k]
	move := func(x, err float64) float64 { return err + dt + 2*xmath.U*(2+t+xmath.FiniteAbs(x)) }
	aErr, bErr := move(a, near.expErr), move(b, off.expErr)
	up, below := laplaceTails(t)
	r := profiles.Tails{Q: up, QC: below}
	x, e := lessHalf(off.log, off.err, off.law, off.least, b, bErr)
	r.P, r.Err = addLogs(x, e, a, aErr+near.expLaw)
	x, e = lessHalf(near.log, near.err, near.law, near.least, a, aErr)
	r.PC, r.ErrC = addLogs(x, e, b, bErr+off.expLaw)
	r.P, r.PC = min(0, r.P), min(0, r.PC)
	e = dt + xmath.U*(4+2*t)
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

// lessHalf returns log(e^s − e^x) and its error, for a sum s of weights of which x
// takes at most half from each. sErr and xErr are rounding errors; law is what the
// errors of the weights make of s, and least the smallest of these. A weight counts
// between half and all of itself, so that its error beyond the least one weighs
// twice as much as in s at most.
func lessHalf(s, sErr, law, least, x, xErr float64) (log, err float64) {
	if math.IsInf(s, -1) {
		return s, 0
	}
	r := min(0.5, math.Exp(x-s))
	log = s + math.Log1p(-r)
	return log, relative((rise(sErr)+r*rise(xErr))/(1-r)) + 2*law - least + 4*xmath.U*(1+math.Abs(s)+math.Abs(log))
}

// addLogs returns log(e^a + e^b) and its error.
func addLogs(a, aErr, b, bErr float64) (log, err float64) {
	if a < b {
		a, aErr, b, bErr = b, bErr, a, aErr
	}
	if math.IsInf(b, -1) {
		return a, aErr
	}
	w := math.Exp(b - a)
	log = a + math.Log1p(w)
	return log, (aErr+w*bErr)/(1+w) + 4*xmath.U*(2+math.Abs(log))
}

// rise is the relative error e^err − 1 of a number whose logarithm has error err.
func rise(err float64) float64 {
	if err < 1 {
		return err * (1 + err)
	}
	return math.Expm1(err)
}

// relative is the error of the logarithm of a number with the relative error x.
func relative(x float64) float64 {
	switch {
	case x < 0.5:
		return x * (1 + x)
	case x < 1:
		return -math.Log1p(-x)
	}
	return math.Inf(1)
}
