package main

// The paper's teachers: as it declares them, and by the profile of their training.

import (
	"context"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// teachers compares what the optimum errs where a teacher is known by (ε, Δ) alone, which is how the paper reads its training, and
// where it is known by δ(ε) at every ε.
func (e *experiment) teachers(ctx context.Context) {
	const k, eps, delta, records, batch, steps = 11, 0.0892, 1e-4, 1024, 39, 132
	noise := try.Must(profiles.NewGaussianMechanism(12))
	sample := try.Must(subsample.NewPoisson(batch / float64(records)))
	one := accountant.New(profiles.AddRemove)
	try.Check(one.Add(ctx, accountant.Step{Mechanism: noise, Sampling: sample}, steps))
	e.printf(`## The paper's teachers, declared and by their profile

%d teachers on equal parts of 11,272 images, each trained for 5 epochs by DP-SGD with noise multiplier 12, are (%g, %g)-DP in the paper. Declared
so, with δ = 1 − (1−Δ)^m, the optimum has the expected errors of the first column, for p uniform on [½, 1]. The paper
does not state its batches; %d steps of %d of %d images cost ε = %.5f at δ = %g. With that profile the same budget allows a noise function with the errors of the second column.

| m | declared | by their profile | subsampling |
|---|---|---|---|
`, k, eps, delta, steps, batch, records, try.Must(one.Epsilon(ctx, delta)).Upper, delta)
	last := try.Must(one.Epsilon(ctx, 1e-12)).Upper
	var epsilons, deltas []float64
	for i := range 40 {
		epsilons = append(epsilons, last*float64(i)/39)
	}
	for _, p := range try.Must(one.DeltaCurve(ctx, epsilons)) {
		deltas = append(deltas, p.Upper)
	}
	voters := try.Must(darrm.Voters{Count: k}.WithCurve(profiles.AddRemove, epsilons, deltas))
	for _, m := range []float64{1, 2, 3, 5} {
		p := darrm.Params{Mechanisms: k, Epsilon: eps, Delta: delta, Allowance: m}.WithDefaultDelta()
		declared := try.Must(darrm.ExpectedError(e.optimal(p, 0.75), 0.75))
		p.Voters = []darrm.Voters{voters}
		known := try.Must(darrm.ExpectedError(e.optimal(p, 0.75), 0.75))
		sub := try.Must(darrm.ExpectedError(try.Must(darrm.Subsampling(k, int(m))), 0.75))
		e.printf("| %g | %.4f | %.4g | %.4f |\n", m, declared, known, sub)
	}
	e.printf("\n")
}
