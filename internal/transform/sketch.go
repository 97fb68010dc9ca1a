// Quick values that prove nothing: what a search needs to know about a transform.

package transform

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Sketch is about a Transform, from a few nodes and without a bound. It is a type of its own so
// that none of its values can enter a certificate: it chooses lines, nodes and frequencies, and what
// it chooses badly costs time or width.
type Sketch interface {
	// Real returns about K(s) and K'(s); k is +Inf where there is none.
	Real(s float64) (k, slope float64)

	// Line returns a sketch of a Line at real part theta, nil if there is none.
	Line(theta float64) SketchLine
}

// A SketchLine is about a Line. It is not safe for concurrent use.
type SketchLine interface {
	// Fall returns about Decay(t) − K(theta).
	Fall(t float64) float64

	// Table returns about log M(theta + ikh) − K(theta) for k = 0 … n, to about tol, and what that took in terms of a direct sum of
	// a Line; nil if that would be too much, or more than most.
	Table(h float64, n int, tol float64, most int64) (re, im []float64, terms int64)

	// Nodes returns about the Nodes of a Line for frequencies up to tMax and errors of tol, +Inf where there would be too many.
	Nodes(tMax, tol float64) float64
}

// NewSketch returns a sketch of t. Where t has no other, it is t itself.
func NewSketch(t Transform) Sketch {
	if m, ok := t.(*mixture); ok {
		return (*mixtureSketch)(m)
	}
	if m, ok := t.(*Mixed); ok {
		if s := newMixedSketch(m); s != nil {
			return s
		}
	}
	return plainSketch{t}
}

type plainSketch struct{ t Transform }

func (p plainSketch) Real(s float64) (k, slope float64) {
	k, slope, err := p.t.Real(s)
	if math.IsInf(err, 0) || math.IsNaN(k+slope+err) {
		return math.Inf(1), 0
	}
	return k, slope
}

func (plainSketch) Line(float64) SketchLine { return nil }

// sketchDepth is −log of the relative error that the nodes of a sketch aim at: 1e-5 of M − 1, that is of
// each term's share of it, as the trapezoidal rule errs in proportion to what it sums.
const sketchDepth = 12 // steers: accuracy for nodes

// mostSketchNodes bounds the work of a sketch.
const mostSketchNodes = 1 << 12 // steers: work

type mixtureSketch mixture

// sketchNodes returns a few nodes for θ ≥ −½; ok is false if that takes too many.
func (m *mixture) sketchNodes(theta, kl, depth float64) (level, lo, hi int, ok bool) {
	goal := -depth + xmath.Log(min(1, max(math.Abs(theta), 1e-8)*kl)) + min(0, theta*kl)
	// Every second level, so that different θ share their nodes.
	level = (m.levelFor(m.stillStep(theta, depth)) + 1) &^ 1
	lo, hi, ok = m.cut(theta, level, ends{goal, goal}, goal-xmath.Log(2+2*math.Abs(theta)), mostSketchNodes)
	return level, lo, hi, ok
}

// Real implements Sketch.
func (r *mixtureSketch) Real(s float64) (k, slope float64) {
	m := (*mixture)(r)
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return math.Inf(1), 0
	}
	if s < -0.5 {
		k, slope = (*mixtureSketch)(m.rev).Real(-1 - s)
		return k, -slope
	}
	kl := m.divergence()
	if s == 0 {
		return 0, kl
	}
	level, lo, hi, ok := m.sketchNodes(s, kl, sketchDepth)
	if !ok {
		return math.Inf(1), 0
	}
	return roughReal(m.points(level, lo, hi), s, m.step(level)/m.inv2, 0, 0)
}

// roughReal returns the sums for K(θ) and K'(θ) over nodes at this step in x, where P and Q have infinite losses with the
// probabilities pInf and qInf.
func roughReal(nodes []node, theta, step, pInf, qInf float64) (k, slope float64) {
	var d, m1 float64
	for i := range nodes {
		n := &nodes[i]
		if v := theta * n.loss; v <= 30 {
			_, second, growth := tiltedTerms(n.p, v)
			d += second + theta*n.kappa
			m1 += n.loss*growth + n.kappa
		} else {
			w := math.Exp(n.logF(theta))
			d += w + theta*n.kappa
			m1 += w*n.loss + n.kappa
		}
	}
	d, m1 = d*step-pInf+theta*(qInf-pInf), m1*step+qInf-pInf
	if d > -0.5 && d < 1e3 {
		return math.Log1p(d), m1 / (1 + d)
	}
	top := math.Inf(-1)
	for i := range nodes {
		top = max(top, nodes[i].logF(theta))
	}
	d, m1 = 0, 0
	for i := range nodes {
		w := math.Exp(nodes[i].logF(theta) - top)
		d += w
		m1 += w * nodes[i].loss
	}
	if math.IsNaN(d) || math.IsInf(top, 0) || d == 0 {
		return math.Inf(1), 0
	}
	return top + xmath.Log(d*step), m1 / d
}

// lineDepth is that of a SketchLine, whose sums oscillate or fall with t.
const lineDepth = 18 // steers: accuracy for nodes

// roughLine is a SketchLine of a mixture at θ ≥ −½.
type roughLine struct {
	movable
	kl   float64
	mass float64 // ΣW
}

// Line implements Sketch.
func (r *mixtureSketch) Line(theta float64) SketchLine {
	m := (*mixture)(r)
	if !(math.Abs(theta) <= 1e9) {
		return nil
	}
	if theta < -0.5 {
		m, theta = m.rev, -1-theta
	}
	if l := m.roughLine(theta); l != nil {
		return l
	}
	return nil
}

// roughLine returns the sketch of a line, nil if it has too many nodes.
func (m *mixture) roughLine(theta float64) *roughLine {
	kl := m.divergence()
	level, lo, hi, ok := m.sketchNodes(theta, kl, lineDepth)
	if !ok || hi-lo < 2 {
		return nil
	}
	l := &roughLine{movable: newMovable(m.tilt(theta, level, lo, hi)), kl: kl}
	for _, w := range l.w {
		l.mass += w
	}
	return l
}

// Fall implements SketchLine: about log B_a(t)/M(θ), from differences, so that it keeps its digits near 0.
func (l *roughLine) Fall(t float64) float64 {
	if !(t > 0) {
		return 0
	}
	return min(0, l.climb(t, func(s *shiftedLine) float64 {
		sum := 0.0
		for j, w := range l.w {
			sum += w * math.Expm1(s.log[j]-l.logF[j]-t*s.turn[j])
		}
		if sum > -0.5*l.mass {
			return math.Log1p(sum / l.mass)
		}
		sum = 0
		for j, w := range l.w {
			sum += w * math.Exp(s.log[j]-l.logF[j]-t*s.turn[j])
		}
		return xmath.Log(sum / l.mass)
	}))
}

// Table implements SketchLine.
func (l *roughLine) Table(h float64, n int, tol float64, most int64) (re, im []float64, terms int64) {
	m := l.m
	tol = max(tol, 1e-16)
	goal := xmath.Log(tol) + l.size()
	step, _ := l.stepUpTo(float64(n)*h, goal)
	level := max(l.level, m.levelFor(step))
	lo, hi, ok := m.cut(l.theta, level, ends{goal, goal}, goal-xmath.Log(2+2*l.theta), maxRealNodes)
	if !ok {
		return nil, nil, 0
	}
	x := m.tilt(l.theta, level, lo, hi)
	var loss, weight []float64
	heaviest := slices.Max(x.w)
	for i, w := range x.w {
		if w > heaviest*tol*1e-3 {
			loss, weight = append(loss, x.nodes[i].loss), append(weight, w)
		}
	}
	return oscillate(loss, weight, h, n, most)
}

// A term of a sketch takes about an eighth of the time of one of a line. steers: what work is charged
const sketchedTerms = 8

// oscillate returns about the logarithm of Σ w e^{ikhx} over Σ w for k = 0 … n, and what that took in terms of a line; nil if
// that would be more than most.
func oscillate(loss, weight []float64, h float64, n int, most int64) (re, im []float64, terms int64) {
	mass, first := 0.0, 0.0
	for i, w := range weight {
		mass += w
		first += w * loss[i]
	}
	terms = int64(len(loss)) * int64(n+1) / sketchedTerms
	if g := gridTerms(len(loss), n+1); g < float64(min(terms, most)) {
		if s, ok := secondOrderGrid(loss, weight, h, n+1, gridHalf, 1); ok {
			for k := range s.re {
				s.re[k], s.im[k] = logOfMean(s.re[k]/mass, (s.im[k]+float64(k)*h*first)/mass)
			}
			return s.re, s.im, int64(g)
		}
	}
	if terms > most {
		return nil, nil, 0
	}
	re, im = make([]float64, n+1), make([]float64, n+1)
	for i, x := range loss {
		// e^{ikhx} − 1, each from the one before: the digits of small ones stay.
		w := weight[i] / mass
		sin := math.Sin(h * x / 2)
		s, c := math.Sin(h*x), -2*sin*sin
		a, b := 0.0, 0.0
		for k := 1; k <= n; k++ {
			a, b = a+c+(a*c-b*s), b+s+(a*s+b*c)
			re[k] += w * a
			im[k] += w * b
		}
	}
	for k := range re {
		re[k], im[k] = logOfMean(re[k], im[k])
	}
	return re, im, terms
}

// logOfMean returns about log(1 + x + iy).
func logOfMean(x, y float64) (re, im float64) {
	return math.Log1p(max(2*x+x*x+y*y, -1)) / 2, math.Atan2(y, 1+x)
}

// Nodes implements SketchLine.
func (l *roughLine) Nodes(tMax, tol float64) float64 {
	_, goal := lineGoal(l.theta, tol, l.kl)
	goal += max(0, l.scale-l.theta*l.kl*0.9)
	step, _ := l.stepUpTo(tMax, goal)
	// The range grows with the root of the depth.
	whole := float64(len(l.nodes)) * l.h * math.Sqrt(max(1, -goal/lineDepth))
	if whole > maxLineNodes*step {
		return math.Inf(1)
	}
	return whole / step
}

// stepUpTo returns about the widest step that serves for frequencies up to t, and the strip for it, with nodes as far out as such a line has.
func (s *tilted) stepUpTo(t, goal float64) (step, line float64) {
	if lo, hi, ok := s.m.cut(s.theta, s.level, s.m.endsFor(s.theta, t, goal), math.Inf(1), mostSketchNodes); ok {
		s = s.m.tilt(s.theta, s.level, min(lo, s.lo), max(hi, s.hi))
	}
	return s.widest(context.Background(), t, goal)
}

// levelUpTo returns the level that a line needs for frequencies up to tMax, at least that for t = 0, and a strip
// that promises most, 0 where a sketch knows of none.
func (m *mixture) levelUpTo(theta, tMax, goal float64, still int) (level int, first float64) {
	l := m.roughLine(theta)
	if l == nil {
		return still, 0
	}
	step, first := l.stepUpTo(tMax, goal+max(0, l.scale-theta*l.kl*0.9))
	if !(step > 0) {
		return still, 0
	}
	return max(still, m.levelFor(step)), first
}
