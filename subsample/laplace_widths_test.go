package subsample

import (
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/profiles"
)

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
