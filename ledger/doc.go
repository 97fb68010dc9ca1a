// Package ledger keeps a privacy budget that is spent over months, by several
// people or programs, in one append-only file.
//
//	l, err := ledger.Create("budget.ledger", ledger.Config{
//		Neighbors: accountant.AddRemove, Epsilon: 2, Delta: 1e-5, Mode: ledger.Planned})
//	…
//	if err := l.SpendPlan(ctx, plan, "note"); err != nil {
//		return err // not spent: the step must not run
//	}
//	// run the steps of the plan
//
// SpendPlan comes before the steps run. When it returns nil, they are on disk and
// the total is within the budget; when it returns an error, nothing was spent
// and they must not run.
//
// A ledger has one of three modes, for which different guarantees hold. Planned
// ledgers are accounted for by the Fourier accountant: tight, but what a step
// is, and whether it runs, must not depend on the outputs of earlier steps.
// Adaptive ones are kept by a Rényi filter: looser, and steps may be chosen in
// the light of all earlier outputs. AdaptiveGaussian ones take nothing but steps on
// the whole data set with a proved μ, and are exact for Gaussian noise.
//
// Do not use it as a defence against people who can write the file: the checksum
// chain shows damage and edits, but whoever can edit can also compute a new
// chain. Keep the head of the chain (Status.Head) elsewhere, and look for it
// with Verify, to notice that as well.
package ledger
