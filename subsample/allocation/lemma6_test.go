package allocation

import (
	"math"
	"testing"
)

// TestOthersOppositeAreWorst: Lemma 6 for two batches, by sums over the plane. If all others contribute z·v, every divergence falls
// with z up to 0, where it is that of random allocation.
func TestOthersOppositeAreWorst(t *testing.T) {
	const sigma, step, reach = 1.2, 0.04, 9.0
	density := func(x, mean float64) float64 {
		return math.Exp(-(x-mean)*(x-mean)/(2*sigma*sigma)) / (sigma * math.Sqrt(2*math.Pi))
	}
	// of returns the hockey stick of avg N((1−z)e_i) against avg N(−z·e_i), or in the other order, where sums are right to about step².
	of := func(z, alpha float64, turned bool) float64 {
		sum := 0.0
		for x := -reach; x < reach; x += step {
			p, p0, q, q0 := density(x, 1-z), density(x, 0), density(x, -z), density(x, 0)
			for y := -reach; y < reach; y += step {
				a := (p*density(y, 0) + p0*density(y, 1-z)) / 2
				b := (q*density(y, 0) + q0*density(y, -z)) / 2
				if turned {
					a, b = b, a
				}
				sum += max(0, a-alpha*b)
			}
		}
		return sum * step * step
	}
	for _, alpha := range []float64{0.7, 1.5} {
		for _, turned := range []bool{false, true} {
			before := math.Inf(1)
			for _, z := range []float64{-1, -0.5, 0} {
				d := of(z, alpha, turned)
				if !(d < before-step*step) {
					t.Errorf("α = %v, turned %v: %v at z = %v, %v before", alpha, turned, d, z, before)
				}
				before = d
			}
		}
	}
}
