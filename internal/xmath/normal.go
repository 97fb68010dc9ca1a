// The normal law: tails, hazards and densities, with the errors that were measured or
// proved.

package xmath

import (
	"math"
)

const (
	rSqrt2Hi = 0.7071067811865476     // fl(1/√2)
	rSqrt2Lo = -4.833646656726457e-17 // 1/√2 − fl(1/√2)
	twoRPi   = 1.1283791670955126     // 2/√π
	halfLn2P = 0.91893853320467274178 // ½·log 2π
	rSqrt2Pi = 0.39894228040143267794 // 1/√(2π)
)

// NormalTail returns Φ̄(x) = P(N(0,1) > x).
//
// math.Erfc(x/√2) alone loses x²·u because x/√2 is rounded; the first-order
// repair with the low half of the product brings the measured error to 4 u on
// [−3, 37] (docs/theory/accuracy.md §11).
func NormalTail(x float64) float64 {
	if math.Abs(x) > 40 { // Φ̄(40) < 1e-349; keeps infinities out of the products
		if x > 0 {
			return 0
		}
		return 1
	}
	y := x * rSqrt2Hi
	lo := math.FMA(x, rSqrt2Hi, -y) + x*rSqrt2Lo
	return 0.5 * (math.Erfc(y) - twoRPi*math.Exp(-y*y)*lo)
}

// LogNormalTail returns log Φ̄(x), with a measured error of 4 u·(1 + |log Φ̄(x)|) on
// [−8, 1e7].
func LogNormalTail(x float64) float64 {
	switch {
	case x < -1:
		return math.Log1p(-NormalTail(-x))
	case x < 37:
		return Log(NormalTail(x))
	case math.IsInf(x, 1):
		return math.Inf(-1)
	}
	h := x * x
	e := math.FMA(x, x, -h)
	if math.IsInf(h, 1) {
		return math.Inf(-1)
	}
	return -h/2 + (Log(asymptoticMills(x, 9)/x) - halfLn2P - e/2)
}

// asymptoticMills returns x·√(2π)·Φ̄(x)e^{x²/2}, the asymptotic series with n
// terms; the first omitted one is below 1e-17 for n = 9, x ≥ 37 and for
// n = 20, x ≥ 12.
func asymptoticMills(x float64, n int) float64 {
	z := 1 / (x * x)
	s := 1.0
	for k := 2*n - 1; k >= 1; k -= 2 {
		s = 1 - float64(k)*z*s
	}
	return s
}

// Mills returns Φ̄(x)/φ(x), the scaled tail, for x ≥ −30.
func Mills(x float64) float64 {
	if x >= 12 {
		return asymptoticMills(x, 20) / x
	}
	h := x * x
	e := math.FMA(x, x, -h)
	return NormalTail(x) * math.Exp(h/2) * (1 + e/2) / rSqrt2Pi
}

// LogNormalDensity returns log φ(x).
func LogNormalDensity(x float64) float64 { return -x*x/2 - halfLn2P }

// NormalHazard bounds φ(x)/Φ̄(x), the derivative of −log Φ̄, from above:
// φ/Φ̄ ≤ (x + √(x²+4))/2 holds for every x (Birnbaum's inequality); for
// negative x the far smaller φ(x)/½ is used when it is the smaller of the two. Far out the bound
// is the hazard but for 1/x⁴ of it, so that its rounding is added.
func NormalHazard(x float64) float64 {
	b := 0.5 * (x + math.Sqrt(x*x+4)) * (1 + 4*U)
	if x < 0 {
		b = 2 / (math.Sqrt(x*x+4) - x) * (1 + 4*U) // the same without cancellation
		return min(b, 2*rSqrt2Pi*math.Exp(-x*x/2)*(1+1e-15)+math.SmallestNonzeroFloat64)
	}
	return b
}

// MillsSlope returns 1 − xR(x), R the scaled tail Mills(x): minus the derivative
// of R. It is computed to about (4 + x²)u.
func MillsSlope(x float64) float64 {
	if x < 12 {
		return 1 - x*Mills(x)
	}
	// 1 − s with s the asymptotic series of x·R: z(1 − 3z(1 − 5z(…))).
	z := 1 / (x * x)
	s := 1.0
	for k := 39; k >= 3; k -= 2 {
		s = 1 - float64(k)*z*s
	}
	return z * s
}

// LogNormalBetween returns log P(m − w/2 < N(0,1) ≤ m + w/2) for w > 0, and a bound
// on its error, small however small w is.
func LogNormalBetween(m, w float64) (logMass, err float64) {
	m = math.Abs(m)
	far := m + w/2
	// Gauss-Legendre with 5 nodes leaves w^11·(5!)⁴/(11·(10!)³) = 4e-13·w^11 times
	// the tenth derivative He₁₀(x)φ(x), |He₁₀(x)| ≤ (|x|+2)^10, and φ varies by
	// e^{w·far} at most.
	if r := w * (far + 2); r < 0.5 {
		h, sum := w/2, 0.0
		for i, n := range gaussNodes {
			s := h * n
			sum += gaussWeights[i] * math.Exp(-s*(m+s/2))
		}
		logMass = LogNormalDensity(m) + Log(sum*h)
		return logMass, U*(20+2*m*m+4*math.Abs(logMass)+2*math.Abs(Log(h))) + 1.1e-12*math.Pow(r, 10)
	}
	tail := func(x float64) (l, e float64) {
		l = LogNormalTail(x)
		return l, 5*U*(1+math.Abs(l)) + NormalHazard(x+2*U*far)*2*U*far
	}
	a, ea := tail(m - w/2)
	b, eb := tail(m + w/2)
	if math.IsInf(a, -1) {
		return a, 0
	}
	logMass = LogSub(a, b)
	if math.IsInf(b, -1) {
		b, eb = a-800, 0
	}
	share := math.Exp(b - logMass)
	return logMass, (ea*(1+share)+eb*share)*(1+1e-6) + 4*U*(1+math.Abs(a)*(1+share))
}

var (
	gaussNodes   = [5]float64{0, -0.5384693101056831, 0.5384693101056831, -0.906179845938664, 0.906179845938664}
	gaussWeights = [5]float64{0.5688888888888889, 0.47862867049936647, 0.47862867049936647, 0.23692688505618908, 0.23692688505618908}
)

// Deviance returns x·log(x/m) + m − x ≥ 0 without cancellation near x = m: to 10 u of itself
// and 2 u of |x − m|. Beyond x = 2m and m = 2x the terms are at most five times their sum.
func Deviance(x, m float64) float64 {
	if 3*math.Abs(x-m) >= x+m {
		return x*Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	s := (x - m) * v
	e := 2 * x * v
	v *= v
	for j := 1; j < 200; j++ {
		e *= v
		next := s + e/float64(2*j+1)
		if next == s {
			break
		}
		s = next
	}
	return s
}
