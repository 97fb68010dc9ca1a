// Package gonumfft holds what is proved of gonum's FFTPACK real transform and its inverse. It says
// which lengths are accurate and fast, and how far a result may be off. It assumes finite numbers.
package gonumfft

import (
	"math"

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
// Percival, Zimmermann, Math. Comp. 76, 2007). For n a power of 2
// the same holds of each component, relative to the sum of moduli of the input: what a stage makes of a part of the input
// is at most the sum of its moduli, and the errors of butterfly, product and twiddle are relative to the moduli of what they make.
func Eta(n int) float64 { return 14 * math.Log2(float64(n)) * xmath.U }
