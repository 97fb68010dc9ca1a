package subsample

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/profiles"
)

// The search's average is the proved one up to rounding, where r_u may be close
// to 1 and where it is huge.
func TestRoughAverage(t *testing.T) {
	_, wr, _, ww, _ := paperSetting()
	for _, law := range []Law{wr.Multiplicity(), ww.drawn(1), ww.drawn(6)} {
		for _, theta := range []float64{0.1, 0.5, 2} {
			c := NewGaussianWR(law, theta)
			for _, x := range []float64{theta / 2, theta, 1, 3, 10, 30} {
				a, da, i, _ := c.average(x)
				b, db, k := c.roughAverage(x)
				// A hundred recurrences of a few roundings each.
				if i != k || math.Abs(a-b) > 1e-12*(1+a) || math.Abs(da-db) > 1e-12*(1+da) {
					t.Errorf("theta %v at %v: %v, %v, %d, proved %v, %v, %d", theta, x, b, db, k, a, da, i)
				}
			}
		}
	}
}

// The Laplace pairs pile up losses before the end of their support, and have
// atoms on no common lattice: still as narrow as asked.
func TestLaplaceWidths(t *testing.T) {
	_, wr, _, ww, _ := paperSetting()
	for _, s := range []FixedSize{wr, ww} {
		d := ok(s.Apply(laplace(4), profiles.Substitute)).Directions[0]
		for _, p := range []profiles.Profile{d.Upper, d.Lower} {
			for _, k := range []int64{10, 100} {
				sum := fourier.New(fourier.DefaultOptions())
				if err := sum.Add(p, k); err != nil {
					t.Fatal(err)
				}
				r := ok(sum.Epsilon(t.Context(), 1e-5))
				if !(r.Upper-r.Lower <= 1e-3*r.Upper) || len(r.Warnings) > 0 {
					t.Errorf("%s, %d runs: [%v, %v] %v", s.Name(), k, r.Lower, r.Upper, r.Warnings)
				}
			}
		}
	}
}
