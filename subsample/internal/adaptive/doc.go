// Package adaptive bounds many runs of a sampled Gaussian mechanism under substitution, by a
// recursion over the places of all other records. The bound from above is a [Bound], and from below
// [Bound.Attack], which an adversary can carry out.
//
// The profile of one step bounds the worst place of the others at every ε at once, and composing it
// pays for that in every step. The recursion asks what an adversary gains who places them anew
// before each step:
//
//	G_k(α) = sup over configurations of E_P[G_{k−1}(αe^{−L})],  G_0 = (1−α)₊.
//
// Blocks of steps take less than the recursion where steps are many. The theorems are in
// docs/theory/subsampling.md, §10 for the recursion and §13 for blocks, and proofs end the files.
//
// Get a Bound from subsample.FixedSize.NewAdaptiveBound, which knows for which schemes it is
// proved; accountant.Options.Recursion uses it. Do not use it for a single run, or for Poisson
// sampling, whose substitution profile is exact. Do not use it where milliseconds count: it takes a
// second to prepare and more for each question.
package adaptive
