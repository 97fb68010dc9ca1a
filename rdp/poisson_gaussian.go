// The sampled Gaussian and Laplace noise, exact: a sum at integer orders and the transform of the
// privacy loss between, with their errors added.

package rdp

import (
	"cmp"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
	"gonum.org/v1/gonum/integrate/quad"
)

// newPoissonGaussian returns the curve of the Gaussian mechanism with a noise
// multiplier on a Poisson sample of the given rate: the divergence of
// (1−q)N(0,σ²) + qN(1,σ²) from N(0,σ²), the remove direction, which is the
// larger of the two at every order.
//
// At integer orders up to 65536 the value is the binomial sum, whose terms are
// all positive; at real orders the transform with its proved error (byTransform).
// Both are within 1e-12 relative. Above, and where a moment is next to the end of float64,
// it is the bound of the next lower and upper integer
// orders, or of the Gaussian without sampling.
//
// Theorem: Mironov, Talwar and Zhang, "Rényi differential privacy of the
// sampled Gaussian mechanism" (2019), Theorems 4 and 5 (dominance in every
// dimension, and which direction is larger), section 3.3 (integer orders).
// Relation: add-remove.
func newPoissonGaussian(rate, noiseMultiplier float64) (Curve, error) {
	if err := cmp.Or(fault.In("poisson", noiserange.CheckRate(rate)), noiserange.Check("gaussian", noiseMultiplier)); err != nil {
		return nil, err
	}
	if rate == 0 {
		return Func(func(float64) float64 { return 0 }), nil
	}
	t, err := transform.NewPoissonGaussian(rate, 0, noiseMultiplier, 0)
	return poissonGaussian{rate, noiseMultiplier, t}, err
}

type poissonGaussian struct {
	q, sigma float64
	t        transform.Transform
}

const (
	maxOrder  = 1 << 16 // above, sums and quadratures are not worth their time
	maxPoints = 1 << 18
)

func (c poissonGaussian) RDP(alpha float64) float64 {
	whole := gaussian{c.sigma}.RDP(alpha)
	switch {
	case c.q == 1 || alpha > maxOrder:
		// D_α is quasi-convex in the pair: sampling does not increase it.
		return whole
	case alpha == math.Trunc(alpha):
		return min(whole, fromMoment(alpha, c.binomial(int(alpha))))
	}
	if v := byTransform(c.t, alpha); !math.IsInf(v, 1) {
		return min(whole, v)
	}
	lo, hi := math.Floor(alpha), math.Ceil(alpha)
	v := 0.0
	if lo > 1 {
		v = c.RDP(lo)
	}
	return min(whole, convexBetween(alpha, lo, v, hi, c.RDP(hi)))
}

// byTransform returns D_α, rounded up: e^{(α−1)D_α} is the transform of the privacy loss at
// α − 1, which is exact. It is +Inf where the transform proves nothing.
func byTransform(t transform.Transform, alpha float64) float64 {
	k, _, err := t.Real(alpha - 1)
	return xmath.RoundUp(max(0, k+err)/(alpha-1), 2)
}

// binomial returns log(A−1) at an integer order, rounded up:
//
//	A − 1 = Σ_{k≥2} C(α,k)(1−q)^{α−k}q^k (e^{k(k−1)/(2σ²)} − 1),
//
// because Σ_k C(α,k)(1−q)^{α−k}q^k = 1; no term is negative.
func (c poissonGaussian) binomial(alpha int) float64 {
	return binomialSum(alpha, c.q, func(k float64) float64 {
		return logExpm1(k * (k - 1) / (2 * c.sigma * c.sigma))
	})
}

// The rule of quadrature on a panel, and its error.

// Nodes per panel, and the error of that rule on [−1, 1] per unit of the largest
// modulus in the Bernstein ellipse with ρ = 4, whose half-axes are ellipseRe
// and ellipseIm: 64/15·ρ^{−2(nodes−1)}/(1−ρ^{−2}) (Trefethen, "Approximation
// theory and approximation practice", 2013, Theorem 19.3).
const (
	nodes     = 20
	ellipseRe = 2.125
	ellipseIm = 1.875
)

var logRule = xmath.Log(64./15/(1-1./16)) - 2*(nodes-1)*xmath.Log(4)

var nodeAt, nodeWeight = func() (x, w []float64) {
	x, w = make([]float64, nodes), make([]float64, nodes)
	quad.Legendre{}.FixedLocations(x, w, -1, 1)
	return x, w
}()

// maxLaplaceLoss is the largest loss of Laplace noise that has a transform on a sample.
const maxLaplaceLoss = 700

// poissonLaplace is the exact curve of Laplace noise under Poisson sampling, the remove direction.
type poissonLaplace struct {
	t       transform.Transform
	sampled // the binomial sum at integers, and its bound in between
}

func (c poissonLaplace) RDP(alpha float64) float64 {
	v := c.sampled.RDP(alpha)
	if math.IsNaN(v) || alpha > maxOrder || (alpha == math.Trunc(alpha) && alpha <= maxIntegerOrder) {
		return v
	}
	return min(v, byTransform(c.t, alpha))
}

// Curves under sampling without replacement, by the joint convexity of the profile.

// withoutReplacementGaussian returns a bound on the curve of the Gaussian
// mechanism on a uniformly random batch of fixed size, sharper than
// withoutReplacement at every order. The noise multiplier is σ over the
// distance by which substituting a record can move the mean.
//
// Theorem: Balle, Barthe and Gaboardi, "Privacy amplification by subsampling"
// (NeurIPS 2018), Theorem 9: for t ≥ 1 and γ = batch/population, the hockey-stick
// divergence of order t is at most γ times that of order 1 + (t−1)/γ of the
// Gaussian. e^{(α−1)D} − 1 is ∫f″(t) over the hockey-sticks of both orders of the
// pair (f = r^α), which sums to
//
//	E_Q[g(z) + z·g(1/z); r > 1],  z = 1 + γ(r − 1),  g(z) = z^α − 1 − α(z−1),
//
// with r the density ratio of the Gaussian pair. Relation: substitute.
func withoutReplacementGaussian(population, batch int64, noiseMultiplier float64) (Curve, error) {
	general, err := WithoutReplacement(gaussian{noiseMultiplier}, population, batch)
	if err != nil || batch == population || batch == 0 {
		return general, err
	}
	return newEnvelope(noiseMultiplier, float64(batch)/float64(population)), nil
}

// envelope is the curve of withoutReplacementGaussian at a rate.
type envelope struct {
	sigma, rate float64
	general     Curve // the bound of mixed, where the quadrature is too long
}

func newEnvelope(sigma, rate float64) Curve {
	if rate == 0 {
		return Func(func(float64) float64 { return 0 })
	}
	return envelope{sigma, rate, mixed(gaussian{sigma}, rate)}
}

func (c envelope) RDP(alpha float64) float64 {
	v := c.general.RDP(alpha)
	if alpha > maxOrder {
		return v
	}
	if la, ok := c.quadrature(alpha); ok {
		v = min(v, fromMoment(alpha, la))
	}
	return v
}

// quadrature returns the log of the integral over r > 1, rounded up: composite
// Gauss–Legendre in y = x − 1/(2σ) ≥ 0, where log r = y/σ, with the error bound of
// every panel and the tails added.
func (c envelope) quadrature(alpha float64) (la float64, ok bool) {
	t := alpha - 1
	x0 := 1 / (2 * c.sigma)
	guess := min(0, xmath.Log(alpha*t/2)+2*xmath.Log(c.rate/c.sigma))
	edge := math.Sqrt(2 * (45 - guess))
	end := (alpha+2)/c.sigma + edge
	b := min(0.5, c.sigma/ellipseIm*min(1/math.Sqrt(alpha), 4/alpha))
	for range 3 {
		n := math.Ceil((end - x0) / (2 * b))
		if !(n*nodes <= maxPoints/4) {
			return 0, false
		}
		b = (end - x0) / (2 * n)
		terms := make([]float64, 0, int(n)*(2*nodes+1)+2)
		errs := make([]float64, 0, int(n))
		for i := range int(n) {
			centre := float64(2*i+1) * b
			for j, s := range nodeAt {
				y := centre + b*s
				x := x0 + y
				l := math.Log1p(c.rate * math.Expm1(y/c.sigma))
				if y > 30*c.sigma {
					l = xmath.LogAdd(math.Log1p(-c.rate), xmath.Log(c.rate)+y/c.sigma)
				}
				logQ := xmath.Log(b*nodeWeight[j]) + xmath.LogNormalDensity(x)
				// Densities to 4 u·x², losses to 8 u relative, weights to 1e-14.
				e := 4*xmath.U*x*x + 8*xmath.U*(2+alpha*l) + 2e-14
				terms = append(terms, term(alpha, logQ, l, e, 0), term(alpha, logQ+l, -l, e, 0))
			}
			errs = append(errs, logRule+xmath.Log(b)+c.largest(alpha, x0, centre, b))
		}
		// Right of end, g as in the sampled Gaussian; z·g(1/z) ≤ (α−1)·rate·r.
		l := xmath.LogAdd(math.Log1p(-c.rate), xmath.Log(c.rate)+(end-x0)/c.sigma)
		terms = append(terms,
			xmath.LogNormalDensity(end)+logG(alpha, l)-xmath.Log(edge-1)+1e-9,
			xmath.Log(t)+xmath.Log(c.rate)+xmath.LogNormalTail(end-1/c.sigma)+1e-9)
		sum, logE := logSumUp(terms), logSumUp(errs)
		if logE < sum-13*math.Ln10 {
			return xmath.LogAdd(sum, logE), true
		}
		b /= 2
	}
	return 0, false
}

// largest bounds the log of the integrand's modulus in the ellipse around a
// panel: |φ| by its real part, |z−1| ≤ rate·(e^{|y|/σ} − 1) = U, and then g and
// its like by their second-order remainder for U ≤ ½, or term by term with
// |z| ≥ Re-part·cos(θ/2), θ = Im y/σ.
func (c envelope) largest(alpha, x0, centre, b float64) float64 {
	t := alpha - 1
	im := ellipseIm * b
	low, high := centre-ellipseRe*b, centre+ellipseRe*b+im
	logPhi := xmath.LogNormalDensity(max(0, x0+low)) + im*im/2
	logU := xmath.Log(c.rate) + logExpm1(high/c.sigma)
	log1U := xmath.LogAdd(0, logU)
	second := math.Inf(1)
	if logU <= -math.Ln2 {
		u := math.Exp(logU)
		second = xmath.Log(alpha*t/2) + 2*logU +
			xmath.LogAdd(max(alpha-2, 0)*log1U+max(2-alpha, 0)*math.Ln2, -(alpha+1)*math.Log1p(-u))
	}
	floor := math.Log1p(c.rate*math.Expm1(min(0, low)/c.sigma)) + xmath.Log(math.Cos(im/c.sigma/2))
	each := logSumUp([]float64{alpha * log1U, -t * floor, xmath.Log(2), xmath.Log(alpha+t) + logU})
	return logPhi + min(second, each) + 1e-9
}
