package profiles

import (
	"math"
	"testing"
)

// TestGaussianSteps: answers of integer-noise.md §3 with its errata, at δ(1), above and below.
func TestGaussianSteps(t *testing.T) {
	for _, c := range []struct {
		name         string
		m            func() (Mechanism, error)
		above, below float64 // δ(1); below: at least
	}{
		{"Skellam of variance 16", func() (Mechanism, error) { return NewSkellamMechanism(4, 4) }, 0.130750681314, 0.1262},
		{"discrete Gaussian", func() (Mechanism, error) { return NewDiscreteGaussianVector(2, 2) }, 0.130701327999, 0.125103},
	} {
		m, err := c.m()
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Pair(AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		d, _ := LogDelta(p, 1)
		if got := math.Exp(d); !(got >= c.above*(1-1e-11) && got <= c.above*(1+1e-10)) {
			t.Errorf("%s: δ(1) = %.13g, want %.12g", c.name, got, c.above)
		}
		a, err := m.(Attacked).Attack(AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		q, err := a.Pair(AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		e, _ := LogDelta(q, 1)
		if got := math.Exp(e); !(got >= c.below && got <= c.above) {
			t.Errorf("%s: an attack reaches δ(1) = %v, want at least %v", c.name, got, c.below)
		}
		t.Log(c.name, math.Exp(d), math.Exp(e))
	}
}
