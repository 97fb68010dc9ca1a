package subsample

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// must-gap.md §6 and §5.4, two-point recursion (Richardson): ε(1e-5) at the
// paper's setting. A lower law on a lattice is below by O(k·step²), and ε is
// rounded down to the lattice.
func TestAdaptiveAttackGolden(t *testing.T) {
	wor, wr, _, _, base := paperSetting()
	for _, c := range []struct {
		s    FixedSize
		want [2]float64 // k = 10, 100
	}{
		{wor, [2]float64{.142735, .406447}},
		{wr, [2]float64{.145436, .409507}},
	} {
		a := ok(c.s.NewAdaptiveAttack(base, 5e-4, 1.5))
		a.Run(10)
		first := a.Epsilon(1e-5)
		a.Run(90)
		for i, got := range []float64{first, a.Epsilon(1e-5)} {
			if got > c.want[i]+1e-6 || got < c.want[i]-1.5e-3 {
				t.Errorf("%s: %v, want just below %v", c.s.Name(), got, c.want[i])
			}
		}
		// The adaptive adversary beats the fixed data set after 100 steps.
		if fixed := map[kind]float64{withoutReplacement: 0.404724554331, withReplacement: 0.407738294043}[c.s.kind]; !(a.Epsilon(1e-5) > fixed) {
			t.Errorf("%s: adaptive %v, fixed %v", c.s.Name(), a.Epsilon(1e-5), fixed)
		}
		if d := a.Delta(a.Epsilon(1e-5)); !(d > 1e-5) {
			t.Errorf("%s: delta at the answer is %v", c.s.Name(), d)
		}
	}
}

func TestAdaptiveAttackOneStep(t *testing.T) {
	_, wr, _, _, base := paperSetting()
	a := ok(wr.NewAdaptiveAttack(base, 1e-3, 1))
	p := ok(wr.Attack(base))
	a.Run(1)
	for _, eps := range []float64{0, 0.02, 0.05} {
		// Second order in the step: the lower law of one run.
		if got, want := a.Delta(eps), deltaOf(p, eps); got > want || got < want*0.99-1e-9 {
			t.Errorf("delta(%v) = %v, want just below %v", eps, got, want)
		}
	}
	if _, err := wr.NewAdaptiveAttack(base, 0, 1); err == nil || err.Error() != "step: 0 is not in (0, 1]" {
		t.Errorf("step 0: %v", err)
	}
	if _, err := wr.NewAdaptiveAttack(base, 0.1, math.NaN()); err == nil {
		t.Error("reach NaN passes")
	}
}

// TestAdaptiveAttackMoved: what a profile does not know of its losses is taken off
// the attack's in every step.
func TestAdaptiveAttackMoved(t *testing.T) {
	reached := func(lossErr float64) float64 {
		atoms := []profiles.Atom{{Loss: 0.1, LogP: math.Log(0.5), LogQ: math.Log(0.5) - 0.1}, {Loss: -0.1, LogP: math.Log(0.4), LogQ: math.Log(0.4) + 0.1}}
		p := must(profiles.NewDiscrete(atoms, math.Log(0.05), math.Log(0.05), 0, lossErr))
		a := newAdaptiveAttack(p, 0.01, 2, 0)
		a.Run(3)
		return a.Epsilon(0.16)
	}
	if sure, unsure := reached(0), reached(1e-3); !(sure > 0 && unsure <= sure-3e-3) {
		t.Errorf("reached %v with losses known, %v with losses known to 1e-3, after 3 steps", sure, unsure)
	}
	if d := newAdaptiveAttack(profiles.Identical(), 0.01, 1, 0).Delta(math.NaN()); d != 0 {
		t.Errorf("δ at no number is at least %v", d)
	}
}
