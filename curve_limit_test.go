package accountant

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// All points of a curve together take no more than the work of one question, but for
// the passes under way, and each is an interval that holds the answer.
func TestCurvesShareWork(t *testing.T) {
	slow.Test(t)
	const work, points = 3e6, 40
	b, err := profiles.NewDiscreteGaussianMechanism(8.47608, 1)
	plan := holding(t, profiles.AddRemove, b, err, 0.0047, 9935130)
	at := func(i int) float64 { return 1 + float64(i) }
	for name, ask := range map[string]func(a *Accountant) (warned int, err error){
		"DeltaCurve": func(a *Accountant) (warned int, err error) {
			epsilons := make([]float64, points)
			for i := range epsilons {
				epsilons[i] = at(i)
			}
			found, err := a.DeltaCurve(t.Context(), epsilons)
			for _, p := range found {
				if !(p.Lower <= p.Upper && p.Upper <= 1) {
					t.Errorf("[%v, %v]", p.Lower, p.Upper)
				}
				if len(p.Warnings) > 0 {
					warned++
				}
			}
			return warned, err
		},
		"TradeOff": func(a *Accountant) (warned int, err error) {
			alphas := make([]float64, points)
			for i := range alphas {
				alphas[i] = at(i) / (points + 2)
			}
			found, err := a.TradeOff(t.Context(), alphas)
			for _, p := range found {
				if !(p.Power.Lower <= p.Power.Upper && p.Power.Upper <= 1) {
					t.Errorf("[%v, %v]", p.Power.Lower, p.Power.Upper)
				}
			}
			return points, err
		},
	} {
		a := New(profiles.AddRemove, Options{WorkLimit: work})
		for _, r := range plan.added {
			if err := a.AddBounds(*r.m, r.count); err != nil {
				t.Fatal(err)
			}
		}
		warned, err := ask(a)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: work %.3g, %d of %d points wider than asked", name, a.spent(), warned, points)
		if spent := a.spent(); !(spent > 0 && spent <= 2*work) {
			t.Errorf("%s took %.3g, with a limit of %.3g", name, spent, work)
		}
		if a.opts.work() != work {
			t.Errorf("%s has changed the limit to %v", name, a.opts.work())
		}
	}
}

// Sums that are asked at the same time do not race for what a context has left: the answer is the same each time.
func TestWorkOfAContextIsShared(t *testing.T) {
	m, err := profiles.NewGaussianMechanism(20)
	if err != nil {
		t.Fatal(err)
	}
	s, err := subsample.NewWithoutReplacement(234, 7)
	if err != nil {
		t.Fatal(err)
	}
	p := &Plan{Neighbors: profiles.ZeroOut, Steps: []Step{{Mechanism: m, Sampling: s, Count: 67}}}
	for _, work := range []float64{3e4, 4e4, 52e3, 6e4, 8e4, 1e5} {
		var first Interval
		for i := range 12 {
			ctx := parallel.WithWork(t.Context(), work)
			a := p.Accountant(Options{Accuracy: 1e-2, WorkLimit: 1e6})
			if err := a.AddPlan(ctx, p); err != nil {
				t.Fatal(err)
			}
			iv, err := a.Epsilon(ctx, 1e-5)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = iv
			}
			if iv.Range != first.Range {
				t.Fatalf("work %v: %v after %v", work, iv.Range, first.Range)
			}
		}
	}
}
