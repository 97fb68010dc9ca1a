package matrix

import (
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
)

// A Config is a run: what its price depends on.
type Config struct {
	// NoiseMultiplier is the standard deviation of the seed noise z over the clipping
	// norm of one contribution, for C as it is given: nothing is normalised.
	NoiseMultiplier float64
	Steps           int
	Strategy        Strategy
	Participation   Participation
}

// The range of noise multipliers. What one participation sees of it, over the norm of its
// column, must be in the range of package profiles as well.
const minNoise, maxNoise = 1e-66, 1e75

// Check returns what is wrong, as a problem with a field of a plan.
func (c Config) Check() error {
	if !(c.NoiseMultiplier >= minNoise && c.NoiseMultiplier <= maxNoise) {
		return fault.New("noise-multiplier", "%v is not in [%g, %g]", c.NoiseMultiplier, minNoise, maxNoise)
	}
	if c.Strategy.kind == noStrategy {
		return fault.New("strategy", "is missing")
	}
	if err := c.checkSteps(); err != nil {
		return err
	}
	p := c.Participation
	switch p.kind {
	case noParticipation:
		return fault.New("participation", "is missing")
	case epochs:
		if c.Steps%p.times != 0 {
			return fault.In("participation", fault.New("epochs", "%d does not divide the %d steps", p.times, c.Steps))
		}
	case minSeparation:
		if b, k := p.over(c.Steps); c.Strategy.kind == banded && float64(c.Steps)*float64(c.Steps)*float64(k) > maxWork && b < c.Strategy.bands {
			return fault.In("participation", fault.New("at-most", "%d participations make steps² times participations larger than %g", k, float64(maxWork)))
		}
	case cyclicPoisson:
		return c.checkCyclic()
	case ballsInBins:
		return c.checkBalls()
	case poisson:
		return c.checkCoins()
	}
	return nil
}

// maxCoins bounds the steps of Theorem M5: the quantiles take steps² terms, each a few times.
const maxCoins = 8192

// checkCoins has the conditions of the theorem of coins.go.
func (c Config) checkCoins() error {
	fail := func(format string, args ...any) error {
		return fault.In("participation", fault.New("poisson", format, args...))
	}
	switch {
	case !c.Strategy.isToeplitz():
		return fail("is covered for Toeplitz matrices alone (square-root, toeplitz, blt); cyclic-poisson is for banded ones")
	case c.Steps > maxCoins:
		return fail("is covered for at most %d steps, not for %d", maxCoins, c.Steps)
	case slices.ContainsFunc(c.Strategy.coefficients, func(x float64) bool { return x < 0 }):
		return fail("is not covered for matrices with negative entries")
	}
	return nil
}

// checkBalls has the conditions of the theorem of balls.go.
func (c Config) checkBalls() error {
	s, bins := c.Strategy, c.Participation.separation
	switch {
	case bins > c.Steps:
		return fault.In("participation", fault.New("balls-in-bins", "%d is not in [1, steps], %d steps", bins, c.Steps))
	case float64(c.Steps)*float64(bins) > maxWork:
		return fault.In("participation", fault.New("balls-in-bins", "%d bins make steps times bins larger than %g", bins, float64(maxWork)))
	case s.kind == tree:
		return fault.In("participation", fault.New("balls-in-bins", "is not covered for trees"))
	}
	negative := func(xs []float64) bool { return slices.ContainsFunc(xs, func(x float64) bool { return x < 0 }) }
	if negative(s.coefficients) || slices.ContainsFunc(s.rows, func(r row) bool { return negative(r.values) }) {
		return fault.In("participation", fault.New("balls-in-bins", "is not covered for matrices with negative entries"))
	}
	return nil
}

// maxWork bounds the dynamic programme over patterns: about a minute.
const maxWork = 1e10

func (c Config) checkSteps() error {
	most := maxSteps
	switch c.Strategy.kind {
	case tree:
		most = maxTree
	case banded:
		if n := len(c.Strategy.rows); c.Steps != n {
			return fault.New("steps", "%d is not the number of rows of the matrix, %d", c.Steps, n)
		}
	}
	if c.Steps < 1 || c.Steps > most {
		return fault.New("steps", "%d is not an integer in [1, %d]", c.Steps, most)
	}
	bands := c.Strategy.bands
	if bands > c.Steps {
		switch c.Strategy.kind {
		case toeplitz:
			return fault.In("strategy", fault.New("coefficients", "has %d numbers for %d steps", bands, c.Steps))
		case squareRoot:
			return fault.In("strategy", fault.New("bands", "%d is not in [1, steps], %d steps", bands, c.Steps))
		}
	}
	return nil
}

// checkCyclic has the conditions of the theorem of cyclic.go that are about the matrix.
func (c Config) checkCyclic() error {
	fail := func(format string, args ...any) error {
		return fault.In("participation", fault.In("cyclic-poisson", fault.New("cycle", format, args...)))
	}
	cycle, bands := c.Participation.separation, c.Strategy.bands
	switch c.Strategy.kind {
	case tree:
		return fail("a tree has no bands; blocks overlap: not covered")
	case blt:
		bands = c.Steps
	}
	if cycle < bands {
		return fail("%d is below the %d bands of the matrix; blocks overlap: not covered", cycle, bands)
	}
	if cycle > c.Steps {
		return fail("%d is not in [1, steps], %d steps", cycle, c.Steps)
	}
	return nil
}
