// Large frequencies on a moved line (contour.md §5.1).

package transform

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// f_{θ+it} is analytic in the strip, so that M(θ+it) is its integral over the line x + iaσ², too, with
//
//	f_{θ+it}(x + iaσ²) = |f_θ(x + iaσ²)|·e^{−t·Im L}·e^{i(t·Re L + (θ+1)·arg P − θ·arg Q)}.
//
// As Im L ≥ 0 at and above the real axis, |f_{θ+it}| is at most |f_θ| on the lines x and x + 2iaσ²
// for every t ≥ 0, and the trapezoidal rule between them is off by at most
//
//	(∫f_θ + ∫|f_θ(x + 2iaσ²)|)/(e^{2πa/h} − 1):
//
// the nodes need not grow with t. But the sum is of M and not of M − 1, and its rounding is relative to 1.

// A farLine is such a line for frequencies from one on: amplitudes e^{amp − t·turn} and phases
// t·loss + phase, with the relative errors err + slip·t.
type farLine struct {
	lead                   float64
	amp, turn, loss, phase []float64
	err, slip              []float64
	rest                   float64 // quadrature and nodes left out, over e^lead
}

// leastFarTol is the smallest wanted error of log M for which far lines are worth trying. Errors of the
// parameters count in full, too, and not times the rate.
func (m *mixture) leastFarTol() float64 {
	most := m.sigErr
	for i := range m.cs {
		most = max(most, m.cs[i].err-64*u)
	}
	return 1.5e-16 + 10*most
}

// farShift returns the a of the line with the smallest error of quadrature at the step of s, and the logarithm
// of that error.
func (s *tilted) farShift(enough float64) (a, logErr float64) {
	m := s.m
	v := m.peakVariance(s.theta)
	best, model := 0.0, math.Inf(1)
	for i := range 12 {
		x := min(m.width()/2, 8*math.Sqrt(m.inv2)) * math.Pow(0.8, float64(i))
		if e := 2*x*x/m.inv2 + m.modelSector(s.theta, 2*x, v) + s.logStrip + logTrapezoid(x, s.h); e < model {
			best, model = x, e
		}
	}
	if model > enough+3 {
		return best, model
	}
	return best, logSumUp(s.logStrip, 2*best*best/m.inv2+s.stripOn(2*best)) + logTrapezoid(best, s.h) - math.Ln2 + 1e-9
}

// lineWithFar returns a line that evaluates large frequencies on a moved line, with the nodes of s or of a
// somewhat finer lattice; nil if that is no use or takes more than atMost nodes.
func (m *mixture) lineWithFar(ctx context.Context, s *tilted, tMax, tol, want float64, own ends, pieces float64, atMost, maxNodes int, g *guide) *mixtureLine {
	for level := s.level; level <= min(s.level+3, maxLevel); level++ {
		if level != s.level {
			lo, hi, ok := m.cut(s.theta, level, own, pieces, maxNodes)
			if !ok {
				return nil
			}
			s = m.tilt(s.theta, level, lo, hi, want)
		}
		if len(s.nodes) > atMost {
			return nil
		}
		a, e := s.farShift(want)
		if e > want {
			continue
		}
		for t := tMax / 2; t > tMax/1e5 && ctx.Err() == nil; t /= 2 {
			if logErr, best, _ := s.strips(ctx, t, want, 0); logErr <= want {
				l := newLine(s, g, best, logErr, t, tol, maxNodes)
				l.farMax = tMax
				if l.far = l.newFarLine(a, e, t); l.far == nil {
					return nil
				}
				return l
			}
		}
		return nil
	}
	return nil
}

// newFarLine returns the line a for t ≥ from; nil where an angle is not known.
func (l *mixtureLine) newFarLine(a, logErr, from float64) *farLine {
	m := l.m
	lift := a * a / (2 * m.inv2)
	f := &farLine{lead: math.Inf(-1)}
	table := m.angles(a)
	v := make([]float64, len(m.cs))
	theta := l.theta
	var dropped xmath.Sum
	type term struct{ amp, turn, loss, phase, err, slip float64 }
	terms := make([]term, len(l.nodes))
	for j := range l.nodes {
		n := &l.nodes[j]
		d := float64(l.lo+j) * l.h
		p, q := m.turn(n, d, table, v)
		if p.slack > 0 || q.slack > 0 {
			return nil
		}
		argP, argQ := p.component*a+p.rest, q.component*a+q.rest
		amp := lift + l.logF[j] + (theta+1)*p.logMod - theta*q.logMod
		x := m.x(d)
		loss := n.loss + p.logMod - q.logMod
		turn := imLoss(p, q, a)
		phase := (theta+1)*argP - theta*argQ - x*a
		dMod, dArg := m.turnErrors(n, p, d, a)
		dModQ, dArgQ := m.turnErrors(n, q, d, a)
		dMod, dArg = max(dMod, dModQ), max(dArg, dArgQ)
		sizes := (theta+1)*math.Abs(argP) + math.Abs(theta*argQ) + math.Abs(x*a)
		terms[j] = term{amp, turn, loss, phase,
			n.relative(theta) + (theta+1)*n.errLoss + (2*math.Abs(theta)+1)*(dMod+dArg) + 2*m.sigErr*(lift+math.Abs(x)*a) +
				u*(16+2*math.Abs(amp)+4*lift+8*sizes+4*a*math.Abs(m.x0)),
			n.errLoss + 2*dMod + 2*dArg + u*(8*math.Abs(loss)+4*math.Abs(n.loss)+8*turn)}
		f.lead = max(f.lead, amp-from*turn)
	}
	for _, t := range terms {
		if x := t.amp - from*t.turn; x < f.lead-50 {
			dropped.Add(math.Exp(x - f.lead))
			continue
		}
		f.amp, f.turn = append(f.amp, t.amp-f.lead), append(f.turn, t.turn)
		f.loss, f.phase = append(f.loss, t.loss), append(f.phase, t.phase)
		f.err, f.slip = append(f.err, t.err+u*(2*math.Abs(t.amp)+2*math.Abs(f.lead))), append(f.slip, t.slip)
	}
	out := logSumUp(logErr, lift+l.tailOn(a, true), lift+l.tailOn(a, false))
	f.rest = (math.Exp(out-f.lead) + dropped.Value()) * (1 + 1e-9)
	return f
}

// turnErrors bounds the errors of log|Σ w_c e^{iac}| and of its angle for a·span < 1.56, where |Σ| > 0.71. With
// c from the largest component, the second moment is at least the share w of all others and at least E|c|:
//
//   - exponents that are wrong by δ move the logarithm by Σ w_c δ|e^{iac}/Σ − 1| ≤ 5w·min(1, a·span)·δ;
//   - S and I of turnOf are off by 8 + m roundings for m components, so that the logarithm is by 5 times
//     those of a²E[c²], and the angle by 3 times those of a·E|c|.
func (m *mixture) turnErrors(n *node, t turn, d, a float64) (mod, arg float64) {
	if m.realZeros {
		e := m.turnError(a, n.shares.err(), t.least())
		return e, e + 2*u*math.Abs(t.component*a+t.rest)
	}
	wide, terms := min(1, a*m.span), 8+float64(len(m.cs))
	dv := 5 * wide * min(1, t.second) * m.exponentErr(d)
	mod = 8 * terms * u * min(wide*wide, a*a*t.second)
	arg = 4*terms*u*a*min(m.span, t.second) + 2*u*math.Abs(t.component*a+t.rest)
	return mod + dv, arg + dv
}

// logM returns log M(θ + it) and the bound of its error, as Line.LogM does.
func (f *farLine) logM(t float64) (re, im, err float64) {
	var x, y xmath.Sum
	wrong := 0.0
	for j, a := range f.amp {
		w := math.Exp(a - t*f.turn[j])
		sin, cos := math.Sincos(math.FMA(t, f.loss[j], f.phase[j]))
		x.Add(w * cos)
		y.Add(w * sin)
		if e := f.err[j] + f.slip[j]*t; e < 0.01 {
			wrong += w * e
		} else {
			wrong += w * math.Expm1(e)
		}
	}
	if math.IsNaN(wrong) {
		wrong = math.Inf(1)
	}
	return logComplex(0, x.Value(), y.Value(), wrong*1.01+f.rest, f.lead)
}
