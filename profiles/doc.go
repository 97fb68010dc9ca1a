// Package profiles holds privacy profiles: everything this library knows about
// a mechanism.
//
// A mechanism is a dominating pair of output distributions (P, Q) for each
// direction of the neighbouring relation, seen through the privacy loss
// L = log dP/dQ. A [Profile] gives the tails of L under P and under Q; the
// hockey-stick divergence δ(ε) = P(L > ε) − e^ε Q(L > ε) follows from them.
// Base mechanisms have tails in closed form; subsampling, selection, a private
// majority or a label randomizer are functions from profiles to profiles.
//
// Use this package to describe one mechanism run once. Do not compose here:
// package accountant (and fourier below it) composes profiles and certifies
// the result. Do not add up δ(ε) of several profiles by hand.//
// Files, each of which uses only those below it; profile.go and mechanism.go are the ones to read
// first:
//
//	order.go               a pair whose two data sets nobody orders
//	chords.go              profiles between and beyond points that are known
//	declared.go            mechanisms that are declared by a guarantee
//	difference.go          differences of tails at close losses
//	transform_gaussian.go  transforms of Gaussian losses
//	transform_laplace.go   transforms of Laplace and finite losses
//	vectornoise.go         discrete Gaussian noise on vectors
//	largest.go             the largest of several discrete profiles
//	theta.go               sums of theta functions, for vectors
//	squares.go             ways to write a number as a sum of squares
//	grouped.go             noise on the sum of a group of records
//	noise.go               Gaussian, Laplace and discrete noise as mechanisms
//	laplace.go             the pair of Laplace noise
//	gaussian.go            the pair of Gaussian noise
//	exponential.go         the pair of the exponential mechanism
//	transform.go           Transformer: what has a transform of its loss
//	mechanism.go           Mechanism: what runs, and what it may know besides
//	bounds.go              Relation, Bounds, Laws: what is known of what ran
//	equal.go               when two profiles are the same
//	discrete.go            Discrete: losses as a list of atoms
//	profile.go             Profile: the tails of a loss
package profiles
