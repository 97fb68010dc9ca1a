package subsample

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/profiles"
)

// Corners near underflow are rounded outward: eight records of a pure mechanism of ε = 90 cost
// 720, where the products that decide which corners stay once underflowed and 709.1 came out.
func TestChainNearUnderflow(t *testing.T) {
	base, err := profiles.NewPure(90)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ofPersons(t.Context(), base, nil, profiles.AddRemove, 8)
	if err != nil {
		t.Fatal(err)
	}
	for d, dir := range m.Directions {
		if max := dir.Upper.Support().Max; max < 720*(1-1e-9) && math.IsInf(dir.Upper.Support().LogPInf, -1) {
			t.Errorf("direction %d: the largest loss is %v, below 720", d, max)
		}
	}
}

// TestChainBelowHasNoInfiniteLoss: a chain of losses within 0.001 has none above their sum, of 1048.6 for 2²⁰ records. Rates that
// underflowed to 0 once made one of all of its mass, and the lower end of ε ∞.
func TestChainBelowHasNoInfiniteLoss(t *testing.T) {
	base, err := profiles.NewPure(0.001)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ofPersons(t.Context(), base, nil, profiles.AddRemove, noiserange.MaxRecords)
	if err != nil {
		t.Fatal(err)
	}
	for d, dir := range m.Directions {
		if s := dir.Lower.Support(); s.Max > 0.001*noiserange.MaxRecords || !math.IsInf(s.LogPInf, -1) || s.Max < 600 {
			t.Errorf("direction %d: losses up to %v, infinite with the log probability %v", d, s.Max, s.LogPInf)
		}
	}
}
