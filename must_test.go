package accountant_test

import (
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func scheme[T subsample.Scheme](t *testing.T) func(s T, err error) subsample.Scheme {
	return func(s T, err error) subsample.Scheme {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// must.md §8, checks 21 and 22, and must-gap.md §7.6: 1000 steps at the paper's
// setting (n = 10000, m = 200, b = 118, σ = 4), ε at δ = 1e-5. The upper end is
// never below what a legal data pair or adaptive adversary attains; the paper has
// 1.2376 for MUST.OW. The lower end is at least what pair B attains.
func TestMustCounterexample(t *testing.T) {
	fixed := scheme[subsample.FixedSize](t)
	for _, c := range []struct {
		s               subsample.Scheme
		r               profiles.Relation
		attack          float64 // pair B, must.md §7.6
		atLeast, atMost float64 // the upper end
	}{
		{scheme[subsample.Scheme](t)(subsample.NewPoisson(0.02)), profiles.AddRemove, 0.579336143514, 0.579336143514, 0.579336143514},
		{scheme[subsample.Scheme](t)(subsample.NewPoisson(0.02)), profiles.Substitute, 1.19912900188, 1.19912900188, 1.19912900188},
		{fixed(subsample.NewWithoutReplacement(10000, 200)), profiles.Substitute, 1.32967512505, 1.332183, 1.53393601172},
		{fixed(subsample.NewWithReplacement(10000, 200)), profiles.Substitute, 1.33549622533, 1.338083, 1.543624},
		{fixed(subsample.NewMustOW(10000, 118, 200)), profiles.Substitute, 9.40840101779, 9.4360, 9.625189},
		// No adaptive attack was computed for MUST.WW.
		{fixed(subsample.NewMustWW(10000, 118, 200)), profiles.Substitute, 10.6369929277, 10.6369929277, 10.843702},
		// Under add-remove the pairs are exact but for MUST.WW (subsampling.md §8).
		{fixed(subsample.NewWithoutReplacement(10000, 200)), profiles.AddRemove, 1.32967512505, 1.32967512505, 1.32967512505},
		{fixed(subsample.NewWithReplacement(10000, 200)), profiles.AddRemove, 1.33549622533, 1.33549622533, 1.33549622533},
		{fixed(subsample.NewMustWW(10000, 118, 200)), profiles.AddRemove, 10.6369929277, 10.6369929277, 10.6430},
	} {
		b, err := profiles.NewGaussianMechanism(4)
		if err != nil {
			t.Fatal(err)
		}
		acct := accountant.New(c.r)
		if err := acct.Add(t.Context(), accountant.Step{Mechanism: b, Sampling: c.s}, 1000); err != nil {
			t.Fatal(err)
		}
		iv, err := acct.Epsilon(t.Context(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		// An interval is asked for with a width of 1e-3, both ends of a gap have one.
		if !(iv.Lower <= c.atLeast*(1+1e-6) && iv.Lower >= c.attack*(1-1.01e-3)) {
			t.Errorf("%s, %v: lower end %v, want just below %v, at most %v", c.s.Name(), c.r, iv.Lower, c.attack, c.atLeast)
		}
		// The numbers have 12 digits.
		if !(iv.Upper >= c.atLeast*(1-5e-12) && iv.Upper <= c.atMost*(1+1.01e-3)) {
			t.Errorf("%s, %v: upper end %v, want in [%v, %v]", c.s.Name(), c.r, iv.Upper, c.atLeast, c.atMost)
		}
	}
}

// must.md §8, check 29, and E22: noise σ·m = 2.6536 on the sum of gradients clipped
// at C = 3, as the paper's table 8 has it, is a noise multiplier of 0.8845. δ(2)
// after 1000 steps is not the 4.17e-6 and 3.79e-7 printed there.
func TestTable8IsNotPrivate(t *testing.T) {
	b, err := profiles.NewGaussianMechanism(2.65359453412 / 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s     subsample.Scheme
		r     profiles.Relation
		lower float64 // of δ(2), must.md E22 (pair B for WOR)
	}{
		{scheme[subsample.Scheme](t)(subsample.NewPoisson(300. / 30969)), profiles.AddRemove, 6.4097e-5},
		{scheme[subsample.FixedSize](t)(subsample.NewWithoutReplacement(30969, 300)), profiles.Substitute, 0.3734},
	} {
		acct := accountant.New(c.r)
		if err := acct.Add(t.Context(), accountant.Step{Mechanism: b, Sampling: c.s}, 1000); err != nil {
			t.Fatal(err)
		}
		iv, err := acct.Delta(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		if !(iv.Lower >= c.lower*(1-1.1e-3) && iv.Lower <= c.lower*(1+1e-4) && iv.Upper >= c.lower*(1-1e-4)) {
			t.Errorf("%s, %v: delta(2) is in [%v, %v], want a lower end of about %v", c.s.Name(), c.r, iv.Lower, iv.Upper, c.lower)
		}
	}
}

// Laplace noise: each of the two pairs is known to 1e-3 (the loss of the attack
// grows in ever smaller steps towards its end, which no lattice resolves), and the
// attack is at most the bound. Poisson under substitution is exact (Lemma S), and below the
// bound of WOR at the same rate.
func TestLaplaceSchemes(t *testing.T) {
	fixed := scheme[subsample.FixedSize](t)
	b, err := profiles.NewLaplaceMechanism(4)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int64{10, 1000} {
		var poisson, wor accountant.Interval
		for _, s := range []subsample.Scheme{
			scheme[subsample.Scheme](t)(subsample.NewPoisson(0.02)), fixed(subsample.NewWithoutReplacement(10000, 200)),
			fixed(subsample.NewWithReplacement(10000, 200)), fixed(subsample.NewMustOW(10000, 118, 200)), fixed(subsample.NewMustWW(10000, 118, 200)),
		} {
			acct := accountant.New(profiles.Substitute)
			if err := acct.Add(t.Context(), accountant.Step{Mechanism: b, Sampling: s}, k); err != nil {
				t.Fatal(err)
			}
			iv, err := acct.Epsilon(t.Context(), 1e-5)
			if err != nil {
				t.Fatal(err)
			}
			if s.Name() == "poisson" {
				if poisson = iv; iv.Gap != nil || !(iv.Upper-iv.Lower <= 1.01e-3*iv.Upper && iv.Lower > 0) {
					t.Errorf("poisson, %d runs: [%v, %v], gap %v", k, iv.Lower, iv.Upper, iv.Gap)
				}
				continue
			}
			if iv.Gap == nil {
				t.Fatalf("%s: no gap", s.Name())
			}
			for _, r := range []accountant.Range{iv.Gap.Proved, iv.Gap.Attack} {
				if !(r.Upper-r.Lower <= 1.01e-3*r.Upper && r.Lower > 0) {
					t.Errorf("%s, %d runs: [%v, %v] is wider than 1e-3", s.Name(), k, r.Lower, r.Upper)
				}
			}
			if !(iv.Gap.Attack.Lower <= iv.Gap.Proved.Upper) {
				t.Errorf("%s, %d runs: attack %v, bound %v", s.Name(), k, iv.Gap.Attack, iv.Gap.Proved)
			}
			if s.Name() == "without-replacement" {
				wor = iv
			}
		}
		if poisson.Upper > wor.Upper*(1+1e-9) {
			t.Errorf("%d runs: Poisson [%v, %v], WOR [%v, %v]", k, poisson.Lower, poisson.Upper, wor.Lower, wor.Upper)
		}
	}
}
