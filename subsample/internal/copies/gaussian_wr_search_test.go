package copies

import (
	"math"
	"testing"
)

// The search's average is the proved one up to rounding, where r_u may be close
// to 1 and where it is huge.
func TestRoughAverage(t *testing.T) {
	for _, law := range []Law{WithReplacement(10000, 200), Drawn(118, 200, 1), Drawn(118, 200, 6)} {
		for _, theta := range []float64{0.1, 0.5, 2} {
			c := NewGaussianWR(law, theta)
			for _, x := range []float64{theta / 2, theta, 1, 3, 10, 30} {
				a, da, i, _ := c.average(x)
				b, db, k := c.roughAverage(x)
				// A hundred recurrences of a few roundings each.
				if i != k || math.Abs(a-b) > 1e-12*(1+a) || math.Abs(da-db) > 1e-12*(1+da) {
					t.Errorf("theta %v at %v: %v, %v, %d, proved %v, %v, %d", theta, x, b, db, k, a, da, i)
				}
			}
		}
	}
}
