// Package adaptive bounds many runs of a sampled Gaussian mechanism under substitution, by a
// recursion over the places of all other records: from above by a [Bound], from below by
// the [Attack] that an adversary can carry out.
//
// The profile of one step bounds the worst place of the others at every ε at once, and
// composing it pays for that in every step. The recursion (docs/theory/subsampling.md §10)
// asks what an adversary gains who places them anew before each step:
//
//	G_k(α) = sup over configurations of E_P[G_{k−1}(αe^{−L})],  G_0 = (1−α)₊.
//
// Get a Bound from subsample.FixedSize.NewAdaptiveBound, which knows for which schemes it is
// proved; accountant.WithRecursion uses it. Do not use it for a single run, for Poisson
// sampling, whose substitution profile is exact, or where milliseconds count: it takes a
// second to prepare and more for each question. Blocks of steps take less than the recursion where steps are many.
//
// The files, each of which uses only those before it:
//
//   - triangle.go: the integral of one step, for three records at given distances;
//   - step.go: what is known about one step of a scheme;
//   - node_law.go: pairs of laws on a lattice of losses;
//   - members.go: mixtures of laws, and the largest of them along a lattice;
//   - laws.go: the laws that are mixed;
//   - cells.go: the cells that hold every configuration, and bounds of them;
//   - cover.go: a family of mixtures that dominates every cell, and the proof;
//   - recursion.go: the recursion on a lattice, by transforms with counted errors;
//   - attack.go: the recursion from below;
//   - certificate.go: that one law is the worst for every function of a cone;
//   - direct.go, several.go: single steps, and several copies;
//   - ladder.go, blocks.go, blocks_attack.go: many steps of it at once (docs/theory/subsampling.md §13);
//   - bound.go: all of it together.
package adaptive
