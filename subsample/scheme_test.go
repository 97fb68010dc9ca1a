package subsample

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/profiles"
)

func delta(t interface{ Fatalf(string, ...any) }, p profiles.Profile, eps float64) (d, err float64) {
	ld, le := profiles.LogDelta(p, eps)
	if math.IsNaN(ld) || math.IsNaN(le) {
		t.Fatalf("log δ(%v) = %v ± %v", eps, ld, le)
	}
	if math.IsInf(le, 1) {
		return math.Exp(ld), 1
	}
	return math.Exp(ld), math.Exp(ld) * math.Expm1(le)
}

// must.md §7.3, rows WOR (4, 0, 2), σ = 1: half of the records, substituted by
// one that is 2 away. Column A is the pair at ±1, B the sampled pair (0 against
// 2), C Theorem 5 and so the envelope.
func TestSubstituteGolden(t *testing.T) {
	const rate = 0.5
	g := must(profiles.NewGaussianMechanism(1))
	far := must(g.Pair(profiles.Substitute))
	a := mixture(g, rate)
	b := must(PoissonProfile(far, rate))
	c := must(Envelope(far, rate))
	for _, row := range []struct{ eps, a, b, brev, c float64 }{
		{0, 0.341344746069, 0.341344746069, 0.341344746069, 0.341344746069},
		{0.5, 0.194001685692, 0.27014924538, 0.0721700401512, 0.27014924538},
		{1, 0.0933579749693, 0.210495594285, 0.0, 0.210495594285},
		{2, 0.0129556227068, 0.117190857941, 0.0, 0.117190857941},
	} {
		for _, x := range []struct {
			name string
			p    profiles.Profile
			want float64
		}{{"±1", a, row.a}, {"0 against 2", b, row.b}, {"2 against 0", profiles.Reverse(b), row.brev}, {"envelope", c, row.c},
			{"envelope reversed", profiles.Reverse(c), row.c}} {
			got, _ := delta(t, x.p, row.eps)
			if math.Abs(got-x.want) > 2e-12*x.want+1e-300 { // 12 digits given
				t.Errorf("%s: δ(%v) = %.13g, want %.13g", x.name, row.eps, got, x.want)
			}
		}
	}
}

// Sampling with rate 0 reveals nothing, with rate 1 it changes nothing.
func TestRateEnds(t *testing.T) {
	for _, b := range bases() {
		for _, f := range []func(profiles.Profile, float64) (profiles.Profile, error){PoissonProfile, Envelope} {
			if p := must(f(b.p, 1)); !profiles.Equal(p, b.p) {
				t.Errorf("%s at rate 1 is %v", b.name, p)
			}
			if p := must(f(b.p, 0)); !profiles.Equal(p, profiles.Identical()) {
				t.Errorf("%s at rate 0 is %v", b.name, p)
			}
		}
	}
	for _, bad := range []float64{-1e-300, 1.0000001, math.NaN(), math.Inf(1)} {
		want := fmt.Sprintf("rate: %v is not in [0, 1]", bad)
		for name, err := range map[string]error{
			"NewPoisson": func() error { _, err := NewPoisson(bad); return err }(),
			"Poisson":    func() error { _, err := PoissonProfile(profiles.Identical(), bad); return err }(),
			"Envelope":   func() error { _, err := Envelope(profiles.Identical(), bad); return err }(),
		} {
			if err == nil || err.Error() != want {
				t.Errorf("%s: error %v, want %s", name, err, want)
			}
		}
	}
}

// Sampling never costs more than not sampling; a higher rate never less; and
// above ε = 0 the envelope is the remove direction.
func TestSamplingAmplifies(t *testing.T) {
	all := bases()
	rapid.Check(t, func(t *rapid.T) {
		b := all[rapid.IntRange(0, len(all)-1).Draw(t, "base")]
		rate := math.Exp(-rapid.Float64Range(0.001, 25).Draw(t, "-log rate"))
		eps := b.size * rapid.Float64Range(-2, 6).Draw(t, "eps")
		p, r := must(PoissonProfile(b.p, rate)), profiles.Reverse(b.p)
		full, e0 := delta(t, b.p, eps)
		back, e1 := delta(t, r, eps)
		remove, e2 := delta(t, p, eps)
		add, e3 := delta(t, profiles.Reverse(p), eps)
		if remove > full+e0+e2+1e-15 || add > back+e1+e3+1e-15 {
			t.Fatalf("%s, rate %v, ε = %v: sampled δ %v, %v, not sampled %v, %v", b.name, rate, eps, remove, add, full, back)
		}
		more := must(PoissonProfile(b.p, min(1, rate*1.5)))
		if d, e := delta(t, more, eps); d < remove-e-e2-1e-15 {
			t.Fatalf("%s, ε = %v: rate %v costs %v, %v costs %v", b.name, eps, rate, remove, rate*1.5, d)
		}
		env, e4 := delta(t, must(Envelope(b.p, rate)), eps)
		if eps >= 0 && math.Abs(env-remove) > e2+e4+1e-15 {
			t.Fatalf("%s, rate %v, ε = %v: envelope %v, remove direction %v", b.name, rate, eps, env, remove)
		}
	})
}

// Under substitute the attack never exceeds the bound, for every mechanism.
func TestSubstituteOrder(t *testing.T) {
	mechanisms := []profiles.Mechanism{
		must(profiles.NewGaussianMechanism(1.5)), must(profiles.NewLaplaceMechanism(1.5)),
		must(profiles.NewDiscreteGaussianMechanism(1.5, 1)), must(profiles.NewDiscreteLaplaceMechanism(1.5, 2)),
		must(profiles.NewPure(1)), must(profiles.NewApproximate(1, 1e-6)), must(profiles.NewRandomizedResponse(0.3, 5)),
		must(profiles.NewFiniteMechanism([]float64{0.5, 0.5, 0}, []float64{0.25, 0.25, 0.5})),
	}
	for _, b := range mechanisms {
		for _, rate := range []float64{0, 1e-6, 0.1, 0.7, 1} {
			m := must(must(NewPoisson(rate)).Apply(b, profiles.Substitute))
			if m.Relation != profiles.Substitute || m.Name != b.Name() {
				t.Errorf("%s: mechanism %v", b.Name(), m)
			}
			for i, d := range m.Directions {
				for eps := -3.0; eps <= 3; eps += 0.17 {
					up, e0 := delta(t, d.Upper, eps)
					lo, e1 := delta(t, d.Lower, eps)
					if lo > up+e0+e1+1e-15 {
						t.Errorf("%s, rate %v, direction %d, ε = %v: attack %v above bound %v", b.Name(), rate, i, eps, lo, up)
					}
				}
			}
			var exact bool // of the others, the envelope is above, and no pair attains it
			switch b.Name() {
			case "gaussian", "laplace", "discrete-gaussian", "discrete-laplace":
				exact = true
			default:
				exact = rate == 1
			}
			if rate > 0 && m.TheoryGap() == exact {
				t.Errorf("%s, rate %v: theory gap %v", b.Name(), rate, m.TheoryGap())
			}
		}
	}
}

func ExamplePoissonProfile() {
	g, _ := profiles.NewGaussian(1)
	p, _ := PoissonProfile(g, 0.01)
	remove, _ := profiles.LogDelta(p, 0.5)
	add, _ := profiles.LogDelta(profiles.Reverse(p), 0.5)
	fmt.Printf("remove %.3g, add %.3g\n", math.Exp(remove), math.Exp(add))
	// Output: remove 2.21e-07, add 0
}

func ExampleNewPoisson() {
	_, err := NewPoisson(1.2)
	fmt.Println(err)
	// Output: rate: 1.2 is not in [0, 1]
}

func ExamplePoisson_Apply() {
	b, _ := profiles.NewPure(1)
	s, _ := NewPoisson(0.1)
	m, _ := s.Apply(b, profiles.Substitute)
	upper, _ := profiles.LogDelta(m.Directions[0].Upper, 0.05)
	lower, _ := profiles.LogDelta(m.Directions[0].Lower, 0.05)
	fmt.Printf("between %.4f and %.4f\n", math.Exp(lower), math.Exp(upper))
	// Output: between 0.0324 and 0.0324
}

func ExampleEnvelope() {
	g, _ := profiles.NewGaussian(0.5)
	e, _ := Envelope(g, 0.5)
	fmt.Println(e.Support().Atoms)
	// Output: [0]
}

// A mechanism whose pair no data set attains keeps bound and attack apart under
// every scheme and relation, and in that order.
func TestAttackedMechanisms(t *testing.T) {
	b := must(profiles.NewDiscreteGaussianMechanism(0.8, 2))
	for _, s := range []Scheme{must(NewPoisson(0.3)), must(NewPoisson(1)), must(NewWithoutReplacement(100, 20)), must(NewWithoutReplacement(7, 7)), must(NewWithReplacement(100, 1))} {
		for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
			m := must(s.Apply(b, r))
			if !m.TheoryGap() {
				t.Errorf("%s, %v: no gap", s.Name(), r)
			}
			for i, d := range m.Directions {
				apart := false
				for eps := -3.0; eps <= 3; eps += 0.17 {
					up, e0 := delta(t, d.Upper, eps)
					lo, e1 := delta(t, d.Lower, eps)
					if lo > up*(1+1e-10)+e0+e1+1e-15 {
						t.Errorf("%s, %v, direction %d, ε = %v: attack %v above bound %v", s.Name(), r, i, eps, lo, up)
					}
					apart = apart || lo < up*(1-1e-6)
				}
				if !apart {
					t.Errorf("%s, %v, direction %d: attack and bound are the same", s.Name(), r, i)
				}
			}
		}
	}
}
