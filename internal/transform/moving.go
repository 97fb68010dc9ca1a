// Theorem 5 (contour.md) at frequencies: the strip bound of f at θ + it.

package transform

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A strip is a bound of ∫|f_{θ+it}| over x ± iaσ², but for the factor e^{a²σ²/2}·C, for all
// frequencies up to t. rough is what the bound would be on finer nodes.
type strip struct{ a, log, rough float64 }

// strip bounds the integral from the nodes: |f_{θ+it}(x ± iaσ²)| ≤ e^{a²σ²/2}·C·f(x)·e^{t·Im L}, and
// Im L = arg P − arg Q is in a cell at most arg P at its right end less arg Q at its left
// end, as neither angle decreases (strip.go).
func (s *tilted) strip(t, a float64) strip {
	m := s.m
	table := m.angles(a)
	v := make([]float64, len(m.cs))
	bound, rough := newScaledSum(s.scale), newScaledSum(s.scale)
	var lastQ turn
	left, right := 0.0, 0.0
	for i := range s.nodes {
		p, q := m.turn(float64(s.lo+i)*s.h, table, v)
		if i == 0 {
			left = imLoss(p, turn{component: m.minQ}, a)
		} else {
			bound.add(max(s.logF[i-1], s.logF[i]) + t*imLoss(p, lastQ, a)*(1+1e-12))
		}
		rough.add(s.logF[i] + t*imLoss(p, q, a))
		right = imLoss(turn{component: m.maxP}, q, a)
		lastQ = q
	}
	// The angles round, and follow the errors of the weights and of σ, which are largest at an end.
	slack := t * (16*u*a*m.span + 3*min(1, a*m.span)*max(m.exponentErr(float64(s.lo)*s.h), m.exponentErr(float64(s.hi)*s.h)))
	log := bound.log() + m.cellGrowth(s.theta, s.h) + 1e-9 + slack
	return strip{a, logSumUp(log, s.logRight+t*right*(1+1e-12)+slack, s.logLeft+t*left*(1+1e-12)+slack), rough.log()}
}

// A scaledSum adds e^x for any x.
type scaledSum struct {
	lead float64
	sum  xmath.Sum
}

func newScaledSum(lead float64) scaledSum { return scaledSum{lead: lead} }

func (s *scaledSum) add(x float64) {
	for x-s.lead > 600 {
		const down = 800
		s.sum.Ldexp(-down)
		s.lead += down * math.Ln2
	}
	s.sum.Add(math.Exp(x - s.lead))
}

func (s *scaledSum) log() float64 { return s.lead + math.Log(s.sum.Value()) }

// logError returns the logarithm of the quadrature error of f at frequencies up to that of a strip.
func (s *tilted) logError(g strip) float64 {
	return g.a*g.a/(2*s.m.inv2) + s.m.logSector(s.theta, g.a) + g.log + logTrapezoid(g.a, s.h) + 1e-9
}

// stepFor returns a step at which logError should be about goal.
func (s *tilted) stepFor(g strip, goal float64) float64 {
	return 2 * math.Pi * g.a / (g.a*g.a/(2*s.m.inv2) + s.m.logSector(s.theta, g.a) + g.rough - goal + math.Ln2 + 1)
}

// strips tries lines for frequencies up to t, and returns the best error and
// its strip, and a step that reaches goal.
func (s *tilted) strips(t, goal float64) (logErr float64, best strip, step float64) {
	logErr = math.Inf(1)
	worse := 0
	for a := s.stillLine; worse < 2 && a > 1e-6*s.stillLine; a *= 0.7 {
		g := s.strip(t, a)
		if h := s.stepFor(g, goal); h > step {
			step = h
		}
		if e := s.logError(g); e < logErr {
			logErr, best, worse = e, g, 0
		} else {
			worse++
		}
		if logErr <= goal {
			break
		}
	}
	return logErr, best, step
}
