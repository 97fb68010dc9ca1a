package contour

import (
	"math/big"
	"testing"
)

// TestInfiniteMassIsAddedOutward: the bounds of twice the same mass are those of log 2 more, rounded outward.
func TestInfiniteMassIsAddedOutward(t *testing.T) {
	ln2, _, err := big.ParseFloat("0.69314718055994530941723212145817656807550013436025525412068", 10, 200, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	scale := terms{infinite: 1}
	for i := range 200 {
		tab := &table{m0: mass{log: -float64(i+1) / 700, err: 1e-12}}
		low, mid, high := tab.m0.infinite()
		r := reading{low: low, mid: mid, high: high}
		tab.whole(&r, 1, right, &scale)
		twice := func(x float64) *big.Float { return new(big.Float).SetPrec(200).Add(big.NewFloat(x), ln2) }
		if big.NewFloat(r.high).Cmp(twice(high)) < 0 {
			t.Errorf("twice %v is above %v", high, r.high)
		}
		if big.NewFloat(r.low).Cmp(twice(low)) > 0 {
			t.Errorf("twice %v is below %v", low, r.low)
		}
	}
}
