package menu_test

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/menu"
	"github.com/dpaccountant/accountant/profiles"
)

// answer returns the outcomes of randomized response with the loss ±x, and gives those of a mechanism that gives the data
// away with probability p.
func answer(x float64) []outcome {
	p := math.Exp(x) / (1 + math.Exp(x))
	return []outcome{{x, p, 1 - p}, {-x, 1 - p, p}}
}

func gives(p float64) []outcome {
	return []outcome{{0, 1 - p, 1 - p}, {math.Inf(1), p, 0}, {math.Inf(-1), 0, p}}
}

func leak(t testing.TB, p float64) profiles.Profile {
	d, err := profiles.NewDiscrete([]profiles.Atom{{Loss: 0, LogP: math.Log1p(-p), LogQ: math.Log1p(-p)}}, math.Log(p), math.Log(p), 1e-15, 0)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestNaturalFilterIsInvalid: composing the profiles of the path that was taken, and stopping at a target, is no filter
// (arXiv:2602.06756). RR(1/2) first; after "+" RR(1), after "−" a mechanism that gives the data away with a probability of
// exactly the target. Every path composes to at most the target.
func TestNaturalFilterIsInvalid(t *testing.T) {
	const target = 0.179049889216818
	g := game{pairs: [][]outcome{answer(0.5), answer(1), gives(target)}, cost: []int{1, 1, 1}}
	// What the filter composes, on either path.
	plus := fourier.New(fourier.Options{})
	plus.Add(response(t, 0.5), 1)
	plus.Add(response(t, 1), 1)
	d, err := plus.Delta(t.Context(), 1)
	if err != nil || math.Abs(d.Upper-target) > 1e-12 {
		t.Fatalf("the path of + has δ(1) = %.15g (%v), want %v", d.Upper, err, target)
	}
	truth := g.transcript(2, math.E, func(spent int, p, q float64) int {
		switch {
		case spent == 0:
			return 0
		case p > q:
			return 1
		}
		return 2
	}, filter)
	const want = 0.246648504139969 // δ*·(2 − p₀) by hand, p₀ = 0.622459331202
	if math.Abs(truth-want) > 1e-14 {
		t.Errorf("the analyst reaches %.15g, want %.15g", truth, want)
	}
	m, err := menu.New(t.Context(), []menu.Type{pair("a", 1, response(t, .5), 1), pair("b", 1, response(t, 1), 1), pair("c", 1, leak(t, target), 1)}, menu.Options{Units: 2, Delta: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	iv, err := m.Delta(t.Context(), 1)
	if err != nil || iv.Upper < truth || iv.Lower > g.price(2, math.E)+1e-13 {
		t.Errorf("[%v, %v] (%v), where %v is reached", iv.Lower, iv.Upper, err, truth)
	}
}

// TestBestFixedPlan: the best of all fixed plans 36 = n₁ + 4n₂ + 9n₃ is not the price of adaptivity. The value is that of
// 1, 2 and 3 runs, by mpmath over all plans.
func TestBestFixedPlan(t *testing.T) {
	const want, adaptive = 0.0874988088819647, 0.0960970988904786
	best := 0.0
	for c := 0; 9*c <= 36; c++ {
		for b := 0; 4*b+9*c <= 36; b++ {
			sum := fourier.New(fourier.Options{Relative: 1e-9})
			for i, n := range []int{36 - 4*b - 9*c, b, c} {
				if n > 0 {
					if err := sum.Add(response(t, []float64{.1, .2, .3}[i]), int64(n)); err != nil {
						t.Fatal(err)
					}
				}
			}
			d, err := sum.Delta(t.Context(), 0.5)
			if err != nil {
				t.Fatal(err)
			}
			best = max(best, d.Lower)
		}
	}
	if math.Abs(best-want) > 1e-9 || !(best < adaptive-0.008) {
		t.Errorf("the best fixed plan has %.15g, want %.15g", best, want)
	}
}

// TestCheckBeforeNotAfter: a filter that checks after a step ran lets the last one pass the budget.
func TestCheckBeforeNotAfter(t *testing.T) {
	g := game{pairs: [][]outcome{answer(0.1), answer(0.3)}, cost: []int{1, 9}}
	always := func(i int) func(int, float64, float64) int { return func(int, float64, float64) int { return i } }
	after := func(spent, _, units int) bool { return spent < units }
	small := func(spent int, _, _ float64) int {
		if spent < 8 {
			return 0
		}
		return 1
	}
	m, err := menu.New(t.Context(), []menu.Type{pair("a", 1, response(t, .1), 1), pair("c", 9, response(t, .3), 1)}, menu.Options{Units: 9, Delta: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	iv, _ := m.Delta(t.Context(), 0.5)
	if h := g.transcript(9, math.Exp(0.5), small, after); !(h > iv.Upper*1.5) {
		t.Errorf("checked after: %v, not above %v", h, iv.Upper)
	}
	for _, choose := range []func(int, float64, float64) int{small, always(0), always(1)} {
		if h := g.transcript(9, math.Exp(0.5), choose, filter); h > iv.Upper {
			t.Errorf("checked before: %v above %v", h, iv.Upper)
		}
	}
}

// TestSpentIsNoGuarantee: R_s at the units s that were spent when the analyst stopped is not a guarantee, as s depends on
// outputs. The analyst stops after a loud answer that it likes. Of the event that the day one stopped was day 1, P exceeds
// e^ε·Q + δ with (ε, δ) on the profile of one unit, and with levels fixed beforehand it does not.
func TestSpentIsNoGuarantee(t *testing.T) {
	// Up to 60 answers of RR(0.1): stop when the loss is at least 0.8.
	p := math.Exp(0.1) / (1 + math.Exp(0.1))
	m, err := menu.New(t.Context(), []menu.Type{pair("a", 1, response(t, 0.1), 1)}, menu.Options{Units: 60, Delta: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := m.Odometer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	levels, err := m.Levels(t.Context(), 4, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	level := func(spent int) int {
		for i, l := range levels {
			if spent <= l.Units {
				return i
			}
		}
		return len(levels)
	}
	P, Q := map[int]float64{0: 1}, map[int]float64{0: 1} // by 10 times the loss
	sum, byLevel := 0.0, make([]float64, len(levels))
	for s := 1; s <= 60; s++ {
		nextP, nextQ := map[int]float64{}, map[int]float64{}
		for x := range P {
			nextP[x+1] += P[x] * p
			nextQ[x+1] += Q[x] * (1 - p)
			nextP[x-1] += P[x] * (1 - p)
			nextQ[x-1] += Q[x] * p
		}
		P, Q = nextP, nextQ
		for x := range P {
			if x < 8 && s < 60 {
				continue
			}
			sum += max(0, P[x]-math.Exp(rows[s].Epsilon.Upper)*Q[x])
			byLevel[level(s)] += max(0, P[x]-math.Exp(levels[level(s)].Epsilon.Upper)*Q[x])
			delete(P, x)
			delete(Q, x)
		}
	}
	if !(sum > 1.4e-3) {
		t.Errorf("stopped on purpose, the units that were spent are off by δ = %v, not above the 1e-3 that they promise", sum)
	}
	total := 0.0
	for _, x := range byLevel {
		total += x
	}
	if !(total <= 1e-3) {
		t.Errorf("levels are off by %v, above 1e-3", total)
	}
}

// TestInterpolatedBudget: a family with a type of half a unit between whole ones is none: R_½ as the mean of R_0 and R_1
// is below what that type reaches.
func TestInterpolatedBudget(t *testing.T) {
	m, err := menu.New(t.Context(), lattice(t), menu.Options{Units: 1, Delta: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	iv, _ := m.Delta(t.Context(), 0)
	x := 0.1 / math.Sqrt2
	if half := math.Tanh(x / 2); !(half > 1.4*iv.Upper/2) {
		t.Errorf("RR(0.1/√2) has δ(0) = %v, the mean %v", half, iv.Upper/2)
	}
}

// TestLevels: levels are budgets at equal distances, the last the whole, each with ε at its part of δ.
func TestLevels(t *testing.T) {
	m, err := menu.New(t.Context(), lattice(t), menu.Options{Units: 10, Delta: 1e-2})
	if err != nil {
		t.Fatal(err)
	}
	levels, err := m.Levels(t.Context(), 4, 1e-2)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []int{3, 5, 8, 10} {
		part, err := menu.New(t.Context(), lattice(t), menu.Options{Units: want, Delta: 2.5e-3})
		if err != nil {
			t.Fatal(err)
		}
		iv, err := part.Epsilon(t.Context(), 2.5e-3)
		if l := levels[j]; err != nil || l.Units != want || math.Abs(l.Epsilon.Upper-iv.Upper) > 1e-3 || l.Epsilon.Upper < iv.Lower {
			t.Errorf("level %d: %d units, ε ≤ %v, want %d and %v (%v)", j, l.Units, l.Epsilon.Upper, want, iv.Upper, err)
		}
	}
	for _, count := range []int{0, 11} {
		if _, err := m.Levels(t.Context(), count, 1e-2); err == nil {
			t.Errorf("%d levels of 10 units", count)
		}
	}
	if _, err := m.Levels(t.Context(), 2, 0); err == nil {
		t.Error("levels at δ = 0")
	}
}
