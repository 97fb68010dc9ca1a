package accountant

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// TestRiskGaussian compares with closed forms for μ = √k/σ: advantage 2Φ(μ/2) −
// 1, and the Bayes decision at the likelihood ratio (1−π)/π, which is right with
// probability π·Φ̄(z − μ) + (1−π)·Φ(z), z = μ/2 + log((1−π)/π)/μ.
func TestRiskGaussian(t *testing.T) {
	b, err := profiles.NewGaussianMechanism(5)
	a := holding(t, profiles.AddRemove, b, err, 1, 9)
	mu := 3.0 / 5
	priors := []float64{0.5, 0.2, 0.8, 0.01, 1e-12}
	r, err := a.Risk(t.Context(), []float64{0.01}, priors)
	if err != nil {
		t.Fatal(err)
	}
	checkRange(t, "advantage", r.Advantage.Range, math.Erf(mu/2/math.Sqrt2), 1e-13, 2e-3)
	z := math.Sqrt2 * math.Erfinv(1-2*0.01)
	checkRange(t, "true-positive rate", r.TruePositive[0].Range, tail(z-mu), 1e-12, 3e-3)
	for i, prior := range priors {
		z := mu/2 + (math.Log1p(-prior)-math.Log(prior))/mu
		truth := prior*tail(z-mu) + (1-prior)*tail(-z)
		checkRange(t, "Bayes success", r.Bayes[i].Range, truth, 1e-13, 1e-3)
		if r.Bayes[i].Upper < max(prior, 1-prior)*(1-1e-15) || r.Bayes[i].At != prior {
			t.Errorf("prior %v: %+v is below guessing", prior, r.Bayes[i])
		}
	}
}

// TestRiskExtremes: a release of everything, and of nothing.
func TestRiskExtremes(t *testing.T) {
	everything, err := profiles.NewFiniteMechanism([]float64{1, 0}, []float64{0, 1})
	r, err2 := holding(t, profiles.AddRemove, everything, err, 1, 1).Risk(t.Context(), nil, nil)
	if err2 != nil {
		t.Fatal(err2)
	}
	checkRange(t, "advantage", r.Advantage.Range, 1, 0, 1e-9)
	for _, v := range append(r.TruePositive, r.Bayes...) {
		checkRange(t, "everything", v.Range, 1, 0, 1e-9)
	}
	if r, err = New(profiles.AddRemove).Risk(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if r.Advantage.Upper != 0 || len(r.TruePositive) != 3 || len(r.Bayes) != 3 {
		t.Errorf("nothing released: %+v", r)
	}
	checkRange(t, "nothing", r.Bayes[1].Range, 0.9, 0, 1e-12)
	// Whoever names the likelier data set is right as often as it comes up.
	noise, err := profiles.NewGaussianMechanism(1e8)
	priors := []float64{0.5, 0.7, 0.999, 1 - 1e-12}
	if r, err = holding(t, profiles.AddRemove, noise, err, 1, 1).Risk(t.Context(), nil, priors); err != nil {
		t.Fatal(err)
	}
	for i, v := range r.Bayes {
		if v.Range.Lower < priors[i] || v.Range.Estimate < priors[i] {
			t.Errorf("prior %v: %+v is less than guessing", priors[i], v.Range)
		}
	}
}

// TestRiskRandomizedResponse: two answers, the true one with odds e^ε, are what
// any ε-differentially private release is at most worth (Kairouz, Oh and
// Viswanath 2015). The best test at a false-positive rate of α finds min(e^ε·α, 1 −
// e^−ε(1−α)), the advantage is tanh(ε/2), and the best guess is right with
// probability max(1/(1+e^−ε), π, 1−π).
func TestRiskRandomizedResponse(t *testing.T) {
	for _, eps := range []float64{1e-6, 0.1, 1, 3, 20} {
		coin, err := profiles.NewRandomizedResponse(2/(1+math.Exp(eps)), 2)
		pure, err2 := profiles.NewPure(eps)
		for _, a := range []*Accountant{
			holding(t, profiles.Substitute, coin, err, 1, 1), holding(t, profiles.AddRemove, pure, err2, 1, 1), holding(t, profiles.Substitute, pure, err2, 1, 1),
		} {
			r, err := a.Risk(t.Context(), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			// The probability r of replacing carries a rounding error of 2⁻⁵³, which
			// moves the odds (2−r)/r by 2⁻⁵³·(1 + e^ε), and ε/2 by as much: relative to
			// the advantage over ε.
			slack := 1e-15 * (1 + math.Exp(eps)) * (1 + 1/eps)
			checkRange(t, "advantage", r.Advantage.Range, math.Tanh(eps/2), slack, 1e-3)
			for i, alpha := range []float64{0.001, 0.01, 0.1} {
				checkRange(t, "true-positive rate", r.TruePositive[i].Range, min(math.Exp(eps)*alpha, 1-math.Exp(-eps)*(1-alpha)), slack, 3e-3)
			}
			for i, prior := range []float64{0.5, 0.1, 0.01} {
				checkRange(t, "Bayes success", r.Bayes[i].Range, max(1/(1+math.Exp(-eps)), 1-prior), slack, 1e-3)
			}
			if r.TheoryGap {
				t.Error("a theory gap")
			}
		}
	}
}

// TestTinyFalsePositives: the slopes of the lines between knots have a product that is no float64 at rates like
// 1e-200. Pure ε has min(e^ε·α, …), Gaussian noise Φ(Φ⁻¹(α) + μ), here from mpmath with 40 digits.
func TestTinyFalsePositives(t *testing.T) {
	for _, c := range []struct{ epsilon, sigma, alpha, power float64 }{
		{epsilon: 100, alpha: 1e-290, power: 2.6881171418161356e-247},
		{epsilon: 500, alpha: 1e-290, power: 1.4035922178528375e-73},
		{sigma: 0.05, alpha: 1e-290, power: 6.7958916753708191e-61},
		{sigma: 0.05, alpha: 1e-200, power: 9.3585987170119330e-25},
		{sigma: 1, alpha: 1e-290, power: 4.0949444480025814e-275},
		{sigma: 1, alpha: 1e-200, power: 8.2331116039861520e-188},
		{sigma: 5, alpha: 1e-290, power: 1.4360398912300796e-287},
	} {
		b, err := profiles.NewPure(c.epsilon)
		if c.sigma > 0 {
			b, err = profiles.NewGaussianMechanism(c.sigma)
		}
		r, err := holding(t, profiles.AddRemove, b, err, 1, 1).Risk(t.Context(), []float64{c.alpha}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p := r.TruePositive[0]; p.Lower > c.power*(1+1e-13) || p.Upper < c.power*(1-1e-13) || p.Upper > 1.01*p.Lower {
			t.Errorf("%+v: a true-positive rate in [%v, %v]", c, p.Lower, p.Upper)
		}
	}
}
