package accountant_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A part is a step whose ε is known exactly where it runs alone, up to most times.
type part struct {
	step string
	most int
	// Why a mixture may be wider than 1e-6: laws are made to so much, whatever is asked.
	laws float64
	// What attains it depends on ε, and may adapt to what ran before: exact beside one other step, but where both are of this kind,
	// only one of them comes last.
	chooses string
}

var parts = []part{
	{step: "{mechanism: {gaussian: {noise-multiplier: 2.3}}", most: 4},
	{step: "{mechanism: {gaussian: {noise-multiplier: 1.1}}, sampling: {poisson: {rate: .02}}", most: 200},
	{step: "{mechanism: {gaussian: {noise-multiplier: 1.1}}, sampling: {without-replacement: {population: 1000, batch: 20}}", most: 200},
	{step: "{mechanism: {laplace: {noise-multiplier: 1.7}}", most: 4},
	{step: "{mechanism: {laplace: {noise-multiplier: 1.1}}, sampling: {poisson: {rate: .02}}", most: 90},
	{step: "{mechanism: {discrete-laplace: {noise-multiplier: 2.7}}", most: 4},
	{step: "{mechanism: {discrete-gaussian: {noise-multiplier: 2.7}}", most: 4},
	{step: "{mechanism: {randomized-response: {probability: .4, categories: 3}}", most: 4},
	{step: "{mechanism: {approximate: {epsilon: .4, delta: 1e-7}}", most: 4},
	{step: "{mechanism: {finite: {p: [.2, .8], q: [.3, .7]}}", most: 4},
	{step: "{mechanism: {gaussian-mixture: {noise-multiplier: 2, shifts: [0, 1, 2], probabilities: [.5, .3, .2]}}", most: 3},
	// The cells of the recursion of several runs end at 4,096.
	{step: "{mechanism: {exponential: {epsilon: .83}}", most: 5, laws: 1e-5, chooses: "exponential"},
	{step: "{mechanism: {exponential: {epsilon: .2}}", most: 20, laws: 5e-5, chooses: "exponential"},
	{step: "{mechanism: {noisy-max: {noise: gumbel, epsilon: 1.4}}", most: 3, laws: 1e-5, chooses: "noisy-max"},
	{step: "{mechanism: {permute-and-flip: {epsilon: .83}}", most: 1, chooses: "permute-and-flip"},
	// Chords and tangents are as far apart as they may be.
	{step: "{mechanism: {threshold: {noise: gaussian, standard-deviation: 4, threshold: 20, partitions: 3}}", most: 1, laws: 1e-5, chooses: "threshold"},
	{step: "{mechanism: {threshold: {noise: laplace, scale: 2, threshold: 25}}", most: 1, laws: 1e-5, chooses: "threshold"},
	{step: "{mechanism: {select-partitions: {epsilon: 1, delta: 1e-6}}", most: 1, chooses: "select-partitions"},
}

// mixed answers a plan of steps to so much of ε.
func mixed(t *testing.T, accuracy float64, steps ...string) accountant.Interval {
	p, err := plan.Parse(t.Context(), []byte("neighbors: add-remove\nsteps: ["+strings.Join(steps, ", ")+"]\n"))
	if err != nil {
		t.Fatal(steps, err)
	}
	a := p.Accountant(accountant.Options{Accuracy: accuracy})
	if err := a.AddPlan(t.Context(), p); err != nil {
		t.Fatal(steps, err)
	}
	iv, err := a.Epsilon(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(steps, err)
	}
	return iv
}

// TestMixturesOfTwoAreExact: what is exact alone is exact beside something else, by attacks of which one may come last. The first
// mixtures are those whose lower end was a fifth or more below the upper one, the others are drawn.
func TestMixturesOfTwoAreExact(t *testing.T) {
	slow.Test(t)
	of := func(p part, count int) string { return fmt.Sprintf("%s, count: %d}", p.step, count) }
	find := func(name string) part {
		return parts[slices.IndexFunc(parts, func(p part) bool { return strings.HasPrefix(p.step, "{mechanism: {"+name) })]
	}
	type pair struct {
		a, b   part
		na, nb int
	}
	pairs := []pair{
		{find("exponential"), find("discrete-laplace"), 5, 3},
		{find("threshold"), find("discrete-gaussian"), 1, 4},
		{find("permute-and-flip"), find("gaussian"), 1, 1},
	}
	n := 16
	if testing.Short() {
		n = 5
	}
	r := rand.New(rand.NewPCG(33, 4))
	for range n {
		a, b := parts[r.IntN(len(parts))], parts[r.IntN(len(parts))]
		pairs = append(pairs, pair{a, b, 1 + r.IntN(a.most), 1 + r.IntN(b.most)})
	}
	for _, x := range pairs {
		iv := mixed(t, 5e-7, of(x.a, x.na), of(x.b, x.nb))
		if x.a.step != x.b.step && x.a.chooses != "" && x.b.chooses != "" {
			if iv.Gap == nil || len(iv.Gap.Apart) != 1 || !slices.Contains([]string{x.a.chooses, x.b.chooses}, iv.Gap.Apart[0]) {
				t.Errorf("%s, %s: gap %+v, want one whose note names one of them", of(x.a, x.na), of(x.b, x.nb), iv.Gap)
			}
			continue
		}
		if x.a.step == x.b.step && strings.Contains("permute-and-flip, threshold, select-partitions", x.a.chooses) && x.a.chooses != "" {
			continue // two runs of these are bounded by their composition only
		}
		if width, most := iv.Upper-iv.Lower, max(1e-6, x.a.laws, x.b.laws)*iv.Upper; iv.Gap != nil || !(width <= most) {
			t.Errorf("%s, %s: [%v, %v] with the gap %+v, want no gap and at most %.2g wide", of(x.a, x.na), of(x.b, x.nb), iv.Lower, iv.Upper, iv.Gap, most)
		}
	}
}

// TestTheLastStepIsTheOneThatGainsMost: of several mechanisms that choose, in any order, the lower end is that of the one that gains most
// as the last one: that of exponential here, which has a largest loss of 5·.83 and on fixed data half of it.
func TestTheLastStepIsTheOneThatGainsMost(t *testing.T) {
	exponential, keys := "{mechanism: {exponential: {epsilon: .83}}, count: 5}", "{mechanism: {select-partitions: {epsilon: 1, delta: 1e-6}}}"
	a, b := mixed(t, 1e-3, exponential, keys), mixed(t, 1e-3, keys, exponential)
	// Fixed scores reach 3.07; the exponential mechanisms alone 3.577, and the keys .99999 more. Each end is known to a part in 1,000.
	if !(math.Abs(a.Lower-b.Lower) < 5e-3) || !(a.Lower > 4.5) || !(b.Lower > 4.5) || fmt.Sprint(a.Gap.Apart) != "[select-partitions]" {
		t.Errorf("[%v, %v] and [%v, %v] with %v apart, want about the same from 4.5 on, and select-partitions apart", a.Lower, a.Upper, b.Lower, b.Upper, a.Gap)
	}
}

// TestSampledNoiseSubstituted: the values of Lemma S (docs/theory/pairs.md §5), computed on their own with 40 digits: 7.2642 for Laplace noise
// and 3.6928 for discrete Laplace noise. No gap is left, and each end is within the rounding of these and the width that was asked for.
func TestSampledNoiseSubstituted(t *testing.T) {
	for _, c := range []struct {
		mechanism string
		want      float64
	}{
		{"laplace: {noise-multiplier: 1}", 7.2642},
		{"discrete-laplace: {noise-multiplier: 2, sensitivity: 2}", 3.6928},
	} {
		p, err := plan.Parse(t.Context(), []byte("neighbors: substitute\nsteps:\n- {mechanism: {"+c.mechanism+"}, sampling: {poisson: {rate: 0.1}}, count: 100}\n"))
		if err != nil {
			t.Fatal(err)
		}
		a := p.Accountant()
		if err := a.AddPlan(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		iv, err := a.Epsilon(t.Context(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		if iv.Gap != nil || !(iv.Lower <= c.want+5e-5 && iv.Upper >= c.want-5e-5 && iv.Upper-iv.Lower <= 2e-4*c.want) {
			t.Errorf("%s: [%v, %v] with the gap %+v, want %v", c.mechanism, iv.Lower, iv.Upper, iv.Gap, c.want)
		}
	}
}

// TestSubstituteOfLittleNoise: the two opposite records of a substitution are told apart by noise of .05 and less unless both are left out of the
// sample, so that δ(ε) of n runs is 1 − (1 − q)^n up to ε in the hundreds; there the loss is flat, and then steep.
func TestSubstituteOfLittleNoise(t *testing.T) {
	for _, c := range []struct {
		sigma, rate float64
		runs        int64
	}{{0.05, 0.01, 1}, {0.03, 0.01, 1}, {0.03, 0.5, 2}, {0.02, 0.5, 2}} {
		a := accountant.New(profiles.Substitute)
		step := accountant.Step{Mechanism: made(profiles.NewGaussianMechanism(c.sigma)), Sampling: made(subsample.NewPoisson(c.rate)), Count: c.runs}
		if err := a.Add(t.Context(), step, 1); err != nil {
			t.Fatal(err)
		}
		want := 1 - math.Pow(1-c.rate, float64(c.runs))
		for _, eps := range []float64{0, 1e-20, 50} {
			iv, err := a.Delta(t.Context(), eps)
			if err != nil || !(iv.Lower <= want*(1+1e-12) && want*(1-1e-12) <= iv.Upper && iv.Upper-iv.Lower <= 1e-6) {
				t.Errorf("noise %v, rate %v, %d runs: δ(%v) in [%v, %v], %v, want %v", c.sigma, c.rate, c.runs, eps, iv.Lower, iv.Upper, err, want)
			}
		}
	}
}
