package selection

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/rdp"
)

func TestLiterature(t *testing.T) {
	l := must(withMean(1, 10))
	g := gaussianCurve(2)
	ps := must(PapernotSteinke(g, l, nil, false))
	pure := must(rdp.Pure(1))
	for _, lambda := range []float64{1.5, 2, 8, 64} {
		// No spread: Theorem 2 of Papernot and Steinke. Spread s: its terms once more.
		upper(t, "DP-HyPO, no spread", must(DPHyPO(g, l, 0)).RDP(lambda), ps.RDP(lambda), 0, 1e-13)
		want := ps.RDP(lambda) + (2+lambda/(lambda-1))*0.3
		upper(t, "DP-HyPO", must(DPHyPO(g, l, 0.3)).RDP(lambda), want, 1e-15, 1e-13)
	}
	upper(t, "DP-HyPO, pure", must(DPHyPO(pure, l, 0.3)).RDP(math.Inf(1)), 3*1.3, 1e-15, 1e-13)
	upper(t, "(2+η)ε", must(PapernotSteinkePure(0.7, 2)), 4*0.7, 1e-15, 1e-14)
	if e := must(PapernotSteinkePure(1, 1)); e != 3 { // Theorem 3.2 of Liu and Talwar
		t.Errorf("3ε = %v", e)
	}
	upper(t, "pure at ∞", must(PapernotSteinke(pure, l, nil, false)).RDP(math.Inf(1)), 3, 1e-15, 1e-13)

	bad := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s must be refused", what)
		}
	}
	_, err := PapernotSteinke(g, must(newPoisson(3)), nil, false)
	bad("Theorem 2 for a Poisson law", err)
	_, err = DPHyPO(g, l, math.NaN())
	bad("a spread of NaN", err)
	_, err = KoskelaRedbergWang(context.Background(), gaussianBound(2), must(newFixed(3)), 0)
	bad("KRW for a fixed law", err)
	_, err = KoskelaRedbergWang(context.Background(), gaussianBound(2), l, math.NaN())
	bad("ε̂ = NaN", err)
	_, err = PapernotSteinkePoissonUnproved(g, gaussianBound(2), 1, 1)
	bad("λ = 1", err)
}

// Curves of other kinds of candidates and laws.
func TestCurveKinds(t *testing.T) {
	g := gaussianCurve(2)
	l := must(withMean(1, 10))
	whole := must(PriceOfBest(l).Curve(context.Background(), g, nil))
	orders := []float64{1.5, 2, 4, 8, 16}
	grid := rdp.OnOrders(g, orders)
	tab := must(PriceOfBest(l).Curve(context.Background(), grid, nil))
	if _, ok := tab.(rdp.Grid); !ok {
		t.Errorf("the curve of a grid is a %T, want a grid", tab)
	}
	for _, lambda := range orders {
		if a, b := tab.RDP(lambda), whole.RDP(lambda); a < b*(1-1e-12) || math.IsInf(a, 1) {
			t.Errorf("λ=%v: %v from a grid, %v from the formula", lambda, a, b)
		}
	}
	// Laws that only pure candidates have a price for, through the curve's end.
	pure := must(rdp.Pure(0.5))
	for _, l := range []Law{must(newFixed(4)), must(newCensoredLaw(0.1, 5)), must(newConditionedLaw(1, 0, 6))} {
		c := must(PriceOfBest(l).Curve(context.Background(), pure, nil))
		price := must(PriceOfBest(l).Pure(0.5))
		upper(t, l.String()+" at ∞", c.RDP(math.Inf(1)), price, 1e-14, 1e-13)
		// Enumerate randomized response, the worst pair of one bit.
		p := []float64{1 / (1 + math.Exp(0.5)), math.Exp(0.5) / (1 + math.Exp(0.5))}
		q := []float64{p[1], p[0]}
		a, b := bestLaw(l, p), bestLaw(l, q)
		for _, lambda := range []float64{1.2, 2, 10} {
			if v := c.RDP(lambda); v < max(renyi(a, b, lambda), renyi(b, a, lambda)) || v > price*(1+1e-12) {
				t.Errorf("%v at λ=%v: %v", l, lambda, v)
			}
		}
		// With a Gaussian one, a law that is never 1 has no moments, and no largest ratio.
		_, err := PriceOfBest(l).Curve(context.Background(), g, nil)
		if (err == nil) != (l.PMF(1) > 0) {
			t.Errorf("%v with a Gaussian candidate: %v", l, err)
		}
	}
	if _, err := must(PriceOfFirstAbove(must(newCensoredLaw(0.1, 5)))).Curve(context.Background(), pure, nil); err == nil {
		t.Error("a censored threshold search has no curve and must be refused")
	}
	if _, err := PriceOfBest(l).Curve(context.Background(), nil, nil); err == nil {
		t.Error("no curve must be refused")
	}
	// A candidate whose bound is broken.
	nan := Bound(func(float64) float64 { return math.NaN() })
	if _, err := PriceOfBest(l).Profile(context.Background(), nan); err == nil {
		t.Error("a bound of NaN must be refused")
	}
	if _, err := nan.Epsilon(context.Background(), 0.1); err == nil {
		t.Error("ε from a bound of NaN must be refused")
	}
	if _, err := nan.Discretize(context.Background(), 0, 0); err == nil {
		t.Error("a profile from a bound of NaN must be refused")
	}
	one := Bound(func(float64) float64 { return 0 })
	if e := must(one.Epsilon(context.Background(), 0.5)); !math.IsInf(e, 1) {
		t.Errorf("ε of nothing known = %v", e)
	}
	if p, err := one.Discretize(context.Background(), 0, 0); err != nil || p.Support().LogPInf != 0 {
		t.Errorf("a profile of nothing known is %+v, %v: want a certain infinite loss", p, err)
	}
}
