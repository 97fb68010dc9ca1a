// Whole-number noise on a vector of any length: above by its probit step, a Gaussian step; below by single pairs.
//
// Theorem 1 of docs/theory/integer-noise.md: with probit step D, a query of whole numbers with L2 sensitivity Δ is
// D·√⌊Δ²⌋-GDP, in any dimension. It assumes noise that is independent from one coordinate to the next.

package profiles

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// NewSkellamMechanism returns Skellam noise (the difference of two Poisson variables of one mean) of a standard
// deviation, independent in each coordinate, on a query of any number of whole numbers with an L2 sensitivity.
//
// The step is dominated by Gaussian noise of multiplier 1/(D·√⌊sensitivity²⌋), D the probit step of the noise, under
// every relation, and attained up to a gap of about one part in 6·variance.
func NewSkellamMechanism(standardDeviation, sensitivity float64) (Mechanism, error) {
	const name = "skellam"
	b, err := newIntegerVector(name, standardDeviation, sensitivity)
	if err != nil {
		return nil, err
	}
	v := standardDeviation * standardDeviation
	_, s := skellamLaw(v)
	b.settle(s, nil)
	b.attack = func(k int64, coordinates int64) (*integerLaw, error) {
		l, _ := skellamLaw(v * float64(coordinates))
		return l, nil
	}
	return b, nil
}

// NewDiscreteGaussianVector returns discrete Gaussian noise with parameter sigma, independent in each coordinate, on a
// query of any number of whole numbers with any L2 sensitivity of at least 1. Its bounds are those of
// NewSkellamMechanism; where NewDiscreteGaussianMechanism serves, its bounds are closer.
func NewDiscreteGaussianVector(sigma, sensitivity float64) (Mechanism, error) {
	b, err := newIntegerVector("discrete-gaussian", sigma, sensitivity)
	if err != nil {
		return nil, err
	}
	l, s := gaussianLaw(sigma)
	b.settle(s, l)
	b.attack = func(k int64, coordinates int64) (*integerLaw, error) {
		l, _ := gaussianLaw(sigma)
		if coordinates > 1 {
			return l.sumOf(coordinates)
		}
		return l, nil
	}
	return b, nil
}

// A Summand is the noise of one client: "skellam", "discrete-gaussian" or "discrete-laplace".
type Summand string

// NewSummedNoise returns the noise that clients of a secure aggregation add together, on a sum of vectors of whole
// numbers with an L2 sensitivity, as the aggregator sees it: each client adds noise of its own, of the standard
// deviation (the parameter σ of a discrete Gaussian, the scale of discrete Laplace noise), to every coordinate, and so many
// are missing: they drop out, add none, or tell the adversary theirs.
//
// Only for zero-out (a client takes part, adds its noise and contributes nothing) and substitution: a client that is
// absent does not add its noise either, which tells much more than its values do.
func NewSummedNoise(of Summand, clients, missing int64, standardDeviation, sensitivity float64) (Mechanism, error) {
	const name = "summed-noise"
	switch {
	case clients < 1 || clients > 1e9:
		return nil, fault.In(name, fault.New("clients", "%d is not in [1, 1e9]", clients))
	case missing < 0 || missing >= clients:
		return nil, fault.In(name, fault.New("missing", "%d is not in [0, %d]: some client must add noise", missing, clients-1))
	}
	b, err := newIntegerVector(name, standardDeviation, sensitivity)
	if err != nil {
		return nil, err
	}
	b.noAbsence = true
	n := clients - missing
	if of == "skellam" {
		v := standardDeviation * standardDeviation * float64(n)
		if !(v <= mostDeviation*mostDeviation) {
			return nil, fault.In(name, fault.New("standard-deviation", "that of the sum of %d clients, %v, is not at most %g", n, math.Sqrt(v), float64(mostDeviation)))
		}
		_, s := skellamLaw(v)
		b.settle(s, nil)
		b.attack = func(k int64, coordinates int64) (*integerLaw, error) {
			l, _ := skellamLaw(v * float64(coordinates))
			return l, nil
		}
		return b, nil
	}
	var one *integerLaw
	switch of {
	case "discrete-gaussian":
		one, _ = gaussianLaw(standardDeviation)
	case "discrete-laplace":
		one, _ = geometricLaw(standardDeviation)
	default:
		return nil, fault.In(name, fault.New("noise", "%q is not one of skellam, discrete-gaussian, discrete-laplace", of))
	}
	sum, err := one.sumOf(n)
	if err != nil {
		return nil, fault.In(name, err)
	}
	b.settle(sum.step(), sum)
	b.attack = func(k int64, coordinates int64) (*integerLaw, error) { return sum.sumOf(coordinates) }
	return b, b.unsettled()
}

// mostDeviation bounds the standard deviation of integer noise: its steps are looked at one by one.
const mostDeviation = 1e5
