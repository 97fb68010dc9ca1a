package labeldp_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/labeldp"
	"github.com/dpaccountant/accountant/profiles"
)

// The pipeline's stages through the Fourier accountant, labeldp.md §8.3: two
// Laplace pairs of ε₁/2 for the histogram, and binary randomized response at ε₂
// for a randomizer that was designed from it. The values are those of §7.4 for
// ε₁ = 0.1, ε₂ = 0.9.
func TestPipelineComposed(t *testing.T) {
	labels := []float64{0, 1, 2, 3, 4}
	plan := labeldp.Plan{Labels: labels, Epsilon: 1, PriorEpsilon: 0.1}
	rs, _, _, stages, err := plan.Design(context.Background(), [][]int64{{500, 300, 100, 60, 40}}, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	r := rs[0]
	five, err := labeldp.DebiasedRR(labels, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	at := []float64{0, 0.5, 0.8, 0.9, 0.95}
	compose := func(count int64, randomizer accountant.Step) *accountant.Accountant {
		acct := accountant.New(profiles.Substitute, accountant.Options{Accuracy: 1e-6})
		if err := acct.Add(t.Context(), accountant.Step{Mechanism: stages[0].Mechanism}, stages[0].Count); err != nil {
			t.Fatal(err)
		}
		if err := acct.Add(t.Context(), randomizer, count); err != nil {
			t.Fatal(err)
		}
		return acct
	}
	charged := compose(stages[1].Count, accountant.Step{Mechanism: stages[1].Mechanism})
	for _, c := range []struct {
		name string
		acct *accountant.Accountant
		want []float64
	}{
		{"as charged", charged, []float64{0.4218990053, 0.2343857993, 0.06765579032, 0.01776651424, 0.008885954552}},
		{"debiased randomized response, fixed in advance", compose(1, accountant.Step{Mechanism: five}),
			[]float64{0.2375645383, 0.1255312171, 0.03623476220, 0.009515304095, 0.004759096726}},
	} {
		for i, e := range at {
			iv, err := c.acct.Delta(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			// Ten digits are given.
			if w := c.want[i]; !(iv.Lower <= w*(1+1e-9) && w*(1-1e-9) <= iv.Upper && iv.Upper-iv.Lower <= 3e-6*w) {
				t.Errorf("%s: δ(%v) = %v is not in the narrow [%v, %v]", c.name, e, w, iv.Lower, iv.Upper)
			}
		}
	}
	// The pure total, and nothing beyond it.
	iv, err := charged.Epsilon(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	// It is the sum of three largest losses, each rounded up by 8 u of 1 at most.
	if !(1 <= iv.Upper && max(iv.Lower, iv.Upper) <= 1+24*0x1p-53) {
		t.Errorf("ε(0) = [%v, %v], want ε₁ + ε₂ = 1", iv.Lower, iv.Upper)
	}
	// What came out, had it been fixed in advance, costs no more than is charged, and its upper end is above that by its rounding at the most.
	realized := compose(1, accountant.Step{Mechanism: r})
	for _, e := range at {
		d, err := realized.Delta(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := charged.Delta(t.Context(), e); err != nil || !(d.Upper-d.Budget.RoundOff <= c.Upper && d.Budget.RoundOff < 1e-11*d.Upper) {
			t.Errorf("δ(%v) = %v of the randomizer is above the %v charged (%v)", e, d.Upper, c.Upper, err)
		}
	}
}

// Three labels of one person, by one randomizer for a public prior: the
// accountant's three atoms against the enumeration of all triples of outputs of
// the worst pair of labels.
func TestRandomizerComposedByEnumeration(t *testing.T) {
	p, err := labeldp.NewPrior([]float64{0, 1, 2}, []float64{0.6, 0.25, 0.15}) // prior A of labeldp.md §7
	if err != nil {
		t.Fatal(err)
	}
	optimal, _, err := labeldp.OptimalUnbiased(context.Background(), p, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	response, err := labeldp.RandomizedResponse(p.Labels(), 0.7)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []labeldp.Randomizer{optimal, response} {
		acct := accountant.New(profiles.Substitute)
		if err := acct.Add(t.Context(), accountant.Step{Mechanism: r}, 3); err != nil {
			t.Fatal(err)
		}
		for _, e := range []float64{0, 0.2, 0.7, 1, 1.4, 1.9, 2.05} {
			truth := 0.0
			for y := range 3 {
				for z := range 3 {
					a, b := r.Row(y), r.Row(z)
					sum := 0.0
					for i := range a {
						for j := range a {
							for k := range a {
								sum += max(0, a[i]*a[j]*a[k]-math.Exp(e)*b[i]*b[j]*b[k])
							}
						}
					}
					truth = max(truth, sum)
				}
			}
			iv, err := acct.Delta(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			// The randomizer's rows are floats of sampling weights; the profile is
			// rounded up over the integers that are drawn, by 2^−50 or so.
			const tol = 1e-13
			if !(iv.Lower <= truth+tol && truth-tol <= iv.Upper && iv.Upper <= truth+tol) {
				t.Errorf("%s: δ(%v) = %v, the interval is [%v, %v]", r.Name(), e, truth, iv.Lower, iv.Upper)
			}
		}
	}
}
