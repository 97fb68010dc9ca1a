package accountant_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/choice"
	"github.com/dpaccountant/accountant/plan"
)

// Found by the campaign (lab/campaign): laws of many choices left an interval wider than
// asked, and nothing said so.
func TestLawsThatAreTooWideAreAWarning(t *testing.T) {
	step := must(t)(choice.NewExponential(0.22760930543417887))
	iv := epsilon(t, account(t, step, 133, accountant.Options{Accuracy: 0.01, WorkLimit: 250000}), 0.5)
	if width := iv.Upper - iv.Lower; width > 0.02*-iv.Upper && iv.Gap == nil && len(iv.Warnings) == 0 {
		t.Errorf("[%v, %v] is wider than asked, without a warning", iv.Lower, iv.Upper)
	}
	if iv = epsilon(t, account(t, step, 133), 1e-6); len(iv.Warnings) > 0 {
		t.Errorf("[%v, %v] has warnings: %q", iv.Lower, iv.Upper, iv.Warnings)
	}
}

// Found by the campaign: a cap far above what is drawn had no answer for minutes, where ε is negative: more
// than the attack's times 1.5, and so taken for a cap that is too low. Smaller caps were asked about in vain.
func TestNegativeEpsilonOfACap(t *testing.T) {
	p, err := plan.Parse(t.Context(), []byte(`
neighbors: zero-out
steps:
  - mechanism: {gaussian: {noise-multiplier: 2.7897272237231032}}
    sampling: {truncated-poisson: {rate: 0.00184, cap: 9432, population: 10000}}
    count: 4
`))
	if err != nil {
		t.Fatal(err)
	}
	a := p.Accountant(accountant.Options{Accuracy: 0.1, WorkLimit: 250000})
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	if err := a.AddPlan(ctx, p); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Epsilon(ctx, 0.5197055725433344)
	if err != nil || len(iv.Warnings) > 0 || !(iv.Upper < 0 && iv.Upper-iv.Lower < 0.1) {
		t.Errorf("[%v, %v], %q, %v", iv.Lower, iv.Upper, iv.Warnings, err)
	}
}

// Found by the campaign: one step of random allocation had laws of its own, and an interval 1.93
// times as wide as asked without a warning. Where no sample is drawn the answer is that of the
// mechanism itself; where laws are wider than asked, by however little, there is a warning.
func TestWhereNothingIsDrawnNothingIsLost(t *testing.T) {
	const gaussian, laplace = "gaussian: {noise-multiplier: .22948845501450413}", "laplace: {noise-multiplier: 2}"
	for _, c := range []struct {
		unit, mechanism, sampling string
		runs                      int
	}{
		{"add-remove", gaussian, "random-allocation: {steps: 1}", 4},
		{"zero-out", gaussian, "random-allocation: {steps: 3, uses: 3}", 12},
		{"substitute", gaussian, "random-allocation: {steps: 1, epochs: 2}", 8},
		{"add-remove", laplace, "random-allocation: {steps: 2, uses: 2}", 8},
		{"substitute", laplace, "random-allocation: {steps: 1}", 4},
		{"add-remove\nrecords-per-person: 3", gaussian, "random-allocation: {steps: 1}", 4},
		{"add-remove", gaussian, "shuffle: {batches: 1}", 4},
		{"substitute", gaussian, "shuffle: {batches: 1}", 4},
	} {
		ask := func(text string) accountant.Interval {
			p, err := plan.Parse(t.Context(), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			a := p.Accountant(accountant.Options{Accuracy: 1e-6})
			if err := a.AddPlan(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			return epsilon(t, a, 4.92e-10)
		}
		head := "neighbors: " + c.unit + "\nsteps:\n  - mechanism: {" + c.mechanism + "}\n    count: "
		iv := ask(head + "4\n    sampling: {" + c.sampling + "}\n")
		want := ask(head + strconv.Itoa(c.runs) + "\n")
		if iv.Lower != want.Lower || iv.Upper != want.Upper || iv.Gap != nil || len(iv.Warnings) > 0 {
			t.Errorf("%+v: [%v, %v], want [%v, %v] of the mechanism itself; gap %v, %q", c, iv.Lower, iv.Upper, want.Lower, want.Upper, iv.Gap, iv.Warnings)
		}
	}
	// Laws are made for 1e-5 at the finest, which is 2.3e-6 here.
	p, err := plan.Parse(t.Context(), []byte("neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 1}}\n    sampling: {random-allocation: {steps: 2}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, accuracy := range []float64{1e-3, 3e-6, 1.5e-6} {
		a := p.Accountant(accountant.Options{Accuracy: accuracy})
		if err := a.AddPlan(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		iv := epsilon(t, a, 1e-6)
		if wide := iv.Upper-iv.Lower > accuracy*iv.Upper; wide != (len(iv.Warnings) > 0) || wide != (accuracy < 2e-6) {
			t.Errorf("asked for %v, [%v, %v] is %.3g wide, with warnings %q", accuracy, iv.Lower, iv.Upper, (iv.Upper-iv.Lower)/iv.Upper, iv.Warnings)
		}
	}
}
