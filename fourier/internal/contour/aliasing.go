// Theorem 2 (aliasing). Let z_n = θ + inh, λ = 2π/h and
//
//	S(ε) = (h/2π) Σ_{n∈Z} M(z_n) e^{−z_nε} / (z_n(z_n+1)).
//
// x ↦ e^{θx}I_θ(x) is a mixture of translates of one continuous integrable function of
// bounded variation, and its Fourier coefficients are summable: by Poisson's formula
// S(ε) = Σ_k e^{θkλ} I_θ(ε+kλ). The term k = 0 is the answer. For s₊ > θ > s₋, neither of
// them 0 or −1 and both with a finite M, the terms k ≥ 1 are moved to the line s₊ and
// the terms k ≤ −1 to s₋. By Theorem 1 a pole on the way leaves m₀ or m₁e^x, whose geometric
// series is the closed form below. What is left is bounded by w(s)M(s)e^{−sx}, another
// geometric series, of the sign that ψ_s has:
//
//	I_θ(ε) = S(ε) + series − ρ₊ − ρ₋,
//	series = −sgn(θ)·m₀/(e^{|θ|λ}−1)              if 0 lies between θ and s₊ or s₋
//	         + sgn(θ+1)·m₁e^ε/(e^{|θ+1|λ}−1)      if −1 does,
//	ρ ∈ [0, R(s)] for s outside [−1, 0],  ρ ∈ [−R(s), 0] for −1 < s < 0,
//	R(s) = w(s) M(s) e^{−sε} / (e^{|s−θ|λ}−1).
//
// The signs are those of the page's table for the three positions of θ.
//
// It assumes upper bounds of log M on the lines s₊ and s₋. It returns the series and the bounds of the
// remainders; certificate.go puts them together.

package contour

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// between reports whether the pole p lies between a and b.
func between(p, a, b float64) bool { return (a < p) != (b < p) }

// logGeometric returns log 1/(e^x − 1) for x > 0.
func logGeometric(x float64) float64 {
	if x > 1 {
		return -x - math.Log1p(-math.Exp(-x))
	}
	return -xmath.Log(math.Expm1(x))
}

// logRemainder returns log R(s), given log M(s).
func logRemainder(s, theta, lambda, eps, logM float64) float64 {
	return logWeight(s) + logM - s*eps + logGeometric(math.Abs(s-theta)*lambda)
}

// period returns the smallest λ for which R(s) ≤ e^goal, to a few per cent: R(s) is
// e^{top − goal} at λ = 0+, with top = log w(s) + log M(s) − sε.
func period(s, theta, eps, logM, goal float64) float64 {
	x := logWeight(s) + logM - s*eps - goal
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	// log(e^y − 1) = x.
	y := x
	if x < 30 {
		y = math.Log1p(math.Exp(x))
	}
	return y / math.Abs(s-theta)
}
