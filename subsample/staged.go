package subsample

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// staged is the upper profile of MUST.WW for the Gaussian under substitution.
//
// must-gap.md §3: given that j of the slots hold the record, the draw is
// sampling with replacement with law s^(j), and the Q-mass of "no slot holds
// it", (α−1)π_0, may be shared among the j ≥ 1 in any way. The best shares make
// the slopes equal: with a common κ,
//
//	h(α) = Σ_j π_j h_j(α_j),  −h_j'(α_j) = κ or α_j = α,  Σ_j π_j(α_j − α) = (α−1)π_0,
//	P(L > ε) = Σ_j π_j P_j(L_j > log α_j) + π_0 κ,
//	Q(L > ε) = Σ_j π_j Q_j(L_j > log α_j) + π_0 κ.
//
// h is a partial minimum of a jointly convex function, hence convex.
type staged struct {
	logNone  float64 // log π_0
	noneErr  float64
	logPi    []float64 // log π_j, j = 1, 2, …
	piErr    []float64
	above    []float64 // log of the mass from j on, with what is left out
	item     []coupled // s^(j)
	logGiven float64   // mass given away
}

func (s FixedSize) stagedProfile(theta float64) *staged {
	pi, errs, last := s.slots()
	p := &staged{logNone: pi[0], noneErr: errs[0], logGiven: last}
	for j := 1; j < len(pi); j++ {
		p.logPi, p.piErr = append(p.logPi, pi[j]), append(p.piErr, errs[j])
		c := coupled{copies{s.drawn(j), theta}}
		p.item = append(p.item, c)
		p.logGiven = xmath.LogAdd(p.logGiven, pi[j]+c.LogAbove[len(c.LogP)])
	}
	p.above = make([]float64, len(p.logPi)+1)
	p.above[len(p.logPi)] = last
	for j := len(p.logPi) - 1; j >= 0; j-- {
		p.above[j] = xmath.LogAdd(p.above[j+1], p.logPi[j])
	}
	return p
}

func (p staged) selfReverse() bool { return true }

// at returns log P_j and log Q_j at the threshold t, without the mass given
// away, with log α_j and its slope.
func (c coupled) at(t, dt float64) (logP, logQ, logAlpha, slope, err float64) {
	logAlpha, slope, i, _ := c.average(t)
	none := xmath.LogNormalTail(t)
	e0 := normalErr(none, t, dt)
	ps, qs := newLogSum(), newLogSum()
	ps.add(c.LogNone+none, c.EtaErr+e0)
	qs.add(c.LogNone+none, c.EtaErr+e0)
	n := 1
	for u := 1; u <= c.last(); u++ {
		if w := c.LogAbove[u] + far; w < ps.now() && w-logAlpha < qs.now() {
			break
		}
		s := float64(u) * c.theta
		x, dx, q, eq := t, dt, none, e0
		if u > i {
			x = s/2 + logAlpha/s
			dx = slope * dt / s
			q = xmath.LogNormalTail(x)
			eq = normalErr(q, x, dx)
		}
		y := x - s
		l := xmath.LogNormalTail(y)
		ps.add(c.LogP[u]+l, c.Err[u]+normalErr(l, y, dx+roundOff*(2*s+math.Abs(y))))
		qs.add(c.LogP[u]+q, c.Err[u]+eq)
		n++
	}
	logP, e1 := ps.value(n)
	logQ, e2 := qs.value(n)
	return logP, logQ, logAlpha, slope, max(e1, e2) + leftOut
}

// reach moves t until log Q_j is logKappa. log Q_j + log Φ̄(t) differ slowly, so
// that steps by the normal hazard converge.
func (c coupled) reach(t, logKappa float64) float64 {
	for range 60 {
		_, q, _, _, _ := c.at(t, 0)
		step := (q - logKappa) / (t + 1/(t+1)) // the hazard, nearly
		t += step
		if math.Abs(step) < 1e-13*(1+t) {
			break
		}
	}
	return t
}

// up returns the tails for ε ≥ 0.
func (p staged) up(eps, tol float64) (logP, logQ, err float64) {
	n := len(p.item)
	t0 := make([]float64, n) // thresholds without any share
	q0 := make([]float64, n)
	top := math.Inf(-1)
	for j, c := range p.item {
		t, _, _ := c.threshold(eps, 0)
		t0[j] = t
		_, q0[j], _, _, _ = c.at(t, 0)
		top = max(top, q0[j])
		// Beyond this nothing is left to weigh.
		if p.above[j+1] < -far-40 && p.above[j+1]+t*t/2 < math.Log(math.Expm1(eps))+p.logNone-far {
			n = j + 1
			break
		}
	}
	logTarget := p.logNone + eps + xmath.Log1mExp(-eps) // (α−1)π_0
	t := make([]float64, n)
	// excess returns log Σ π_j(α_j − α) at κ = e^logKappa, and dε of it per dT.
	excess := func(logKappa float64) (log, slope, tilt float64) {
		s := newLogSum()
		active := newLogSum()
		active.add(p.logNone, 0)
		w := newLogSum()
		for j := range n {
			if q0[j] <= logKappa {
				t[j] = t0[j]
				continue
			}
			start := t[j]
			if start < t0[j] {
				start = t0[j]
			}
			t[j] = max(t0[j], p.item[j].reach(start, logKappa))
			a, sl, _, _ := p.item[j].average(t[j])
			if a > eps {
				s.add(p.logPi[j]+a+xmath.Log1mExp(eps-a), 0)
			}
			active.add(p.logPi[j], 0)
			w.add(p.logPi[j]+a+math.Log(sl), 0)
		}
		if s.s == 0 {
			return math.Inf(-1), 0, 0
		}
		return s.now(), math.Exp(w.now() - s.now()), math.Exp(eps + active.now() - w.now())
	}
	logKappa, tilt, resid := top, 0.0, 0.0
	copy(t, t0)
	if eps > 0 {
		// excess falls in logKappa from +∞ at −∞ to 0 at top; bisection keeps
		// Newton's method on log excess inside its bracket.
		hi, lo := top, math.Inf(-1)
		x := top - 0.5
		for range 100 {
			e, slope, dt := excess(x)
			tilt = dt
			if e > logTarget {
				lo = x
			} else {
				hi = x
			}
			var next float64
			if math.IsInf(e, -1) {
				next = x - 1
			} else {
				big := 0.0
				for j := range n {
					big = max(big, t[j])
				}
				h := big + 1/(big+1)
				next = x + (e-logTarget)/slope*h
			}
			if math.IsInf(lo, -1) {
				next = max(next, x-8)
			}
			if !(next > lo && next < hi) {
				if math.IsInf(lo, -1) {
					next = x - 2
				} else {
					next = lo + (hi-lo)/2
				}
			}
			resid = math.Abs(next - x)
			x = next
			if resid < 1e-12*(1+math.Abs(x)) {
				break
			}
		}
		excess(x)
		logKappa = x
	}
	ps, qs := newLogSum(), newLogSum()
	slack := resid + 4e-13*(1+math.Abs(logKappa))
	ps.add(p.logNone+logKappa, p.noneErr+slack)
	qs.add(p.logNone+logKappa, p.noneErr+slack)
	for j := range n {
		if p.above[j]+far < ps.now() && p.above[j] < -far {
			break
		}
		h := t[j] + 1/(t[j]+1)
		a, b, _, slope, e := p.item[j].at(t[j], tol*tilt+(slack+roundOff*eps)/h)
		if q0[j] <= logKappa && slope > 0 {
			_, _, _, _, e = p.item[j].at(t[j], (tol+8*roundOff*(1+eps))/slope)
		}
		ps.add(p.logPi[j]+a, p.piErr[j]+e)
		qs.add(p.logPi[j]+b, p.piErr[j]+e)
	}
	ps.add(p.logGiven, 0)
	if n < len(p.item) {
		ps.add(p.above[n], 0)
	}
	logP, e1 := ps.value(n)
	logQ, e2 := qs.value(n)
	return logP, logQ, max(e1, e2) + leftOut
}

func (p staged) Tails(eps, tol float64) profiles.Tails { return reflected(p.up, eps, tol) }

func (p staged) Support() profiles.Support {
	return profiles.Support{Min: math.Inf(-1), Max: math.Inf(1), LogPInf: p.logGiven, LogQInf: p.logGiven, Atoms: []float64{0}, Spike: math.NaN()}
}
