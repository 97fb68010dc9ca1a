// Theorem 6 (contour.md): |M(θ + it)| ≤ B_a(t) = ∫|f_{θ+it}(x + iaσ²)| dx, which does not
// increase with t, for every a in (0, π/span). Cauchy's theorem moves the line; the bound and its
// monotonicity are pointwise.

package transform

import (
	"math"
	"sync/atomic"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// shiftedLines is the number of lines to choose from: a falls by shiftRatio from one
// to the next. The exponent at a line off the best by half a step is 2 % smaller.
const (
	shiftedLines = 64   // steers: lines for width
	shiftRatio   = 0.75 // steers: lines for width
)

// A shiftedLine is f_{θ+it} at the nodes moved by iaσ²: amplitudes e^log·e^{−t·turn}.
type shiftedLine struct {
	a         float64
	log, turn []float64
	err, slip []float64 // relative error of the amplitudes: err + slip·t

	rest float64 // logarithm of what is left out and of the quadrature error, at every t
}

// shift returns a of line i: a + b must stay below π/span for a line ±b of its quadrature.
func (m *mixture) shift(i int) float64 {
	return 0.7 * min(m.width(), 14*math.Sqrt(m.inv2)) * math.Pow(shiftRatio, float64(i))
}

// movable is a mixture under one tilt with the lines that it was moved to.
type movable struct {
	tilted
	slope   float64 // about E[dL/dd] under the tilted density
	shifted [shiftedLines]atomic.Pointer[shiftedLine]
}

func newMovable(s *tilted) movable {
	s.share()
	var slope, mass float64
	for i := 1; i < len(s.w)-1; i++ {
		slope += s.w[i] * (s.nodes[i+1].loss - s.nodes[i-1].loss) / (2 * s.h)
		mass += s.w[i]
	}
	return movable{tilted: *s, slope: slope / mass}
}

func (l *movable) shiftedLine(i int) *shiftedLine {
	if s := l.shifted[i].Load(); s != nil {
		return s
	}
	s := l.newShiftedLine(l.m.shift(i))
	l.shifted[i].CompareAndSwap(nil, s)
	return s
}

// climb returns the smallest value of f at t that a climb among the shifted lines meets, from the one that is best to second order in a,
// a = t·E[dL/dx].
func (l *movable) climb(t float64, f func(s *shiftedLine) float64) float64 {
	i := int(math.Round(xmath.Log(t*l.slope*l.m.inv2/l.m.shift(0)) / xmath.Log(shiftRatio)))
	i = min(max(i, 0), shiftedLines-1)
	least := f(l.shiftedLine(i))
	for step := -1; step <= 1; step += 2 {
		moved := false
		for j := i + step; j >= 0 && j < shiftedLines; j += step {
			x := f(l.shiftedLine(j))
			if !(x < least) {
				break
			}
			least, moved = x, true
		}
		if moved {
			break
		}
	}
	return least
}

func (l *movable) newShiftedLine(a float64) *shiftedLine {
	m, n := l.m, len(l.nodes)
	flat := make([]float64, 4*n)
	s := &shiftedLine{a: a, log: flat[:n:n], turn: flat[n : 2*n : 2*n], err: flat[2*n : 3*n : 3*n], slip: flat[3*n:]}
	table := m.angles(a)
	lift := a * a / (2 * m.inv2)
	quadrature, _ := l.still(a, m.reach(a))
	s.rest = logSumUp(lift+l.tailOn(a, false), lift+l.tailOn(a, true), quadrature)
	for j := range l.nodes {
		n := &l.nodes[j]
		p, q := m.turn(n, table)
		s.log[j] = lift + l.logF[j] + (l.theta+1)*p.logMod - l.theta*q.modulus(l.theta)
		s.turn[j] = max(0, imLoss(p, q, a)-p.slack-q.slack)
		mod, angle := m.turnError(a, n.shareErr(), min(p.least(), q.least()))
		s.err[j] = n.relative(l.theta) + (l.theta+1)*n.errLoss + (2*math.Abs(l.theta)+1)*mod + u*(8+2*math.Abs(s.log[j])+4*lift) + 2*m.sigErr*lift
		s.slip[j] = 2*angle + 4*u*s.turn[j]
	}
	return s
}

// logB returns the logarithm of an upper bound of B_a(t).
func (l *mixtureLine) logB(s *shiftedLine, t float64) float64 {
	var sum xmath.Sum
	lead := l.moved.scale
	for j, f := range s.log {
		w := math.Exp(f - lead - t*s.turn[j])
		sum.Add(w * raised(s.err[j]+s.slip[j]*t))
	}
	return logSumUp(lead+xmath.Log(sum.Value()), s.rest) + 16*u
}

// raised returns at least e^x, x ≥ 0.
func raised(x float64) float64 {
	if x < 0.01 {
		return 1 + 1.01*x
	}
	return math.Exp(x) * (1 + 4*u)
}

// reach is how far from a the lines ±bσ² of the quadrature of B_a may lie, for all t. The integrand is the restriction of a function that is
// analytic for |Im| < (π/span − a)σ²; on the lines ±bσ² that is at most
//
//	e^{(a²+b²)σ²/2}·P^{θ+1}·|Q(a+b)·Q(b−a)|^{−θ/2}·e^{−(t/2)(Im L(a+b) − Im L(b−a))}.
//
// Im L is odd, and 0 or above at a height of 0 or above: the last factor is at most 1 for b ≤ a, and for b > a where Im L does
// not fall up to a + b.
func (m *mixture) reach(a float64) float64 { return max(min(a, m.width()-a), m.rising()-a) }

// rising is up to which height Im L does not fall: the derivative of arg P by the height a is ΣΣ w_c w_d·(c+d)/2·cos(a(c−d)) over a square, and
// that of −arg Q alike, of which no cosine is negative up to π/2 over the spans of P and of Q. With real zeros each factor has a span of 1.
func (m *mixture) rising() float64 {
	quarter := math.Pi / 2 * (1 - 1e-14)
	if m.realZeros {
		return quarter
	}
	return quarter / max(m.spanP, m.spanQ)
}

// Decay implements Line.
func (l *mixtureLine) Decay(t float64) float64 {
	if !(t > 0) {
		return l.kUp
	}
	return min(l.kUp, l.moved.climb(t, func(s *shiftedLine) float64 { return l.logB(s, t) }))
}
