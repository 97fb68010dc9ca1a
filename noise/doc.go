// Package noise adds Gaussian and Laplace noise to numbers that are to be released, so that
// floating point takes nothing from the privacy that an accountant computes for it.
//
// Noise drawn as a float64 and added in float64 gives the value away by the pattern of the
// low bits of the sum, by values that cannot occur, and by the end of the noise's tail
// (Mironov, CCS 2012). Here the noise is an exact draw of the real-valued law, the sum is
// one of real numbers, and what is returned is the multiple of a grid that is nearest to
// it: post-processing of the mechanism that was accounted for, as long as the grid does
// not depend on the data. A grid of a millionth of the noise costs nothing in accuracy.
//
// Do not use it for data that are not secret: a draw takes a few microseconds, a hundred
// times as long as math/rand/v2. How long is not hidden, as sources of randomness and
// operations on big numbers are not constant in time.//
// Files:
//
//	noise.go  Gaussian, Laplace
package noise
