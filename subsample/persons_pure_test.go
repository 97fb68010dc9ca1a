package subsample

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// The closed form is the chain, where that does not underflow; and it does not end there. k·ε = 700 was
// answered by an infinite loss.
func TestPureChainIsTheChain(t *testing.T) {
	for _, c := range []struct {
		eps float64
		k   int
	}{{0.01, 3}, {1, 2}, {1, 7}, {0.3, 64}, {20, 5}, {90, 6}} {
		one, err := made(profiles.NewPure(c.eps)).Pair(profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		closed, err := pureChain(c.eps, c.k)
		if err != nil {
			t.Fatal(err)
		}
		above, err := chain([]link{{one, c.k}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		below, err := chain([]link{{one, c.k}}, -1)
		if err != nil {
			t.Fatal(err)
		}
		for x := -1.0; x < 1; x += 0.05 {
			eps := x * c.eps * float64(c.k)
			got, e := profiles.LogDelta(closed, eps)
			up, upErr := profiles.LogDelta(above, eps)
			low, lowErr := profiles.LogDelta(below, eps)
			if got-e > up+upErr || got+e < low-lowErr || up-low > 1e-9 && up > -600 {
				t.Errorf("ε %v, k %d at %v: log δ %v, the chain's [%v, %v]", c.eps, c.k, eps, got, low, up)
			}
		}
	}
	for _, c := range []struct {
		eps float64
		k   int64
	}{{10, 70}, {500, 64}, {1e-3, 1 << 11}} {
		m := persons(t, made(profiles.NewPure(c.eps)), nil, profiles.Substitute, c.k)
		for _, d := range m.Directions {
			if s := d.Upper.Support(); !math.IsInf(s.LogPInf, -1) || math.Abs(s.Max-c.eps*float64(c.k)) > 1e-9*s.Max {
				t.Errorf("ε %v, k %d: losses up to %v, infinite ones of log mass %v", c.eps, c.k, s.Max, s.LogPInf)
			}
			// Just below the largest loss δ is 1 − e^{ε−max} of its mass 1/(1+e^−ε).
			at := c.eps*float64(c.k) - math.Min(c.eps, 1)/2
			want := math.Log(-math.Expm1(-math.Min(c.eps, 1)/2)) - math.Log1p(math.Exp(-c.eps))
			if got, _ := profiles.LogDelta(d.Upper, at); math.Abs(got-want) > 1e-8 {
				t.Errorf("ε %v, k %d: log δ(%v) = %v, want %v", c.eps, c.k, at, got, want)
			}
		}
	}
}
