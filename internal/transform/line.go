// A Gaussian mixture on one line: which of its sums answers at a frequency.
//
// It assumes θ ≥ −½; below, the reverse answers. It returns log M with the error of the sum that it took.

package transform

// The transform of a Gaussian mixture on a line Re z = θ: which nodes serve all t up to tMax at a
// tolerance, and the value with its error at each t.

import (
	"context"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// mixtureLine implements Line for θ ≥ −½; conjugate says that it is asked for the
// reverse, of which it is the complex conjugate.
type mixtureLine struct {
	tilted
	moved     movable // of nodes of its own, as |f| on a moved line does not oscillate
	conjugate bool
	tMax, tol float64

	logMoving float64 // of the quadrature error of f up to tMax
	best      strip   // where that error is smallest

	loss, weight []float64 // of the nodes that count
	skip0, skip1 float64   // what the others add to the error: skip0 + skip1·t
	kUp          float64   // upper bound of K(θ)
}

// maxLineNodes bounds the nodes of a line.
const maxLineNodes = 1 << 19 // steers: memory

// followSlack is by how much the logarithm of the quadrature error of a line made after another may be above the wish. steers: time for width.
const followSlack = 1

// cellTurns is the largest growth of t·Im L in a cell of the strip, about. steers: nodes for width.
const cellTurns = 4

// movedFiner is how many levels finer than for frequency 0 the nodes of moved lines are, of which the lines of their quadrature are
// half as far away. steers: nodes for width.
const movedFiner = 3

// Line implements Transform.
func (m *mixture) Line(ctx context.Context, theta, tMax, tol float64, maxNodes int) (Line, error) {
	return m.LineAfter(ctx, nil, theta, tMax, tol, maxNodes)
}

// LineAfter implements Follower.
func (m *mixture) LineAfter(ctx context.Context, like Line, theta, tMax, tol float64, maxNodes int) (Line, error) {
	if !(math.Abs(theta) <= 1e9) {
		return nil, fmt.Errorf("theta: %v is not in [-1e9, 1e9]", theta)
	}
	if !(tMax >= 0 && tMax < math.Inf(1)) {
		return nil, fmt.Errorf("tMax: %v is not in [0, ∞)", tMax)
	}
	if !(tol > 0) {
		return nil, fmt.Errorf("tol: %v is not above 0", tol)
	}
	most := maxLineNodes
	if max(m.spanP, m.spanQ) > 1 {
		most /= 4 // its nodes keep their shares, a kilobyte each at most
	}
	if maxNodes <= 0 || maxNodes > most {
		maxNodes = most
	}
	after, _ := like.(*mixtureLine)
	if theta < -0.5 {
		l, err := m.rev.line(ctx, after, -1-theta, tMax, tol, maxNodes)
		if err != nil {
			return nil, err
		}
		l.conjugate = true
		return l, nil
	}
	l, err := m.line(ctx, after, theta, tMax, tol, maxNodes)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// line makes the line at θ ≥ −½, after the line of a similar mixture, if there is one.
func (m *mixture) line(ctx context.Context, after *mixtureLine, theta, tMax, tol float64, maxNodes int) (*mixtureLine, error) {
	kl := m.divergence()
	tol, goal := lineGoal(theta, tol, kl)
	pieces := goal - xmath.Log(2+2*math.Hypot(theta, tMax))
	still := m.levelFor(m.stillStep(theta, -goal))
	level := still
	// A sketch knows the level that the frequencies need: making nodes only to learn that costs as much again.
	first, slack := 0.0, 0.0 // 0: no line promises anything
	switch {
	case tMax > 0 && after != nil:
		level, first, slack = max(still, after.level), after.best.a, followSlack
	case tMax > 0:
		level, first = m.levelUpTo(theta, tMax, goal, still)
	}
	own := m.endsFor(theta, tMax, goal)
	for level <= maxLevel {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		lo, hi, ok := m.cut(theta, level, own, pieces, maxNodes)
		if !ok {
			break
		}
		s := m.tilt(theta, level, lo, hi)
		want := goal + max(0, s.scale-theta*kl*0.9)
		if s.logPiece > pieces+1 && s.unit == 1 {
			level++
			continue
		}
		best, logErr, cells := strip{s.stillLine, s.logStrip}, s.logStill, s
		if tMax > 0 {
			// In a cell of the strip Im L grows by about h·first·span/4 at most, and log f by (θ+1)·span·h.
			if far := max(still, m.levelFor(min(cellTurns/(tMax*first), 1/(1+math.Abs(theta)))/m.span)); first > 0 && far < level {
				if lo, hi, ok := m.cut(theta, far, own, pieces, maxNodes); ok {
					cells = m.tilt(theta, far, lo, hi)
				}
			}
			best, logErr = cells.stripFor(ctx, tMax, want+slack, first, s.h)
		}
		if logErr <= want+slack {
			if lo, hi, ok = m.cut(theta, still+movedFiner, ends{goal, goal}, pieces, maxNodes); !ok {
				break
			}
			return newLine(s, m.tilt(theta, still+movedFiner, lo, hi), best, logErr, tMax, tol), nil
		}
		step, line := cells.widest(ctx, tMax, want)
		level, first = max(level+1, m.levelFor(step)), line
	}
	return nil, fmt.Errorf("maxNodes: %d nodes are not enough for frequencies up to %v at real part %v", maxNodes, tMax, theta)
}

// lineGoal returns the wanted error of log M, as far as it buys anything, and the logarithm of that of the sum:
// K(θ) ≥ θ·kl by Jensen's inequality, and errors below the rounding of K are nothing.
func lineGoal(theta, tol, kl float64) (least, goal float64) {
	tol = min(max(tol, 1e-17*min(1, max(math.Abs(theta), 1e-8)*kl)), 1e-3)
	return tol, xmath.Log(tol/8) + theta*kl*0.9
}

func newLine(s, moved *tilted, best strip, logErr, tMax, tol float64) *mixtureLine {
	l := &mixtureLine{tilted: *s, moved: newMovable(moved), tMax: tMax, tol: tol, logMoving: logErr, best: best}
	least := l.d0 + l.unit
	drop := tol * least * math.Exp(-8) / float64(len(s.logF))
	l.loss = make([]float64, 0, len(s.logF))
	l.weight = make([]float64, 0, len(s.logF))
	for i, w := range s.w {
		loss := s.nodes[i].loss
		if w <= drop {
			// |e^{itL} − 1 − itL| ≤ 2 + t|L|.
			l.skip0 += 2 * w
			l.skip1 += w * math.Abs(loss)
			continue
		}
		l.loss = append(l.loss, loss)
		l.weight = append(l.weight, w)
	}
	k, _, err := s.real()
	l.kUp = k
	if !math.IsInf(err, 1) {
		l.kUp = k + err
	}
	return l
}

// Terms implements Line.
func (l *mixtureLine) Terms(n int) float64 {
	return ColumnTerms(float64(len(l.loss)), float64(n))
}

// LogM implements Line.
func (l *mixtureLine) LogM(t float64) (re, im, err float64) {
	sign := 1.0
	if l.conjugate {
		sign = -1
	}
	if t < 0 {
		t, sign = -t, -sign
	}
	if !(t <= l.tMax) {
		return l.Decay(t), 0, math.Inf(1)
	}
	dRe, dIm := l.sum(t)
	bound := l.roundOff.at(t) + l.skip0 + l.skip1*t + l.quadrature(l.logMoving, t)
	re, im, err = logComplex(l.unit, dRe, dIm, bound, l.scale)
	if math.IsInf(err, 1) {
		return min(re, l.kUp), 0, err
	}
	return re, sign * im, err
}

// sum returns the real and imaginary part of e^−scale·M(θ + it) − unit.
func (l *mixtureLine) sum(t float64) (re, im float64) {
	var s2, c2, s1, c1 float64 // sums with their compensations
	for i, w := range l.weight {
		a, b := oscillation(t * l.loss[i])
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
	re = l.d0 - 2*(s2+c2)
	im = t*l.m1 + (s1 + c1)
	return re, im
}

// Column implements Columner.
func (l *mixtureLine) Column(h float64, re, im, err []float64) bool {
	n := len(re)
	if !(float64(n-1)*h <= l.tMax) || float64(len(l.loss))*float64(n) <= gridTerms(len(l.loss), n) {
		return false
	}
	s, ok := secondOrderGrid(l.loss, l.weight, h, n, gridHalf, 1)
	if !ok {
		return false
	}
	sign := 1.0
	if l.conjugate {
		sign = -1
	}
	for k := range re {
		t := float64(k) * h
		bound := l.roundOff.at(t) + l.skip0 + l.skip1*t + l.quadrature(l.logMoving, t) + s.err[k]
		re[k], im[k], err[k] = logComplex(l.unit, l.d0+s.re[k], math.FMA(t, l.m1, s.im[k]), bound, l.scale)
		im[k] *= sign
		if math.IsInf(err[k], 1) {
			re[k], im[k] = min(re[k], l.kUp), 0
		}
	}
	return true
}
