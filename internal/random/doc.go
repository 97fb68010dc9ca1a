// Package random holds every draw of the library: coins, exponential, Laplace and
// Gaussian noise, and where their bits come from.
//
// # The convention
//
// Whatever draws takes a rand.Source of math/rand/v2, last among what it needs. Nil is
// the operating system's: a ChaCha8 generator with a fresh secret seed. Any other source
// is the caller's to keep secret: whoever can predict it sees through every noise and
// every sample. Uniform integers are those of rand.New(src).Int64N, which are unbiased.
//
// # What holds of the draws, floating point included
//
// Noise that is added for privacy is never a float64. A [Real] is an exact draw from the
// exponential or the normal law, of which as many bits exist as somebody has asked for.
// What leaves is a comparison of such numbers ([Sum.Less]) or a multiple of a grid that
// does not depend on the data ([Sum.Nearest]), and both are those of the real numbers,
// decided with as many bits as it takes. So the law of what is released is the one that
// the theorem is about: no value is out of reach, no low bits tell of the data, no tail
// ends. Coins are exact as well ([Coin], [Fraction], [Coins]), and so is the integer noise
// of [RoundedLaplace]. The one draw in float64 is [Exponential64], for the gaps between
// the records of a sample; it states its error.
//
// Two things are assumed and not hidden: that the source is uniform and independent, and
// that nobody measures how long a draw takes.
package random
