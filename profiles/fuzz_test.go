package profiles_test

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/profiles"
)

// FuzzProfiles: whatever the parameters, a constructor refuses them or its profile passes the
// conformance test, both ways round, against the exact law where there is one.
func FuzzProfiles(f *testing.F) {
	for kind := range uint8(10) {
		f.Add(kind, 1.0, 0.25, 0.5, int16(3))
		f.Add(kind, 0.07, 0.9, 1e-9, int16(1))
		f.Add(kind, 30.0, 1e-12, 0.0, int16(2))
	}
	f.Fuzz(func(t *testing.T, kind uint8, a, b, c float64, n int16) {
		p, exact, size := fuzzed(kind%10, a, b, c, n)
		if p == nil {
			return // refused
		}
		// Atoms and sizes of losses below and above what the grid of the test is made for.
		if !(size > 1e-12 && size < 1e6) {
			return
		}
		profiletest.Run(t, p, exact, profiletest.Grid(p, size))
		rev := profiles.Reverse(p)
		if exact != nil {
			exact = profiletest.Reverse(exact)
		}
		profiletest.Run(t, rev, exact, profiletest.Grid(rev, size))
	})
}

// fuzzed returns the profile of a kind with its truth, nil where none is known, and the size of its
// losses; no profile where the parameters are refused, or so far out that the exact law, of 320
// bits, has none.
func fuzzed(kind uint8, a, b, c float64, n int16) (profiles.Profile, profiletest.Exact, float64) {
	pairOf := func(m profiles.Mechanism, err error) profiles.Profile {
		if err != nil {
			return nil
		}
		p, err := m.Pair(profiles.Relation(uint16(n) % 3))
		if err != nil {
			return nil
		}
		return p
	}
	switch kind {
	case 0:
		if g, err := profiles.NewGaussian(a); err == nil && a > 0.05 { // below, the test's own moments overflow
			return g, profiletest.Gaussian(a), 1/a + 0.5/(a*a)
		}
	case 1:
		if l, err := profiles.NewLaplace(a); err == nil && a > 2e-3 { // below, the P-mass of the least loss is none of a float64
			return l, profiletest.Laplace(a), 0.3 / a
		}
	case 2:
		if e, err := profiles.NewExponential(a); err == nil {
			return e, exactExponential(a), 0.3 * a
		}
	case 3:
		if k := int64(uint16(n)%2000) + 2; uint16(n)%3 != uint16(profiles.ZeroOut) && a > 1e-100 && a <= 1 { // zero-out has its own pair
			return pairOf(profiles.NewRandomizedResponse(a, int(k))), response(a, k), 1
		}
	case 4:
		if a > 1e-9 && a < 100 {
			return pairOf(profiles.NewPure(a)), approximate(a, 0), 0.4 * a
		}
	case 5:
		if a > 1e-6 && a < 100 && b < 0.99 {
			return pairOf(profiles.NewApproximate(a, b)), approximate(a, b), 0.4 * a
		}
	case 6: // dyadic, so that they add to 1
		x, y := math.Floor(64*math.Mod(math.Abs(b), 1))/64, math.Floor(64*math.Mod(math.Abs(c), 1))/64
		if p, err := profiles.NewFinite([]float64{x, 1 - x}, []float64{y, 1 - y}); err == nil {
			return p, profiletest.Finite(bigs(x, 1-x), bigs(y, 1-y)), 0.5
		}
	case 7:
		m, err := profiles.NewDiscreteLaplaceMechanism(a, int(uint16(n)%50)+1)
		if p := pairOf(m, err); p != nil && a > 1e-2 && a < 10 {
			return p, nil, 0.3 / a
		}
	case 8:
		m, err := profiles.NewDiscreteGaussianNumber(a, int(uint16(n)%5)+1)
		if p := pairOf(m, err); p != nil && a > 0.1 && a < 10 { // wider ones take seconds
			return p, nil, 1/a + 0.5/(a*a)
		}
	case 9:
		m, err := profiles.NewGaussianMechanism(a)
		if err != nil || !(a > 0.05 && a < 1e4) || !(b > 1e-12 && b < 1) {
			return nil, nil, 0
		}
		p, _, err := m.(substituteMixer).SubstituteMixture(b)
		if err == nil {
			return p, profiletest.GaussianPlusMinus(a, b), min(1, b+1e-3)*(1/a+0.5/(a*a)) + 0.01/a
		}
	}
	return nil, nil, 0
}
