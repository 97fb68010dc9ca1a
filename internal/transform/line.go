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

// mixtureLine implements Line for θ ≥ −½.
type mixtureLine struct {
	tilted
	moved     movable // of nodes of its own, as |f| on a moved line does not oscillate
	logMoving float64 // of the quadrature error of f up to tMax
	best      strip   // where that error is smallest
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
	l := &mixtureLine{tilted: *s, moved: newMovable(moved), logMoving: logErr, best: best}
	l.keep(l.nodes, tol*(l.unit+l.d0)*math.Exp(-8)/float64(len(l.nodes)), tMax)
	l.quadratureOf(logErr)
	return l
}
