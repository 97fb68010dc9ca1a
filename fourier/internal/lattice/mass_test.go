package lattice

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// TestMassAboveOne: a list whose rounded masses make more than 1 shows no δ above 1, and none that is as much too high as they are.
func TestMassAboveOne(t *testing.T) {
	const above, n = 6.8e-14, 22
	d, err := profiles.NewDiscrete([]profiles.Atom{{Loss: -40, LogP: -40, LogQ: 0}, {Loss: 40, LogP: above, LogQ: -40}}, math.Inf(-1), math.Inf(-1), 0x1p-51, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runs(d, n).Delta(allowed(t), Accuracy{Relative: 1e-3}, 0.23, math.Inf(-1))
	if err != nil {
		t.Fatal(err)
	}
	if !(r.Lower <= 1-0.9*n*above && r.Lower > 1-1e-11 && r.Upper >= 1) {
		t.Errorf("δ in [1 − %v, %v]", 1-r.Lower, r.Upper)
	}
}
