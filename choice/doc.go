// Package choice prices and runs the mechanisms that choose: the exponential mechanism,
// permute-and-flip, report-noisy-max, and the release of those keys whose count passes a
// threshold.
//
// Each of them is a profiles.Mechanism, so that it composes with everything else. What one run
// costs is exact (Theorems 1, 3 and 4). Many exponential mechanisms
// together cost less than the composition of their profiles says, because no data sets
// are the worst at every ε: their exact adaptive composition is Theorem 2, which the
// accountant asks for as profiles.Laws.
//
// Every mechanism can be run too: Exponential, PermuteAndFlip, NoisyMax, Threshold.Release
// and SelectPartitions.Keep draw from exactly the law that is priced.
//
// Do not use it where more than the chosen index is shown, such as the noisy score of the
// winner, nor for noise on a lattice, where ties are part of the mechanism.
package choice
