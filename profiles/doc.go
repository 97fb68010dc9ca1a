// Package profiles holds privacy profiles: everything this library knows about a mechanism.
//
// A mechanism is a dominating pair of output distributions (P, Q) for each direction of the
// neighbouring relation. It is seen through the privacy loss L = log dP/dQ. A [Profile] gives the
// tails of L under P and under Q. The hockey-stick divergence δ(ε) = P(L > ε) − e^ε Q(L > ε)
// follows from them. Base mechanisms have tails in closed form. Subsampling, selection, a private
// majority or a label randomizer are functions from profiles to profiles.
//
// Use this package to describe one mechanism run once. Do not compose here: package accountant (and
// fourier below it) composes profiles and certifies the result. Do not add up δ(ε) of several
// profiles by hand.
package profiles
