package labeldp

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// TestPointMassPriors: a prior on one of many labels, as a small group has, is solved to a
// small gap; for one at the end the value is known.
func TestPointMassPriors(t *testing.T) {
	slow.Test(t)
	for _, k := range []int{3, 11, 40, 121} {
		for i, at := range []int{0, 1, k / 2, k - 1} {
			for j, eps := range []float64{0.5, 4} {
				if k > 100 && (i+j)%2 != 0 && !slow.All() {
					continue // a second each
				}
				w := make([]float64, k)
				w[at] = 1
				_, c, err := OptimalUnbiased(context.Background(), must(NewPrior(seq(0, k-1), w)), eps)
				if err != nil {
					t.Fatal(err)
				}
				if c.RelGap > 1e-6 {
					t.Errorf("k = %d, all mass on %d, ε = %v: gap %v of %v", k, at, eps, c.RelGap, c.Primal)
				}
				// χ² of two rows is at most (e^ε − 1)²/e^ε, and Cauchy and Schwarz bound the
				// variance by it: d²/χ² for the label that is d away.
				d := float64(max(at, k-1-at))
				if least := d * d * math.Exp(eps) / math.Pow(math.Expm1(eps), 2) / 2; c.Primal < least*(1-1e-9) || c.Dual > c.Primal {
					t.Errorf("k = %d, %d, ε = %v: half-loss %v, below the least %v", k, at, eps, c.Primal, least)
				} else if at == 0 && math.Abs(c.Primal/least-1) > 1e-6 {
					t.Errorf("k = %d, ε = %v: half-loss %v, and %v can be had", k, eps, c.Primal, least)
				}
			}
		}
	}
}
