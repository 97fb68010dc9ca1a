// Theorem 5 (contour.md): the trapezoidal rule with a strip bound from its own nodes.

package transform

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A function that is analytic for |Im x| < bσ², with integrals of at most I over both
// lines, has a trapezoidal sum within 2I/(e^{2πb/h} − 1) of its integral, h the step
// of the lattice in d = (x − x0)/σ².

// logTrapezoid returns log 2/(e^{2πb/h} − 1).
func logTrapezoid(b, h float64) float64 {
	v := 2 * math.Pi * b / h * (1 - 1e-14)
	if v > 40 {
		return math.Ln2 - v + 1e-15
	}
	return math.Ln2 - xmath.Log(math.Expm1(v))
}

// logPiece returns the logarithm of the error of the sums of P and of Q alone, which is
// at most 2Σ_{k≥1} e^{−2π²σ²k²/(hσ²)²} by Poisson summation.
func (m *mixture) logPiece(h float64) float64 {
	v := 2 * math.Pi * math.Pi * m.inv2 / (h * h) * (1 - 1e-14)
	if v < 4 {
		return math.Inf(1)
	}
	return math.Ln2 - v + 1e-5 // the terms k ≥ 2 are below 1.01·e^{−3v} of the first, v ≥ 4
}

// cellGrowth is the logarithm of the factor by which f = P^{θ+1}Q^{−θ} can exceed the larger
// of its values at the ends of a cell: (log f)” ≥ −1/σ² − max(θ,0)·span_Q²/(4σ⁴) in
// x, as (log P)” = −1/σ² + Var_P(c)/σ⁴ and a variance on an interval of that length is at most
// span²/4, and for n real zeros at most n/4; for −1 ≤ θ < 0 both powers are positive.
func (m *mixture) cellGrowth(theta, h float64) float64 {
	hx := h / m.inv2
	n, unit := m.zerosQ()
	return hx * hx / 8 * (m.inv2 + max(theta, 0)*n*unit*unit/4*m.inv2*m.inv2) * (1 + 1e-14)
}

// still returns the logarithm of the error of the sum of |f_{θ+it}| at x + iaσ², a = 0 or a height of shifted.go, by the best line within
// room of it, and that line.
func (s *tilted) still(a, room float64) (log, b float64) {
	m := s.m
	log = math.Inf(1)
	widest := min(room, 16*math.Sqrt(m.inv2))
	for i := range 16 {
		c := widest * math.Pow(0.78, float64(i))
		if g := (a*a+c*c)/(2*m.inv2) + s.logStrip + logTrapezoid(c, s.h) + m.logSector(s.theta, a+c); g < log {
			log, b = g, c
		}
	}
	return log + 1e-9, b
}

// stillStep returns a step at which the error of the sum of f_θ is about e^−c times ∫f.
func (m *mixture) stillStep(theta, c float64) float64 {
	step := 0.0
	widest := min(m.width(), 16*math.Sqrt(m.inv2))
	for i := range 16 {
		a := widest * math.Pow(0.78, float64(i))
		step = max(step, 2*math.Pi*a/(c+a*a/(2*m.inv2)+math.Ln2+m.logSector(theta, a)))
	}
	// The pieces P and Q alone.
	return min(step, math.Pi*math.Sqrt(2*m.inv2/(c+math.Ln2)))
}
