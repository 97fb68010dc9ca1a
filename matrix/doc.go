// Package matrix prices matrix mechanisms, also called matrix factorisation, correlated noise or
// DP-FTRL. A stream of n sums of clipped contributions x_1, …, x_n is released as Cx + z, with z
// independent Gaussian noise and C lower triangular. Whoever trains with it multiplies by the
// inverse of C. The package also draws that noise, in [Stream], and searches strategies of least
// error, by [Optimize].
//
// Without secret sampling a run is one Gaussian, whose shift is the sensitivity of C under the
// participation schema. With cyclic Poisson sampling and a banded C it is a list of Poisson-sampled
// Gaussians. Theorems M1 to M6 end the files that use them, with their proofs. Values of later
// steps may depend on earlier releases. The matrix, the noise and the schema may not.
//
// Under add-remove the batches of all other records must be the same with and without the record.
// Either each batch is a function of each record alone, or the place of a removed record is left
// empty. A list that is cut into batches by position is covered under substitute, not under
// add-remove.
//
// Do not use it for noise that is shared between runs or for normalisation by the size of a batch.
// Do not use it for users with several records under secret sampling.
package matrix
