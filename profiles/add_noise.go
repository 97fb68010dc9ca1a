// This file adds Gaussian and Laplace noise to numbers that are to be released, so that floating point takes nothing
// from the privacy that was accounted for. Noise drawn and added as float64 gives the value away by the low bits
// of the sum, by values that cannot occur, and by the end of the tail (Mironov, CCS 2012). Here the noise is an exact
// draw of the real-valued law, the sum is one of real numbers, and the result is the nearest multiple of a grid:
// post-processing of the mechanism, as long as the grid does not depend on the data. A grid of a millionth of the
// noise costs nothing in accuracy. A draw takes a few microseconds, and its time is not hidden.

package profiles

import (
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
)

// AddGaussian returns value plus Gaussian noise of standard deviation sigma ≥ 0, rounded to
// the nearest multiple of grid. The source nil is the operating system's; another must be
// secret. The noise multiplier is sigma over the L2 sensitivity of value, in which the
// caller counts the rounding errors of value itself.
func AddGaussian(src rand.Source, value, sigma, grid float64) (float64, error) {
	if err := checkNoise("sigma", value, sigma, grid); err != nil {
		return 0, err
	}
	return random.Noisy(value, sigma, random.Normal(random.Source(src))).Nearest(grid), nil
}

// AddLaplace is [AddGaussian] for Laplace noise of the given scale ≥ 0.
func AddLaplace(src rand.Source, value, scale, grid float64) (float64, error) {
	if err := checkNoise("scale", value, scale, grid); err != nil {
		return 0, err
	}
	return random.Noisy(value, scale, random.Laplace(random.Source(src))).Nearest(grid), nil
}

// The range of a grid keeps half of it exact.
const minGrid, maxGrid = 0x1p-1000, 0x1p1000

func checkNoise(field string, value, scale, grid float64) error {
	switch {
	case math.IsNaN(value) || math.IsInf(value, 0):
		return fault.New("value", "%v is not finite", value)
	case !(scale >= 0 && scale <= math.MaxFloat64):
		return fault.New(field, "%v is not in [0, %v]", scale, math.MaxFloat64)
	case !(grid >= minGrid && grid <= maxGrid):
		return fault.New("grid", "%v is not in [2^-1000, 2^1000]", grid)
	}
	return nil
}
