package main

// The paper's teachers: as it declares them, and by the profile of their training.

import (
	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// teachers compares what the optimum errs where a teacher is known by (ε, Δ) alone, which is how the paper reads its training, and
// where it is known by δ(ε) at every ε.
func (e *experiment) teachers() {
	const k, eps, delta, records, batch, steps = 11, 0.0892, 1e-4, 1024, 39, 132
	noise := try.Must(profiles.NewGaussianMechanism(12))
	sample := try.Must(subsample.NewPoisson(batch / float64(records)))
	one := accountant.New(profiles.AddRemove)
	try.Check(one.Add(e.ctx, accountant.Step{Mechanism: noise, Sampling: sample}, steps))
	e.page["teachers"], e.page["teacherEpsilon"], e.page["teacherDelta"] = k, eps, delta
	e.page["teacherSteps"], e.page["teacherBatch"], e.page["teacherRecords"] = steps, batch, records
	e.page["trainingEpsilon"] = try.Must(one.Epsilon(e.ctx, delta)).Upper
	last := try.Must(one.Epsilon(e.ctx, 1e-12)).Upper
	var epsilons, deltas []float64
	for i := range 40 {
		epsilons = append(epsilons, last*float64(i)/39)
	}
	for _, p := range try.Must(one.DeltaCurve(e.ctx, epsilons)) {
		deltas = append(deltas, p.Upper)
	}
	voters := try.Must(darrm.Voters{Count: k}.WithCurve(profiles.AddRemove, epsilons, deltas))
	for _, m := range []float64{1, 2, 3, 5} {
		p := darrm.Params{Mechanisms: k, Epsilon: eps, Delta: delta, Allowance: m}.WithDefaultDelta()
		declared := try.Must(darrm.ExpectedError(e.optimal(p, 0.75), 0.75))
		p.Voters = []darrm.Voters{voters}
		known := try.Must(darrm.ExpectedError(e.optimal(p, 0.75), 0.75))
		sub := try.Must(darrm.ExpectedError(try.Must(darrm.Subsampling(k, int(m))), 0.75))
		e.page.Add("known", "| %g | %.4f | %.4g | %.4f |\n", m, declared, known, sub)
	}
}
