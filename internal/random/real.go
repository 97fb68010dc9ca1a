package random

// Random real numbers with exact laws, whose digits are drawn as they are looked at.

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Real is a random real number ±(whole + 0.b₁b₂b₃…). Its law is exact: the binary
// digits that no comparison has looked at are independent and uniform, and are drawn when
// they are asked for. It belongs to the source that made it, and is as little safe for
// concurrent use.
type Real struct {
	negative bool
	whole    uint64
	fraction digits
}

// digits are those of a number in [0, 1), 64 to a word, the first words drawn so far.
type digits struct {
	src   rand.Source
	first uint64
	rest  []uint64
}

func newDigits(src rand.Source) digits { return digits{src: src, first: src.Uint64()} }

func (d *digits) word(i int) uint64 {
	if i == 0 {
		return d.first
	}
	for len(d.rest) < i {
		d.rest = append(d.rest, d.src.Uint64())
	}
	return d.rest[i-1]
}

// less compares two different numbers, with as many digits as that takes.
func (d *digits) less(e *digits) bool {
	for i := 0; ; i++ {
		if x, y := d.word(i), e.word(i); x != y {
			return x < y
		}
	}
}

// Uniform returns a number in [0, 1).
func Uniform(src rand.Source) *Real { return &Real{fraction: newDigits(src)} }

// Exponential returns a number of the exponential law of mean 1: von Neumann, "Various
// techniques used in connection with random digits" (1951). The fraction x has density
// e^−x if it is taken when the longest chain x > u₁ > u₂ > … of uniform numbers has even
// length, Σ (−x)^n/n!; each refusal has probability e^−1 and counts as a whole.
func Exponential(src rand.Source) *Real {
	for whole := uint64(0); ; whole++ {
		x := newDigits(src)
		if evenChain(src, &x) {
			return &Real{whole: whole, fraction: x}
		}
	}
}

// Laplace returns a number of the Laplace law of scale 1.
func Laplace(src rand.Source) *Real {
	r := Exponential(src)
	r.negative = src.Uint64()>>63 == 1
	return r
}

// Normal returns a number of the standard normal law: Karney, "Sampling exactly from the
// normal distribution" (ACM TOMS 2016), Algorithm N. |z| = k + x has density
// proportional to e^{−k²/2}·e^{−x(2k+x)/2}.
func Normal(src rand.Source) *Real {
	r := rand.New(src)
	for {
		k := uint64(0)
		for minusHalf(src) {
			k++
		}
		// k has probability ∝ e^{−k/2}; e^{−k(k−1)/2} more makes e^{−k²/2}.
		taken := true
		for n := k * (k - min(k, 1)); taken && n > 0; n-- {
			taken = minusHalf(src)
		}
		x := newDigits(src)
		for n := uint64(0); taken && n <= k; n++ {
			taken = karneyB(r, k, &x)
		}
		if taken {
			return &Real{negative: src.Uint64()>>63 == 1, whole: k, fraction: x}
		}
	}
}

// karneyB is true with probability e^{−x(2k+x)/(2k+2)}: a chain x > u₁ > u₂ > … each of
// whose steps goes on with probability (2k+x)/(2k+2) only.
func karneyB(r *rand.Rand, k uint64, x *digits) bool {
	even, last := true, x
	for {
		u := newDigits(r)
		if !u.less(last) {
			return even
		}
		switch f := r.Uint64N(2*k + 2); {
		case f == 2*k:
			if v := newDigits(r); !v.less(x) {
				return even
			}
		case f > 2*k:
			return even
		}
		even, last = !even, &u
	}
}

// minusHalf is true with probability e^{−1/2}: a chain that begins below ½.
func minusHalf(src rand.Source) bool {
	u := newDigits(src)
	return u.first>>63 == 1 || !evenChain(src, &u)
}

// evenChain reports that the longest chain x > u₁ > u₂ > … has even length, which has
// probability e^−x.
func evenChain(src rand.Source, x *digits) bool {
	even, last := true, x
	for {
		u := newDigits(src)
		if !u.less(last) {
			return even
		}
		even, last = !even, &u
	}
}

// Shift returns the number with whole added to its size, and below 0 if negative: from a
// uniform number one of [whole, whole + 1) or its mirror image. r is used up.
func (r *Real) Shift(whole uint64, negative bool) *Real {
	r.whole += whole
	r.negative = negative
	return r
}

// Geometric returns n ≥ 0 with probability proportional to e^{−n/scale}, exactly, for a
// finite scale > 0.
func Geometric(src rand.Source, scale float64) *big.Int {
	return Noisy(0, scale, Exponential(src)).Floor(1)
}

// approx returns the number from its first digits; it is within 2^−52·(1 + |approx|).
// The first 64 of the fraction are within 2^−64, and three roundings add 2^−53 each.
func (r *Real) approx() float64 {
	x := float64(r.whole) + float64(r.fraction.first)*0x1p-64
	if r.negative {
		return -x
	}
	return x
}

// floor returns n with n ≤ |r|·2^(64·words) < n + 1.
func (r *Real) floor(words int) *big.Int {
	n := new(big.Int).SetUint64(r.whole)
	for i := range words {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(r.fraction.word(i)))
	}
	return n
}

// Exponential gaps as float64: for which records are sampled, and never for noise that claims privacy.

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
