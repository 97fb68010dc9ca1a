// Package matrix prices matrix mechanisms, also called matrix factorisation, correlated
// noise or DP-FTRL: a stream of n sums of clipped contributions x_1, …, x_n is released as
// Cx + z, with z independent Gaussian noise and C lower triangular, and whoever trains
// with it multiplies by the inverse of C. It also draws that noise, in [Stream].
//
// Without secret sampling a run is one Gaussian, whose shift is the sensitivity of C under
// the participation schema. With cyclic Poisson sampling and a banded C it is a list of
// Poisson-sampled Gaussians. Theorems M1 to M6 stand with their proofs in sensitivity.go, strategy.go,
// balls.go, coins.go and separated.go. Values of
// later steps may depend on earlier releases; the matrix, the noise and the schema may not.
//
// Under add-remove the batches of all other records must be the same with and without the
// record: by a function of each record alone, or with the place of a removed record left
// empty. A list that is cut into batches by position is covered under substitute, not
// under add-remove.
//
// Strategies of least error are searched by [Optimize].
//
// Do not use it for noise that is shared between runs, for normalisation by the size of a
// batch, or for persons with several records under secret sampling.
package matrix
