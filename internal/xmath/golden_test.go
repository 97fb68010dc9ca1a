package xmath

import (
	"math"
	"testing"
)

// The values seen come as close to the minimum of (x−0.3)² + 1 as the width asked
// for allows, and both ends are within reach.
func TestGoldenSection(t *testing.T) {
	for _, at := range []float64{-1, -0.2, 0.3, 1} {
		best, seen := math.Inf(1), 0
		GoldenSection(func(x float64) float64 {
			seen++
			best = min(best, math.Abs(x-at))
			return (x-at)*(x-at) + 1
		}, -1, 1, 1e-6)
		// Near the minimum values differ by less than an ulp of 1 within 1.5e-8.
		if best > 1e-6 || seen > 40 {
			t.Errorf("minimum at %v: came within %v in %d evaluations", at, best, seen)
		}
	}
}
