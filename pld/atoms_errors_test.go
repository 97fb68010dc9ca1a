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
		math.Log(0.25), math.Log(1-0.25*math.E-0.5*math.Exp(-2)), err, 0)
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

// TestFollowListsAtoms: a listed profile is its own law, however few atoms it has: nothing but the error of the
// masses is between the two laws.
func TestFollowListsAtoms(t *testing.T) {
	finite, err := profiles.NewFinite([]float64{0.5, 0.25, 0.25, 0}, []float64{0.25, 0.25, 0, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []profiles.Profile{profiles.Identical(), finite} {
		up, low := Follow(p, -40, -40, func(float64) float64 { return 1 }, nil)
		atoms := p.(*profiles.Discrete).Atoms()
		if len(up.Loss) != len(atoms) || len(low.Loss) != len(atoms) {
			t.Fatalf("%d and %d losses of %d atoms", len(up.Loss), len(low.Loss), len(atoms))
		}
		for i, a := range atoms {
			if up.Loss[i] != a.Loss || low.Loss[i] != a.Loss || up.LogMass[i] < a.LogP || low.LogMass[i] > a.LogP || up.LogMass[i]-low.LogMass[i] > 1e-14 {
				t.Errorf("atom %+v: losses %v, %v, log masses %v, %v", a, low.Loss[i], up.Loss[i], low.LogMass[i], up.LogMass[i])
			}
		}
	}
}
