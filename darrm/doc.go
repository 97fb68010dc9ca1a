// Package darrm releases the majority of K private yes/no mechanisms as one
// private bit, with a noise function chosen for the budget and certified.
//
// Each of K mechanisms, all (ε, Δ)-differentially private on the same data set
// and with independent randomness, casts a vote. With probability γ(l), l the
// number of ones, the mechanism (DaRRM: data-dependent randomized response
// majority) answers with the true majority and otherwise with a fair coin. The
// noise function γ decides privacy and utility: this package has the closed
// forms (constant, subsampling, and subsampling of 2m−1 votes at the price of
// m), finds the best one for a budget (mε, δ) by linear programming, proves the
// result private by a computation that is independent of the solver, and hands
// the exact privacy profile to the accountant. The mechanisms may be unlike, or be
// known by a profile, and vote for one of many labels ([Params]).
//
// Use it when the K mechanisms see the same records. Do not use it when they
// were trained on disjoint shards: there the noise-free majority already has
// the guarantee of a single mechanism (see [DisjointShards]), and noise is
// wasted. Do not use it when the mechanisms share randomness: every guarantee
// here needs independent votes.
//
// Source: Jiang, Zhang and Joshi, "Optimized Tradeoffs for Private Prediction
// with Majority Ensembling", TMLR 2024, and sharper results of docs/darrm.md.
// The neighbouring relation is that of the K mechanisms, whichever it is.
//
// Files, each of which uses only those below it:
//
//	optimize.go         the best noise function for a budget
//	trueerror.go        the average error, an objective that is not linear
//	program.go          the linear program, which learns its rows
//	labelaccuracy.go    what a noise function is judged by with many labels
//	objective.go        what one is judged by for yes or no
//	result.go           options and answers of Optimize
//	profile.go          the privacy profile of a release, and the mechanism
//	repeated.go         many answers as one mechanism
//	hull.go             the trade-off curve above all families
//	release.go          one answer, drawn
//	composition.go      what the paper charges for many answers
//	gnmax.go            the Gaussian noisy maximum, for comparison
//	certificate.go      the proof that a noise function keeps a budget
//	labels.go           the worst families of votes for one of many labels
//	params.go           the problem, and its ranges
//	panel.go            the worst families of voters that are not alike
//	tangents.go         what a profile allows one voter, as a polygon
//	voters.go           mechanisms that are alike
//	corners.go          the worst families of mechanisms that all are
//	pmf.go              the law of the number of ones
//	gamma.go            noise functions, and those in closed form
//	chords.go           a pair of laws from chords of a profile
//	limits.go           how many votes and which ranges there may be
package darrm
