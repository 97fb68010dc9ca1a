// Proposition 3 (contour.md): M(z) − 1 = Σ p_j [ex(zL_j) + z·ex(−L_j)], with
// ex(v) = e^v − 1 − v, has only non-negative terms at real z > 0: p_j ex(−L_j) = q_j − p_j + p_j L_j,
// and the parts with zL_j cancel.

package transform

import "math"

// ex returns e^v − 1 − v ≥ 0 to 8 u relative: the Taylor series for small |v|, and
// beyond the difference, which loses at most a factor of 4.
func ex(v float64) float64 {
	if v > 0.7 || v < -0.7 {
		return math.Expm1(v) - v
	}
	// The first term left out is v^18/18! < 1e-18 of v²/2.
	s := 1.0 / 355687428096000
	for _, c := range exCoefficients {
		s = s*v + c
	}
	return s * v * v
}

// 1/16!, 1/15!, …, 1/2!.
var exCoefficients = [...]float64{
	1.0 / 20922789888000, 1.0 / 1307674368000, 1.0 / 87178291200, 1.0 / 6227020800, 1.0 / 479001600,
	1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2,
}

// divergenceTerm returns p·ex(−L) = q − p + p·L ≥ 0 for masses p = q·e^L.
func divergenceTerm(p, q, loss float64) float64 {
	if loss > -30 {
		return p * ex(-loss)
	}
	// q and p have errors of their own, which a difference of like numbers would magnify.
	return q - p*(1-loss)
}

// tiltedTerms returns W = p·e^v, p·ex(v) and p·(e^v − 1), for v ≤ 30, where W is not far above p.
// As a difference, beyond 0.7, ex loses at most a factor of 7 of the rounding of e^v.
func tiltedTerms(p, v float64) (w, second, growth float64) {
	if v > 0.7 || v < -0.7 {
		e := math.Exp(v)
		return p * e, p * (e - 1 - v), p * (e - 1)
	}
	x := ex(v)
	return p * (1 + v + x), p * x, p * (v + x)
}

// oscillation returns sin²(x/2) and sin x − x.
func oscillation(x float64) (sin2, sinLess float64) {
	if x > 1.2 || x < -1.2 {
		s, c := math.Sincos(x)
		return (1 - c) / 2, s - x
	}
	y := x * x
	// (1 − cos x)/2 = y/4 − y²/48 + …; the first terms left out are x^20/20! and x^21/21!.
	sin2 = y * (1.0/4 - y*(1.0/48-y*(1.0/1440-y*(1.0/80640-y*(1.0/7257600-y*(1.0/958003200-y*(1.0/174356582400-y*(1.0/41845579776000-y*(1.0/12804747411456000)))))))))
	sinLess = -x * y * (1.0/6 - y*(1.0/120-y*(1.0/5040-y*(1.0/362880-y*(1.0/39916800-y*(1.0/6227020800-y*(1.0/1307674368000-y*(1.0/355687428096000-y*(1.0/121645100408832000)))))))))
	return sin2, sinLess
}
