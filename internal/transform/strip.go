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

// turn returns the turns of P and of Q at a node.
func (m *mixture) turn(n *node, t *angles) (p, q turn) {
	return n.ofP.turn(t, m.realZeros), n.ofQ.turn(t, m.realZeros)
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
