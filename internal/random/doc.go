// Package random holds every draw of the library: coins, exponential, Laplace and Gaussian noise,
// and where their bits come from.
//
// # The convention
//
// A function that draws takes a rand.Source of math/rand/v2 as its last parameter. Nil is the
// operating system's: a ChaCha8 generator with a fresh secret seed. Any other source is the
// caller's to keep secret: whoever can predict it sees through every noise and every sample.
// Uniform integers are those of rand.New(src).Int64N, which are unbiased.
//
// # What holds of the draws, floating point included
//
// Noise that is added for privacy is never a float64. A [Real] is an exact draw from the
// exponential or the normal law, of which as many bits exist as somebody has asked for. It leaves
// as a comparison of such numbers ([Sum.Less]) or as a multiple of a grid that does not depend on
// the data ([Sum.Nearest], [Sum.Floor]). Both are those of the real numbers, decided with as many bits as it
// takes. So the law of what is released is that of the theorem: no value is out of reach, and no
// low bits depend on the data. Coins are exact as well ([Coin], [Fraction]), and so are the
// integers of [Panjer] and [DiscreteGaussian]. The one draw in float64 is [Exponential64], for the gaps
// between the records of a sample; it states its error.
//
// Two things are assumed and not hidden: that the source is uniform and independent, and that
// nobody measures how long a draw takes.
package random
