// Package labeldp randomizes the labels of a regression data set under label differential privacy:
// features are public, one label of one example is private.
//
// Its centre is the optimal unbiased randomizer of Badanidiyuru et al. (arXiv:2312.05659). Among
// all ε-DP randomizers whose mean output is the true label it has the least variance under a prior
// on the labels. Unbiased labels leave the regression function of every model unchanged. Randomized
// response and clipped noise bend it.
//
// Use it when whoever trains may see the features, and the best predictor under the loss is the
// conditional mean (squared loss, Poisson loss). Every label is randomized once, and training on
// the noisy labels is free, however many epochs. Do not use it when features are private too, or
// with a loss that needs labels inside their range. Unbiased outputs lie far outside it, and are
// negative for non-negative labels. For classes there is [RRWithPrior].
//
// The neighbouring relation is throughout the replacement of one label ([profiles.Substitute]).
// Neither sampling nor shuffling amplifies. [HalfLoss] is E ½(ŷ−y)², what the paper calls noisy
// label loss: half of the mean squared error. Proofs end the file of each result.
package labeldp

// Where the paper is read differently.
//
//   - Algorithm 3 hands ε₁ to the output grid; it must be ε₂.
//   - Algorithm 2's grid range is sufficient, not necessary, and may exclude the optimum: prior (0.6, 0.25, 0.15)
//     on {0, 1, 2} at ε = 2 has an optimal output at 2.513, the range ends at 2.470. Lemma 8 compares within the
//     range only.
//   - "Mean squared error" in captions is half of it; the example losses of Section 3 (2.625, 2.726) are ten times
//     too large.
//   - Theorem 6's bound of 2k outputs holds on every grid too, by counting rows of the column form.
//   - ε = 0 is listed as allowed; for two or more labels nothing unbiased exists there.
//   - RR-on-bins cannot be debiased: labels of one bin share one law. The unbiased counterpart is rounding to
//     fewer labels first (NewRounder).
//
// Gaps on random priors.
//
// ε in [1e-6, 28], up to 500 labels. Every design comes back with its gap; none is refused for it. The certified
// relative gap found on random priors with k from 2 to 60, a third of them with zeros: at most 2.3·10⁻¹⁰ for ε from
// 0.05 to 12, 8·10⁻⁹ to 20, 3·10⁻⁷ to 28, 5·10⁻¹⁰ for ε from 10⁻⁵ to 0.05; on priors chosen to be harder 10⁻⁸ for ε
// from 0.03 to 12 and 4·10⁻⁹ at ε = 10⁻⁶. The certificate of each design states its own (RelGap, gap in JSON): a
// gap costs accuracy only. Privacy holds by construction, and a design whose rows do not sum to 1, or whose means
// are not the labels, within 10⁻¹¹ of the outputs' width is an error. With zero probabilities the optimum is not
// unique: compare losses, not matrices.
