package main

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// With one resample the designs are MUST.OW and MUST.WW. Many resamples cost far more than as many fresh runs, and the
// attack is close to the bound.
func TestKept(t *testing.T) {
	dearer := map[int64]float64{10: 1.8, 25: 1.03, 50: 7}
	for _, d := range keptDesigns() {
		if d.r == 25 && !slow.All() {
			continue // takes seconds
		}
		kept, fresh := d.kept(t.Context(), 1e-5), d.fresh(t.Context())
		if d.r == 1 && !(kept.Upper >= fresh.Lower && kept.Upper <= 1.002*fresh.Upper) {
			t.Errorf("%+v: at most %v, the scheme has [%v, %v]", d, kept.Upper, fresh.Lower, fresh.Upper)
		}
		if d.r > 1 && !(kept.Lower > dearer[d.r]*fresh.Upper && kept.Upper < 1.04*kept.Lower && kept.Upper >= kept.Lower) {
			t.Errorf("%+v: [%v, %v], fresh %v", d, kept.Lower, kept.Upper, fresh.Upper)
		}
	}
}
