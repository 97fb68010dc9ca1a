package main

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// The noise of a private teacher is no less, and hardly more, than its guarantee takes.
func TestMultiplier(t *testing.T) {
	const steps = 10
	sigma := multiplier(privateEpsilon, privateDelta, steps)
	for scale, private := range map[float64]bool{1: true, .999: false} {
		g, err := profiles.NewGaussian(sigma * scale / math.Sqrt(steps))
		if err != nil {
			t.Fatal(err)
		}
		if d, _ := profiles.LogDelta(g, privateEpsilon); (d <= math.Log(privateDelta)) != private {
			t.Errorf("σ = %v·%v: δ = %v", sigma, scale, math.Exp(d))
		}
	}
}
