package xmath

import (
	"math"
	"testing"
)

// Narrow windows by the quadrature against a sum of many still narrower ones: the
// error bounds must cover the difference, and the two methods meet at r = ½.
func TestLogNormalBetween(t *testing.T) {
	for _, m := range []float64{-20, -3, -0.4, 0, 1e-9, 0.7, 2, 6, 30} {
		for _, w := range []float64{1e-200, 1e-12, 1e-3, 0.02, 0.2, 1, 3} {
			got, err := LogNormalBetween(m, w)
			const n = 64
			parts, worst := make([]float64, n), 0.0
			for i := range parts {
				at := m + w*(float64(i)+0.5-n/2)/n
				var e float64
				parts[i], e = LogNormalBetween(at, w/n)
				worst = max(worst, e+4*U*(1+at*at)) // at is rounded
			}
			if want := LogSum(parts); !(math.Abs(got-want) <= err+worst+U*(4+2*math.Abs(want))) {
				t.Errorf("m = %g, w = %g: %.17g, in %d parts %.17g, errors %g and %g", m, w, got, n, want, err, worst)
			}
			if err > 1e-12 && w < 0.5/(math.Abs(m)+3) {
				t.Errorf("m = %g, w = %g: error %g of a narrow window", m, w, err)
			}
		}
	}
	// P(|N(0,1)| < 1) = erf(1/√2).
	if got, err := LogNormalBetween(0, 2); math.Abs(got-math.Log(math.Erf(math.Sqrt2/2))) > err+4*U {
		t.Errorf("P(|x| < 1) = e^%.17g", got)
	}
}
