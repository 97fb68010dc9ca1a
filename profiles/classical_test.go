package profiles

import (
	"math"
	"testing"
)

// The noise of the classical Gaussian mechanism, √(2 log(1.25/δ))/ε for a sensitivity
// of 1 (Dwork and Roth 2014, Theorem A.1), keeps its promise for ε < 1, where it is
// proved: the profile at that noise is below δ.
func TestClassicalSigmaHolds(t *testing.T) {
	for _, eps := range []float64{0.01, 0.3, 0.99} {
		for _, delta := range []float64{1e-2, 1e-5, 1e-9} {
			sigma := math.Sqrt(2*math.Log(1.25/delta)) / eps
			g, err := NewGaussian(sigma)
			if err != nil {
				t.Fatal(err)
			}
			if l, e := LogDelta(g, eps); !(l+e < math.Log(delta)) {
				t.Errorf("eps %v, delta %v: sigma %v has %v", eps, delta, sigma, math.Exp(l))
			}
		}
	}
}
