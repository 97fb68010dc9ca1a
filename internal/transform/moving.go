// Theorem 5 (contour.md) at frequencies: the strip bound of f at θ + it.

package transform

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A strip is a bound of ∫|f_{θ+it}| over x ± iaσ², but for the factor e^{a²σ²/2}, for all
// frequencies up to t.
type strip struct{ a, log float64 }

// strip bounds the integral from the nodes: |f_{θ+it}(x ± iaσ²)| is at most
// |f(x ± iaσ²)|·e^{t·Im L} (sector.go), and Im L = arg P − arg Q is in a cell at most arg P at its right end less
// arg Q at its left end, as neither angle decreases (strip.go).
func (s *tilted) strip(t, a float64) strip {
	s.share()
	m := s.m
	table := m.angles(a)
	bound := newScaledSum(s.scale)
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
			log -= s.theta * q.logLow
		}
		if i == 0 {
			most[0] = imLoss(p, turn{component: -m.spanQ}, a) + p.slack
		} else {
			if s.local() {
				growth = s.cellGrowthOn(a, lastQ.second, q.second)
			}
			bound.add(max(last, log) + growth + t*(imLoss(p, lastQ, a)+p.slack+lastQ.slack)*(1+1e-12))
		}
		most[1] = imLoss(turn{component: m.spanP}, q, a) + q.slack
		last, lastQ = log, q
	}
	mod, angle := s.turnSlack(a)
	slack := t * angle
	inside := slack + 1e-9
	if s.local() {
		inside += s.theta * (1e-10 + mod)
	}
	beyond := func(right bool, most float64) float64 { return s.tailOn(a, right) + t*most*(1+1e-12) + slack }
	return strip{a, logSumUp(bound.log()+inside, beyond(false, most[0]), beyond(true, most[1]))}
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

// logError returns the logarithm of the quadrature error at step h of f at frequencies up to that of a strip.
func (m *mixture) logError(g strip, h float64) float64 {
	return g.a*g.a/(2*m.inv2) + g.log + logTrapezoid(g.a, h) + 1e-9
}

// stripFor returns the strip for frequencies up to t with the least error at step h that a walk to narrower ones meets, from the line a
// on (0: that for t = 0), or the first whose error is at most goal.
func (s *tilted) stripFor(ctx context.Context, t, goal, a, h float64) (best strip, logErr float64) {
	if a == 0 {
		a = s.stillLine
	}
	logErr = math.Inf(1)
	for worse := 0; worse < 2 && a > 1e-6*s.stillLine && ctx.Err() == nil; a *= 0.7 {
		g := s.strip(t, a)
		if e := s.m.logError(g, h); e < logErr {
			best, logErr, worse = g, e, 0
		} else if !math.IsInf(e, 1) {
			worse++
		}
		if logErr <= goal {
			break
		}
	}
	return best, logErr
}

// widest returns about the widest step at which logError should be goal for frequencies up to t, and the line for it.
func (s *tilted) widest(ctx context.Context, t, goal float64) (step, line float64) {
	m := s.m
	worse := 0
	for a := min(m.width(), 8*math.Sqrt(m.inv2)); worse < 2 && a > 1e-9*m.width() && ctx.Err() == nil; a *= 0.75 {
		if h := 2 * math.Pi * a / (a*a/(2*m.inv2) + s.nearStrip(t, a) - goal + math.Ln2 + 1); h > step {
			step, line, worse = h, a, 0
		} else if step > 0 {
			worse++
		}
	}
	return step, line
}

// nearStrip returns about what strip bounds, by the nodes alone.
func (s *tilted) nearStrip(t, a float64) float64 {
	s.share()
	table := s.m.angles(a)
	sum := newScaledSum(s.scale)
	for i := range s.nodes {
		p, q := s.m.turn(&s.nodes[i], table)
		sum.add(s.logF[i] - max(s.theta, 0)*q.logLow + t*imLoss(p, q, a))
	}
	return sum.log()
}
