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
	a := holding(t, AddRemove, b, err, 1, 9)
	mu := 3.0 / 5
	priors := []float64{0.5, 0.2, 0.8, 0.01, 1e-12}
	r, err := a.Risk([]float64{0.01}, priors)
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
	r, err2 := holding(t, AddRemove, everything, err, 1, 1).Risk(nil, nil)
	if err2 != nil {
		t.Fatal(err2)
	}
	checkRange(t, "advantage", r.Advantage.Range, 1, 0, 1e-9)
	for _, v := range append(r.TruePositive, r.Bayes...) {
		checkRange(t, "everything", v.Range, 1, 0, 1e-9)
	}
	if r, err = New(AddRemove).Risk(nil, nil); err != nil {
		t.Fatal(err)
	}
	if r.Advantage.Upper != 0 || len(r.TruePositive) != len(DefaultFalsePositives) || len(r.Bayes) != len(DefaultPriors) {
		t.Errorf("nothing released: %+v", r)
	}
	checkRange(t, "nothing", r.Bayes[1].Range, 0.9, 0, 1e-12)
}
