package noise

import (
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
)

// Gaussian returns value plus Gaussian noise of standard deviation sigma ≥ 0, rounded to
// the nearest multiple of grid. The source nil is the operating system's; another must be
// secret. The noise multiplier is sigma over the L2 sensitivity of value, in which the
// caller counts the rounding errors of value itself.
func Gaussian(src rand.Source, value, sigma, grid float64) (float64, error) {
	if err := check("sigma", value, sigma, grid); err != nil {
		return 0, err
	}
	return random.Noisy(value, sigma, random.Normal(random.Source(src))).Nearest(grid), nil
}

// Laplace is [Gaussian] for Laplace noise of the given scale ≥ 0.
func Laplace(src rand.Source, value, scale, grid float64) (float64, error) {
	if err := check("scale", value, scale, grid); err != nil {
		return 0, err
	}
	return random.Noisy(value, scale, random.Laplace(random.Source(src))).Nearest(grid), nil
}

// The range of a grid keeps half of it exact.
const minGrid, maxGrid = 0x1p-1000, 0x1p1000

func check(field string, value, scale, grid float64) error {
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
