package pate

import (
	crand "crypto/rand"
	"math"
	"math/rand/v2"
)

// NewSource returns a source of randomness seeded by the operating system, for
// the mechanisms of this package. A caller may pass any other rand.Source; a
// source with a known seed gives no privacy.
func NewSource() rand.Source {
	var seed [32]byte
	crand.Read(seed[:]) // never fails: it ends the program instead
	return rand.NewChaCha8(seed)
}

func source(src rand.Source) *rand.Rand {
	if src == nil {
		src = NewSource()
	}
	return rand.New(src)
}

// laplace draws Laplace noise in float64. What is promised of it, and of the
// Gaussian noise of math/rand/v2 that the other aggregators add, is that of a
// comparison: the noisy counts are never released, only which is the largest, or
// whether one reaches a threshold. The guarantees are proved for real-valued noise;
// these floats have about 32 random bits and an end, which moves the probability of
// an answer a little, by an amount that is not bounded here. How long a draw takes
// is not hidden.
func laplace(r *rand.Rand, scale float64) float64 {
	x := r.ExpFloat64() * scale
	if r.Uint64()&1 == 0 {
		return -x
	}
	return x
}

// noisyArgmax returns the index of the largest count after noise.
func noisyArgmax(votes []int64, noise func() float64) int {
	best, at := math.Inf(-1), 0
	for i, n := range votes {
		if z := float64(n) + noise(); z > best {
			best, at = z, i
		}
	}
	return at
}
