// Package subsample turns a mechanism into the same mechanism run on a random subsample of the
// records, and draws those samples.
//
// A [Scheme] says how a batch is drawn. In [Poisson] every record takes part by itself; in
// [FixedSize] the size of a batch is fixed and public. Its Apply gives what the mechanism on the
// sample loses, above and below, for both directions of a relation. A [Sampler] draws the batches
// of a run, so that the program trains on what was accounted for.
//
// Do not use the bound of one scheme for another. Poisson's does not hold for batches that are cut
// from a shuffled list, where the loss can be many times as large. None of these holds for a sample
// that is drawn once and used again, or that an adversary can guess or see. For users with several
// records there is [Of].
//
// Every bound names the theorem that it is, its relation and its conditions. The theorems are in
// docs/theory/pairs.md and docs/theory/subsampling.md. Proofs are there or end their files.
// Package adaptive below it has the recursion that narrows a gap, and package internal/copies the
// profiles of a record that a batch holds several times.
package subsample
