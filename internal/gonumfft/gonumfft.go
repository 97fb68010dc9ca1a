// Package gonumfft holds what is proved of gonum's FFTPACK real transform and its inverse. It says
// which lengths are accurate and fast, and how far a result may be off. It assumes finite numbers.
package gonumfft

import (
	"math"
	"math/bits"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// MaxLength is the largest length that Length returns for at most so many points. gonum keeps the factors 4, 2, 3
// and 5 of a length in a table of 13, for which 9·2^23 is too long, and panics beyond.
const MaxLength = 1 << 26

// Length returns the least length of at least n ≤ MaxLength points, at least 2, for which Eta is proved. It keeps
// to 2^a·{1, 3, 5, 9, 15}: three to five times more accurate than high powers of 3 and 5
// (docs/theory/accuracy.md §7), and never a large prime, which gonum handles in quadratic time.
func Length(n int) int {
	best := math.MaxInt
	for _, m := range []int{1, 3, 5, 9, 15} {
		l := 2 * m
		for l < n {
			l *= 2
		}
		best = min(best, l)
	}
	return best
}

// Eta returns the error of a transform of n points, as Length returns them, relative to its 2-norm.
// Per stage of radix r the butterfly contributes 1u, 2u, 7u, 13.4u (r = 2, 4, 3, 5), the complex
// product √5u and FFTPACK's twiddles 10u, and stages are multiples of unitary maps, so relative errors
// add; the sum is at most 14u per log2 n (docs/theory/accuracy.md §7; Higham, Accuracy and
// stability of numerical algorithms, 2nd ed., Theorem 24.2; Brisebarre et al., ACM TOMS 46, 2020; for the product Brent,
// Percival, Zimmermann, Math. Comp. 76, 2007).
func Eta(n int) float64 { return 14 * math.Log2(float64(n)) * xmath.U }

// Componentwise returns the error of each component of a transform of n = 2^k points, relative to the sum of the moduli of its input.
// One path leads from each input to a component, with factors of modulus 1. A stage on it loses, relative to the moduli of what it
// takes in, what Eta says for its radix, product and twiddles: 14.3u for a radix of 4, and 13.3u for that of 2, of which an odd k has one.
func Componentwise(n int) float64 {
	k := bits.Len(uint(n)) - 1
	return (14.3*float64(k/2) + 13.3*float64(k%2)) * xmath.U
}
