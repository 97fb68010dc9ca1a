// Poisson samples.

package subsample

import (
	"iter"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Batches implements Sampler: independent samples of [Poisson.Sample].
func (s Poisson) Batches(src rand.Source, population int64) (iter.Seq[[]Pick], error) {
	if err := checkPoissonPopulation(population); err != nil {
		return nil, err
	}
	return stateless(src, func(src rand.Source) []Pick { return s.draw(src, population) }), nil
}

// Sample draws the records that take part, in ascending order, each of the population in
// [1, 2^53] independently with the scheme's rate. Time and memory are linear in the size
// of the sample, which is random, whatever the population. The source nil is the operating
// system's; neither the sample nor its size is ever to be published.
//
// The gaps between records are geometric, drawn by inversion from 64-bit uniform
// numbers with further bits where they decide: the probability of any sample is
// exact up to the rounding of a logarithm, about 1e-15 per record relatively.
func (s Poisson) Sample(src rand.Source, population int64) ([]Pick, error) {
	if err := checkPoissonPopulation(population); err != nil {
		return nil, err
	}
	return s.draw(random.Source(src), population), nil
}

func checkPoissonPopulation(population int64) error {
	if population < 1 || population > xmath.MaxCount {
		return fault.In("poisson", fault.New("population", "%d is not in [1, %d]", population, int64(1)<<53))
	}
	return nil
}

func (s Poisson) draw(src rand.Source, population int64) []Pick {
	if s.rate == 0 {
		return nil
	}
	n := float64(population)
	out := make([]Pick, 0, int64(min(n, s.rate*n+4*math.Sqrt(s.rate*n)+16)))
	if s.rate == 1 {
		for i := range population {
			out = append(out, Pick{i, 1})
		}
		return out
	}
	// Pr[gap ≥ g] = (1−rate)^g: the gap is ⌊E/λ⌋ with E exponential and
	// λ = −log(1−rate).
	lambda := -math.Log1p(-s.rate)
	for at := int64(0); ; at++ {
		gap := random.Exponential64(src) / lambda
		if !(gap < float64(population-at)) {
			return out
		}
		at += int64(gap)
		out = append(out, Pick{at, 1})
	}
}
