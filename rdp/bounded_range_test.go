package rdp

import (
	"math"
	"testing"
)

// The curve of a mechanism of bounded range is above the truth where the worst shift is a small part of
// ε, or known badly from logarithms of nearly equal numbers: α of 1e12 and more, α·ε small. The
// truth is that of the formula at Exponential in 120 digits (mpmath).
func TestBoundedRangeAtLargeOrders(t *testing.T) {
	for _, c := range []struct{ eps, alpha, truth float64 }{
		{1e-15, 1e12, 1.249999982638889469e-19},
		{1e-12, 1e9, 1.2499999826388892418e-16},
		{1e-10, 1e9, 1.2498264274600111281e-12},
		{1e-8, 1.0000001, 1.2500001250000001236e-17},
		{1e-3, 5, 6.2499981770841842875e-7},
		{0.02, 1.000001, 0.00004999977222413578348},
		{1, 1.0000000001, 0.12330156149440852535},
		{1, 2, 0.24022901391655504926},
		{1, 1e13, 0.99999999999695250689},
		{1, 1e15, 0.9999999999999649199},
		{100, 1e12, 99.999999999971368979},
		{1000, 1e11, 999.99999999973671564},
		{1000, 1e13, 999.99999999999690664},
		{1e6, 1e8, 999999.99999980579319},
		{1e6, 1e10, 999999.99999999759741},
		{1e6, 1e17, 1e6},
		{30, 1e18, 29.999999999999999958},
	} {
		got := must2(Exponential(c.eps)).RDP(c.alpha)
		if !(got >= c.truth && got <= c.truth*(1+2e-12)) {
			t.Errorf("ε = %v, α = %v: %v, the truth is %v", c.eps, c.alpha, got, c.truth)
		}
	}
	// The worst pair of losses ε − s and −s has about s·(x − s) of δ at ε − x, at most x²/4: 1e-30 gains 2e-15.
	eps, _, err := Epsilon(must2(Exponential(1000)), 1e-30)
	if err != nil || !(eps >= 1000-1e-12 && eps <= 1000+1e-9) || math.IsNaN(eps) {
		t.Errorf("ε(1e-30) = %v, %v: the truth is 1000 − 2e-15", eps, err)
	}
}
