package selection

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
)

// TestNotAboveAllRunsShown: who is shown all runs and their number pays Σ Pr[K = k]·δ_k(ε), and can tell the best of them. No
// search costs more but for the grid of Theorem E, a hundredth of δ, and as a step, on a coarser one, .015 of ε. Half of the pairs of a law and
// a candidate, as on a chessboard; SLOW=2 asks all.
func TestNotAboveAllRunsShown(t *testing.T) {
	slow.Test(t)
	laws := []Law{must(newFixed(2)), must(newFixed(7)), must(newPoisson(0.1)), must(newPoisson(3)), must(newBinomial(20, 0.5)), must(newBinomial(4, 0.1))}
	type shown struct {
		name string
		c    *Candidate
		of   func(k int, eps float64) float64
	}
	// k Gaussians are one of σ/√k.
	gauss := func(sigma float64) shown {
		return shown{"gaussian", gaussianCandidate(sigma), func(k int, eps float64) float64 {
			return math.Exp(gaussianBound(sigma / math.Sqrt(float64(k)))(eps))
		}}
	}
	// k runs of (ε, δ) leak with 1 − (1−δ)^k, and are k randomised responses otherwise.
	declared := func(e, d float64) shown {
		return shown{"declared", declaredCandidate(e, d), func(k int, eps float64) float64 {
			leak := -math.Expm1(float64(k) * math.Log1p(-d))
			return leak + (1-leak)*responses(k, e, eps)
		}}
	}
	worst := 0.0
	for i, c := range []shown{gauss(5), declared(0.1, 0), declared(0.5, 1e-4)} {
		for j, l := range laws {
			if (i+j)%3 != 0 && !slow.All() {
				continue
			}
			m := must(PriceOfBest(l).Bounds(context.Background(), "search", profiles.AddRemove, c.c, 1e-3, -60))
			for _, eps := range []float64{0, 0.1, 0.3, 1} {
				all := 0.0
				for k := 1; k <= 60; k++ {
					all += l.PMF(k) * c.of(k, eps)
				}
				_, up, err := PriceOfBest(l).Delta(context.Background(), c.c, eps, 1e-4)
				step := math.Exp(logDeltaUpper(m.Directions[0].Upper, eps+0.015))
				if err != nil || all > 1e-12 && !(up <= all*1.01 && step <= all*1.03) {
					t.Errorf("%s, %v, ε = %v: δ ≤ %v, as a step %v at ε + .015, %v; all runs shown %v", c.name, l, eps, up, step, err, all)
				}
				if all > 1e-12 {
					worst = max(worst, up/all)
				}
			}
		}
	}
	t.Logf("at most %v times what all runs shown cost", worst)
	// By the mixture alone, Theorem U1, the search costs more than all runs shown, at which ε = .3 has .1461.
	both := must(PriceOfBest(must(newBinomial(20, 0.5))).certify(context.Background(), gaussianCandidate(5), must(PriceOfBest(must(newFixed(2))).fine(0, 0)), fewStrips))
	if v, old := both[0].above(0.3), both[0].quick(0.3); !(v < 0.1461 && old > 0.1461) {
		t.Errorf("binomial 20, Gaussian 5, ε = .3: %v, without Theorem E %v", v, old)
	} else {
		t.Logf("binomial 20, Gaussian 5, ε = .3: %v, without Theorem E %v", v, old)
	}
}
