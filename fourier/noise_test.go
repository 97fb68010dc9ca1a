package fourier

import (
	"testing"

	"github.com/dpaccountant/accountant/choice"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// removal returns the removal of a record from a Poisson sample of a mechanism's.
func removal(t *testing.T, b profiles.Mechanism, rate float64) profiles.Profile {
	t.Helper()
	s, err := subsample.NewPoisson(rate)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Apply(b, profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	return m.Directions[0].Upper
}

// TestMoreNoise: with too little work for the integral, one more release of little noise gives an upper end that is above the
// truth and next to it, where what the engines prove is far above.
func TestMoreNoise(t *testing.T) {
	gaussian, err := profiles.NewGaussianMechanism(1 / 0.3687878990857733)
	if err != nil {
		t.Fatal(err)
	}
	exponential, err := choice.NewExponential(0.06669952523008985)
	if err != nil {
		t.Fatal(err)
	}
	few, err := profiles.NewGaussianMechanism(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name        string
		runs        []profiles.Repeated
		work, delta float64
	}{
		{"a loss without a transform", []profiles.Repeated{{Profile: removal(t, gaussian, 0.54), Count: 278}, {Profile: removal(t, exponential, 0.0082), Count: 2}}, 5748, 7e-10},
		{"rare losses", []profiles.Repeated{{Profile: removal(t, few, 0.001), Count: 62}}, 79856, 1.9e-7},
	} {
		sum := func(work float64) *Sum {
			s := New(Options{Work: work})
			for _, r := range c.runs {
				if err := s.Add(r.Profile, r.Count); err != nil {
					t.Fatal(err)
				}
			}
			return s
		}
		truth, err := sum(0).Epsilon(t.Context(), c.delta)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := sum(c.work).epsilon(t.Context(), c.delta)
		if err != nil {
			t.Fatal(err)
		}
		s := sum(c.work)
		got, err := s.Epsilon(t.Context(), c.delta)
		if err != nil || len(got.Warnings) == 0 {
			t.Fatalf("%s: %+v, %v: want a warning", c.name, got, err)
		}
		if got.Upper < truth.Lower || got.Upper > truth.Upper*1.02 {
			t.Errorf("%s: ε ≤ %v, and is in [%v, %v]", c.name, got.Upper, truth.Lower, truth.Upper)
		}
		if alone.Upper < truth.Upper*1.1 {
			t.Errorf("%s: ε ≤ %v without more noise: the test says nothing", c.name, alone.Upper)
		}
		d, err := s.Delta(t.Context(), truth.Estimate)
		if err != nil || d.Upper < c.delta*(1-2e-3) || d.Upper > 1.1*c.delta {
			t.Errorf("%s: δ(%v) ≤ %v (%v), want about %v", c.name, truth.Estimate, d.Upper, err, c.delta)
		}
	}
}

// TestPureDominates: randomized response with the largest loss is above the profile that it stands for; what may
// be infinite has none.
func TestPureDominates(t *testing.T) {
	exponential, err := choice.NewExponential(0.7)
	if err != nil {
		t.Fatal(err)
	}
	gaussian, err := profiles.NewGaussianMechanism(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, rate := range []float64{0.01, 0.5, 1} {
		p := removal(t, exponential, rate)
		for _, p := range []profiles.Profile{p, profiles.Reverse(p)} {
			pure := pureOf(p)
			one, two := New(Options{}), New(Options{})
			if one.Add(p, 1) != nil || two.Add(pure, 1) != nil {
				t.Fatal("not added")
			}
			for eps := -1.0; eps < 1; eps += 1. / 64 {
				a, err := one.Delta(t.Context(), eps)
				if err != nil {
					t.Fatal(err)
				}
				b, err := two.Delta(t.Context(), eps)
				if err != nil || b.Upper < a.Lower*(1-1e-12) {
					t.Fatalf("rate %v: δ(%v) = %v, that of its randomized response %v (%v)", rate, eps, a, b, err)
				}
			}
		}
	}
	if p := pureOf(removal(t, gaussian, 0.1)); p != nil {
		t.Errorf("an unbounded loss has %v", p)
	}
	leaky, err := profiles.NewApproximate(0.1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := leaky.Pair(profiles.AddRemove); err != nil || pureOf(p) != nil {
		t.Errorf("an infinite loss has %v (%v)", pureOf(p), err)
	}
}
