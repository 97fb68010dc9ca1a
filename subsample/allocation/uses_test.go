package allocation

import (
	"math"
	"math/bits"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// TestUsesByEnumeration: a record in two of three steps, or in one of three that ends after two, over bases of a few
// outputs: every subset of steps and every list of outputs, in sums of float64. What is above stays above, also at
// negative ε, and what is below is reached; where one step is drawn both are the truth.
func TestUsesByEnumeration(t *testing.T) {
	for _, base := range []struct{ p, q []float64 }{
		{[]float64{0.75, 0.25}, []float64{0.25, 0.75}},
		{[]float64{0.5, 0.4, 0.1, 0}, []float64{0.2, 0.6, 0, 0.2}},
		{[]float64{0.8125, 0.1875}, []float64{1, 0}},
		{[]float64{1, 0}, []float64{0.75, 0.25}},
		{[]float64{0, 0.25, 0.75}, []float64{0.5, 0.5, 0}},
	} {
		b := must(profiles.NewFiniteMechanism(base.p, base.q))
		for _, c := range []struct {
			name        string
			scheme      Random
			steps, uses int // of the list that is seen
			share       float64
			exact       bool
		}{
			{"2 of 3", must(must(NewRandom(3)).WithUses(2)), 3, 2, 1, false},
			{"2 of 4", must(must(NewRandom(4)).WithUses(2)), 4, 2, 1, false},
			{"1 of 3, ended after 2", must(must(NewRandom(3)).First(2)), 2, 1, 2. / 3, true},
		} {
			m := must(c.scheme.Apply(b, profiles.AddRemove))
			for _, eps := range []float64{-0.5, 0, 0.3, 1, 2} {
				remove, add := enumerated(base.p, base.q, c.steps, c.uses, c.share, math.Exp(eps))
				for d, truth := range []float64{remove, add} {
					up, upErr := profiles.LogDelta(m.Directions[d].Upper, eps)
					low, lowErr := profiles.LogDelta(m.Directions[d].Lower, eps)
					// The sums have some thousand terms, each right to a few units: 1e-12.
					if math.Exp(up+upErr) < truth-1e-12 || math.Exp(low-lowErr) > truth+1e-12 {
						t.Errorf("%s, direction %d, ε = %v: [%v, %v] without %v", c.name, d, eps, math.Exp(low), math.Exp(up), truth)
					}
					if c.exact && math.Exp(up)-math.Exp(low) > 1e-6 {
						t.Errorf("%s, direction %d, ε = %v: [%v, %v] is wide", c.name, d, eps, math.Exp(low), math.Exp(up))
					}
				}
			}
		}
	}
}

// enumerated returns δ of both directions: the record is, with the given share, in a uniform subset of that many steps,
// and else in none.
func enumerated(p, q []float64, steps, uses int, share, a float64) (remove, add float64) {
	n := len(p)
	lists := int(math.Pow(float64(n), float64(steps)))
	for list := range lists {
		out := make([]int, steps)
		for i, rest := 0, list; i < steps; i, rest = i+1, rest/n {
			out[i] = rest % n
		}
		with, ways, without := 0.0, 0.0, 1.0
		for _, o := range out {
			without *= q[o]
		}
		for subset := range uint(1) << steps {
			if bits.OnesCount(subset) != uses {
				continue
			}
			x := 1.0
			for i, o := range out {
				if subset>>i&1 == 1 {
					x *= p[o]
				} else {
					x *= q[o]
				}
			}
			with, ways = with+x, ways+1
		}
		with = share*with/ways + (1-share)*without
		remove += max(0, with-a*without)
		add += max(0, without-a*with)
	}
	return remove, add
}

// TestOutcomesOfOneLawAlone: an outcome that only a record's uses have is an infinite loss of what is reached, as often as one of them has it.
func TestOutcomesOfOneLawAlone(t *testing.T) {
	b := must(profiles.NewFiniteMechanism([]float64{0.8125, 0.1875}, []float64{1, 0}))
	m := must(must(must(NewRandom(3)).WithUses(2)).Apply(b, profiles.AddRemove))
	want := 1 - 0.8125*0.8125
	for _, eps := range []float64{1, 100, 1e6} {
		if low, err := profiles.LogDelta(m.Directions[0].Lower, eps); math.Abs(math.Exp(low)-want) > 1e-12 || err > 1e-12 {
			t.Errorf("δ(%v) of what is reached is %v, want %v", eps, math.Exp(low), want)
		}
	}
	// What Gaussian noise next to nothing gives away has a loss, if one that no float64 tells from an infinite one.
	g := must(profiles.NewGaussianMechanism(0.01))
	m = must(must(must(NewRandom(3)).WithUses(2)).Apply(g, profiles.AddRemove))
	if inf := m.Directions[0].Lower.Support().LogPInf; !math.IsInf(inf, -1) {
		t.Errorf("a loss of Gaussian noise is infinite with log-probability %v", inf)
	}
}

// TestAttackOfSeveralUsesAnswers: cases in which the attack was an internal error, took minutes, or reached nothing. With
// next to no noise its lattice had too many points. Between the losses of a list lay what tails are rounded by, which counted for the
// law without the record at every outcome: more than 1 of it, and too much to reach anything at a tiny δ.
func TestAttackOfSeveralUsesAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		base   profiles.Mechanism
		s      Random
		delta  float64
		within float64 // the lower end, as a share of the upper one
	}{
		{"next to no noise", must(profiles.NewLaplaceMechanism(0.017)), must(must(NewRandom(10)).WithUses(2)), 1e-6, 0.5},
		{"a large loss that is rare", must(profiles.NewPure(16)), must(must(NewRandom(300)).WithUses(2)), 1e-6, 0.9},
		{"a large loss", must(profiles.NewPure(60)), must(must(NewRandom(11)).WithUses(3)), 2e-45, 0.9},
		{"epochs of a list", must(profiles.NewDiscreteLaplaceMechanism(3.7897254541310383, 2)), must(must(must(NewRandom(10)).WithUses(2)).WithEpochs(12)), 1e-40, 0.4},
	} {
		m, err := sharp(c.s, target{Delta: c.delta, Relative: 0.2}).Apply(c.base, profiles.AddRemove)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for d, dir := range m.Directions {
			lower, upper := epsilonOf(dir.Lower, c.delta), epsilonOf(dir.Upper, c.delta)
			if !(lower > c.within*upper && lower <= upper) {
				t.Errorf("%s, direction %d: ε in [%v, %v]", c.name, d, lower, upper)
			}
		}
	}
}
