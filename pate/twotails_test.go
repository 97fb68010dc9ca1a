package pate

import (
	"math"
	"testing"
)

func TestTwoTailsGolden(t *testing.T) {
	for _, c := range []struct{ logQ, sigma, order, fwd, rev float64 }{
		{math.Log(.01), 40, 14, 9.96349304429764e-4, .00106225400948205},
		{math.Log(.3), 40, 8, .0039568574747627, .00397033855644747},
		{math.Log(.001), 20, 25, .0128244845912752, .0142926245403148},
		{math.Log(.2), 2, 3, .667754005638037, .72896087122298},
		{-300 * math.Ln10, 40, 14, 1.94973747206004e-294, 7.11067892687544e-294},
	} {
		x := newTailCost(c.logQ, c.sigma)
		f, sf := x.direction(c.order, false, 1e-7)
		r, sr := x.direction(c.order, true, 1e-7)
		t.Logf("%v %v  rel %.3g %.3g slack %.2g %.2g", f, r, f/c.fwd-1, r/c.rev-1, sf/f, sr/r)
		for _, y := range [][3]float64{{f, c.fwd, sf}, {r, c.rev, sr}} {
			if d := y[0] - y[1]; d < -1e-13*y[1] || d > 1.1e-7*y[1] {
				t.Errorf("%+v: %v, want %v", c, y[0], y[1])
			}
		}
	}
}

func BenchmarkTwoTails(b *testing.B) {
	for i := range b.N {
		x := newTailCost(-1-float64(i%10), 40)
		for _, order := range defaultOrders() {
			x.direction(order, false, 1e-6)
			x.direction(order, true, 1e-6)
		}
	}
}
