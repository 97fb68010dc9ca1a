// The error of a logarithmic normal tail whose argument was rounded.

package pate

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// logTailErr bounds the absolute error of l = xmath.LogNormalTail(y) when y was
// rounded up to three times. The function is good to 4u of its value (plus 2u
// near 0); y(1+3u) moves it by 3u·y·φ(y)/Φ̄(y), and y·φ/Φ̄ ≤ y² + 1 ≤ 2|l| + 1
// for y > 0 (Birnbaum), and is below 0.3 in size for y < 0.
func logTailErr(l float64) float64 { return xmath.U * (8 + 10*math.Abs(l)) }

// logTailInv returns the y with log Φ̄(y) = l: +Inf at −Inf, −Inf for l ≥ 0.
// The last Newton step is below 1e-15(1+|y|) and Newton converges
// quadratically, so that y is as good as log Φ̄ lets it be: within 4u(1+|y|).
func logTailInv(l float64) float64 {
	switch {
	case l >= 0:
		return math.Inf(-1)
	case math.IsInf(l, -1):
		return math.Inf(1)
	case l > -math.Ln2:
		return -logTailInv(xmath.Log1mExp(l))
	}
	y := 0.0
	if l < -2 {
		y = math.Sqrt(max(0, -2*l-xmath.Log(-4*math.Pi*l)))
	}
	// log Φ̄ is concave and decreasing: Newton never overshoots twice.
	for range 60 {
		d := (xmath.LogNormalTail(y) - l) * xmath.Mills(y)
		y += d
		if math.Abs(d) <= 1e-15*(1+math.Abs(y)) {
			break
		}
	}
	return y
}
