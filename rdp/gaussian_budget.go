package rdp

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// MuWithin returns a μ, near the largest, for which every μ-GDP mechanism is (epsilon,
// delta)-differentially private: the δ of the Gaussian mechanism at epsilon (Balle and Wang,
// ICML 2018, Theorem 8), with its error, is at most delta. Epsilon is in [0, 1e6], delta in
// (0, 1).
func MuWithin(epsilon, delta float64) (float64, error) {
	if !(epsilon >= 0 && epsilon <= 1e6) {
		return 0, fault.New("epsilon", "%v is not in [0, 1e+06]", epsilon)
	}
	if !(delta > 0 && delta < 1) {
		return 0, fault.New("delta", "%v is not in (0, 1): no Gaussian noise has less", delta)
	}
	want := xmath.Log(delta)
	want -= 0x1p-50 * math.Abs(want) // the logarithm has been rounded, and what it is compared with
	holds := func(x float64) bool {
		g, err := profiles.NewGaussian(1 / x)
		if err != nil {
			return false
		}
		// 1/μ has been rounded: a μ that is larger by two roundings covers it.
		l, e := g.LogDelta(epsilon)
		return l+e <= want
	}
	low, high := 1e-12, 4e3 // √(2·1e6) and a little
	if !holds(low) {
		return 0, fault.New("epsilon", "%v with delta %v is too small a budget", epsilon, delta)
	}
	low, _ = xmath.BisectLog(low, high, 200, holds)
	return low * (1 - 0x1p-50), nil
}
