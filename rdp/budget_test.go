package rdp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// TestBudgetIsRoundedDown: what a filter for (ε, δ) may spend at an order, against 320 bits, also where its terms cancel: orders
// next to 1, where they are large, and δ next to 1.
func TestBudgetIsRoundedDown(t *testing.T) {
	r := rand.New(rand.NewPCG(46, 5))
	one := oracle.F(1)
	for range 3000 {
		alpha := 1 + math.Exp(20*r.Float64()-14)
		eps, logDelta := math.Exp(10*r.Float64()-5), -math.Exp(12*r.Float64()-9)
		a := oracle.F(alpha)
		s := oracle.Mul(a, oracle.Log(oracle.Sub(one, oracle.Div(one, a))))
		top := oracle.Sub(oracle.Add(oracle.F(logDelta), oracle.Log(oracle.Sub(a, one))), s)
		want := oracle.Add(oracle.F(eps), oracle.Div(top, oracle.Sub(a, one)))
		got := budgetAt(alpha, eps, logDelta)
		if oracle.F(got).Cmp(want) > 0 {
			t.Fatalf("order %v, ε %v, log δ %v: %v is above %v", alpha, eps, logDelta, got, want)
		}
		size := eps + (math.Abs(logDelta)+math.Abs(math.Log(alpha-1))-alpha*math.Log1p(-1/alpha))/(alpha-1)
		if d, _ := oracle.Sub(want, oracle.F(got)).Float64(); d > 1e-14*size {
			t.Fatalf("order %v, ε %v, log δ %v: %v is %v below %v", alpha, eps, logDelta, got, d, want)
		}
	}
}
