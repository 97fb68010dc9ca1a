// Package darrm releases the majority of K private yes/no mechanisms as one private bit. It chooses
// a noise function for the budget and certifies it.
//
// The mechanisms are all (ε, Δ)-differentially private on the same data set, with independent
// randomness, and each casts a vote. With l ones, DaRRM (data-dependent randomized response
// majority) answers with the true majority with probability γ(l), and otherwise with a fair coin.
// The noise function γ decides privacy and utility. This package has the closed forms: constant,
// subsampling, and subsampling of 2m−1 votes at the price of m. It finds the best γ for a budget
// (mε, δ) by linear programming. A computation that does not know the solver proves the result
// private, and the exact privacy profile goes to the accountant. The mechanisms may be unlike, be
// known by a profile, or vote for one of many labels ([Params]).
//
// Use it when the K mechanisms see the same records. Do not use it when they were trained on
// disjoint shards: there the noise-free majority already has the guarantee of a single mechanism.
// Do not use it when the mechanisms share randomness: every guarantee here needs independent votes.
//
// Source: Jiang, Zhang and Joshi, "Optimized Tradeoffs for Private Prediction with Majority
// Ensembling", TMLR 2024, and sharper results. Proofs stand at the end of the file of each result,
// and docs/guide/darrm.md shows the use. The neighbouring relation is that of the K mechanisms,
// whichever it is.
package darrm

// Where the paper is not followed.
//
//   - A lower bound for every mechanism at m = 1 (its Lemma 3.2) is a statement about some instance, not about
//     every vector p; the printed instance is not ε-DP (1 − p_j must fall by e^{−ε}, not p_j grow by e^ε).
//   - Making γ symmetric by reflecting one half may break privacy; by averaging the halves it does not.
//   - A larger γ means a smaller error for identical or one-sided votes only: with p = (.01, 0, .66, .9, .8)
//     double subsampling has a larger error than subsampling.
//   - The printed data-dependent bound of GNMax lacks a logarithm and misplaces two exponents; it is not
//     publishable anyway.
//   - Correlated mechanisms void every guarantee here.
