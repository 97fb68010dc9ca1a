package subsample

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// Corners near underflow are rounded outward: eight records of a pure mechanism of ε = 90 cost
// 720, where the products that decide which corners stay once underflowed and 709.1 came out.
func TestChainNearUnderflow(t *testing.T) {
	base, err := profiles.NewPure(90)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Persons(t.Context(), base, nil, profiles.AddRemove, 8)
	if err != nil {
		t.Fatal(err)
	}
	for d, dir := range m.Directions {
		if max := dir.Upper.Support().Max; max < 720*(1-1e-9) && math.IsInf(dir.Upper.Support().LogPInf, -1) {
			t.Errorf("direction %d: the largest loss is %v, below 720", d, max)
		}
	}
}
