// Theorem 1 (inversion). Let M be the transform of L = ΣL_i on the part of P where
// L is finite, m₀ = M(0), m₁ = M(−1), and for a real number s other than 0 and −1
//
//	I_s(ε) = (1/2πi) ∫_{Re z = s} M(z) e^{−zε} / (z(z+1)) dz.
//
// Then I_s(ε) = E[ψ_s(L−ε)], with ψ_s(v) = (1−e^{−v})₊ for s > 0, −min(1, e^{−v}) for
// −1 < s < 0 and (e^{−v}−1)₊ for s < −1, because 1/(z(z+1)) = 1/z − 1/(z+1) is the
// two-sided Laplace transform of ψ_s on its strip. The three functions differ by 1 and
// e^{−v}, the residues at 0 and −1. The kernel is integrable on the line and
// |M(s+it)| ≤ M(s), so the expectation and the integral may be exchanged. Hence
//
//	δ − (1−m₀)             =  I_s   for s > 0,
//	1 − δ                  = −I_s   for −1 < s < 0,
//	δ − (1−e^ε) − e^ε(1−m₁) =  I_s   for s < −1,
//
// and |I_s(ε)| ≤ w(s) M(s) e^{−sε} with w(s) = sup_v |ψ_s(v)| e^{−sv}.
//
// It assumes that M is finite on the line. It returns weights and signs of the three sides, which everything
// above them in the engine refers to.

package contour

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A side is one of the three pieces of the real line that the poles 0 and −1 of
// 1/(z(z+1)) cut, and with it the quantity that an integral there is.
type side int

const (
	right  side = iota // s > 0: δ without the part at L = +∞, decreasing in ε
	middle             // −1 < s < 0: 1 − δ, increasing in ε
	left               // s < −1: the excess of δ over 1 − e^ε, increasing in ε
)

func sideOf(s float64) side {
	switch {
	case s > 0:
		return right
	case s > -1:
		return middle
	}
	return left
}

// sign is that of I_s.
func (d side) sign() float64 {
	if d == middle {
		return -1
	}
	return 1
}

// slope is the sign of the derivative by ε of the quantity |I_s|.
func (d side) slope() float64 {
	if d == right {
		return -1
	}
	return 1
}

// logWeight returns log w(s) of Theorem 1.
func logWeight(s float64) float64 {
	switch sideOf(s) {
	case right:
		// s log s − (1+s) log(1+s), without the difference of near-equal terms.
		return -s*math.Log1p(1/s) - math.Log1p(s)
	case middle:
		return 0
	}
	p := -s
	return (p-1)*math.Log1p(-1/p) - xmath.Log(p)
}

// logPoles returns log |s(s+1)|.
func logPoles(s float64) float64 { return xmath.Log(math.Abs(s)) + xmath.Log(math.Abs(1+s)) }
