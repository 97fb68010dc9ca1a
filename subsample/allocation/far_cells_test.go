package allocation

import (
	"math"
	"testing"
)

// TestAttackHasNoSubnormalMass: the cells of the attack on the largest output end where masses have all of their digits, which
// the error of the law is stated for, however small δ is.
func TestAttackHasNoSubnormalMass(t *testing.T) {
	s := shuffleScheme{batches: 1, epochs: 1, target: target{Delta: 1e-310, Runs: 1}}
	law, err := s.largest(1, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	least := math.Log(0x1p-1022)
	for _, a := range law.Atoms() {
		if a.LogP < least || a.LogQ < least {
			t.Errorf("atom %+v is below e^%v", a, least)
		}
	}
	if n := len(law.Atoms()); n < 1000 {
		t.Errorf("%d atoms: nothing is tested", n)
	}
}
