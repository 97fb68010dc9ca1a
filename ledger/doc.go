// Package ledger keeps a privacy budget that several people or programs spend over months, in one
// append-only file.
//
//	l, err := ledger.Create(ctx, ledger.File("budget.ledger"), ledger.Config{
//		Neighbors: profiles.AddRemove, Epsilon: 2, Delta: 1e-5, Mode: ledger.Planned})
//	…
//	if err := l.SpendPlan(ctx, plan, "note"); err != nil {
//		return err // not spent: the step must not run
//	}
//	// run the steps of the plan
//
// SpendPlan comes before the steps run. When it returns nil, they are on disk and the total is
// within the budget. When it returns an error, nothing was spent and they must not run.
//
// A ledger has one of four modes, with different guarantees. Planned ledgers use the Fourier
// accountant: tight, but what a step is, and whether it runs, must not depend on earlier outputs.
// In the others each step may be chosen in the light of all earlier outputs. Adaptive ones use a
// Rényi filter, which is looser. AdaptiveGaussian ones take only steps on the whole data set with a
// proved μ, and are exact for Gaussian noise. AdaptiveMenu ones take only steps of a declared menu,
// at its exact price.
//
// Do not use it as a defence against people who can write the file. The checksum chain shows damage
// and edits, but whoever can edit can also compute a new chain. Keep the head of the chain
// (Status.Head) elsewhere, and look for it with Verify.
package ledger
