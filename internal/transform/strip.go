// Theorem 4 (contour.md): monotone Gaussian mixtures on a line x + ia.

package transform

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// At the outcome x + iaσ² a component turns by the angle a·c. For |a| < π/span the
// densities have no zero there, arg P and arg Q do not decrease in x (the derivative
// of arg Σ w_c e^{iac} with weights w_c e^{cx} has the sign of Σ_{c>d} (c−d) w_c w_d
// sin(a(c−d))), and the loss has 0 ≤ Im L = arg P − arg Q.

// angles holds sin²(ak/2) and sin(ak) for the differences k of means.
type angles struct {
	a         float64
	sin2, sin []float64
	half      float64 // sin(a/2)²
	logCos    float64 // log cos(a/2)
	around    float64 // a − sin a
}

func (m *mixture) angles(a float64) *angles {
	sin, cos := math.Sincos(a / 2)
	t := &angles{a: a, half: sin * sin, logCos: xmath.Log(cos), around: a - math.Sin(a), sin2: make([]float64, int(m.span)+1), sin: make([]float64, int(m.span)+1)}
	for k := range t.sin {
		s, _ := math.Sincos(a * float64(k) / 2)
		t.sin2[k] = s * s
		t.sin[k], _ = math.Sincos(a * float64(k))
	}
	return t
}

// A turn is a density P or Q at x + iaσ² over that at x and e^{a²σ²/2}: the logarithm
// of its modulus, at most 0, and its angle, as that of a component, the one with the
// largest share, plus the rest.
// second is Σ w_c(c − component)² for its shares w_c, at least the variance of c.
//
// Where the angle is not known from the sum alone, it is within slack of what is said, and the modulus is between
// logLow and logMod; else slack is 0 and they are equal (zeros.go).
type turn struct{ logMod, logLow, component, rest, slack, second float64 }

// modulus returns the bound of the logarithm of the modulus that makes a power −θ of it larger.
func (t turn) modulus(theta float64) float64 {
	if theta > 0 {
		return t.logLow
	}
	return t.logMod
}

// turn returns the turns of P and of Q at node n, lattice point d; g are scratch of
// one entry per component.
func (m *mixture) turn(n *node, d float64, t *angles, g []float64) (p, q turn) {
	if n.shares != nil {
		return n.shares.p.turn(t), n.shares.q.turn(t)
	}
	if m.only != nil {
		if m.onlyP {
			return turnOfTwo(m.only.mean, n.odds, t), turn{}
		}
		return turn{}, turnOfTwo(m.only.mean, n.odds, t)
	}
	for i := range m.cs {
		g[i] = m.cs[i].mean*d + m.cs[i].offset
	}
	return m.turnOf(g, t, true), m.turnOf(g, t, false)
}

// turnOfTwo is turnOf for means 0 and mean = ±1, the logarithm of whose shares' ratio is odds.
func turnOfTwo(mean, odds float64, t *angles) turn {
	out := turn{}
	if odds > 0 {
		out.component, mean, odds = mean, -mean, -odds
	}
	if odds < negligible {
		return out
	}
	w := math.Exp(odds)
	w /= 1 + w
	s2, s1 := w*t.sin2[1], w*t.sin[1]
	out.logMod = min(0, 0.5*math.Log1p(s1*s1-4*s2*(1-s2)))
	out.logLow = out.logMod
	out.rest = mean * math.Atan2(s1, 1-2*s2)
	out.second = w * (1 + 1e-14)
	return out
}

func (m *mixture) turnOf(v []float64, t *angles, p bool) turn {
	first := m.logQ0
	if p {
		first = m.logP0
		if m.spanP == 0 {
			return turn{component: m.minP}
		}
	} else if m.spanQ == 0 {
		return turn{component: m.minQ}
	}
	top, at := first, 0.0
	for i := range m.cs {
		if l := v[i] + m.cs[i].log(p); l > top {
			top, at = l, m.cs[i].mean
		}
	}
	// With shares w_c, S = Σ w_c sin²(a(c−at)/2) and I = Σ w_c sin(a(c−at)) the sum is
	// 1 − 2S + iI, |·|² = 1 − 4S + 4S² + I².
	var sum, s2, s1, second float64
	add := func(c, logW float64) {
		w := 1.0
		if logW != top {
			// Shares below e^−50 are less than the roundings.
			if logW-top < negligible {
				return
			}
			w = math.Exp(logW - top)
		}
		sum += w
		second += w * (c - at) * (c - at)
		switch k := c - at; {
		case k > 0:
			s2 += w * t.sin2[int(k)]
			s1 += w * t.sin[int(k)]
		case k < 0:
			s2 += w * t.sin2[int(-k)]
			s1 -= w * t.sin[int(-k)]
		}
	}
	add(0, first)
	for i := range m.cs {
		if l := m.cs[i].log(p); !math.IsInf(l, -1) {
			add(m.cs[i].mean, v[i]+l)
		}
	}
	s2 /= sum
	s1 /= sum
	mod := min(0, 0.5*math.Log1p(s1*s1-4*s2*(1-s2)))
	out := turn{logMod: mod, logLow: mod, component: at, rest: math.Atan2(s1, 1-2*s2), second: second / sum * (1 + 1e-14)}
	return out
}

// imLoss returns Im L from the turns of P and Q, within the slacks of both.
func imLoss(p, q turn, a float64) float64 {
	return max(0, (p.component-q.component)*a+(p.rest-q.rest))
}

// width is the largest a that is used: lines must stay below π/span, or π where all zeros are real, of which the
// proof of zeros.go needs that much.
func (m *mixture) width() float64 {
	if m.realZeros {
		return widthOfZeros
	}
	return 3.1 / m.span
}

// scratch returns the scratch of turn, for one component each; none where nodes keep their shares.
func (m *mixture) scratch() []float64 {
	if m.realZeros {
		return nil
	}
	return make([]float64, len(m.cs))
}
