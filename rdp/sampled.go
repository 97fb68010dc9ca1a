// Bounds on sampled mechanisms of which only a curve is known.

package rdp

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/subsample"
)

// Poisson returns a bound on the curve of a mechanism with curve c when it runs
// on a Poisson sample of the given rate. At integer orders α ≥ 2, with q the rate,
//
//	e^{(α−1)D} ≤ (1−q)^{α−1}(1+(α−1)q) + C(α,2)q²(1−q)^{α−2}e^{c(2)}
//	             + 3·Σ_{k≥3} C(α,k)q^k(1−q)^{α−k}e^{(k−1)c(k)};
//
// between integers by convexity (Grid), and never more than c(α). For a
// Gaussian the result is the exact PoissonGaussian and for Laplace noise exact
// too, at all orders; for discrete Gaussian noise and pure differential privacy
// the factor 3 is 1.
//
// Theorem: Zhu and Wang, "Poisson subsampled Rényi differential privacy" (ICML
// 2019), Theorem 6. Without the 3 it is the exact divergence of the remove
// direction, by joint convexity and the binomial theorem; the add direction is
// no larger for a dominating pair that an involution exchanges (Mironov,
// Talwar and Zhang 2019, Theorem 5). Relation: add-remove. Condition: c holds
// under add-remove, in both directions.
func Poisson(c Curve, rate float64) (Curve, error) {
	if err := fault.In("poisson", subsample.CheckRate(rate)); err != nil {
		return nil, err
	}
	factor := 3.0
	switch c := c.(type) {
	case nil:
		return nil, fault.In("poisson", fault.New("curve", "is nil, must be a Rényi curve"))
	case gaussian:
		return PoissonGaussian(rate, c.sigma)
	case laplace, discreteGaussian, twoAnswers:
		factor = 1
	}
	if rate == 1 {
		return c, nil
	}
	table := &integerOrders{curve: c}
	sum := sampled{table, func(alpha int) float64 {
		if rate == 0 {
			return math.Inf(-1)
		}
		return binomialSum(alpha, rate, 2, func(k float64) float64 {
			v := table.moment(int(k))
			if k == 2 || factor == 1 {
				return logExpm1Zero(v)
			}
			return v + xmath.Log(factor-math.Exp(-v)) // log(3e^v − 1)
		})
	}}
	if l, ok := c.(laplace); ok && rate > 0 {
		return poissonLaplace{rate, l.m, sum}, nil
	}
	return sum, nil
}

// WithoutReplacement returns a bound on the curve of a mechanism with curve c
// when it runs on a uniformly random batch of fixed size out of a population.
// At integer orders α ≥ 2, with γ = batch/population,
//
//	e^{(α−1)D} ≤ 1 + γ²C(α,2)·min{4(e^{c(2)}−1), e^{c(2)}·min{2, (e^{c(∞)}−1)²}}
//	             + Σ_{k≥3} γ^k·C(α,k)·e^{(k−1)c(k)}·min{2, (e^{c(∞)}−1)^k};
//
// between integers by convexity (Grid), and never more than c(α).
//
// Theorem: Wang, Balle and Kasiviswanathan, "Subsampled Rényi differential
// privacy and analytical moments accountant" (AISTATS 2019), Theorem 9 and
// Corollary 10. Relation: substitute. Condition: c holds under substitute (a
// Gaussian's noise multiplier is then σ over the distance by which
// substituting a record can move the mean, twice the add-remove one).
func WithoutReplacement(c Curve, population, batch int64) (Curve, error) {
	if c == nil {
		return nil, fault.In("without-replacement", fault.New("curve", "is nil, must be a Rényi curve"))
	}
	if population < 1 {
		return nil, fault.In("without-replacement", fault.New("population", "%d is not at least 1", population))
	}
	if batch < 0 || batch > population {
		return nil, fault.In("without-replacement", fault.New("batch", "%d is not in [0, %d], the population", batch, population))
	}
	if batch == population {
		return c, nil
	}
	return mixed(c, float64(batch)/float64(population)), nil
}

// mixed is the bound of WithoutReplacement at a rate: it holds whenever the two
// output distributions are rate·P + (1−rate)·R and rate·Q + (1−rate)·R and c
// bounds the divergences among all of P, Q and R.
func mixed(c Curve, rate float64) Curve {
	table := &integerOrders{curve: c}
	logRate := xmath.Log(rate)
	return sampled{table, func(alpha int) float64 {
		if rate == 0 {
			return math.Inf(-1)
		}
		most := logExpm1Zero(value(c, math.Inf(1))) // log(e^{c(∞)} − 1)
		return sumOfPowers(alpha, logRate, 0, 2, func(k float64) float64 {
			v := table.moment(int(k))
			y := v + min(math.Ln2, k*most)
			if k == 2 {
				y = min(y, 2*math.Ln2+logExpm1Zero(v))
			}
			return y
		})
	}}
}

// logExpm1Zero is logExpm1 with its limits at 0 and +Inf.
func logExpm1Zero(x float64) float64 {
	switch {
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	}
	return logExpm1(x)
}
