package accountant

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
)

// All points of a curve together take no more than the work of one question, but for
// the passes under way, and each is an interval that holds the answer.
func TestCurvesShareWork(t *testing.T) {
	slow.Test(t)
	const work, points = 3e6, 40
	b, err := profiles.NewDiscreteGaussianMechanism(8.47608, 1)
	plan := holding(t, AddRemove, b, err, 0.0047, 9935130)
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
		a := New(AddRemove, WithWorkLimit(work))
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
