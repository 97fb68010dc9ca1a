// Package labeldp randomizes the labels of a regression data set under label
// differential privacy: features are public, one label of one example is
// private.
//
// Its centre is the optimal unbiased randomizer of Badanidiyuru et al.
// (arXiv:2312.05659): among all ε-DP randomizers whose mean output is the true
// label, the one of least variance under a prior on the labels. Unbiased labels
// leave the regression function of every model unchanged, where randomized
// response, and clipped noise, bend it.
//
// Use it when the features may be seen by whoever trains, and the loss is one
// whose best predictor is the conditional mean (squared loss, Poisson loss).
// Every label is randomized once; training on the noisy labels is free, however
// many epochs. Do not use it when features are private too, or with a loss that needs
// labels inside their range: unbiased outputs lie far outside it, and are negative for
// non-negative labels. For classes there is [RRWithPrior].
//
// The neighbouring relation is throughout the replacement of one label
// ([profiles.Substitute]); neither sampling nor shuffling amplifies.
//
// Losses: [HalfLoss] is E ½(ŷ−y)², what the paper calls noisy label loss: half of the
// mean squared error.
//
// Files, each of which uses only those below it:
//
//	methods.go     everything that can be compared at one ε
//	groups.go      a prior for each group of examples
//	pipeline.go    from labels to noisy labels: histogram, prior, release
//	grid.go        the optimum on given outputs, with or without a bias
//	rounded.go     unbiased rounding in front of a randomizer
//	optimal.go     the optimum, with outputs anywhere
//	simplex.go     the linear program over staircase columns
//	window.go      RPWithPrior, for continuous labels
//	additive.go    Laplace and staircase noise
//	classes.go     RRTop-k and RRWithPrior
//	finite.go      randomized response, debiased and on bins; the two-point mechanism
//	privacy.go     what a randomizer costs
//	marshal.go     randomizers as JSON
//	randomizer.go  randomizers with finitely many outputs, their losses, certificates
//	sampler.go     their exact sampler
//	loss.go        privacy losses of three values
//	interior.go    the optimum's interior-point method
//	pricing.go     the certificate: the best output for given duals
//	basis.go       the inverse of a simplex basis
//	problem.go     the design in scaled units
//	prior.go       priors, and ranges of what is accepted
package labeldp
