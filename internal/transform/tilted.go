// A mixture under one tilt: the nodes that count, and what is left out.
//
// It assumes θ ≥ −½. It returns sums at frequency 0 and the errors that do not depend on the frequency.

package transform

// A Gaussian mixture at one θ: its nodes times e^{θL}, their sums with the errors of rounding,
// quadrature and of what is left out. All masses are in units of e^scale.

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// tilted is a mixture on one line Re z = θ ≥ −½ with the nodes lo..lo+len−1 of one
// level: all that does not depend on t.
type tilted struct {
	m      *mixture
	theta  float64
	level  int
	h      float64 // the step in d
	lo, hi int
	nodes  []node
	logF   []float64 // logarithm of f = P^{θ+1}Q^{−θ} at the nodes times the step in x
	w      []float64 // e^{logF − scale}

	// M(θ + it) = e^scale·(unit + d0 + …): unit is 1 and scale 0 where M(θ) − 1 is
	// summed by Proposition 3; 0 and the size of M(θ) where M(θ) itself is.
	unit, scale float64
	d0, m1      float64 // Σ, and its derivative by t over i
	roundOff    roundOff

	// Logarithms of what is left out on the right and on the left of the sum of f, and of
	// the error of the sums of P and Q together: quadrature and left out.
	logRight, logLeft float64
	logPiece          float64
	logStrip          float64 // of a bound of ∫f
	logStill          float64 // of the quadrature error of f at t = 0
	stillLine         float64
}

// tilt sums the nodes lo..hi of a level at θ ≥ −½.
func (m *mixture) tilt(theta float64, level, lo, hi int) *tilted {
	s := &tilted{m: m, theta: theta, level: level, h: m.step(level), lo: lo, hi: hi, nodes: m.points(level, lo, hi)}
	logH := xmath.Log(s.h / m.inv2)
	store := make([]float64, 2*len(s.nodes))
	s.logF, s.w = store[:len(s.nodes):len(s.nodes)], store[len(s.nodes):]
	top := math.Inf(-1)
	for i := range s.nodes {
		s.logF[i] = s.nodes[i].logF(theta) + logH
		top = max(top, s.logF[i])
	}
	s.unit = 1
	// M(θ) ≥ 1 for θ ≥ 0, and each term is at most e^top.
	if most := top + xmath.Log(float64(len(s.nodes))); theta < 0 || most > 600 {
		var mass xmath.Sum
		for _, l := range s.logF {
			mass.Add(math.Exp(l - top))
		}
		if logMass := top + xmath.Log(mass.Value()); logMass > 600 || logMass < -0.7 {
			s.unit, s.scale = 0, logMass
		}
	}
	s.sums()
	s.bounds()
	return s
}

// share gives every node its shares, which only lines turn.
func (s *tilted) share() {
	if s.nodes[0].ofP != nil {
		return
	}
	s.nodes = slices.Clone(s.nodes)
	for i := range s.nodes {
		d := float64(s.lo+i) * s.h
		s.nodes[i].ofP, _, _ = s.m.p.at(d)
		s.nodes[i].ofQ, _, _ = s.m.q.at(d)
	}
}

// sums adds D(θ), M'(θ) and the bounds of their roundings.
func (s *tilted) sums() {
	var d0, m1 xmath.Sum
	r := &s.roundOff
	theta, step := s.theta, s.h/s.m.inv2
	for i := range s.nodes {
		n := &s.nodes[i]
		e := n.relative(theta)
		if s.unit == 0 {
			w := math.Exp(s.logF[i] - s.scale)
			s.w[i] = w
			d0.Add(w)
			m1.Add(w * n.loss)
			r.direct(w, n.loss, e, theta, n.errLoss)
			continue
		}
		p, kappa, v := n.p*step, n.kappa*step, theta*n.loss
		var w, second, growth float64
		same := v > 30
		if !same {
			w, second, growth = tiltedTerms(p, v)
		} else {
			w = math.Exp(s.logF[i])
			second, growth = w-p*(1+v), w-p
		}
		s.w[i] = w
		d0.Add(second)
		d0.Add(theta * kappa)
		m1.Add(n.loss * growth)
		m1.Add(kappa)
		r.secondOrder(second, kappa, growth, w, n.loss, e, theta, n.errLoss, same)
	}
	s.d0, s.m1 = d0.Value(), m1.Value()
	r.sums(s.d0, s.m1)
}

// bounds computes what is left out and the quadrature errors at t = 0.
func (s *tilted) bounds() {
	m, theta := s.m, s.theta
	first, last := &s.nodes[0], &s.nodes[len(s.nodes)-1]
	dLo, dHi := float64(s.lo)*s.h, float64(s.hi)*s.h
	s.logRight = m.logBeyond(theta, dHi, last.logF(theta), true)
	s.logLeft = m.logBeyond(theta, dLo, first.logF(theta), false)
	pieces := []float64{m.logPiece(s.h),
		m.logBeyond(0, dHi, last.logF(0), true), m.logBeyond(-1, dHi, last.logF(-1), true),
		m.logBeyond(0, dLo, first.logF(0), false), m.logBeyond(-1, dLo, first.logF(-1), false)}
	s.logPiece = logSumUp(pieces...)
	var sum xmath.Sum
	for i := 1; i < len(s.w); i++ {
		sum.Add(max(s.w[i-1], s.w[i]))
	}
	s.logStrip = logSumUp(s.scale+xmath.Log(sum.Value())+m.cellGrowth(theta, s.h)+1e-9, s.logRight, s.logLeft)
	s.logStill, s.stillLine = s.still(0, m.width())
}

// logSumUp is log Σe^x, rounded up; +Inf if a term is.
func logSumUp(xs ...float64) float64 {
	top := math.Inf(-1)
	for _, x := range xs {
		top = max(top, x)
	}
	if math.IsInf(top, 0) || math.IsNaN(top) {
		return top
	}
	sum := 0.0
	for _, x := range xs {
		sum += math.Exp(x - top)
	}
	return top + xmath.Log(sum) + 1e-15*(4+math.Abs(top))
}

// quadrature bounds, in units of e^scale, what quadrature and left-out nodes do to the sum at
// θ + it, given the logarithm of the quadrature error of f there.
func (s *tilted) quadrature(logOwn, t float64) float64 {
	own := math.Exp(logOwn-s.scale) + math.Exp(s.logRight-s.scale) + math.Exp(s.logLeft-s.scale)
	if s.unit == 0 {
		return own * (1 + 1e-12)
	}
	return (own + (2+2*math.Hypot(s.theta, t))*math.Exp(s.logPiece)) * (1 + 1e-12)
}

// real returns K(θ), its derivative and error.
func (s *tilted) real() (k, slope, err float64) {
	k, _, err = logComplex(s.unit, s.d0, 0, s.roundOff.at(0)+s.quadrature(s.logStill, 0), s.scale)
	return k, s.m1 / (s.unit + s.d0), err
}

// size is log M(θ), where that is above 0.
func (s *tilted) size() float64 { return max(0, s.scale, math.Log1p(max(0, s.d0))) }
