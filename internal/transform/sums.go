// M on a line Re z = θ as a sum over nodes: what mixtures and bounded losses have in common.
//
// It assumes nodes with the errors of their densities and losses, and θ ≥ −½. It returns log M at frequencies, one by one or at
// equidistant ones together, with the bound of every error.

package transform

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A node is what is known at one outcome: the logarithm of the density of Q, or of its mass, the loss, the bound of the relative error
// of that density and the bound of the error of the loss.
//
// p is the density of P, and kappa is p·ex(−L); see secondorder.go. They do not depend on the line, so that a line costs one exponential
// for each node.
type node struct {
	logQ, loss, errQ, errLoss, p, kappa float64
	ofP, ofQ                            *window // the shares of the means of a mixture, where they are known: lines have them all
}

// fill computes p and kappa.
func (n *node) fill() {
	n.p = math.Exp(n.logQ + n.loss)
	n.kappa = divergenceTerm(n.p, math.Exp(n.logQ), n.loss)
}

// logF returns the logarithm of P^{θ+1}Q^{−θ} at a node.
func (n *node) logF(theta float64) float64 { return n.logQ + (theta+1)*n.loss }

// sums are those over the nodes of one line Re z = θ ≥ −½. All masses are in units of e^scale.
type sums struct {
	theta float64
	logF  []float64 // logarithm of P^{θ+1}Q^{−θ} at the nodes times the step
	w     []float64 // e^{logF − scale}

	// M(θ + it) = e^scale·(unit + d0 + …): unit is 1 and scale 0 where M(θ) − 1 is
	// summed by Proposition 3; 0 and the size of M(θ) where M(θ) itself is.
	unit, scale float64
	d0, m1      float64 // Σ, and its derivative by t over i
	roundOff    roundOff

	// What quadrature and nodes that are left out add to the error at z: own, and (2 + 2|z|)·pieces where M − 1 is summed.
	own, pieces float64

	// Of a line: the nodes that count, and what the others add to the error, skip0 + skip1·t.
	loss, weight []float64
	skip0, skip1 float64
	tMax, kUp    float64 // the last frequency, and an upper bound of K(θ)
	conjugate    bool    // asked for the reverse at −1−θ, of which M is the complex conjugate
}

// newSums sums nodes with this step. M(θ) − 1 is summed where log M(θ), without what is infinite, is in [lo, hi].
func newSums(nodes []node, theta, step, lo, hi float64) sums {
	store := make([]float64, 2*len(nodes))
	s := sums{theta: theta, logF: store[:len(nodes):len(nodes)], w: store[len(nodes):]}
	logStep := xmath.Log(step)
	top := math.Inf(-1)
	for i := range nodes {
		s.logF[i] = nodes[i].logF(theta) + logStep
		top = max(top, s.logF[i])
	}
	var mass xmath.Sum
	for _, l := range s.logF {
		mass.Add(math.Exp(l - top))
	}
	if logMass := top + xmath.Log(mass.Value()); logMass >= lo && logMass <= hi {
		s.unit = 1
	} else {
		s.scale = logMass
	}
	var d0, m1 xmath.Sum
	for i := range nodes {
		d, m := s.node(&nodes[i], i, step)
		d0.Add(d)
		m1.Add(m)
	}
	s.d0, s.m1 = d0.Value(), m1.Value()
	s.roundOff.sums(s.d0, s.m1)
	return s
}

// node finds the weight of a node, and returns what it adds to d0 and m1.
func (s *sums) node(n *node, i int, step float64) (d, m float64) {
	r, theta := &s.roundOff, s.theta
	e := n.relative(theta)
	if s.unit == 0 {
		w := math.Exp(s.logF[i] - s.scale)
		s.w[i] = w
		r.direct(w, n.loss, e, theta, n.errLoss)
		return w, w * n.loss
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
	r.secondOrder(second, kappa, growth, w, n.loss, e, theta, n.errLoss, same)
	return second + theta*kappa, n.loss*growth + kappa
}

// infinite adds the losses −∞ and +∞ to sums for M − 1: −p∞ + z·gap, gap = q∞ − p∞, with the errors of both.
func (s *sums) infinite(pInf, pErr, gap, gapErr float64) {
	s.d0 += s.theta*gap - pInf
	s.m1 += gap
	wrong := gapErr + 4*u*math.Abs(gap)
	s.roundOff.g0 += pErr + 4*u*math.Abs(pInf) + math.Abs(s.theta)*wrong
	s.roundOff.g1 += wrong
}

// keep makes a line up to tMax of the nodes that count for more than small.
func (s *sums) keep(nodes []node, small, tMax float64) {
	s.tMax, s.skip0, s.skip1 = tMax, 0, 0
	s.loss, s.weight = make([]float64, 0, len(nodes)), make([]float64, 0, len(nodes))
	for i, w := range s.w {
		loss := nodes[i].loss
		// |e^{itL} − 1 − itL| ≤ 2 + t|L|.
		if size := math.Abs(loss); w*(2+tMax*size) <= small {
			s.skip0 += 2 * w
			s.skip1 += w * size
			continue
		}
		s.loss, s.weight = append(s.loss, loss), append(s.weight, w)
	}
	k, _, err := s.real()
	s.kUp = k
	if !math.IsInf(err, 1) {
		s.kUp = k + err
	}
}

// quadrature bounds what quadrature and left-out nodes do to the sum at θ + it.
func (s *sums) quadrature(t float64) float64 {
	if s.unit == 0 {
		return s.own * (1 + 1e-12)
	}
	return (s.own + (2+2*math.Hypot(s.theta, t))*s.pieces) * (1 + 1e-12)
}

// real returns K(θ), its derivative and error.
func (s *sums) real() (k, slope, err float64) {
	k, _, err = logComplex(s.unit, s.d0, 0, s.roundOff.at(0)+s.quadrature(0), s.scale)
	return k, s.m1 / (s.unit + s.d0), err
}

// size is log M(θ), where that is above 0.
func (s *sums) size() float64 { return max(0, s.scale, math.Log1p(max(0, s.d0))) }

// Terms implements Line.
func (s *sums) Terms(n int) float64 { return ColumnTerms(float64(len(s.loss)), float64(n)) }

// LogM implements Line.
func (s *sums) LogM(t float64) (re, im, err float64) {
	if t < 0 {
		re, im, err = s.LogM(-t)
		return re, -im, err
	}
	if !(t <= s.tMax) {
		return s.kUp, 0, math.Inf(1)
	}
	re, im = s.at(t)
	return s.log(t, re, im, 0)
}

// log returns log M for the real and imaginary part of e^−scale·M(θ + it) − unit, of which computing has lost more.
func (s *sums) log(t, re, im, more float64) (logRe, logIm, err float64) {
	logRe, logIm, err = logComplex(s.unit, re, im, s.roundOff.at(t)+s.skip0+s.skip1*t+s.quadrature(t)+more, s.scale)
	switch {
	case math.IsInf(err, 1):
		return min(logRe, s.kUp), 0, err
	case s.conjugate:
		return logRe, -logIm, err
	}
	return logRe, logIm, err
}

// at returns the real and imaginary part of e^−scale·M(θ + it) − unit.
func (s *sums) at(t float64) (re, im float64) {
	if s.unit == 0 {
		var c, d xmath.Sum
		for i, w := range s.weight {
			sin, cos := math.Sincos(t * s.loss[i])
			c.Add(w * cos)
			d.Add(w * sin)
		}
		return c.Value(), d.Value()
	}
	var s2, c2, s1, c1 float64 // sums with their compensations
	for i, w := range s.weight {
		a, b := oscillation(t * s.loss[i])
		a *= w
		b *= w
		x := s2 + a
		y := x - s2
		c2 += (s2 - (x - y)) + (a - y)
		s2 = x
		x = s1 + b
		y = x - s1
		c1 += (s1 - (x - y)) + (b - y)
		s1 = x
	}
	re = s.d0 - 2*(s2+c2)
	im = t*s.m1 + (s1 + c1)
	return re, im
}

// Column implements Columner.
func (s *sums) Column(h float64, re, im, err []float64) bool {
	n := len(re)
	if !(float64(n-1)*h <= s.tMax) || float64(len(s.loss))*float64(n) <= gridTerms(len(s.loss), n) {
		return false
	}
	c, ok := secondOrderGrid(s.loss, s.weight, h, n, gridHalf, 1)
	if !ok {
		return false
	}
	for k := range re {
		t := float64(k) * h
		re[k], im[k], err[k] = s.log(t, s.d0+c.re[k], math.FMA(t, s.m1, c.im[k]), c.err[k])
	}
	return true
}
