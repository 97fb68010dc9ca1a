package menu_test

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/menu"
	"github.com/dpaccountant/accountant/profiles"
)

// approximate returns the worst pair of (eps, delta), and its outcomes.
func approximate(t testing.TB, name string, cost int, eps, delta float64) (menu.Type, []outcome) {
	t.Helper()
	m, err := profiles.NewApproximate(eps, delta)
	if err != nil {
		t.Fatal(err)
	}
	worst, err := m.Pair(profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	p := (1 - delta) / (1 + math.Exp(-eps))
	return pair(name, cost, worst, 1),
		[]outcome{{eps, p, p * math.Exp(-eps)}, {-eps, p * math.Exp(-eps), p}, {math.Inf(1), delta, 0}}
}

// reached is R_units(α) by trying every type after every outcome.
func reached(types [][]outcome, costs []int, units int, alpha float64) float64 {
	best := max(0, 1-alpha)
	for i, outcomes := range types {
		if costs[i] > units {
			continue
		}
		sum := 0.0
		for _, o := range outcomes {
			if o.q == 0 {
				sum += o.p
			} else {
				sum += o.p * reached(types, costs, units-costs[i], alpha*o.q/o.p)
			}
		}
		best = max(best, sum)
	}
	return best
}

// TestAnswersAwayFromTheAim: an answer is narrow, or has a warning, also where the menu's δ is far from the question. The
// first menu had [.494, .756] at ε = 1 and no warning; the second, whose losses have no lattice, no interval.
func TestAnswersAwayFromTheAim(t *testing.T) {
	a, outA := approximate(t, "a", 1, 0.37, 0.001)
	b, outB := approximate(t, "b", 2, 0.61, 0)
	c, outC := approximate(t, "c", 3, 1.3, 1e-9)
	small, outSmall := approximate(t, "a", 1, 1e-4, 0)
	large, outLarge := approximate(t, "b", 2, 3.3, 0)
	for _, menus := range []struct {
		types    []menu.Type
		outcomes [][]outcome
		costs    []int
	}{
		{[]menu.Type{a, b, c}, [][]outcome{outA, outB, outC}, []int{1, 2, 3}},
		{[]menu.Type{small, large}, [][]outcome{outSmall, outLarge}, []int{1, 2}},
	} {
		m, err := menu.New(t.Context(), menus.types, menu.Options{Units: 8})
		if err != nil {
			t.Fatal(err)
		}
		for _, eps := range []float64{0, 0.01, 1, 2, 3, 6} {
			want := reached(menus.outcomes, menus.costs, 8, math.Exp(eps))
			iv, err := m.Delta(t.Context(), eps)
			if err != nil {
				t.Fatal(err)
			}
			if !(iv.Lower <= want*(1+1e-12) && iv.Upper >= want*(1-1e-12)) {
				t.Errorf("%s and others, ε = %v: δ in [%v, %v], the truth is %v", menus.types[0].Name, eps, iv.Lower, iv.Upper, want)
			}
			if width := iv.Upper - iv.Lower; width > 2e-2*iv.Upper && len(iv.Warnings) == 0 || width > 0.05*iv.Upper {
				t.Errorf("ε = %v: δ in [%v, %v] with the warnings %q", eps, iv.Lower, iv.Upper, iv.Warnings)
			}
		}
	}
	// A δ below the mass at +∞ has no ε.
	m, err := menu.New(t.Context(), []menu.Type{a, b, c}, menu.Options{Units: 8})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := m.Epsilon(t.Context(), 1e-6); err != nil || !math.IsInf(r.Lower, 1) || !math.IsInf(r.Upper, 1) || !math.IsInf(r.Estimate, 1) || len(r.Warnings) > 0 {
		t.Errorf("ε at δ = 1e-6 in [%v, %v], %q, %v; eight runs have 1 − .999⁸ at +∞", r.Lower, r.Upper, r.Warnings, err)
	}
	if all := -math.Expm1(8 * math.Log1p(-0.001)); true {
		if r, err := m.Epsilon(t.Context(), all*1.01); err != nil || math.IsInf(r.Lower, 1) {
			t.Errorf("ε at δ = %v in [%v, %v], %v; that δ is above the mass at +∞", all*1.01, r.Lower, r.Upper, err)
		}
	}
}

// TestRowsAreAtTheDeltaOfTheTable: where a menu aims at an ε, its rows are those at the table's δ all the same.
func TestRowsAreAtTheDeltaOfTheTable(t *testing.T) {
	a, _ := approximate(t, "a", 1, 0.2, 0)
	b, _ := approximate(t, "b", 3, 0.43, 0)
	aimed, err := menu.New(t.Context(), []menu.Type{a, b}, menu.Options{Units: 12, Epsilon: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := aimed.Odometer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plain, err := menu.New(t.Context(), []menu.Type{a, b}, menu.Options{Units: 12, Delta: aimed.TableDelta()})
	if err != nil {
		t.Fatal(err)
	}
	want, err := plain.Odometer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if r.Epsilon.Upper < want[i].Epsilon.Lower || r.Epsilon.Lower > want[i].Epsilon.Upper {
			t.Errorf("%d units: ε in [%v, %v] of a menu that aims at ε = .5, [%v, %v] of one that aims at δ = %v",
				i, r.Epsilon.Lower, r.Epsilon.Upper, want[i].Epsilon.Lower, want[i].Epsilon.Upper, plain.TableDelta())
		}
	}
}
