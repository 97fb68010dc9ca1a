// §6: an upper profile for Gaussian noise and two stages with replacement (MUST.WW),
// under substitution.

package copies

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// GaussianWW is the upper profile of MUST.WW for the Gaussian under substitution.
//
// docs/theory/subsampling.md §6: given that j of the slots hold the record, the draw is
// sampling with replacement with law s^(j), and the Q-mass of "no slot holds
// it", (α−1)π_0, may be shared among the j ≥ 1 in any way. The best shares make
// the slopes equal: with a common κ,
//
//	h(α) = Σ_j π_j h_j(α_j),  −h_j'(α_j) = κ or α_j = α,  Σ_j π_j(α_j − α) = (α−1)π_0,
//	P(L > ε) = Σ_j π_j P_j(L_j > log α_j) + π_0 κ,
//	Q(L > ε) = Σ_j π_j Q_j(L_j > log α_j) + π_0 κ.
//
// h is a partial minimum of a jointly convex function, hence convex. It is at
// most Theorem 5 whenever a record in one slot is drawn at least as likely as a
// record at all (the share that gives Theorem 5 is then not negative): when the
// subset is small against the population. Otherwise Theorem 5 can be lower by a
// percent near ε = 0.
type GaussianWW struct {
	logNone  float64 // log π_0
	noneErr  float64
	logPi    []float64 // log π_j, j = 1, 2, …
	piErr    []float64
	above    []float64       // log of the mass from j on, with what is left out
	item     []*GaussianWR   // s^(j)
	logGiven float64         // mass given away
	whole    *GaussianAttack // where the search for κ starts: at α ≫ 1 all thresholds are its
}

// NewGaussianWW takes the sizes of the scheme; law is that of the copies over both stages.
func NewGaussianWW(population, subset, batch int64, law Law, theta float64) *GaussianWW {
	pi, errs, last := Slots(population, subset)
	p := &GaussianWW{logNone: pi[0], noneErr: errs[0], logGiven: last, whole: NewGaussianAttack(law, theta)}
	for j := 1; j < len(pi); j++ {
		p.logPi, p.piErr = append(p.logPi, pi[j]), append(p.piErr, errs[j])
		c := NewGaussianWR(Drawn(subset, batch, j), theta)
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

// Cost implements profiles.Costly.
func (p *GaussianWW) Cost() (sum float64) {
	for _, c := range p.item[:min(counted(p.above), len(p.item))] {
		sum += perOpposite + c.Cost()
	}
	return sum
}

// A sharing is what first found for one ε.
type sharing struct {
	n        int
	t        []float64 // thresholds
	active   []bool    // whether it has a share: Q_j(t_j) = κ
	logKappa float64
}

// up returns the tails for ε ≥ 0.
func (p *GaussianWW) up(eps, tol float64) (logP, logQ, err float64) {
	_, logP, logQ, err = p.share(eps, tol)
	return logP, logQ, err
}

func (p *GaussianWW) share(eps, tol float64) (s sharing, logP, logQ, err float64) {
	// The number of slots to look at follows from the size of the result: those
	// beyond n count as given away.
	start := -60.0
	if b, _, ok := p.whole.threshold(eps, 0); ok {
		start = min(start, eps+xmath.LogNormalTail(b)-far-4) // P(L > ε) ≥ e^ε Q(L > ε)
	}
	for least := start; ; least = logP - 60 {
		n := 0
		for n < len(p.item) && p.above[n] > least {
			n++
		}
		s, logP, logQ, err = p.first(n, eps, tol)
		if n == len(p.item) || p.above[n] < logP-far {
			return s, logP, logQ, err
		}
	}
}

// first returns the tails for ε ≥ 0 with the first n numbers of slots.
// It is long because search, tails and their errors share the state of all slots.
func (p *GaussianWW) first(n int, eps, tol float64) (s sharing, logP, logQ, err float64) {
	t0 := make([]float64, n) // thresholds without any share, and their log Q_j
	q0 := make([]float64, n)
	top := math.Inf(-1)
	for j := range n {
		t0[j], _, _ = p.item[j].Threshold(eps, 0)
		q0[j], _, _, _ = p.item[j].slope(t0[j])
		top = max(top, q0[j])
	}
	t := append([]float64(nil), t0...)
	logTarget := p.logNone + eps + xmath.Log1mExp(-eps) // (α−1)π_0
	// excess returns log Σ π_j(α_j − α) at κ = e^logKappa, its derivative in
	// logKappa, and −d log κ/dε along the solution.
	excess := func(logKappa float64) (log, slope, rate float64) {
		s, active, v := newLogSum(), newLogSum(), newLogSum()
		active.add(p.logNone, 0)
		for j := range n {
			if q0[j] <= logKappa {
				t[j] = t0[j]
				continue
			}
			var dq, a, da float64
			t[j], dq, a, da = p.item[j].reach(max(t[j], t0[j]), t0[j], logKappa)
			if a > eps {
				s.add(p.logPi[j]+a+xmath.Log1mExp(eps-a), 0)
			}
			active.add(p.logPi[j], 0)
			v.add(p.logPi[j]+a+xmath.Log(-da/dq), 0)
		}
		if s.s == 0 {
			return math.Inf(-1), 0, 0
		}
		return s.now(), -math.Exp(v.now() - s.now()), math.Exp(eps + active.now() - v.now())
	}
	logKappa, rate, resid := top, 0.0, 0.0
	for j := range n { // at ε = 0 nobody has a share: κ is the largest slope
		if _, _, _, da := p.item[j].slope(t0[j]); da > 0 {
			rate = max(rate, xmath.NormalHazard(t0[j])/da)
		}
	}
	if eps > 0 && !math.IsInf(p.logNone, -1) { // without a slotless draw nobody has one
		// excess falls from +∞ at logKappa = −∞ to 0 at top; a bracket guards
		// Newton's method.
		lo, hi := math.Inf(-1), top
		x := top - 0.1
		if b, _, ok := p.whole.threshold(eps, 0); ok {
			x = min(x, xmath.LogNormalTail(b))
			for j := range t {
				t[j] = max(t[j], b)
			}
		}
		x = p.joint(t, t0, q0, x, eps, logTarget)
		polished := false
		for range 100 {
			e, slope, r := excess(x)
			if r > 0 {
				rate = r
			}
			if e > logTarget {
				lo = x
			} else {
				hi = x
			}
			next := x - 1
			if slope < 0 {
				next = max(x-(e-logTarget)/slope, x-20)
			}
			// A step below the tolerance is the answer where the sum is right, even if
			// rounding has put x on the wrong side of the bracket; near top, where shares
			// vanish, it is none.
			small := math.Abs(next-x) < 1e-11*(1+math.Abs(x))
			found := small && slope < 0 && math.Abs(e-logTarget) < 0.1
			if !found && (small || !(next > lo && next < hi)) {
				if math.IsInf(lo, -1) {
					next = hi - 2
				} else {
					next = lo + (hi-lo)/2
				}
			}
			resid = math.Abs(next - x)
			x = next
			if found && !polished && resid > 1e-13*(1+math.Abs(x)) {
				polished = true // the thresholds are those before the step
				continue
			}
			if found || hi-lo < 1e-11*(1+math.Abs(x)) {
				resid = max(resid, min(hi-lo, 1e-11*(1+math.Abs(x))))
				break
			}
		}
		logKappa = x
	}
	s = sharing{n, t, make([]bool, n), logKappa}
	for j := range n {
		if s.active[j] = q0[j] > logKappa; !s.active[j] {
			t[j] = t0[j] // the last step of κ may have put it to rest
		}
	}
	ps, qs := newLogSum(), newLogSum()
	// At ε = 0 the hazard in rate is that of the normal, not of the few copies beyond
	// the block; the half more covers that and the second order.
	slack := resid + 4e-13*(1+math.Abs(logKappa)) + 1.5*tol*rate
	ps.add(p.logNone+logKappa, p.noneErr+slack)
	qs.add(p.logNone+logKappa, p.noneErr+slack)
	for j := range n {
		if p.above[j]+far < ps.now() && p.above[j]+far < qs.now() {
			break
		}
		// An active threshold moves with κ and with ε; one at rest with ε alone.
		var dt float64
		if s.active[j] {
			_, dq, _, _ := p.item[j].slope(t[j])
			dt = (slack + xmath.U*eps) / -dq
		} else {
			_, dt, _ = p.item[j].Threshold(eps, tol)
		}
		a, b, _, _, e := p.item[j].at(t[j], dt)
		ps.add(p.logPi[j]+a, p.piErr[j]+e)
		qs.add(p.logPi[j]+b, p.piErr[j]+e)
	}
	ps.add(p.logGiven, 0)
	if n < len(p.item) {
		ps.add(p.above[n], 0)
	}
	logP, e1 := ps.value(n)
	logQ, e2 := qs.value(n)
	return s, logP, logQ, max(e1, e2) + leftOut
}

// joint moves the thresholds and log κ together by Newton's method towards the
// solution of log Q_j(t_j) = log κ for all j that have a share, and of the log of
// the shares' sum. It returns where first starts its own search, whose bracket
// does not rely on it.
func (p *GaussianWW) joint(t, t0, q0 []float64, x, eps, logTarget float64) float64 {
	start := append([]float64(nil), t...)
	type line struct{ q, dq float64 }
	lines := make([]line, len(t))
	was := x
	for range 30 {
		var s, v, vq logSum
		s, v, vq = newLogSum(), newLogSum(), newLogSum()
		for j := range t {
			if q0[j] <= x {
				continue
			}
			q, dq, a, da := p.item[j].slope(t[j])
			lines[j] = line{q, dq}
			if a > eps {
				s.add(p.logPi[j]+a+xmath.Log1mExp(eps-a), 0)
			}
			// c_j = π_j α_j (d log α_j/dt)/(−d log Q_j/dt), and c_j·(q_j − x).
			c := p.logPi[j] + a + xmath.Log(-da/dq)
			v.add(c, 0)
			vq.add(c, q-x) // the weighted mean of q_j − x is in e
		}
		if s.s == 0 || v.s == 0 {
			break
		}
		step := vq.e/vq.s + (s.now()-logTarget)*math.Exp(s.now()-v.now())
		if math.IsNaN(step) {
			break
		}
		step = max(-5, min(5, step))
		next := min(x+step, was+10)
		move := 0.0
		for j := range t {
			if q0[j] <= x {
				t[j] = t0[j]
				continue
			}
			to := max(t0[j], min(t[j]+(next-lines[j].q)/lines[j].dq, 2*t[j]+4))
			move = max(move, math.Abs(to-t[j])/(1+t[j]))
			t[j] = to
		}
		if math.Abs(next-x) < 1e-9*(1+math.Abs(x)) && move < 1e-9 {
			return next
		}
		x = next
	}
	copy(t, start)
	return was
}

// SelfReverse implements profiles.SelfReverser.
func (p *GaussianWW) SelfReverse() bool { return true }

func (p *GaussianWW) Tails(eps, tol float64) profiles.Tails { return reflected(p.up, eps, tol) }

func (p *GaussianWW) Support() profiles.Support {
	return profiles.Support{Min: math.Inf(-1), Max: math.Inf(1), LogPInf: p.logGiven, LogQInf: p.logGiven, Atoms: []float64{0}, Spike: math.NaN()}
}
