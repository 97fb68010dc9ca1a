// Values of binomial mixtures at a node: their shares form one run of means, the only one that is
// summed, and all lines turn the same shares.

package transform

import (
	"math"
	"sort"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A side is P or Q of a mixture with real zeros. Its means are sign·n, n = 0 … len−1, all with weights above 0,
// whose logarithms are concave in n (Newton), as are those of the shares; a single mean is 0.
type side struct {
	sign         float64
	logW, w, err []float64 // weights; relative errors, those of their logarithms included
	offset       []float64 // v at lattice point 0
	inv2, sigErr float64   // of the mixture
}

// makeSides returns P and Q; ok is false if the means are not those of sides.
func (m *mixture) makeSides() (p, q side, ok bool) {
	p, ok = m.makeSide(true)
	if !ok {
		return p, q, false
	}
	q, ok = m.makeSide(false)
	return p, q, ok
}

func (m *mixture) makeSide(ofP bool) (s side, ok bool) {
	lo, hi, first := m.minQ, m.maxQ, m.logQ0
	if ofP {
		lo, hi, first = m.minP, m.maxP, m.logP0
	}
	if lo != 0 && hi != 0 {
		return s, false
	}
	n := int(hi-lo) + 1
	s = side{sign: 1, inv2: m.inv2, sigErr: m.sigErr, logW: make([]float64, n), w: make([]float64, n), err: make([]float64, n), offset: make([]float64, n)}
	if lo < 0 {
		s.sign = -1
	}
	for i := range s.logW {
		s.logW[i] = math.Inf(-1)
	}
	s.logW[0], s.w[0], s.err[0] = first, math.Exp(first), m.err0+u*(2+2*math.Abs(xmath.Finite(first)))
	for i := range m.cs {
		c := &m.cs[i]
		if l := c.log(ofP); !math.IsInf(l, -1) {
			k := int(math.Abs(c.mean))
			s.logW[k], s.w[k], s.err[k], s.offset[k] = l, math.Exp(l), c.err, c.offset
		}
	}
	for _, l := range s.logW {
		if math.IsInf(l, -1) {
			return s, false
		}
	}
	return s, true
}

// exponent is mixture.exponent for mean sign·n.
func (s *side) exponent(n int, d float64) (v, err float64) {
	c := s.sign * float64(n)
	v = c*d + s.offset[n]
	err = u * (math.Abs(v) + math.Abs(c*d) + 5*math.Abs(s.offset[n]))
	if s.sigErr > 0 {
		err += s.sigErr * (math.Abs(v) + c*c*s.inv2/2)
	}
	return v, err
}

// A window is the shares of a side at a node: w[i] is that of mean sign·(first + i), and they sum to 1. What is left
// out has shares below e^negligible of the largest.
type window struct {
	sign         float64
	top          int // index of the largest share in w, whose mean is at
	at           float64
	w            []float64
	mean, second float64 // E[c − at] and E(c − at)²
	log, err     float64 // of the density over that of mean 0
	dv           float64 // bounds the errors of the logarithms of the shares
}

// windowAt returns the shares at lattice point d.
func (s *side) windowAt(d float64) window {
	last := len(s.logW) - 1
	if last == 0 {
		return window{sign: 1, w: single[:]}
	}
	at := func(n int) float64 { return s.sign*float64(n)*d + s.offset[n] + s.logW[n] }
	peak := sort.Search(last, func(n int) bool { return !(at(n+1) > at(n)) })
	top := at(peak)
	lo, hi := peak, peak
	for lo > 0 && at(lo-1)-top > negligible {
		lo--
	}
	for hi < last && at(hi+1)-top > negligible {
		hi++
	}
	x := window{sign: s.sign, at: s.sign * float64(peak), top: peak - lo, w: make([]float64, hi-lo+1)}
	sum, size := 0.0, float64(last+1)*negligibleShare
	for n := lo; n <= hi; n++ {
		v, dv := s.exponent(n, d)
		l := s.logW[n]
		w := 1.0
		if n != peak {
			w = math.Exp(v + l - top)
		}
		k := s.sign * float64(n-peak)
		x.w[n-lo] = w
		sum += w
		x.mean += w * k
		x.second += w * k * k
		size += w * (s.err[n] + dv + u*(4+2*math.Abs(v+l)+2*math.Abs(l)))
		x.dv = max(x.dv, s.err[n]+dv+2*u*(math.Abs(v)+math.Abs(l)))
	}
	for i := range x.w {
		x.w[i] /= sum
	}
	x.mean /= sum
	x.second /= sum
	x.log = top + math.Log(sum)
	x.err = logError(size/sum) + u*(float64(hi-lo)+2*math.Abs(x.log)+2*math.Abs(top)+2)
	return x
}

var single = [1]float64{1}

// excess returns Σ w_n(e^{v_n} − 1), the density over that of mean 0 less 1, and the bound of its error; ok is false where
// that is out of range.
func (s *side) excess(d float64) (sum, err float64, ok bool) {
	lastW, lastT := math.Inf(1), math.Inf(-1)
	terms := 0.0
	for n := 1; n < len(s.logW); n++ {
		v, dv := s.exponent(n, d)
		if v > 500 {
			return 0, 0, false
		}
		e := math.Expm1(v)
		sum += s.w[n] * e
		err += s.w[n] * (math.Abs(e)*(s.err[n]+4*u) + (1+e)*dv)
		terms++
		t := v + s.logW[n]
		// Past the modes of both, all others are smaller than these.
		if s.logW[n] < lastW && t < lastT && s.w[n]*(2+e)*float64(len(s.logW)) < 1e-18*math.Abs(sum) {
			err += 1e-18 * math.Abs(sum)
			break
		}
		lastW, lastT = s.logW[n], t
	}
	return sum, err * (1 + terms/4), true
}

// evaluateSides is evaluate for a mixture with real zeros, with the shares.
func (m *mixture) evaluateSides(d float64) node {
	p, q := m.sideP.windowAt(d), m.sideQ.windowAt(d)
	x := m.sigma*d + m.x0/m.sigma
	logN := -x*x/2 - m.logSigma - 0.91893853320467274178
	errN := u * (12 + 8*math.Abs(logN) + 2*math.Abs(d) + math.Abs(m.x0)*m.inv2)
	out := node{shares: &shares{p, q}, logQ: logN + q.log, errQ: errN + q.err}
	out.loss, out.errLoss = p.log-q.log, p.err+q.err+u*math.Abs(p.log-q.log)
	if math.Abs(out.loss) > 0.5 {
		return out
	}
	sumP, errP, ok := m.sideP.excess(d)
	if !ok {
		return out
	}
	sumQ, errQ, ok := m.sideQ.excess(d)
	if !ok {
		return out
	}
	gP, gQ, diff := 1+sumP, 1+sumQ, sumP-sumQ
	if gQ > 0.5 {
		lQ := math.Log1p(sumQ)
		out.logQ, out.errQ = logN+lQ, errN+logError(errQ/gQ)+3*u*math.Abs(lQ)
		if r := diff / gQ; r > -0.5 && r < 1 {
			out.loss = math.Log1p(r)
			out.errLoss = logError((errP+errQ*(1+math.Abs(r))+4*u*math.Abs(diff))/gQ/(1+r)) + 3*u*math.Abs(out.loss)
			return out
		}
	}
	if gP > 0.5 {
		if r := -diff / gP; r > -0.5 && r < 1 {
			out.loss = -math.Log1p(r)
			out.errLoss = logError((errQ+errP*(1+math.Abs(r))+4*u*math.Abs(diff))/gP/(1+r)) + 3*u*math.Abs(out.loss)
		}
	}
	return out
}

// shares are those of P and of Q.
type shares struct{ p, q window }

// turn returns the turn of the shares by the angle a.
func (x *window) turn(t *angles) turn {
	if len(x.w) == 1 && x.at == 0 && x.dv == 0 {
		return turn{}
	}
	var s2, s1 float64
	for i, w := range x.w[x.top:] {
		s2 += w * t.sin2[i]
		s1 += w * t.sin[i]
	}
	for i, w := range x.w[:x.top] {
		s2 += w * t.sin2[x.top-i]
		s1 -= w * t.sin[x.top-i]
	}
	s1 *= x.sign
	mod := min(0, 0.5*math.Log1p(s1*s1-4*s2*(1-s2)))
	out := turn{logMod: mod, logLow: mod, component: x.at, rest: math.Atan2(s1, 1-2*s2), second: x.second * (1 + 1e-14)}
	out.settle(t, x.mean, x.second)
	return out
}
