package rdp

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFilterAdaptivePolicies: adversaries of three steps, each of which chooses a mechanism of two or three outputs in
// the light of those before, as far as the filter admits it. By enumeration of all lists of outputs no choice makes the
// interaction diverge by more than the budget, either way; a filter that looks after the step would.
func TestFilterAdaptivePolicies(t *testing.T) {
	const order, budget, steps = 3.0, 0.5, 3
	r := rand.New(rand.NewPCG(7, 7))
	law := func(n int) []float64 {
		x, sum := make([]float64, n), 0.0
		for i := range x {
			x[i] = 0.1 + r.Float64()
			sum += x[i]
		}
		for i := range x {
			x[i] /= sum
		}
		return x
	}
	type pair struct {
		p, q []float64
		cost Curve
	}
	var menu []pair
	for len(menu) < 40 {
		n := 2 + r.IntN(2)
		p, q := law(n), law(n)
		c, err := Finite(p, q)
		if err == nil {
			menu = append(menu, pair{p, q, c})
		}
	}
	// moment is Σ P^α·Q^{1−α} over what may still come, the larger of both ways for a policy that takes the worst of some.
	var moment func(f *Filter, left int, careless bool) (forth, back float64)
	moment = func(f *Filter, left int, careless bool) (forth, back float64) {
		if left == 0 {
			return 1, 1
		}
		forth, back = 1, 1 // it may stop
		for range 4 {
			m := menu[r.IntN(len(menu))]
			g := &Filter{orders: f.orders, budget: f.budget, spent: slices.Clone(f.spent)}
			if err := g.Spend(m.cost); err != nil {
				if !errors.Is(err, ErrBudget) {
					t.Fatal(err)
				}
				if !careless {
					continue
				}
			}
			after := left - 1
			if spent, _ := f.Spent(); careless && spent.RDP(order)+m.cost.RDP(order) > budget {
				after = 0
			}
			a, b := 0.0, 0.0
			for i := range m.p {
				x, y := moment(g, after, careless)
				a += math.Pow(m.p[i], order) * math.Pow(m.q[i], 1-order) * x
				b += math.Pow(m.q[i], order) * math.Pow(m.p[i], 1-order) * y
			}
			forth, back = max(forth, a), max(back, b)
		}
		return forth, back
	}
	worst, careless := 0.0, 0.0
	for range 40 {
		f, err := NewFilter(order, budget)
		if err != nil {
			t.Fatal(err)
		}
		a, b := moment(f, steps, false)
		worst = max(worst, math.Log(max(a, b))/(order-1))
		a, b = moment(f, steps, true)
		careless = max(careless, math.Log(max(a, b))/(order-1))
	}
	if worst > budget*(1+1e-12) || worst < 0.8*budget || careless < 1.1*budget {
		t.Errorf("policies reach %v, those of a filter that looks too late %v; the budget is %v", worst, careless, budget)
	}
}
