package transform

import "testing"

// TestWindowRateCountsWrongLosses: two masses at ±1 whose losses are known up to dl. Both may be nearer to the middle by dl, and the variance (1 − dl)².
func TestWindowRateCountsWrongLosses(t *testing.T) {
	for _, dl := range []float64{1e-6, 1e-5, 1e-4, 4e-4} {
		nodes := []tiltedMass{{w: 0.5, l: -1, dl: dl}, {w: 0.5, l: 1, dl: dl}}
		mass, rate := windowRate([]cell{{nodes: nodes, mass: 1}}, 2)
		if least := 2 * (1 - dl) * (1 - dl) / 4; !(mass > 0.99) || !(rate > 0) || rate > least {
			t.Errorf("windowRate of losses known up to %v = %v, %v; the rate may be %v", dl, mass, rate, least)
		}
	}
}
