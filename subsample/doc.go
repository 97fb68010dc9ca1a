// Package subsample turns a mechanism into the same mechanism run on a random subsample of
// the records, and draws those samples.
//
// A [Scheme] says how a batch is drawn: [Poisson], where every record takes part by itself,
// or [FixedSize], where the size of a batch is fixed and public. Its Apply gives what the
// mechanism on the sample loses, above and below, for both directions of a relation. A
// [Sampler] draws the batches of a run, so that the program trains on what was accounted
// for.
//
// Do not use the bound of one scheme for another. Poisson's does not hold for batches that
// are cut from a shuffled list, where the loss can be many times as large; nor does any of
// these for a sample that is drawn once and used again, or that an adversary can guess or
// see. A change of one record is accounted for, a change of many is not.
//
// Every bound names the theorem that it is, its relation and its conditions.
//
// The files, each of which uses only those before it and the packages below:
//
//   - scheme.go: Scheme, Sampler, and what of a scheme can be set;
//   - poisson.go, envelope.go, difference.go, transform.go: a profile under Poisson sampling
//     (add-remove) and the envelope of a substitution, with their transforms;
//   - poisson_scheme.go, poisson_sample.go: the scheme Poisson and its samples;
//   - fixedsize.go, fixedsize_sample.go: the schemes of fixed size and their samples;
//   - theorems.go: the table scheme × relation × noise → theorem;
//   - fixedsize_apply.go, inexact.go: the mechanism that a row makes, and the attack;
//   - narrow.go: what narrows the gap of many runs, from package adaptive;
//   - aligned.go: pictures of what sampling does to (ε, δ).
//
// Package subsample/adaptive has the recursion that narrows a gap, subsample/internal/copies
// the profiles of a record that a batch holds several times, one file for each theorem.
package subsample
