// Theorem 5 (contour.md) at frequencies: the strip bound of f at θ + it.

package transform

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A strip is a bound of ∫|f_{θ+it}| over x ± iaσ², but for the factor e^{a²σ²/2}, for all
// frequencies up to t. rough is what the bound would be on finer nodes.
type strip struct{ a, log, rough float64 }

// strip bounds the integral from the nodes: |f_{θ+it}(x ± iaσ²)| is at most
// |f(x ± iaσ²)|·e^{t·Im L} (sector.go), and Im L = arg P − arg Q is in a cell at most arg P at its right end less
// arg Q at its left end, as neither angle decreases (strip.go).
func (s *tilted) strip(t, a float64) strip { return s.stripBetween(t, a, a) }

// stripBetween is the same for P^{θ+1}·|Q(x + i·wide·σ²)·Q(x + iaσ²)|^{−θ/2}·e^{t·Im L}, wide ≥ a, but for
// e^{(wide²+a²)σ²/4}: |Q| decreases with a.
func (s *tilted) stripBetween(t, a, wide float64) strip {
	m := s.m
	table, other := m.angles(a), m.angles(wide)
	bound, rough := newScaledSum(s.scale), newScaledSum(s.scale)
	growth := 0.0
	if !s.local() {
		growth = m.cellGrowth(s.theta, s.h)
	}
	var lastQ turn
	var most [2]float64 // Im L beyond the ends
	var last float64
	for i := range s.nodes {
		p, q := m.turn(&s.nodes[i], table)
		log := s.logF[i]
		if s.local() {
			low := q.logLow
			if wide != a {
				low = (low + s.nodes[i].ofQ.turn(other, m.realZeros).logLow) / 2
			}
			log -= s.theta * low
		}
		if i == 0 {
			most[0] = imLoss(p, turn{component: -m.spanQ}, a) + p.slack
		} else {
			if s.local() {
				growth = s.cellGrowthOn(wide, lastQ.second, q.second)
			}
			bound.add(max(last, log) + growth + t*(imLoss(p, lastQ, a)+p.slack+lastQ.slack)*(1+1e-12))
		}
		rough.add(log + t*imLoss(p, q, a))
		most[1] = imLoss(turn{component: m.spanP}, q, a) + q.slack
		last, lastQ = log, q
	}
	_, angle := s.turnSlack(a)
	slack := t * angle
	inside := slack + 1e-9
	if s.local() {
		mod, _ := s.turnSlack(wide)
		inside += s.theta * (1e-10 + mod)
	}
	beyond := func(right bool, most float64) float64 { return s.tailOn(wide, right) + t*most*(1+1e-12) + slack }
	return strip{a, logSumUp(bound.log()+inside, beyond(false, most[0]), beyond(true, most[1])), rough.log()}
}

// A scaledSum adds e^x; it is infinite once x is above largestExponent, where its steps would
// not end and the rounding of its scale would count.
type scaledSum struct {
	lead float64
	sum  xmath.Sum
}

func newScaledSum(lead float64) scaledSum { return scaledSum{lead: lead} }

const largestExponent = 1e6

func (s *scaledSum) add(x float64) {
	if !(x < largestExponent) {
		s.lead = math.Inf(1)
	}
	for x-s.lead > 600 {
		const down = 800
		s.sum.Ldexp(-down)
		s.lead += down * math.Ln2
	}
	s.sum.Add(math.Exp(x - s.lead))
}

func (s *scaledSum) log() float64 {
	if math.IsInf(s.lead, 1) {
		return s.lead
	}
	return s.lead + xmath.Log(s.sum.Value())
}

// logError returns the logarithm of the quadrature error of f at frequencies up to that of a strip.
func (s *tilted) logError(g strip) float64 {
	return g.a*g.a/(2*s.m.inv2) + g.log + logTrapezoid(g.a, s.h) + 1e-9
}

// stepFor returns a step at which logError should be about goal.
func (s *tilted) stepFor(g strip, goal float64) float64 {
	return 2 * math.Pi * g.a / (g.a*g.a/(2*s.m.inv2) + g.rough - goal + math.Ln2 + 1)
}

// strips tries lines for frequencies up to t, first one that promises most (0: none), and returns the
// best error and its strip, and a step that reaches goal.
func (s *tilted) strips(ctx context.Context, t, goal, first float64) (logErr float64, best strip, step float64) {
	logErr = math.Inf(1)
	if first > 0 {
		best = s.strip(t, first)
		step = s.stepFor(best, goal)
		if logErr = s.logError(best); logErr <= goal {
			return logErr, best, step
		}
	}
	// Wider ones than the first promise less.
	a, worse := s.stillLine, 0
	if first > 0 {
		a = min(a, 0.7*first)
	}
	for ; worse < 2 && a > 1e-6*s.stillLine && ctx.Err() == nil; a *= 0.7 {
		g := s.strip(t, a)
		if h := s.stepFor(g, goal); h > step {
			step = h
		}
		if e := s.logError(g); e < logErr {
			logErr, best, worse = e, g, 0
		} else if !math.IsInf(e, 1) {
			worse++
		}
		if logErr <= goal {
			break
		}
	}
	return logErr, best, step
}
