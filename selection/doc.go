// Package selection runs a private mechanism a secret, random number of times
// and releases one outcome: the best of all runs, or the first one whose score
// reaches a threshold. It is how hyper-parameters are tuned privately, and it
// says exactly what that costs.
//
// A [Law] is the distribution of the number of runs K. [Best] and [FirstAbove]
// run; [PriceOfBest] and [PriceOfFirstAbove] return what a run costs, from a pure
// ε, from (ε, δ), from any Rényi curve and, from both ends, from a [Candidate]: what
// is known of one run, a mechanism or a whole plan. [Price.Epsilon] is an interval of
// which an attack reaches the lower end; [Price.Bounds] is the search as a mechanism
// that composes with everything else. A [Bound] is a function that bounds a profile.
//
// Every price needs all of the following, and none of them can be checked here:
//
//   - the runs are independent draws of one mechanism Q with fresh randomness;
//     the law over candidates inside Q does not depend on the data or on earlier
//     runs ([Mixture] builds such a Q);
//   - the score is part of the outcome of Q, and so paid for: a validation score
//     computed on private data must itself be privatised;
//   - only the outcome that a runner returns is released: not the number of
//     runs, the time they took, losing candidates, logs or cost;
//   - threshold and law are fixed in advance, without looking at the data.
//
// Do not use this package when the search is adaptive (the next candidate
// depends on earlier scores) unless the densities stay within known factors of
// a fixed one ([DPHyPO]); package adaptive searches so at a price of its own. And do not stop a search by a wall clock: a time-out is
// a cap that depends on the data and is not accounted for.
//
// Files, each of which uses only those below it:
//
//	runner.go      Best, FirstAbove, Mixture: the runs themselves
//	calibrate.go   the noise at which a search costs what it may
//	literature.go  the bounds of the literature, for comparison
//	curve.go       prices from Rényi curves
//	laws.go        the constructors of laws, and laws by name
//	compose.go     a search as a mechanism that composes
//	certify.go     both ends of what a search costs
//	merge.go       the best ranking for one ε, by dynamic programming
//	attack.go      rankings that reach the price: the interleaved one (Theorem S)
//	first.go       the price of the first above a threshold (Theorem F)
//	levels.go      the price of the best of K runs at small ε (Theorem U2)
//	mixture.go     the price of the best of K runs (Theorem U1)
//	reached.go     a pair that the candidate can be turned into
//	candidate.go   a candidate known from both sides
//	blocks.go      the weights of outcomes and of blocks of them
//	count.go       Poisson, binomial and fixed numbers of runs
//	price.go       prices from guarantees and profiles
//	capped.go      laws with a largest number of runs
//	polygon.go     a bound as a profile that composes
//	series.go      suprema over power series
//	tnb.go         the negative binomial family
//	law.go         what a law is
//	bound.go       what a candidate costs: bounds on profiles
package selection
