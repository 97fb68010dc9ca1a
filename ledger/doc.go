// Package ledger keeps a privacy budget that is spent over months, by several
// people or programs, in one append-only file.
//
//	l, err := ledger.Create("budget.ledger", ledger.Config{
//		Neighbors: accountant.AddRemove, Epsilon: 2, Delta: 1e-5, Mode: ledger.Planned})
//	…
//	if err := l.Spend(ctx, step); err != nil {
//		return err // not spent: the step must not run
//	}
//	// run the step
//
// Spend comes before the step runs. When it returns nil, the step is on disk and
// the total is within the budget; when it returns an error, nothing was spent
// and the step must not run.
//
// A ledger has one of three modes, for which different guarantees hold. Planned
// ledgers are accounted for by the Fourier accountant: tight, but what a step
// is, and whether it runs, must not depend on the outputs of earlier steps.
// Adaptive ones are kept by a Rényi filter: looser, and steps may be chosen in
// the light of all earlier outputs. AdaptiveGaussian ones are exact and take nothing but
// Gaussian noise on the whole data set.
//
// Do not use it as a defence against people who can write the file: the checksum
// chain shows damage and edits, but whoever can edit can also compute a new
// chain. Keep the head of the chain (Status.Head) elsewhere, and look for it
// with Verify, to notice that as well.
//
// Files, each of which uses only those below it:
//
//	backup.go       Backup: copies that are ledgers
//	status.go       Status, Verify, Check: what a ledger has spent
//	log.go          the entries of a file
//	fits.go         whether a plan would fit
//	checkpoint.go   Checkpoint: quick to open
//	ledger.go       New, CreateStore, OpenStore, Spend
//	queue.go        spends that go to the disk together
//	append.go       spending from a file that others write as well
//	file.go         Create, Open: reading and writing the file
//	database.go     reading and writing a Store
//	admit.go        which of the spends that wait are admitted
//	lock.go         one writer at a time
//	owner_unix.go   what the system knows of a file's owner
//	owner_other.go  where it knows nothing
//	takeover.go     from lines that were read to what is counted
//	resume.go       going on from a checkpoint
//	again.go        entries whose plan has been read before
//	count.go        which judge, and what an entry adds
//	key.go          keys of spends, so that a repeated request spends once
//	gaussian.go     the judge of adaptive-gaussian ledgers
//	adaptive.go     the judge of adaptive ledgers
//	planned.go      the judge of planned ledgers
//	onbase.go       the same on top of a checkpoint
//	totals.go       what planned entries cost
//	step.go         the plan text of a step
//	state.go        Config, Ledger: what is known so far
//	store.go        Store: where lines are kept if not in a file
//	line.go         a line of the file and its checksum
//	judge.go        Mode, what a judge does, Spent
//	sums.go         checkpoints: what entries cost
package ledger
