package accountant

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
)

// TestSelectionNotBelowGuessing: with a selection in the plan, known from two sides with a gap
// between, no row of a risk report starts below what guessing gives, and no ε or δ below 0.
func TestSelectionNotBelowGuessing(t *testing.T) {
	slow.Test(t)
	strong, err := profiles.NewGaussianMechanism(2)
	if err != nil {
		t.Fatal(err)
	}
	weak, err := profiles.NewGaussianMechanism(500)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		law  selection.Config
		base profiles.Mechanism
	}{
		{selection.Config{Law: "geometric", Mean: 10}, strong},
		{selection.Config{Law: "logarithmic", Mean: 10}, weak},
	} {
		for _, extra := range []int{0, 1} {
			if extra == i && !slow.All() {
				continue
			}
			a := New(profiles.AddRemove)
			if err := a.Add(t.Context(), Step{Mechanism: c.base, Selection: &c.law}, 1); err != nil {
				t.Fatal(err)
			}
			if extra > 0 {
				if err := a.Add(t.Context(), Step{Mechanism: weak}, 1); err != nil {
					t.Fatal(err)
				}
			}
			rates, priors := []float64{1e-6, 0.01, 0.5, 0.99}, []float64{0.5, 0.01, 0.999, 1e-9}
			r, err := a.Risk(t.Context(), rates, priors)
			if err != nil {
				t.Fatal(err)
			}
			if x := r.Advantage; !(x.Lower >= 0 && x.Lower <= x.Upper && x.Upper <= 1) {
				t.Errorf("%v: advantage %+v", c.law, x)
			}
			for i, rate := range rates {
				if x := r.TruePositive[i]; !(x.Lower >= rate && x.Lower <= x.Upper && x.Upper <= 1) {
					t.Errorf("%v: true-positive rate at %v: %+v", c.law, rate, x)
				}
			}
			for i, prior := range priors {
				if x := r.Bayes[i]; !(x.Lower >= max(prior, 1-prior)*(1-1e-15) && x.Lower <= x.Upper && x.Upper <= 1) {
					t.Errorf("%v: Bayes success at %v: %+v", c.law, prior, x)
				}
			}
			for _, delta := range []float64{1e-9, 1e-5, 0.1, 0.9} {
				x, err := a.Epsilon(t.Context(), delta)
				if err != nil {
					t.Fatal(err)
				}
				// The library's ε may be negative where δ(0) is below δ; what front ends print is not.
				if !(x.Lower <= x.Upper) || x.Lower < 0 && x.Upper > 1e-3 {
					t.Errorf("%v: ε at %v: %+v", c.law, delta, x)
				}
			}
			for _, eps := range []float64{0, 0.5, 3} {
				x, err := a.Delta(t.Context(), eps)
				if err != nil || !(x.Lower >= 0 && x.Lower <= x.Upper && x.Upper <= 1) {
					t.Errorf("%v: δ at %v: %+v, %v", c.law, eps, x, err)
				}
			}
		}
	}
}

// TestSelectionsOfASearchAreComputedOnce: what a search does not turn, such as the candidate where it turns a count,
// is kept; another candidate, law or accuracy is another one.
func TestSelectionsOfASearchAreComputedOnce(t *testing.T) {
	slow.Test(t)
	base := func(sigma float64) profiles.Mechanism {
		b, err := profiles.NewGaussianMechanism(sigma)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	kept := &bests{}
	for i, c := range []struct {
		sigma, mean float64
		count       int64
		accuracy    float64
		kept        int
	}{{2, 10, 1, 1e-3, 1}, {2, 10, 7, 1e-3, 1}, {3, 10, 7, 1e-3, 2}, {3, 10, 1, 1e-2, 3}, {2, 10, 3, 1e-3, 3}} {
		step := Step{Name: "tuning", Mechanism: base(c.sigma), Selection: &selection.Config{Law: "geometric", Mean: c.mean}, Count: c.count}
		a := New(profiles.AddRemove, Options{Accuracy: c.accuracy})
		a.bests = kept
		if err := a.Add(t.Context(), step, 1); err != nil {
			t.Fatal(err)
		}
		if len(kept.kept) != c.kept {
			t.Errorf("case %d: %d are kept, want %d", i, len(kept.kept), c.kept)
		}
	}
}

// TestOneSearchIsItsPrice: a plan of a single search answers what the price of the search alone does, at each δ and ε.
func TestOneSearchIsItsPrice(t *testing.T) {
	slow.Test(t)
	law, err := selection.Config{Law: "poisson", Mean: 10}.Build()
	if err != nil {
		t.Fatal(err)
	}
	g, err := profiles.NewGaussianMechanism(5)
	if err != nil {
		t.Fatal(err)
	}
	m, err := profiles.Unsampled(t.Context(), g, profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	a := New(profiles.AddRemove)
	if err := a.Add(t.Context(), Step{Mechanism: g, Selection: &selection.Config{Law: "poisson", Mean: 10}}, 1); err != nil {
		t.Fatal(err)
	}
	price, one := selection.PriceOfBest(law), selection.CandidateOf(m)
	for _, delta := range []float64{.01, 1e-5} {
		lower, upper, err := price.Epsilon(t.Context(), one, delta, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		iv, err := a.Epsilon(t.Context(), delta)
		if err != nil || !(iv.Lower >= lower*(1-1e-3) && iv.Upper <= upper*(1+1e-3) && iv.Upper >= lower && iv.Lower <= upper) {
			t.Errorf("δ = %v: [%v, %v] and %v, the price is [%v, %v]", delta, iv.Lower, iv.Upper, err, lower, upper)
		}
		if g := iv.Gap; g == nil || !(g.Attack.Lower == iv.Lower && g.Proved.Upper == iv.Upper && g.Proved.Lower <= g.Proved.Upper) {
			t.Errorf("δ = %v: the gap %+v of [%v, %v]", delta, g, iv.Lower, iv.Upper)
		}
	}
	lower, upper, err := price.Delta(t.Context(), one, .3, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	iv, err := a.Delta(t.Context(), .3)
	if err != nil || !(iv.Lower >= lower*(1-1e-3) && iv.Upper <= upper*(1+1e-3)) {
		t.Errorf("δ at .3: [%v, %v] and %v, the price is [%v, %v]", iv.Lower, iv.Upper, err, lower, upper)
	}
}
