package allocation

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// Found by the campaign (lab/campaign): several uses of a record over anything but Gaussian
// noise had an attack of an infinite error, as one cell of it was what two tails differ by in their
// last digits. The attack is a bound from below of a small error, and not far from what is proved.
func TestAttackOfSeveralUsesOverAnyNoise(t *testing.T) {
	s, err := NewRandom(5)
	if err == nil {
		s, err = s.WithUses(2)
	}
	if err != nil {
		t.Fatal(err)
	}
	s = sharp(s, target{Delta: 1e-3, Relative: 1e-3})
	laplace, err := profiles.NewLaplaceMechanism(0.5)
	if err != nil {
		t.Fatal(err)
	}
	pure, err := profiles.NewPure(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []profiles.Mechanism{laplace, pure} {
		m, err := s.Bounds(t.Context(), b, profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		for d, x := range m.Directions {
			for _, eps := range []float64{-1, 0, 0.4, 1} {
				upper, errUpper := profiles.LogDelta(x.Upper, eps)
				lower, errLower := profiles.LogDelta(x.Lower, eps)
				if !(errLower < 1e-3 && lower-errLower <= upper+errUpper && math.Exp(upper-lower) < 1.5) {
					t.Errorf("%s, direction %d, ε = %v: attack %v ± %v, proved %v ± %v", b.Name(), d, eps, lower, errLower, upper, errUpper)
				}
			}
		}
	}
}
