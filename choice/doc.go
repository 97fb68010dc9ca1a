// Package choice prices and runs the mechanisms that choose: the exponential mechanism,
// permute-and-flip, and report-noisy-max. It also releases those keys whose count passes a
// threshold.
//
// Each of them is a profiles.Mechanism, so it composes with everything else. What one run costs is
// exact (Theorems 1, 3 and 4). Many exponential mechanisms together cost less than the composition
// of their profiles, because no data sets are the worst at every ε. Their exact adaptive
// composition is Theorem 2, a profiles.Laws. Each theorem stands in the file of its mechanism, with
// its proof at the end.
//
// Every mechanism can be run too. Exponential, PermuteAndFlip, NoisyMax, Threshold.Release and
// SelectPartitions.Keep draw from exactly the law that is priced.
//
// Do not use it where more than the chosen index is shown, such as the noisy score of the winner.
// Do not use it for noise on a lattice either, where ties are part of the mechanism.
package choice
