package subsample

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
)

// Sample draws the indices of the records that take part, in ascending order,
// each of the population in [1, 2^53] independently with the scheme's rate. Time
// and memory are linear in the size of the sample, which is random, whatever the
// population. For a seeded run pass rand.NewPCG, for a release a CryptoSource,
// and never publish the sample or its size.
//
// The gaps between records are geometric, drawn by inversion from 64-bit uniform
// numbers with further bits where they decide: the probability of any sample is
// exact up to the rounding of a logarithm, about 1e-15 per record relatively.
func (s Poisson) Sample(src rand.Source, population int64) ([]int64, error) {
	if population < 1 || population > 1<<53 {
		return nil, fault.In("poisson", fault.New("population", "%d is not in [1, %d]", population, int64(1)<<53))
	}
	if s.rate == 0 {
		return nil, nil
	}
	n := float64(population)
	out := make([]int64, 0, int64(min(n, s.rate*n+4*math.Sqrt(s.rate*n)+16)))
	if s.rate == 1 {
		for i := range population {
			out = append(out, i)
		}
		return out, nil
	}
	// Pr[gap ≥ g] = (1−rate)^g: the gap is ⌊E/λ⌋ with E exponential and
	// λ = −log(1−rate).
	lambda := -math.Log1p(-s.rate)
	for at := int64(0); ; at++ {
		gap := exponential(src) / lambda
		if !(gap < float64(population-at)) {
			return out, nil
		}
		at += int64(gap)
		out = append(out, at)
	}
}

// exponential returns −log(1 − v) for v uniform in (0, 1), with all digits of
// both v and 1 − v: a rate of 1e-15 would otherwise see the lattice of the uniform
// numbers, and so would the far tail.
func exponential(src rand.Source) float64 {
	x := src.Uint64()
	if x>>63 == 1 { // v = 0.x ≥ ½, and the bits of 1 − v are those of ^x
		w := ^x
		if w>>11 == 0 { // few bits are left: 64 more
			return -math.Log(math.Ldexp(float64(w)+(float64(src.Uint64()>>11)+0.5)*0x1p-53, -64))
		}
		return -math.Log(math.Ldexp(float64(w)+0.5, -64))
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
