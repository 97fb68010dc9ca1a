package subsample

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A logSum adds e^t for terms t with absolute errors, and weighs the errors.
type logSum struct{ top, s, e float64 }

func newLogSum() logSum { return logSum{top: math.Inf(-1)} }

func (a *logSum) add(t, err float64) {
	switch {
	case math.IsInf(t, -1):
	case t <= a.top:
		w := math.Exp(t - a.top)
		a.s += w
		a.e += w * err
	default:
		w := math.Exp(a.top - t)
		a.s, a.e, a.top = a.s*w+1, a.e*w+err, t
	}
}

// value returns the logarithm of the sum, at most 0, and its error: that of the
// terms, a rounding per term (n of them) and that of the logarithm.
func (a *logSum) value(n int) (log, err float64) {
	if a.s == 0 {
		return math.Inf(-1), 0
	}
	log = a.top + math.Log(a.s)
	return min(0, log), a.e/a.s + xmath.U*(float64(n)+4+2*math.Abs(log)+math.Abs(a.top))
}

// now returns the logarithm that the sum has now.
func (a *logSum) now() float64 { return a.top + math.Log(a.s) }

// far is how far below a sum, in logarithm, the rest of its terms may be left
// out: e^−48 < 2^−69, counted as an error of leftOut.
const (
	far     = 48
	leftOut = 1e-20
)

// A publicChoice is the public choice of one of several profiles: item u with
// probability e^logW[u]; with what is left, e^logRest, everything is given away.
// The hockey-stick divergence of it is the weighted sum, for every pair P, Q
// that mixes pairs with the same weights (joint convexity). The items have no
// atoms, or list them in their support: discrete profiles are mixed by
// discreteMixture.
type publicChoice struct {
	items     []profiles.Profile
	logW, err []float64
	above     []float64 // log Σ_{v ≥ u} weight, with the rest; len(items)+1
}

// logRest is the mass given away.
func (m *publicChoice) logRest() float64 { return m.above[len(m.items)] }

func (m *publicChoice) Tails(eps, tol float64) profiles.Tails {
	p, q, pc, qc := newLogSum(), newLogSum(), newLogSum(), newLogSum()
	n := 0
	for u, item := range m.items {
		// Q(L > ε) ≤ e^−ε P(L > ε) and P(L ≤ ε) ≤ e^ε Q(L ≤ ε) tell what is left.
		if w := m.above[u] + far; u > 0 && w < p.now() && w-max(eps, 0) < q.now() && w < qc.now() && w+min(eps, 0) < pc.now() {
			break
		}
		t := item.Tails(eps, tol)
		w, e := m.logW[u], m.err[u]
		p.add(w+t.P, e+t.Err)
		q.add(w+t.Q, e+t.Err)
		pc.add(w+t.PC, e+t.ErrC)
		qc.add(w+t.QC, e+t.ErrC)
		n++
	}
	p.add(m.logRest(), 0)
	qc.add(m.logRest(), 0)
	var t profiles.Tails
	var e1, e2 float64
	t.P, e1 = p.value(n)
	t.Q, e2 = q.value(n)
	t.Err = max(e1, e2) + leftOut
	t.PC, e1 = pc.value(n)
	t.QC, e2 = qc.value(n)
	t.ErrC = max(e1, e2) + leftOut
	return t
}

func (m *publicChoice) Support() profiles.Support {
	s := profiles.Support{Min: math.Inf(1), Max: math.Inf(-1), LogPInf: m.logRest(), LogQInf: m.logRest(), Spike: math.NaN()}
	for u, item := range m.items {
		b := item.Support()
		s.Min, s.Max = min(s.Min, b.Min), max(s.Max, b.Max)
		s.LogPInf = xmath.LogAdd(s.LogPInf, m.logW[u]+b.LogPInf)
		s.LogQInf = xmath.LogAdd(s.LogQInf, m.logW[u]+b.LogQInf)
		s.LossErr = max(s.LossErr, b.LossErr)
		s.Atoms = append(s.Atoms, b.Atoms...)
	}
	s.Atoms = distinct(s.Atoms)
	return s
}

// copies is the law of the number of copies, given that there is one or not, in
// the form that the Gaussian pairs use: noise 1, and theta the shift per copy.
type shifts struct {
	Law
	theta float64
}

// exponent returns uθx − u²θ²/2, the logarithm of the likelihood ratio of
// N(uθ,1) to N(0,1) at x.
func (c *shifts) Exponent(u int, x float64) float64 {
	s := float64(u) * c.theta
	return s * (x - s/2)
}

// last is the largest u of the table.
func (c *shifts) Last() int { return len(c.LogP) - 1 }

// mixedTail returns log Σ_u p_u Φ̄(x − sign·uθ), and its error when x is known to
// dx; the terms beyond the table are left out.
func (c *shifts) mixedTail(x, dx, sign float64) (log, err float64) {
	s := newLogSum()
	n := 0
	for u, l := range c.LogP {
		if u > 0 && c.LogAbove[u]+far < s.now() {
			break
		}
		y := x - sign*float64(u)*c.theta
		t := xmath.LogNormalTail(y)
		d := dx + xmath.U*(math.Abs(x)+2*math.Abs(y))
		s.add(l+t, c.Err[u]+normalErr(t, y, d))
		n++
	}
	log, err = s.value(n)
	return log, err + leftOut
}

// normalErr bounds the error of t = log Φ̄(y), y known to d: 5 u of LogNormalTail
// and the hazard times d.
func normalErr(t, y, d float64) float64 {
	if math.IsInf(t, 0) {
		return 0
	}
	return 5*xmath.U*(1+math.Abs(t)) + xmath.NormalHazard(y+d)*d
}
