package profiles

import (
	"math"
	"testing"
)

// A mechanism does not notice an empty place, so that its pair under zero-out is that of
// add-remove.
func TestEmptyPlaceIsNotNoticed(t *testing.T) {
	must := func(b Mechanism, err error) Mechanism {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, b := range []Mechanism{
		must(NewGaussianMechanism(1.3)), must(NewLaplaceMechanism(2)), must(NewDiscreteLaplaceMechanism(2, 3)), must(NewDiscreteGaussianMechanism(3, 2)),
		must(NewDiscreteGaussianNumber(3, 2)), must(NewPure(0.5)), must(NewApproximate(0.5, 1e-6)), must(NewFiniteMechanism([]float64{0.5, 0.5}, []float64{0.2, 0.8})),
	} {
		one, err := b.Pair(AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		zero, err := b.Pair(ZeroOut)
		if err != nil {
			t.Fatal(err)
		}
		for _, eps := range []float64{-1, 0, 0.3, 2} {
			if a, z := one.Tails(eps, 0), zero.Tails(eps, 0); a != z {
				t.Errorf("%s at %v: add-remove %v, zero-out %v", b.Name(), eps, a, z)
			}
		}
	}
}

// Randomized response answers for an empty place at random: δ(ε) of the list of answers, by
// enumeration, and at most that of a substitution.
func TestRandomizedResponseOfAnEmptyPlace(t *testing.T) {
	for _, p := range []float64{0, 1e-9, 0.3, 0.9, 1} {
		for _, k := range []int{2, 3, 100} {
			b, err := NewRandomizedResponse(p, k)
			if err != nil {
				t.Fatal(err)
			}
			zero, _ := b.Pair(ZeroOut)
			sub, _ := b.Pair(Substitute)
			for _, eps := range []float64{-2, -0.1, 0, 0.2, 1, 3} {
				truth, lie, u := 1-p+p/float64(k), p/float64(k), 1/float64(k)
				delta := func(truth, u, lie, v float64) float64 {
					return max(0, truth-math.Exp(eps)*u) + float64(k-1)*max(0, lie-math.Exp(eps)*v)
				}
				for i, x := range []struct {
					p    Profile
					want float64
				}{{zero, delta(truth, u, lie, u)}, {Reverse(zero), delta(u, truth, u, lie)}} {
					log, _ := LogDelta(x.p, eps)
					most, _ := LogDelta(sub, eps)
					if got := math.Exp(log); math.Abs(got-x.want) > 1e-14 || got > math.Exp(most)+1e-14 {
						t.Errorf("p = %v, k = %d, direction %d, ε = %v: δ = %v, enumeration %v, substitute %v", p, k, i, eps, got, x.want, math.Exp(most))
					}
				}
			}
		}
	}
}
