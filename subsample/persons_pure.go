// Awan and Vadhan 2023: pure ε-differential privacy of k records in closed form, the noise
// whose shifts attain the chain of package subsample's Theorem 2.14.

package subsample

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// pureChain returns the profile of k links of pure ε, which is that of two-sided geometric noise
// of ratio e^−ε shifted by k: a shift by one has the likelihood ratios e^{±ε} alone and the corner
// (1/(1+e^ε), e^ε/(1+e^ε)), so that its roc is that of a link, and k of them are the shift by k.
// Rates are logarithms, so that it does not end where those of a chain underflow (k·ε > 624).
func pureChain(epsilon float64, k int) (profiles.Profile, error) {
	atoms := make([]profiles.Atom, 0, k+1)
	// Noise z under P, z − k under Q: −log(1 + e^−ε) is the mass beyond 0 with 0 itself.
	side := -math.Log1p(math.Exp(-epsilon))
	inner := xmath.Log1mExp(-epsilon) + side
	for j := range k + 1 {
		z := float64(k - j) // the loss rises as z falls from k to 0
		a := profiles.Atom{Loss: epsilon * (float64(k) - 2*z), LogP: inner - epsilon*z, LogQ: inner - epsilon*(float64(k)-z)}
		switch j {
		case 0:
			a.LogP, a.LogQ = side-epsilon*float64(k), side
		case k:
			a.LogP, a.LogQ = side, side-epsilon*float64(k)
		}
		atoms = append(atoms, a)
	}
	// A product and three sums round; losses are products of whole numbers and ε.
	return profiles.NewDiscrete(atoms, math.Inf(-1), math.Inf(-1), 8*xmath.U, xmath.U*epsilon*float64(k))
}
