package lattice

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// TestLastPassServesNearby: a table of δ(ε), and of ε at those δ, takes a tenth of what new compositions take. All intervals are
// as narrow as asked and meet. So they are after a step was added: what was kept is of other steps.
func TestLastPassServesNearby(t *testing.T) {
	const relative = 3e-3
	kept := runs(dpsgd(t, 0.01, 1), 1000)
	more := closed.Step{Profile: dpsgd(t, 0.02, 1.5), Count: 40}
	more.Support = more.Profile.Support()
	for round := range 2 {
		if round == 1 {
			kept.Set(1, more, false)
		}
		var spent, fresh float64
		narrow := func(what string, a Answer, err error) {
			if err != nil || len(a.Warnings) > 0 || a.Upper-a.Lower > relative*a.Upper {
				t.Fatalf("%s: [%v, %v], %v, %v", what, a.Lower, a.Upper, a.Warnings, err)
			}
		}
		for i := range 60 {
			eps := 0.5 + float64(i)/64
			a, err := kept.Delta(meter.New(t.Context(), 2.5e8, 1<<23, &spent), Accuracy{Relative: relative}, eps, math.Inf(-1))
			narrow("kept", a, err)
			one := runs(dpsgd(t, 0.01, 1), 1000)
			if round == 1 {
				one.Set(1, more, false)
			}
			b, err := one.Delta(meter.New(t.Context(), 2.5e8, 1<<23, &fresh), Accuracy{Relative: relative}, eps, math.Inf(-1))
			narrow("new", b, err)
			if a.Lower > b.Upper || b.Lower > a.Upper {
				t.Errorf("δ(%v): [%v, %v] with what was kept, [%v, %v] without", eps, a.Lower, a.Upper, b.Lower, b.Upper)
			}
			c, err := kept.Epsilon(meter.New(t.Context(), 2.5e8, 1<<23, &spent), Accuracy{Relative: relative}, xmath.Log(b.Estimate), math.Inf(-1), 0, 100)
			narrow("ε", c, err)
			if c.Lower > eps*(1+relative) || c.Upper < eps*(1-relative) {
				t.Errorf("ε(δ(%v)): [%v, %v]", eps, c.Lower, c.Upper)
			}
		}
		t.Logf("%g of %g", spent, fresh)
		if spent > fresh/10 {
			t.Errorf("round %d: work %g, of new compositions %g", round, spent, fresh)
		}
	}
}
