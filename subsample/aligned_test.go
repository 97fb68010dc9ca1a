package subsample

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

func TestAligned(t *testing.T) {
	// must.md §5.1, last paragraph (S8): the exact points where δ' = δ; on one
	// side of each the amplification is strong, on the other weak.
	s := profileSetting()
	for _, c := range []struct {
		b      profiles.Mechanism
		scheme string
		eps    float64
	}{
		{laplace(2), "WR", 0.92334544}, {laplace(2), "OW", 0.88218882}, {laplace(2), "WW", 0.86729911},
		{gaussian(2), "WR", 1.74938205}, {gaussian(2), "OW", 1.47236626}, {gaussian(2), "WW", 1.38742885},
	} {
		ps := ok(s[c.scheme].Aligned(c.b, []float64{c.eps - 1e-7, c.eps + 1e-7}))
		if ps[0].Kind != "strong" || ps[1].Kind != "weak type I" {
			t.Errorf("%s %s: %v, %v around %v", c.b.Name(), c.scheme, ps[0].Kind, ps[1].Kind, c.eps)
		}
	}
	for _, p := range ok(s["WOR"].Aligned(gaussian(2), []float64{0.1, 1, 3, 6})) {
		if p.Kind != "strong" {
			t.Errorf("WOR at %v: %v", p.Epsilon, p.Kind)
		}
	}
	for _, c := range []struct {
		p    AlignedPoint
		want string
	}{{AlignedPoint{Epsilon: 1, Delta: .1, Epsilon2: 1, Delta2: .05}, "weak type II"}, {AlignedPoint{Epsilon: 1, Delta: .1, Epsilon2: 1, Delta2: .1}, "dilution"}} {
		if got := c.p.kind(); got != c.want {
			t.Errorf("%v: %v, want %v", c.p, got, c.want)
		}
	}
	if _, err := s["WR"].Aligned(gaussian(2), []float64{math.NaN()}); err == nil || err.Error() != "epsilon: NaN is not in [0, ∞)" {
		t.Errorf("NaN: %v", err)
	}
}
