package lattice

import (
	"math"
	"testing"
)

// TestBudgetIsWithinTheWidth: next to a sum that is hardly certain errors may be far above what is known from elsewhere, and infinite.
func TestBudgetIsWithinTheWidth(t *testing.T) {
	known := Answer{Lower: 1, Upper: 1.03, Estimate: math.NaN()}
	for _, c := range []struct{ got, want Budget }{
		{Budget{Truncation: 0.001, RoundOff: 686}, Budget{Truncation: 0.03 * 0.001 / 0.031, RoundOff: 0.03 * 0.03 / 0.031}},
		{Budget{Aliasing: math.Inf(1), RoundOff: math.NaN()}, Budget{Aliasing: 0.015, RoundOff: 0.015}},
		{Budget{Discretization: 0.02, RoundOff: 0.01}, Budget{Discretization: 0.02, RoundOff: 0.01}},
	} {
		r := intersect(known, Answer{Lower: 0, Upper: 2, Estimate: 1.02, Budget: c.got})
		for i, x := range []float64{r.Budget.Discretization, r.Budget.Truncation, r.Budget.Aliasing, r.Budget.RoundOff} {
			want := []float64{c.want.Discretization, c.want.Truncation, c.want.Aliasing, c.want.RoundOff}[i]
			if !(math.Abs(x-want) <= 1e-12) {
				t.Errorf("part %d of %+v: %v, want %v", i, c.got, x, want)
			}
		}
	}
}
