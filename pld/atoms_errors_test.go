package pld

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// TestOfAtomsHoldsTheErrorOfMasses: masses that are known to a millionth are above in one law and below in the other.
func TestOfAtomsHoldsTheErrorOfMasses(t *testing.T) {
	const err = 1e-6
	d, e := profiles.NewDiscrete([]profiles.Atom{{Loss: -1, LogP: math.Log(0.25), LogQ: math.Log(0.25) + 1}, {Loss: 2, LogP: math.Log(0.5), LogQ: math.Log(0.5) - 2}},
		math.Log(0.25), math.Inf(-1), err, 0)
	if e != nil {
		t.Fatal(e)
	}
	upper, lower := OfAtoms(d)
	for i, a := range d.Atoms() {
		if upper.LogMass[i] < a.LogP+err || lower.LogMass[i] > a.LogP-err {
			t.Errorf("loss %v: log masses %v and %v do not hold %v ± %v", a.Loss, lower.LogMass[i], upper.LogMass[i], a.LogP, err)
		}
	}
	if p := math.Log(0.25); upper.LogPInf < p+err || lower.LogPInf > p-err {
		t.Errorf("at infinity %v and %v do not hold %v ± %v", lower.LogPInf, upper.LogPInf, p, err)
	}
}
