package random

// Exponential gaps as float64: for which records are sampled, and never for noise that claims privacy.

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// Exponential64 returns −log(1 − v) for v uniform in (0, 1), with all digits of both v
// and 1 − v: a rate of 1e-15 would otherwise see the lattice of the uniform numbers, and
// so would the far tail. Its relative error is that of one logarithm and of v's last of
// 53 bits, about 1e-15. It is for the gaps of samples, not for noise.
func Exponential64(src rand.Source) float64 {
	x := src.Uint64()
	if x>>63 == 1 { // v = 0.x ≥ ½, and the bits of 1 − v are those of ^x
		w := ^x
		if w>>11 == 0 { // few bits are left: 64 more
			return -xmath.Log(math.Ldexp(float64(w)+(float64(src.Uint64()>>11)+0.5)*0x1p-53, -64))
		}
		return -xmath.Log(math.Ldexp(float64(w)+0.5, -64))
	}
	zeros := 0
	for ; x == 0 && zeros < 1024; zeros += 64 {
		x = src.Uint64()
	}
	lead := bits.LeadingZeros64(x)
	if lead > 0 { // fill the places of the leading zeros
		x = x<<lead | src.Uint64()>>(64-lead)
	}
	return -math.Log1p(-math.Ldexp(float64(x>>11)+0.5, -53-zeros-lead))
}
