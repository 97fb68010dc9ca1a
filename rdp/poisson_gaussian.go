// The sampled Gaussian, exact: a sum at integer orders and the trapezoidal rule between,
// with their errors added.

package rdp

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/subsample"
	"gonum.org/v1/gonum/integrate/quad"
)

// PoissonGaussian returns the curve of the Gaussian mechanism with a noise
// multiplier on a Poisson sample of the given rate: the divergence of
// (1−q)N(0,σ²) + qN(1,σ²) from N(0,σ²), the remove direction, which is the
// larger of the two at every order.
//
// At integer orders up to 65536 the value is the binomial sum, whose terms are
// all positive; at real orders a quadrature with a proved error (quadrature).
// Both are within 1e-12 relative. Above, and where the quadrature would need
// more than 2^18 points, it is the bound of the next lower and upper integer
// orders, or of the Gaussian without sampling.
//
// Theorem: Mironov, Talwar and Zhang, "Rényi differential privacy of the
// sampled Gaussian mechanism" (2019), Theorems 4 and 5 (dominance in every
// dimension, and which direction is larger), section 3.3 (integer orders).
// Relation: add-remove.
func PoissonGaussian(rate, noiseMultiplier float64) (Curve, error) {
	return newPoissonGaussian(rate, noiseMultiplier, false)
}

func newPoissonGaussian(rate, noiseMultiplier float64, add bool) (Curve, error) {
	if err := fault.In("poisson", subsample.CheckRate(rate)); err != nil {
		return nil, err
	}
	if err := noiserange.Check("gaussian", noiseMultiplier); err != nil {
		return nil, err
	}
	return poissonGaussian{rate, noiseMultiplier, add}, nil
}

type poissonGaussian struct {
	q, sigma float64
	add      bool
}

const (
	maxOrder  = 1 << 16 // above, sums and quadratures are not worth their time
	maxPoints = 1 << 18
)

func (c poissonGaussian) RDP(alpha float64) float64 {
	whole := gaussian{c.sigma}.RDP(alpha)
	switch {
	case c.q == 0:
		return 0
	case c.q == 1 || alpha > maxOrder:
		// D_α is quasi-convex in the pair: sampling does not increase it.
		return whole
	case alpha == math.Trunc(alpha) && !c.add:
		return min(whole, fromMoment(alpha, c.binomial(int(alpha))))
	}
	la, ok := c.quadrature(alpha)
	if ok {
		return min(whole, fromMoment(alpha, la))
	}
	// The remove direction at the neighbouring integers bounds both directions.
	r := poissonGaussian{c.q, c.sigma, false}
	lo, hi := math.Floor(alpha), math.Ceil(alpha)
	if lo == hi {
		return r.RDP(alpha)
	}
	v := 0.0
	if lo > 1 {
		v = r.RDP(lo)
	}
	return min(whole, convexBetween(alpha, lo, v, hi, r.RDP(hi)))
}

// binomial returns log(A−1) at an integer order, rounded up:
//
//	A − 1 = Σ_{k≥2} C(α,k)(1−q)^{α−k}q^k (e^{k(k−1)/(2σ²)} − 1),
//
// because Σ_k C(α,k)(1−q)^{α−k}q^k = 1; no term is negative.
func (c poissonGaussian) binomial(alpha int) float64 {
	return binomialSum(alpha, c.q, 2, func(k float64) float64 {
		return logExpm1(k * (k - 1) / (2 * c.sigma * c.sigma))
	})
}

// quadrature returns log(A−1) at a real order, rounded up, with
// A − 1 = E_Q[g(dP/dQ)] a trapezoidal sum over x ~ N(0,1) on the whole line.
//
// Error of the sum: f is analytic in the strip |Im x| < πσ, where the sampled
// density ratio z(x) = 1 − q + q·exp(x/σ − 1/(2σ²)) has no zero, so the error is
// at most 2M/(e^{2πa/h} − 1) with M = ∫|f(x ± ia)|dx (Trefethen and Weideman,
// SIAM Review 2014, Theorem 5.1). On the edge of the strip the Gaussian grows by
// e^{a²/2}; |z| ≤ z(Re x), which bounds the remove direction by
// M ≤ e^{a²/2}(A + 1 + 2αq); and |z| ≥ z(Re x)·cos(θ/2) with θ = a/σ, which
// bounds the add direction by M ≤ e^{a²/2}(cos(θ/2)^{1−α}·A + 2α). The error
// and the tails left out are added to the result.
func (c poissonGaussian) quadrature(alpha float64) (la float64, ok bool) {
	t := alpha - 1
	logEdge := logG(alpha, math.Log1p(-c.q)) // of g, or below, left of 0
	theta, grow, shift, free := math.Pi, 0.0, (alpha+2)/c.sigma, 2+2*alpha*c.q
	if c.add {
		logEdge = logG(alpha, -math.Log1p(-c.q))
		theta = min(math.Pi/2, 2/math.Sqrt(alpha))
		grow = -t * xmath.Log(math.Cos(theta/2))
		shift, free = 1/c.sigma, 2+2*alpha
	}
	// A guess of the result steers the choice of step and range only.
	guess := min(0, xmath.Log(alpha*t/2)+2*xmath.Log(c.q/c.sigma))
	need := 37 + xmath.Log(free) + grow - guess
	for range 4 {
		a := math.Sqrt(2 * need)
		if a > c.sigma*theta {
			a = c.sigma * theta
		}
		h := 2 * math.Pi * a / (need + a*a/2)
		x := math.Sqrt(2 * (42 + max(0, logEdge-guess)))
		if c.add {
			x = math.Sqrt(2 * (42 + max(0, logEdge-guess, xmath.Log(t)-guess)))
		}
		if !((2*x+shift)/h <= maxPoints) {
			return 0, false
		}
		sum := c.trapezoid(alpha, -x, shift+x, h, logEdge)
		// E ≤ κ(A·1 + free) with A − 1 ≤ S + E.
		k := a*a/2 + grow - 2*math.Pi*a/h + math.Ln2 + 1e-9
		if k < -1 {
			logE := k + xmath.LogAdd(xmath.Log(free), sum) - math.Log1p(-math.Exp(k))
			if logE < sum-math.Ln10*13 {
				// 1e-13 covers the rounding of x/σ − 1/(2σ²) near 0, where it is
				// large relative to the loss but moves g by u·g′ only.
				return xmath.LogAdd(sum, logE) + 1e-13, true
			}
			need += logE - sum + 34
		} else {
			need += 10
		}
	}
	return 0, false
}

// trapezoid returns the log of the sum of h·φ(x)·f(x) over the grid of step h
// on [from, to] and a bound of what lies outside.
func (c poissonGaussian) trapezoid(alpha, from, to, h, logEdge float64) float64 {
	n := int(math.Ceil((to - from) / h))
	terms := make([]float64, 0, n+3)
	logH := xmath.Log(h)
	drop := 1 / (2 * c.sigma * c.sigma)
	at := func(x float64) (logQ, l float64) {
		y := x/c.sigma - drop
		logQ = logH + xmath.LogNormalDensity(x)
		// log z(x): from z − 1 where z is near 1, else from its two positive terms.
		if u := c.q * math.Expm1(y); u > -0.5 && y < 30 {
			l = math.Log1p(u)
		} else {
			l = xmath.LogAdd(math.Log1p(-c.q), xmath.Log(c.q)+y)
		}
		return logQ, l
	}
	for i := range n + 1 {
		x := from + float64(i)*h
		logQ, l := at(x)
		rel := 4 * xmath.U * x * x
		if c.add {
			terms = append(terms, term(alpha, logQ+l, -l, rel, 0))
		} else {
			terms = append(terms, term(alpha, logQ, l, rel+4*xmath.U*alpha*math.Abs(l), 0))
		}
	}
	// Left of from: a normal tail (h·φ + Φ̄ bounds its sum) times the largest g,
	// at −∞. Right of to, for add: a normal tail times g ≤ α − 1. For remove:
	// (log g)′(l) ≤ α + 2/l for l > 0 (compare coefficients), and l′/l ≤
	// 1/σ + 1/(x − 1/(2σ)), so with to = edge + (α+2)/σ the integrand falls by
	// more than e^{−(edge−1)} per unit.
	edge := -from
	tail := xmath.LogAdd(logH+xmath.LogNormalDensity(edge), xmath.LogNormalTail(edge))
	terms = append(terms, tail+logEdge+1e-9)
	if c.add {
		terms = append(terms, tail+xmath.Log(alpha-1)+1e-9)
	} else {
		logQ, l := at(to)
		terms = append(terms, logQ+logG(alpha, l)-xmath.Log1mExp(-h*(edge-1))+1e-9)
	}
	return logSumUp(terms)
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

// Laplace noise under Poisson sampling, exact but for rounding up.

// poissonLaplace is the exact curve of Laplace noise under Poisson sampling, the
// remove direction: E_Q[g(1 − q + q·e^L)], with Q-masses ½ at L = −m and ½e^{−m}
// at L = m, and between them L = m(2s − 1) with density (m/2)e^{−ms} on (0, 1).
type poissonLaplace struct {
	q, m    float64
	sampled // the binomial sum at integers, and its bound in between
}

func (c poissonLaplace) RDP(alpha float64) float64 {
	v := c.sampled.RDP(alpha)
	if math.IsNaN(v) || alpha > maxOrder || (alpha == math.Trunc(alpha) && alpha <= maxIntegerOrder) {
		return v
	}
	if la, ok := c.quadrature(alpha); ok {
		v = min(v, fromMoment(alpha, la))
	}
	return v
}

// logZ returns log(1 − q + q·e^l), accurate relative to itself.
func (c poissonLaplace) logZ(l float64) float64 {
	if u := c.q * math.Expm1(l); u > -0.5 && l < 30 {
		return math.Log1p(u)
	}
	return xmath.LogAdd(math.Log1p(-c.q), xmath.Log(c.q)+l)
}

// quadrature returns log(e^{(α−1)D} − 1), rounded up: composite Gauss–Legendre
// in s with the error bound of every panel added (see envelope.quadrature).
func (c poissonLaplace) quadrature(alpha float64) (la float64, ok bool) {
	b := min(0.5, min(1/math.Sqrt(alpha), 4/alpha)/(2*ellipseIm*c.m))
	for range 3 {
		n := math.Ceil(0.5 / b)
		if !(n*nodes <= maxPoints/4) {
			return 0, false
		}
		b = 0.5 / n
		terms := make([]float64, 0, int(n)*nodes+2)
		errs := make([]float64, 0, int(n))
		add := func(logQ, l, rel float64) {
			z := c.logZ(l)
			// Losses to 8 u relative, which moves g by α times that.
			e := rel + 16*xmath.U*(2+alpha*(math.Abs(z)+min(1, c.q)*math.Abs(l)))
			terms = append(terms, term(alpha, logQ, z, e, 0))
		}
		add(-math.Ln2, -c.m, 0)
		add(-math.Ln2-c.m, c.m, 2*xmath.U*c.m)
		for i := range int(n) {
			centre := float64(2*i+1) * b
			for j, x := range nodeAt {
				s := centre + b*x
				// Near s = ½ rounding moves the loss by u·m absolutely, and the
				// sum of g by that times g′ ~ α(α−1)q²L: below 1e-13 of the sum,
				// which has losses of all sizes up to m.
				add(xmath.Log(b*nodeWeight[j]*c.m/2)-c.m*s, c.m*(2*s-1), 1e-13+4*xmath.U*c.m)
			}
			errs = append(errs, logRule+xmath.Log(b)+c.largest(alpha, centre, b))
		}
		sum, logE := logSumUp(terms), logSumUp(errs)
		if logE < sum-13*math.Ln10 {
			return xmath.LogAdd(sum, logE), true
		}
		b /= 2
	}
	return 0, false
}

// largest bounds the log of the integrand's modulus in the ellipse around a
// panel: |z − 1| ≤ U by q(e^{|L|} − 1) or q(e^{Re L} + 1), and then g by its
// second-order remainder for U ≤ ½, or term by term.
func (c poissonLaplace) largest(alpha, centre, b float64) float64 {
	low, high, im := centre-ellipseRe*b, centre+ellipseRe*b, ellipseIm*b
	logW := xmath.Log(c.m/2) - c.m*low
	most := c.m*max(math.Abs(2*low-1), math.Abs(2*high-1)) + 2*c.m*im
	right := c.m * (2*high - 1)
	logU := xmath.Log(c.q) + min(logExpm1(most), xmath.LogAdd(right, 0))
	second := math.Inf(1)
	if logU <= -math.Ln2 {
		second = xmath.Log(alpha*(alpha-1)/2) + 2*logU +
			max(alpha-2, 0)*xmath.LogAdd(0, logU) + max(2-alpha, 0)*math.Ln2
	}
	each := logSumUp([]float64{alpha * c.logZ(right), 0, xmath.Log(alpha) + logU})
	return logW + min(second, each) + 1e-9
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
	g, err := Gaussian(noiseMultiplier)
	if err != nil {
		return nil, err
	}
	general, err := WithoutReplacement(g, population, batch)
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
