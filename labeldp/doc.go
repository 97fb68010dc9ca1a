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
package labeldp
