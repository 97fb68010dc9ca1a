// Package matrix prices matrix mechanisms, also called matrix factorisation, correlated
// noise or DP-FTRL: a stream of n sums of clipped contributions x_1, …, x_n is released as
// Cx + z, with z independent Gaussian noise and C lower triangular, and whoever trains
// with it multiplies by the inverse of C. It also draws that noise, in [Stream].
//
// Without secret sampling a run is one Gaussian, whose shift is the sensitivity of C under
// the participation schema. With cyclic Poisson sampling and a banded C it is a list of
// Poisson-sampled Gaussians. The theorems, with proofs, are in docs/matrix.md. Values of
// later steps may depend on earlier releases; the matrix, the noise and the schema may not.
//
// Under add-remove the batches of all other records must be the same with and without the
// record: by a function of each record alone, or with the place of a removed record left
// empty. A list that is cut into batches by position is covered under substitute, not
// under add-remove.
//
// Do not use it for noise that is shared between runs, for normalisation by the size of a
// batch, or for persons with several records.
//
// Files, each of which uses only those below it:
//
//	run.go            Run: the mechanism, for the accountant
//	cyclic.go         banded matrices with cyclic Poisson sampling
//	balls.go          balls in bins, between two random allocations
//	coins.go          Toeplitz matrices with coins at every step
//	base.go           the Gaussians that runs are made of
//	sensitivity.go    the sensitivity as an interval: which of the ways below
//	vecsens.go        any Gram matrix: bounds above, search below, branch and bound
//	tree.go           trees: counts of complete nodes
//	dense.go          any matrix: its Gram matrix, orthogonal columns, cosets
//	toeplitz.go       Toeplitz matrices, by running sums
//	stream.go         Stream: the releases of a run, with their noise
//	config.go         Config: what a run is, and what is refused
//	participation.go  schemas: how often a record takes part
//	csv.go            a matrix from a file
//	strategy.go       strategies: the matrix C
//	double.go         sums with twice the digits of float64
package matrix
