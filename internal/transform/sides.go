// Values of binomial mixtures at a node: their shares form one run of means, the only one that is
// summed, and all lines turn the same shares.

package transform

import (
	"math"
	"sort"
	"sync/atomic"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A side is P or Q of a mixture with real zeros. Its means are sign·n, n = 0 … len−1, all with weights above 0,
// whose logarithms are concave in n (Newton), as are those of the shares; a single mean is 0.
type side struct {
	sign         float64
	logW, w, err []float64 // weights; relative errors, those of their logarithms included
	offset       []float64 // v at lattice point 0
	inv2, sigErr float64   // of the mixture
	grow, known  []float64 // log w + v at lattice point d is known to grow·|d| + known
	peaks        []atomic.Pointer[peak]
}

// A peak is what the shares are where that of mean n is the largest: the logarithm of share n + k over share n is
// k·(sign·d − at) + log[n + k], where neither is above about 0, as the logarithms are concave; w is e^log.
type peak struct {
	at     float64
	w, log []float64
}

// leastPlain is the log of a peak from which on its w is a number with all its digits.
const leastPlain = -300

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
	s.grow, s.known = make([]float64, n), make([]float64, n)
	for i, l := range s.logW {
		if math.IsInf(l, -1) {
			return s, false
		}
		// As in exponent, and the roundings of the weight's logarithm, of the sum and of its exponential.
		c, off := float64(i), math.Abs(s.offset[i])
		s.grow[i] = c * (4*u + s.sigErr)
		s.known[i] = s.err[i] + u*(4+10*off+6*math.Abs(l)) + s.sigErr*(off+c*c*s.inv2/2)
	}
	s.peaks = make([]atomic.Pointer[peak], n)
	return s, true
}

// log0 is the logarithm of the share of mean sign·n at lattice point 0, not divided by their sum.
func (s *side) log0(n int) float64 { return s.offset[n] + s.logW[n] }

// peakAt returns the peak of mean sign·n, made when it is first asked for.
func (s *side) peakAt(n int) *peak {
	if p := s.peaks[n].Load(); p != nil {
		return p
	}
	last := len(s.logW) - 1
	store := make([]float64, 2*last+2)
	p := &peak{w: store[:last+1], log: store[last+1:]}
	reach := 0.0 // of the step that moves shares up
	switch {
	case n == 0:
		p.at = s.log0(0) - s.log0(1)
	case n == last:
		p.at = s.log0(n-1) - s.log0(n)
	default:
		p.at = (s.log0(n-1) - s.log0(n+1)) / 2
		reach = s.log0(n) - (s.log0(n-1)+s.log0(n+1))/2
	}
	for k := range p.log {
		p.log[k] = s.log0(k) - s.log0(n) + float64(k-n)*p.at
		if p.log[k] > leastPlain && p.log[k]+math.Abs(float64(k-n))*reach > 2*negligible {
			p.w[k] = math.Exp(p.log[k])
		}
	}
	s.peaks[n].Store(p)
	return p
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

// windowAt returns the shares at lattice point d, only their moments if keep is false.
//
// They are those of a peak times powers of one number. Over the roundings of grow and known, with k from the
// peak n and a the peak's at: the logarithm of the peak is off by 2(|log0(n)| + |log0(n+k)| + |ka|)u, the exponent of the
// power by k(|d| + |a|)u; each exponential and each power rounds by 2u; top is off by 3n|d|u and 3|log0(n)|u.
func (s *side) windowAt(d float64, keep bool) window {
	last := len(s.logW) - 1
	if last == 0 {
		return window{sign: 1, w: single[:]}
	}
	move := s.sign * d
	n := sort.Search(last, func(n int) bool { return !(move+s.log0(n+1)-s.log0(n) > 0) })
	p := s.peakAt(n)
	step := move - p.at
	lo, hi := n, n
	for lo > 0 && p.log[lo-1]+float64(lo-1-n)*step > negligible {
		lo--
	}
	for hi < last && p.log[hi+1]+float64(hi+1-n)*step > negligible {
		hi++
	}
	x := window{sign: s.sign, at: s.sign * float64(n), top: n - lo}
	if keep {
		x.w = make([]float64, hi-lo+1)
		x.w[n-lo] = 1
	}
	size := math.Abs(d)
	own := s.grow[n]*size + s.known[n]
	sum, first, second, wrong, most := 1.0, 0.0, 0.0, own, own
	far := u * (2*size + 4*math.Abs(p.at) + 4)
	side := func(from, to, way int) {
		power, ratio := 1.0, math.Exp(float64(way)*step)
		part := 0.0
		for i, k := from, 1.0; i*way <= to*way; i, k = i+way, k+1 {
			power *= ratio
			w := p.w[i] * power
			if p.w[i] == 0 {
				w = math.Exp(p.log[i] + k*float64(way)*step)
			}
			if keep {
				x.w[i-lo] = w
			}
			sum += w
			part += w * k
			second += w * k * k
			e := s.grow[i]*size + s.known[i] + k*far
			wrong += w * e
			most = max(most, e)
		}
		first += float64(way) * part
	}
	side(n+1, hi, +1)
	side(n-1, lo, -1)
	inverse := 1 / sum
	for i := range x.w {
		x.w[i] *= inverse
	}
	x.mean, x.second = s.sign*first*inverse, second*inverse
	g := s.log0(n)
	top, rest := move*float64(n)+g, u*(8+8*math.Abs(g)+4*float64(n)*size)
	x.dv = most + rest
	x.log = top + xmath.Log(sum)
	x.err = logError(wrong*inverse+rest+float64(last+1)*negligibleShare) + u*(float64(hi-lo)+2*math.Abs(x.log)+2*math.Abs(top)+4)
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
	p, q := m.sideP.windowAt(d, true), m.sideQ.windowAt(d, true)
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
