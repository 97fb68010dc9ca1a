package plan_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/plan"
)

func choicePlan(step string) string { return "\nneighbors: add-remove\nsteps:\n" + step }

func epsilonOf(t *testing.T, text string, delta float64, opts ...accountant.Options) accountant.Interval {
	t.Helper()
	p := parse(t, text)
	a := accountant.New(p.Neighbors, opts...)
	if err := a.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Epsilon(t.Context(), delta)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

func deltaOf(t *testing.T, text string, eps float64) accountant.Interval {
	t.Helper()
	p := parse(t, text)
	a := accountant.New(p.Neighbors)
	if err := a.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Delta(t.Context(), eps)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// Exponential mechanisms are composed exactly, as one step of 100, as two of 50 and as a
// noisy-max with Gumbel noise among them; the value is that of specification 3.3. dp_accounting prices them as pure
// ε-DP: 4.774567588.
func TestExponentialSteps(t *testing.T) {
	slow.Test(t)
	one := choicePlan("  - {mechanism: {exponential: {epsilon: 0.1}}, count: 100}\n")
	iv := epsilonOf(t, one, 1e-6, accountant.Options{Accuracy: 1e-4})
	if !(iv.Lower <= 2.2511227 && iv.Upper >= 2.2507685 && iv.Upper-iv.Lower < 1e-4 && iv.Gap == nil) {
		t.Errorf("100 runs: %+v", iv)
	}
	two := epsilonOf(t, choicePlan("  - {mechanism: {exponential: {epsilon: 0.1}}, count: 50}\n  - {mechanism: {noisy-max: {noise: gumbel, epsilon: 0.1}}, count: 50}\n"), 1e-6, accountant.Options{Accuracy: 1e-4})
	if two.Lower != iv.Lower || two.Upper != iv.Upper {
		t.Errorf("50 and 50 runs: [%v, %v], 100 runs [%v, %v]", two.Lower, two.Upper, iv.Lower, iv.Upper)
	}
	pure := epsilonOf(t, choicePlan("  - {mechanism: {pure: {epsilon: 0.1}}, count: 100}\n"), 1e-6)
	if !(iv.Upper < pure.Lower/2) || math.Abs(pure.Upper-4.774567588) > 1e-2 {
		t.Errorf("as pure mechanisms ε = %v", pure.Upper)
	}
	// With Gaussian steps in between: above each part alone, and the two ends are close.
	mixed := epsilonOf(t, one+"  - {mechanism: {gaussian: {noise-multiplier: 2}}, count: 3}\n", 1e-6)
	if !(mixed.Lower > iv.Upper && mixed.Upper < iv.Upper+5 && mixed.Upper < 1.01*mixed.Lower) {
		t.Errorf("with Gaussian steps [%v, %v]", mixed.Lower, mixed.Upper)
	}
}

// The order of mechanisms of different ε matters to an adversary (specification 3.3: 0.5,
// then 1.5 has δ(0) = 0.3677965 and δ(0.8) = 0.1263386, the other order 0.3583574): the product of the blocks is above
// both orders.
func TestExponentialsOfTwoKinds(t *testing.T) {
	text := choicePlan("  - mechanism: {exponential: {epsilon: 0.5}}\n  - mechanism: {exponential: {epsilon: 1.5}}\n")
	for _, c := range []struct{ eps, worst, product float64 }{{0, 0.3677965332, 0.370933099}, {0.8, 0.1263386, 0.131017801}} {
		iv := deltaOf(t, text, c.eps)
		if !(iv.Upper >= c.worst && iv.Lower <= c.worst && math.Abs(iv.Upper-c.product) < 1e-3*c.product) {
			t.Errorf("δ(%v) in [%v, %v], the worst order has %v", c.eps, iv.Lower, iv.Upper, c.worst)
		}
	}
}

// beyond-errata C8.4: with Poisson sampling every run has its own coin. A fixed pair has
// δ(0) = 0.720 after 300 runs of ε = 0.5 at rate 0.5; one coin for all would say 0.5.
func TestSampledExponentialsHaveTheirOwnCoins(t *testing.T) {
	iv := deltaOf(t, choicePlan("  - mechanism: {exponential: {epsilon: 0.5}}\n    sampling: {poisson: {rate: 0.5}}\n    count: 300\n"), 0)
	if !(iv.Upper >= 0.720) {
		t.Errorf("δ(0) in [%v, %v]", iv.Lower, iv.Upper)
	}
}

// opendp#2911: permute-and-flip is not ε²/8-zCDP. Its price is that of Laplace noise, to
// the byte, and the zCDP row of compare has ε²/2.
func TestPermuteAndFlipIsLaplace(t *testing.T) {
	for _, c := range []struct {
		epsilon, count float64
		want           float64 // specification 3.4
	}{{0.1, 100, 4.69266742}, {0.5, 20, 9.67092016}, {1, 10, 9.99897809}} {
		flip := epsilonOf(t, choicePlan(fmt.Sprintf("  - {mechanism: {permute-and-flip: {epsilon: %v}}, count: %v}\n", c.epsilon, c.count)), 1e-6)
		laplace := epsilonOf(t, choicePlan(fmt.Sprintf("  - {mechanism: {laplace: {noise-multiplier: %v}}, count: %v}\n", 1/c.epsilon, c.count)), 1e-6)
		if flip.Upper != laplace.Upper || flip.Gap == nil || flip.Gap.Proved.Lower != laplace.Lower {
			t.Errorf("%v × %v: permute-and-flip %v, Laplace %v", c.count, c.epsilon, flip.Upper, laplace.Upper)
		}
		if !(flip.Upper >= c.want*(1-1e-8) && flip.Upper < c.want*1.001 && flip.Lower > 0.8*flip.Upper && flip.Lower < c.want) {
			t.Errorf("%v × %v: [%v, %v], want about %v", c.count, c.epsilon, flip.Lower, flip.Upper, c.want)
		}
	}
	zcdp := func(mechanism string) string {
		rows, err := parse(t, choicePlan("  - {mechanism: {"+mechanism+": {epsilon: 1}}, count: 10}\n")).Compare(t.Context(), 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.Method == "zCDP" {
				return r.Note
			}
		}
		return ""
	}
	if got := [2]string{zcdp("permute-and-flip"), zcdp("exponential")}; got != [2]string{"ρ = 5", "ρ = 1.25"} {
		t.Errorf("ρ of 10 runs is %q", got)
	}
}

// beyond-errata C8.1: two partitions of a truncated geometric selection (1, 0.01): exactly
// 0.466028, by a recursion that lets counts adapt 0.468523. Two runs bound both.
func TestSelectPartitionsTwice(t *testing.T) {
	iv := deltaOf(t, choicePlan("  - {mechanism: {select-partitions: {epsilon: 1, delta: 0.01}}, count: 2}\n"), 0)
	if !(iv.Lower <= 0.466029 && iv.Upper >= 0.468523 && iv.Upper < 0.6) {
		t.Errorf("δ(0) in [%v, %v]", iv.Lower, iv.Upper)
	}
}

// One run of each is exact: no gap, and the sum rule of noise and threshold is above.
func TestOneChoiceIsExact(t *testing.T) {
	for _, step := range []string{
		"exponential: {epsilon: 0.3}", "permute-and-flip: {epsilon: 0.3}", "noisy-max: {noise: exponential, epsilon: 0.3}",
		"threshold: {noise: gaussian, standard-deviation: 4, threshold: 20, partitions: 3}",
		"threshold: {noise: laplace, scale: 2, threshold: 12}", "threshold: {noise: discrete-laplace, scale: 2, threshold: 12}",
		"select-partitions: {epsilon: 1, delta: 1e-5}",
	} {
		text := choicePlan("  - mechanism: {" + step + "}\n")
		iv := deltaOf(t, text, 0.2)
		if iv.Gap != nil || !(iv.Upper > 0 && iv.Upper-iv.Lower < 1e-8*iv.Upper) {
			t.Errorf("%s: δ(0.2) in [%v, %v], gap %v", step, iv.Lower, iv.Upper, iv.Gap)
		}
	}
	if sum := 0.00349533619274e-3; !(deltaOf(t, choicePlan("  - mechanism: {threshold: {noise: gaussian, standard-deviation: 4, threshold: 20, partitions: 3}}\n"), 2).Upper < sum) {
		t.Errorf("δ(2) is not below the sum rule, %v", sum)
	}
}

// Everything that an accountant answers works on blocks: curves, risk, calibration of the
// count; a cancelled question changes nothing.
func TestBlocksAnswerEverything(t *testing.T) {
	slow.Test(t)
	p := parse(t, choicePlan("  - {mechanism: {exponential: {epsilon: 0.1}}, count: 40}\n  - {mechanism: {permute-and-flip: {epsilon: 0.2}}, count: 2}\n"))
	a := accountant.New(p.Neighbors)
	if err := a.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Epsilon(gone, 1e-6); err == nil {
		t.Error("a cancelled question is answered")
	}
	points, err := a.EpsilonCurve(t.Context(), []float64{1e-9, 1e-6, 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	for i, pt := range points {
		if !(pt.Lower > 0 && pt.Lower <= pt.Upper && pt.Upper < 1.15*pt.Lower) || i > 0 && !(pt.Upper < points[i-1].Upper) {
			t.Errorf("ε(%v) in [%v, %v]", pt.At, pt.Lower, pt.Upper)
		}
	}
	risk, err := a.Risk(t.Context(), []float64{0.01}, []float64{0.5})
	if err != nil {
		t.Fatal(err)
	}
	if x := risk.TruePositive[0]; !(x.Lower > 0.01 && x.Upper < 0.2 && x.Lower <= x.Upper) {
		t.Errorf("risk %+v", x)
	}
	c, err := accountant.Calibrate(t.Context(), p, accountant.Goal{Solve: accountant.Count, Step: "steps[0]", Epsilon: 1.5, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	if !(c.Value > 10 && c.Value < 60 && c.Meets.Upper <= 1.5) {
		t.Errorf("calibrated to %+v", c)
	}
}

// A threshold beside others is a list of losses: its closed form, whose tails do not end, made
// lattices of gigabytes and intervals that were wider than asked.
func TestThresholdBesideOthers(t *testing.T) {
	slow.Test(t)
	p := parse(t, choicePlan("  - {mechanism: {exponential: {epsilon: 0.02}}, count: 100}\n  - mechanism: {permute-and-flip: {epsilon: 0.2}}\n"+
		"  - mechanism: {threshold: {noise: gaussian, standard-deviation: 12, threshold: 75, partitions: 3}}\n"))
	risk, err := riskOf(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range risk.TruePositive {
		if len(x.Warnings) > 0 || x.Upper > 1.01*x.Lower {
			t.Errorf("%+v", x)
		}
	}
}

func riskOf(ctx context.Context, p *accountant.Plan) (accountant.Risk, error) {
	a := p.Accountant()
	if err := a.AddPlan(ctx, p); err != nil {
		return accountant.Risk{}, err
	}
	return a.Risk(ctx, nil, nil)
}

// BenchmarkRiskOfChoices is the plan of examples/choice.yaml.
func BenchmarkRiskOfChoices(b *testing.B) {
	p := parse(&testing.T{}, choicePlan("  - {mechanism: {exponential: {epsilon: 0.02}}, count: 100}\n  - mechanism: {permute-and-flip: {epsilon: 0.2}}\n"+
		"  - mechanism: {threshold: {noise: gaussian, standard-deviation: 12, threshold: 75, partitions: 3}}\n"))
	for b.Loop() {
		if _, err := riskOf(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}
}

// What is proved of Laplace noise on samples of a fixed size is not of permute-and-flip,
// which has its profile; all of these mechanisms run on Poisson samples only.
func TestChoiceOnSamples(t *testing.T) {
	for _, name := range []string{"exponential", "permute-and-flip"} {
		_, err := plan.Parse(t.Context(), []byte(choicePlan("  - mechanism: {"+name+": {epsilon: 1}}\n    sampling: {with-replacement: {population: 100, batch: 5}}\n")))
		want := "line 5: steps[0].sampling: nothing is proved about " + name + " on samples of with-replacement; it runs on the whole data set or a poisson sample"
		if err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	for _, c := range []struct{ mechanism, want string }{
		{"threshold: {noise: gaussian, scale: 3, standard-deviation: 4, threshold: 20}", "line 4: steps[0].mechanism.threshold.scale: is set, not allowed with gaussian noise; set standard-deviation"},
		{"threshold: {noise: gaussian, standard-deviation: 4, threshold: 0.5}", "line 4: steps[0].mechanism.threshold.threshold: 0.5 is not in (1, 1e+15]"},
		{"threshold: {noise: laplace, standard-deviation: 4, threshold: 9}", "line 4: steps[0].mechanism.threshold: scale is missing; must be a number"},
		{"noisy-max: {noise: gaussian, epsilon: 1}", `line 4: steps[0].mechanism.noisy-max.noise: "gaussian" is not one of gumbel, exponential, laplace`},
		{"select-partitions: {epsilon: 1, delta: 2}", "line 4: steps[0].mechanism.select-partitions.delta: 2 is not in [1e-290, 1)"},
	} {
		_, err := plan.Parse(t.Context(), []byte(choicePlan("  - mechanism: {"+c.mechanism+"}\n")))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.mechanism, err, c.want)
		}
	}
}

// BenchmarkHundredExponentials is the target of issue 18: width 1e-4 in at most a second.
func BenchmarkHundredExponentials(b *testing.B) {
	p := parse(&testing.T{}, choicePlan("  - {mechanism: {exponential: {epsilon: 0.1}}, count: 100}\n"))
	for b.Loop() {
		a := accountant.New(p.Neighbors, accountant.Options{Accuracy: 1e-4})
		if err := a.AddPlan(b.Context(), p); err != nil {
			b.Fatal(err)
		}
		iv, err := a.Epsilon(b.Context(), 1e-6)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(iv.Upper-iv.Lower, "width")
	}
}

// TestPartitionsAreRuns: the choice of keys by persons in l partitions costs what l runs cost, also beside others, and has no
// place in a sample.
func TestPartitionsAreRuns(t *testing.T) {
	for _, beside := range []string{"", "  - mechanism: {gaussian: {noise-multiplier: 3}}\n", "  - mechanism: {exponential: {epsilon: 0.3}}\n"} {
		one := epsilonOf(t, choicePlan("  - mechanism: {select-partitions: {epsilon: 0.2, delta: 1e-8}}\n    count: 6\n"+beside), 1e-6, accountant.Options{Accuracy: 1e-9})
		three := epsilonOf(t, choicePlan("  - mechanism: {select-partitions: {epsilon: 0.2, delta: 1e-8, partitions: 3}}\n    count: 2\n"+beside), 1e-6, accountant.Options{Accuracy: 1e-9})
		// Both are as accurate as asked; their sums need not be the same.
		if math.Abs(three.Upper-one.Upper) > 1e-9*one.Upper || math.Abs(three.Lower-one.Lower) > 1e-9*one.Upper {
			t.Errorf("[%v, %v] for 3 partitions twice, [%v, %v] for 6 runs, beside %q", three.Lower, three.Upper, one.Lower, one.Upper, beside)
		}
	}
	once := epsilonOf(t, choicePlan("  - mechanism: {select-partitions: {epsilon: 0.2, delta: 1e-8, partitions: 3}}\n"), 1e-6)
	if !(once.Lower > 0.3 && once.Upper <= 0.6*(1+1e-9)) {
		t.Errorf("[%v, %v] for 3 partitions of 0.2", once.Lower, once.Upper)
	}
	_, err := plan.Parse(t.Context(), []byte(choicePlan("  - mechanism: {select-partitions: {epsilon: 0.2, delta: 1e-8, partitions: 3}}\n    sampling: {poisson: {rate: 0.1}}\n")))
	if err == nil {
		p := parse(t, choicePlan("  - mechanism: {select-partitions: {epsilon: 0.2, delta: 1e-8, partitions: 3}}\n    sampling: {poisson: {rate: 0.1}}\n"))
		err = accountant.New(p.Neighbors).AddPlan(t.Context(), p)
	}
	if err == nil || !strings.Contains(err.Error(), "partitions: 3 is not 1; nothing is proved of more on a sample") {
		t.Error(err)
	}
}
