package contour

import (
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// TestMissingMassIsEnclosed: the logarithm of what a mass lacks to 1 is between its ends, to the last bit.
func TestMissingMassIsEnclosed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	for range 100 {
		log := -3 * rng.Float64() * rng.Float64()
		low, _, high := mass{log: log}.infinite()
		if want := oracle.Log(oracle.Sub(oracle.F(1), oracle.Exp(oracle.F(log)))); oracle.F(low).Cmp(want) > 0 || oracle.F(high).Cmp(want) < 0 {
			t.Errorf("1 − e^%v: logarithm in [%.20g, %.20g], want %.20g", log, low, high, want)
		}
	}
}
