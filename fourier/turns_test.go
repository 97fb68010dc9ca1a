package fourier

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// TestIntegralBeforeAllTheWork: where an integral would serve for a little more work than easy questions have, lattices
// do not take all the work there is before it. They took 9e7 of 1.25e8 for the first of these questions, a
// regression of its cost by sixty, and 1.05e8 for the second.
func TestIntegralBeforeAllTheWork(t *testing.T) {
	for _, c := range []struct {
		sigma   float64
		records int64
		runs    int64
		eps     float64 // attained, by the lattices alone
	}{{10, 8, 100000, 0.2778}, {3, 2, 10000, 0.0755}} {
		b, err := profiles.NewGaussianMechanism(c.sigma)
		if err != nil {
			t.Fatal(err)
		}
		s, err := subsample.NewPoisson(1e-4)
		if err != nil {
			t.Fatal(err)
		}
		m, err := subsample.Of(t.Context(), b, s, profiles.AddRemove, c.records)
		if err != nil {
			t.Fatal(err)
		}
		sum := New(Options{Relative: 1e-3, Work: 1.25e8})
		if err := sum.Add(m.Directions[0].Upper, c.runs); err != nil {
			t.Fatal(err)
		}
		r, err := sum.Epsilon(t.Context(), 1e-30)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v, %.3g units of work", r, sum.Spent())
		if !(r.Lower <= c.eps*1.01 && r.Upper >= c.eps*0.99 && r.Upper-r.Lower <= 5e-3*r.Upper) {
			t.Errorf("%+v: [%v, %v]", c, r.Lower, r.Upper)
		}
		if used := sum.Spent(); !(used < 3e7) || math.IsNaN(used) {
			t.Errorf("%+v: %.3g units of work", c, used)
		}
	}
}
