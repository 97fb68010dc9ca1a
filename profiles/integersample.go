package profiles

// Exact draws of whole-number noise, for each client of a secure aggregation or for all of them together.

import (
	"math/big"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
)

// mostDrawn bounds the numbers that one call of DrawIntegerNoise draws, times the clients whose noise is added one by one.
const mostDrawn = 1 << 26

// DrawIntegerNoise returns so many independent draws of the sum of the noise of clients (1 for the share of one), each "skellam"
// or "discrete-gaussian" of the standard deviation (the parameter σ), or "discrete-laplace" of that scale: the noise of
// NewSummedNoise, NewSkellamMechanism and NewDiscreteGaussianMechanism, exactly. The source nil is the operating system's;
// another must be secret. The time of a draw is not hidden.
func DrawIntegerNoise(src rand.Source, noise string, clients int64, standardDeviation float64, count int) ([]int64, error) {
	if !(standardDeviation >= leastDeviation && standardDeviation <= mostDeviation) {
		return nil, fault.New("standard-deviation", "%v is not in [%v, %v]", standardDeviation, leastDeviation, float64(mostDeviation))
	}
	if clients < 1 || clients > mostClients {
		return nil, fault.New("clients", "%d is not in [1, %d]", clients, int64(mostClients))
	}
	each := clients // draws for one number
	if noise == "skellam" {
		each = 1
	}
	if count < 0 || int64(count) > mostDrawn/each {
		return nil, fault.New("count", "%d is not in [0, %d]", count, mostDrawn/each)
	}
	src = random.Source(src)
	var one func() int64
	switch noise {
	case "skellam":
		mean := new(big.Rat).SetFloat64(standardDeviation)
		mean.Mul(mean, mean).Mul(mean, big.NewRat(clients, 2))
		one = func() int64 {
			up := random.Poisson(src, mean)
			return up - random.Poisson(src, mean)
		}
	case "discrete-gaussian":
		one = func() int64 { return random.DiscreteGaussian(src, standardDeviation).Int64() }
	case "discrete-laplace":
		one = func() int64 {
			z := random.Geometric(src, standardDeviation)
			return z.Sub(z, random.Geometric(src, standardDeviation)).Int64()
		}
	default:
		return nil, fault.New("noise", "%q is not one of skellam, discrete-gaussian, discrete-laplace", noise)
	}
	out := make([]int64, count)
	for i := range out {
		for range each {
			out[i] += one()
		}
	}
	return out, nil
}

// Draw returns so many independent draws of the noise, as DrawIntegerNoise does. Discrete Gaussian noise that is priced for one
// number is drawn for one.
func (b integerNoise) Draw(src rand.Source, count int) ([]int64, error) {
	if _, ok := b.w.(gaussianWeights); ok {
		if count > 1 {
			return nil, fault.New("dimension", "1 is not that of %d numbers; leave dimension out for a vector", count)
		}
		return DrawIntegerNoise(src, "discrete-gaussian", 1, b.noise*float64(b.shift), count)
	}
	return DrawIntegerNoise(src, "discrete-laplace", 1, b.noise*float64(b.shift), count)
}

// Draw is that of a vector.
func (b vectorNoise) Draw(src rand.Source, count int) ([]int64, error) {
	return DrawIntegerNoise(src, "discrete-gaussian", 1, b.sigma(), count)
}

// Draw returns the sum of the noise of all clients that are not missing.
func (b integerVector) Draw(src rand.Source, count int) ([]int64, error) {
	return DrawIntegerNoise(src, b.noise, b.clients, b.deviation, count)
}

// Draw is that of whole-number noise.
func (b bothNorms) Draw(src rand.Source, count int) ([]int64, error) {
	whole, ok := b.l1.(integerNoise)
	if !ok {
		return nil, fault.New("noise", "is not on whole numbers")
	}
	return whole.Draw(src, count)
}

// Categories returns how many values there are.
func (r randomizedResponse) Categories() int { return r.categories }

// Respond returns the value, or with the probability of the mechanism one drawn uniformly from all categories. The source nil
// is the operating system's; another must be secret.
func (r randomizedResponse) Respond(value int, src rand.Source) int {
	src = random.Source(src)
	if random.Coin(src, r.probability) {
		return rand.New(src).IntN(r.categories)
	}
	return value
}
