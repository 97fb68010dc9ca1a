// Package selection runs a private mechanism a secret, random number of times and releases one
// outcome. That is the best of all runs, or the first one whose score reaches a threshold.
// Hyper-parameters are tuned privately in this way, and the package computes what it costs.
//
// A [Law] is the distribution of the number of runs K. [Best] and [FirstAbove] run; [PriceOfBest]
// and [PriceOfFirstAbove] return what a run costs. A price takes a pure ε, (ε, δ), any Rényi curve
// or, from both ends, a [Candidate]: what is known of one run. [Price.Epsilon] is an interval of
// which an attack reaches the lower end. [Price.Bounds] is the search as a mechanism that composes
// with everything else. A [Bound] is a function that bounds a profile.
//
// Every price needs all of the following, and none of them can be checked here:
//
//   - The runs are independent draws of one mechanism Q with fresh randomness. The law
//     over candidates inside Q does not depend on the data or on earlier runs
//     ([Mixture] builds such a Q).
//   - The score is part of the outcome of Q, and so paid for. A validation score
//     computed on private data must itself be private.
//   - Only the outcome that a runner returns is released: not the number of runs, the
//     time they took, losing candidates, logs or cost.
//   - Threshold and law are fixed in advance, without looking at the data.
//
// Do not use it when the next candidate depends on earlier scores, unless the densities stay within
// known factors of a fixed one ([DPHyPO]). An [AdaptiveSearch] does so at a price of its own. Do
// not stop a search by a wall clock: a time-out is a cap that depends on the data and is not
// accounted for.
//
// # Sparse vector and thresholds
//
// [SparseVector], [SampledSparseVector], [ThresholdSearch], [TwoStage] and [DummyExponential] are
// the searches of Liu and Talwar (STOC 2019). They look for a threshold, or for the first good
// mechanism of a stream. [Best] costs less and needs no threshold: prefer it. These show what
// approaching 2ε takes: the numbers of calls are out of reach for all but toy parameters, and Run
// refuses beyond a limit. Every mechanism must be pure, with fresh randomness for each call. Noise
// is exact: no outcome depends on how a float64 rounds it.
//
// # The m best
//
// [Top] publishes the m best of a random number of runs, in their order, under the conditions
// above. Where there are fewer than m runs it publishes all, and so their number. [PriceOfTop] is
// its price.
//
// # Adaptive searches
//
// An [AdaptiveSearch] chooses the next candidate in view of all answers so far: the target charging
// of Cohen, Lyu, Nelson, Sarlós and Stemmer (NeurIPS 2023). Calls without an outcome cost nothing
// by themselves. Candidates must be pure. The number of calls and every threshold may be published.
// [AdaptiveCost] is its price.
package selection
