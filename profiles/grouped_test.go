package profiles_test

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/trait"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/profiles"
)

// TestGroupedByDefinition: several records move the sum by as much together, 2 as far under substitute: Gaussian noise
// against 320 bits, into tails of 1e-200, and noise on whole numbers, also of random numbers of records, against sums over outputs.
func TestGroupedByDefinition(t *testing.T) {
	for _, sigma := range []float64{0.7, 11} {
		for _, size := range []int{1, 3, 100} {
			for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
				moved := float64(size)
				if r == profiles.Substitute {
					moved *= 2
				}
				b := must(must(profiles.NewGaussianMechanism(sigma)).(trait.Grouper).Grouped(size))
				mu := oracle.Div(oracle.F(moved), oracle.F(sigma))
				for _, far := range []float64{-0.3, 1, 30} {
					eps := (moved/sigma/2 + far) * moved / sigma
					if eps > 5000 {
						continue // beyond the exponents of the reference
					}
					half, ratio := oracle.Scale(mu, 0.5), oracle.Div(oracle.F(eps), mu)
					truth := oracle.Sub(oracle.NormalTail(oracle.Sub(ratio, half)), oracle.Mul(oracle.Exp(oracle.F(eps)), oracle.NormalTail(oracle.Add(ratio, half))))
					got, err := profiles.LogDelta(pair(b, r), eps)
					if want := oracle.LogF(truth); !(got+err >= want-1e-15*math.Abs(want) && math.Abs(got-want) <= 1e-11*(1+math.Abs(want))) {
						t.Errorf("σ %v, %d records, %v: log δ(%v) = %.17g ± %g, want %.17g", sigma, size, r, eps, got, err, want)
					}
				}
			}
		}
	}
	const scale, sensitivity, last = 3.5, 2, 600
	for name, c := range map[string]struct {
		b   profiles.Mechanism
		log func(k float64) float64
	}{
		"discrete Laplace":  {must(profiles.NewDiscreteLaplaceMechanism(scale/sensitivity, sensitivity)), func(k float64) float64 { return -math.Abs(k) / scale }},
		"discrete Gaussian": {must(profiles.NewDiscreteGaussianNumber(scale/sensitivity, sensitivity)), func(k float64) float64 { return -k * k / (2 * scale * scale) }},
	} {
		total := 0.0
		for k := -last; k <= last; k++ {
			total += math.Exp(c.log(float64(k)))
		}
		noise := func(k int) float64 { return math.Exp(c.log(float64(k))) / total }
		check := func(what string, p profiles.Profile, eps float64, with, without func(k int) float64) {
			t.Helper()
			truth := 0.0
			for k := -last; k <= last; k++ {
				truth += max(0, with(k)-math.Exp(eps)*without(k))
			}
			if got, _ := profiles.LogDelta(p, eps); !(math.Abs(math.Exp(got)-truth) <= 1e-12) {
				t.Errorf("%s, %s: δ(%v) = %v, want %v", name, what, eps, math.Exp(got), truth)
			}
		}
		for _, eps := range []float64{-0.4, 0, 0.3, 1, 2.5} {
			for _, size := range []int{1, 2, 5} {
				b := must(c.b.(trait.Grouper).Grouped(size))
				check("a group", pair(b, profiles.AddRemove), eps, func(k int) float64 { return noise(k - size*sensitivity) }, noise)
				check("a group replaced", pair(b, profiles.Substitute), eps, func(k int) float64 { return noise(k - size*sensitivity) }, func(k int) float64 { return noise(k + size*sensitivity) })
			}
			weights := []float64{0.5, 0.2, 0.3}
			mixed := func(sign int) func(k int) float64 {
				return func(k int) (sum float64) {
					for u, w := range weights {
						sum += w * noise(k-sign*u*sensitivity)
					}
					return sum
				}
			}
			logs := make([]float64, len(weights))
			for u, w := range weights {
				logs[u] = math.Log(w)
			}
			m := c.b.(groupMixer)
			check("a random number", must(m.GroupMixture(logs, 0, false)), eps, mixed(1), noise)
			check("a random number replaced", must(m.GroupMixture(logs, 0, true)), eps, mixed(1), mixed(-1))
		}
	}
}

// A groupMixer is what package subsample asks for of the same name.
type groupMixer interface {
	GroupMixture(logW []float64, weightErr float64, opposite bool) (profiles.Profile, error)
}
