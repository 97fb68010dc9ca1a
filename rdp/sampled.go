// Bounds on sampled mechanisms of which only a curve is known.

package rdp

import (
	"math"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Poisson returns a bound on the curve of a mechanism with curve c when it runs
// on a Poisson sample of the given rate. At integer orders α ≥ 2, with q the rate,
//
//	e^{(α−1)D} ≤ (1−q)^{α−1}(1+(α−1)q) + C(α,2)q²(1−q)^{α−2}e^{c(2)}
//	             + 3·Σ_{k≥3} C(α,k)q^k(1−q)^{α−k}e^{(k−1)c(k)};
//
// between integers by convexity (Grid), and never more than c(α). For a
// Gaussian the result is exact (newPoissonGaussian) and for Laplace noise exact
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
	if err := fault.In("poisson", noiserange.CheckRate(rate)); err != nil {
		return nil, err
	}
	factor := 3.0
	switch c := c.(type) {
	case nil:
		return nil, fault.In("poisson", fault.New("curve", "is nil, must be a Rényi curve"))
	case gaussian:
		return newPoissonGaussian(rate, c.sigma)
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
		return binomialSum(alpha, rate, func(k float64) float64 {
			v := table.moment(int(k))
			if k == 2 || factor == 1 {
				return logExpm1(v)
			}
			return v + xmath.Log(factor-math.Exp(-v)) // log(3e^v − 1)
		})
	}}
	if l, ok := c.(laplace); ok && rate > 0 && l.m <= maxLaplaceLoss {
		return poissonLaplace{transform.NewSampledLaplace([]transform.LaplaceItem{{M: l.m}}, 0, rate, 0), sum}, nil
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

// mixed is the bound of withoutReplacement at a rate: it holds whenever the two
// output distributions are rate·P + (1−rate)·R and rate·Q + (1−rate)·R and c
// bounds the divergences among all of P, Q and R.
func mixed(c Curve, rate float64) Curve {
	table := &integerOrders{curve: c}
	logRate := xmath.Log(rate)
	return sampled{table, func(alpha int) float64 {
		if rate == 0 {
			return math.Inf(-1)
		}
		most := logExpm1(value(c, math.Inf(1))) // log(e^{c(∞)} − 1)
		return sumOfPowers(alpha, logRate, 0, func(k float64) float64 {
			v := table.moment(int(k))
			y := v + min(math.Ln2, k*most)
			if k == 2 {
				y = min(y, 2*math.Ln2+logExpm1(v))
			}
			return y
		})
	}}
}

// Sums over integer orders, which bound a sampled mechanism at every order: between two
// of them a curve times (α−1) is convex.

// maxIntegerOrder bounds the orders at which a general curve is sampled: the sum
// at order α asks for all integer orders up to α.
const maxIntegerOrder = 2048

// sampled is a curve given by log(e^{(α−1)D} − 1) at integer orders.
type sampled struct {
	base *integerOrders
	la   func(alpha int) float64
}

func (s sampled) RDP(alpha float64) float64 {
	whole := value(s.base.curve, alpha)
	if math.IsNaN(whole) || alpha > maxIntegerOrder {
		return whole
	}
	lo, hi := math.Floor(alpha), math.Ceil(alpha)
	v := s.at(hi)
	if lo < hi && lo >= 2 { // below 2 the chord from order 1, where (α−1)D is 0, is the value at 2
		v = min(v, convexBetween(alpha, lo, s.at(lo), hi, v))
	}
	return min(v, whole)
}

func (s sampled) at(alpha float64) float64 {
	return min(value(s.base.curve, alpha), fromMoment(alpha, s.la(int(alpha))))
}

func (s sampled) orders() []float64 {
	var out []float64
	for _, a := range ordersOf(s.base.curve) {
		if a <= maxIntegerOrder && a == math.Trunc(a) {
			out = append(out, a)
		}
	}
	return out
}

// integerOrders keeps the values of a curve at integer orders.
type integerOrders struct {
	curve  Curve
	mu     sync.Mutex
	values []float64 // from order 2
}

// moment returns (k−1)·D_k, NaN if the curve is broken.
func (o *integerOrders) moment(k int) float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.values) < k-1 {
		order := float64(len(o.values) + 2)
		o.values = append(o.values, xmath.RoundUp((order-1)*value(o.curve, order), 1))
	}
	return o.values[k-2]
}

// sumOfPowers returns log Σ_{k≥2} C(n,k)e^{k·lx + (n−k)·ly + f(k)}, rounded
// up, for lx and ly accurate to 4 u relative and f to 8 u(1+|f|).
func sumOfPowers(n int, lx, ly float64, f func(k float64) float64) float64 {
	terms := make([]float64, 0, n-1)
	var lc xmath.Sum // log C(n,k): a compensated sum of logarithms of ratios
	mag := 0.0       // what they sum to in magnitude, for the error
	for k := 1; k <= n; k++ {
		kf := float64(k)
		r := xmath.Log((float64(n) - kf + 1) / kf)
		lc.Add(r)
		mag += 1 + math.Abs(r)
		if k < 2 {
			continue
		}
		a, b, y := kf*lx, float64(n-k)*ly, f(kf)
		if k == n {
			b = 0 // also where ly = −Inf
		}
		if math.IsInf(y, 0) {
			terms = append(terms, y)
			continue
		}
		terms = append(terms, lc.Value()+a+b+y+xmath.U*(2*mag+8*(1-a-b+math.Abs(y))))
	}
	return logSumUp(terms)
}

// binomialSum returns log Σ_{k≥2} C(n,k)(1−q)^{n−k}q^k e^{f(k)}, rounded up,
// for f accurate to 8 u(1+|f|).
func binomialSum(n int, q float64, f func(k float64) float64) float64 {
	return sumOfPowers(n, xmath.Log(q), math.Log1p(-q), f)
}
