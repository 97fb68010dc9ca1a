package contour

import (
	"math"
	"math/cmplx"
	"testing"
)

// TestPowerOfAnInexactBase: wherever within its error the base is, its power is within the error and the modulus that are known of it.
func TestPowerOfAnInexactBase(t *testing.T) {
	const e = 1e-8
	for i, base := range []complex128{-0.002 + 0.001i, -0.01 - 0.004i, -0.001 + 0.01i, -0.1 + 0.1i, -0.6 + 0.1i, -0.55 - 0.02i} {
		count := []float64{300, 300, 300, 300, 20, 20}[i]
		var f freq
		if !f.timesNear(real(base), imag(base), e, count) {
			t.Fatalf("(1 + %v)^%v is dropped", base, count)
		}
		for j := range 8 {
			want := cmplx.Log(1+base+cmplx.Rect(e, float64(j)*math.Pi/4)) * complex(count, 0)
			miss := cmplx.Exp(complex(f.re, f.im)-want) - 1
			// To first order in count·e.
			if !(cmplx.Abs(miss) <= f.pow*(1+count*e)) {
				t.Errorf("(1 + %v)^%v is off by %v, not %v", base, count, cmplx.Abs(miss), f.pow)
			}
			if !(real(want) <= f.abs+f.pow) {
				t.Errorf("(1 + %v)^%v: e^%v, at most e^%v", base, count, real(want), f.abs)
			}
		}
	}
}
