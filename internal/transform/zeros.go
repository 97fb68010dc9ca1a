// Theorem 8 (contour.md): mixtures whose polynomials have real zeros turn like as many single records.

package transform

import "math"

// Relative to mean 0 a mixture is Π(w) = Σ p_c e^{−c²/2σ²} w^c at w = e^{x/σ²}. If Σ p_c w^c has
// only real zeros, n of them, so has Π, by Laguerre; with p_c ≥ 0 none is positive, and
//
//	Π(w)/Π(0) = ∏_j (1 + w/r_j),  r_j > 0.
//
// So Π is that of n independent coins with the probabilities s_j = w/(w + r_j), the shares w_c of the means are the law of
// their sum, with mean μ = Σs_j and variance V = Σs_j(1−s_j) ≤ n/4, and at the outcome x + iaσ² each factor is
// 1 − s_j + s_j e^{ia} times its value at x. For 0 < a < π this is not 0, its angle θ(s) is in [0, a] and grows with x,
// its modulus falls with a, and
//
//	4V·log cos(a/2) ≤ Σ log|1 − s_j + s_j e^{ia}| = ½ Σ log(1 − 4s_j(1−s_j) sin²(a/2)) ≤ −2V sin²(a/2),
//
// on the left because log(1−y)/y falls. For a ≤ 2 moreover |θ(s) − as| ≤ (a − sin a)·s(1−s): by symmetry take s ≤ ½; θ is
// convex there, from 0 to a/2, so that θ ≤ as. With D = (e^{ia}−1)/(1−s+se^{ia}) = i|D|e^{iβ}, where β falls from a/2 to 0,
// θ” = −Im D² = |D|² sin 2β and θ”' = −2|D|³ cos 3β. So h(s) = θ − as + (a − sin a)s(1−s) has h(0) = h'(0) = 0, h(½) > 0,
// and a second derivative that is 2 sin a(1 − cos a) − 2(a − sin a) > 0 at 0, may rise first, then falls, and ends below 0:
// h is convex, then concave, and h ≥ 0.
//
// Laguerre's theorem, with D = w·d/dw: for α > n and f of degree n with n negative zeros, αf + Df = w^{1−α}(w^α f)'
// and αf − Df = −w^{α+1}(w^{−α}f)' have as many, by Rolle between the zeros of w^α f and 0, of w^{−α}f and −∞. So
// (1 − D²/α²)^N with α² = 2σ²N, which multiplies w^c by (1 − c²/(2σ²N))^N, keeps zeros real; let N grow: limits keep zeros real
// (Hurwitz). A binomial law has (1 + cw)^n, with a real zero n times. A part of it has complex zeros, so a law is
// taken whole or by Theorem 4.
//
// In Theorem 5 the second derivative of log|Q| is at most V/cos²(a/2), and 1/|Q| at most cos(a/2)^{−n}.

// widthOfZeros is where the bound of the angle ends: 2 sin a − a − sin a·cos a > 0.
const widthOfZeros = 2

// leastResolved is the logarithm of the smallest modulus of a turn that is taken from its sum.
const leastResolved = -3

// zerosQ returns a number n and a unit, so that Q turns like n mixtures of two means that are the unit apart.
func (m *mixture) zerosQ() (n, unit float64) {
	if m.realZeros {
		return m.spanQ, 1
	}
	return 1, m.spanQ
}

// settle finds the turn of the angle, which is known up to whole turns, for shares with E[c − component] = mean and
// E(c − component)² = second. Where the bound of the angle does not tell, or the modulus is too small for its sum,
// the bounds of the theorem stand for it. Their 1e-6 is more than the errors of V; see turnError.
func (t *turn) settle(x *angles, mean, second float64) {
	v := max(0, second-mean*mean)
	const margin = 1e-6
	a, around := x.a, x.around*v
	if t.logMod > leastResolved && around < 3 {
		t.rest += 2 * math.Pi * math.Round((a*mean-t.rest)/(2*math.Pi))
		return
	}
	t.logMod = -2 * v * x.half * (1 - margin)
	t.logLow = 4 * v * x.logCos * (1 + margin)
	t.rest, t.slack = a*mean, around*(1+margin)+1e-9
}

// least is the smallest modulus that the errors of the turn are relative to.
func (t turn) least() float64 {
	if t.slack > 0 {
		return 0
	}
	return t.logMod
}

// turnError bounds the errors of the logarithm of a modulus e^logMod and of its angle, taken from a sum. With real zeros exponents
// that are wrong by dv move the shares by 2.1·dv together; their roundings are those of n + 16 operations, and the angles
// of the tables are wrong by u·a·(c − component) and component·a by as much. The margin of settle covers errors of 1e-7.
// On the narrower lines of others both move by at most 3·wide·dv, wide = min(1, a·span), and by 64u·wide² and 8u·a·span of their own, as
// the modulus is at least cos(0.7·π/2) = 0.45.
func (m *mixture) turnError(a, dv, logMod float64) (mod, angle float64) {
	if !m.realZeros {
		wide := min(1, a*m.span)
		return 64*u*wide*wide + 3*wide*dv, 8*u*a*m.span + 3*wide*dv
	}
	if !(dv < 1e-8) {
		return math.Inf(1), math.Inf(1)
	}
	e := 2.1*dv + u*(16+m.span+4*a*m.span)
	e *= 1.1 * math.Exp(-logMod)
	return e, e
}

// shareErr bounds the errors of the logarithms of the shares of a node.
func (n *node) shareErr() float64 { return max(n.ofP.dv, n.ofQ.dv) }
