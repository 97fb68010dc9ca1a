package profiles_test

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/profiles"
)

func TestDiscreteTransform(t *testing.T) {
	base := func(b profiles.Mechanism, err error) profiles.Profile {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		p, err := b.Pair(profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, p := range map[string]profiles.Profile{
		"identical":           profiles.Identical(),
		"pure":                base(profiles.NewPure(1.3)),
		"small pure":          base(profiles.NewPure(1e-7)),
		"approximate":         base(profiles.NewApproximate(0.5, 1e-6)),
		"randomized response": base(profiles.NewRandomizedResponse(0.7, 5)),
		"finite":              base(profiles.NewFiniteMechanism([]float64{0.2, 0.3, 0.5, 0}, []float64{0.1, 0.5, 0.3, 0.1})),
		"discrete gaussian":   base(profiles.NewDiscreteGaussianMechanism(2, 3)),
		"discrete laplace":    base(profiles.NewDiscreteLaplaceMechanism(0.4, 2)),
	} {
		m := hook.TransformOf(p)
		if m == nil {
			t.Errorf("%s: no transform", name)
			continue
		}
		d := p.(*profiles.Discrete)
		pInf, qInf := m.Infinite()
		for s, want := range map[float64]float64{0: math.Log1p(-pInf), -1: math.Log1p(-qInf)} {
			if k, _, err := m.Real(s); !(math.Abs(k-want) <= err) {
				t.Errorf("%s: log M(%v) = %v ± %v, want %v", name, s, k, err, want)
			}
		}
		for _, s := range []float64{-4, -0.8, -0.2, 0.3, 3, 30} {
			sum := 0.0
			for _, a := range d.Atoms() {
				sum += math.Exp(a.LogP + s*a.Loss)
			}
			k, _, err := m.Real(s)
			if !(math.Abs(math.Exp(k)-sum) <= (err+1e-12)*sum) {
				t.Errorf("%s: M(%v) = %v ± %v, the atoms add up to %v", name, s, math.Exp(k), err, sum)
			}
			if math.IsInf(d.Support().LogPInf, -1) && !(err <= 1e-12*math.Abs(k)+1e-20) {
				t.Errorf("%s: log M(%v) = %v ± %v", name, s, k, err)
			}
			b, _, bErr := hook.TransformOf(profiles.Reverse(p)).Real(-1 - s)
			if !(math.Abs(k-b) <= err+bErr+1e-15*math.Abs(k)) {
				t.Errorf("%s: log M(%v) = %v, the reverse has %v at −1−s", name, s, k, b)
			}
		}
	}
	// Without a finite loss M is 0 and has no logarithm.
	if p := base(profiles.NewFiniteMechanism([]float64{1, 0}, []float64{0, 1})); hook.TransformOf(p) != nil {
		t.Error("a pair of distributions on disjoint sets has a transform")
	}
}
