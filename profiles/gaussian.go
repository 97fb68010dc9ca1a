// The profile of Gaussian noise, with tails and their errors in closed form.

package profiles

import (
	"math"

	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Gaussian is the pair N(1, σ²) against N(0, σ²), up to scale N(μ, 1) against
// N(0, 1) with μ = 1/σ: the Gaussian mechanism with noise multiplier σ (noise
// standard deviation over L2 sensitivity), in any dimension. Its loss is
// N(μ²/2, μ²) under P. It is its own reverse.
//
// Source: Balle and Wang, ICML 2018, Theorem 8; dominance in every dimension
// because the loss depends only on the distance of the means.
type Gaussian interface {
	Profile
	// LogDelta is [LogDelta] of the profile.
	LogDelta(eps float64) (logDelta, err float64)
	// NoiseMultiplier returns σ.
	NoiseMultiplier() float64
	// Repeat returns the exact composition of count runs of g, after total: losses
	// add up to a normal loss again, with μ² = Σ count·μ². A nil total is the
	// empty composition. It is exact up to 2 ulps of μ, which Tails accounts for.
	Repeat(count int64, total Gaussian) Gaussian
	isGaussian()
}

// A gaussianProfile is the loss of Gaussian noise that is added to a sum; see gaussianLike.
type gaussianProfile struct{ normalLoss }

func (gaussianProfile) isGaussian() {}

// A normalLoss is a privacy loss that is normal under P and under Q.
type normalLoss struct {
	mu float64
	lo float64 // μ² − mu², which Repeat keeps so that rounding does not add up
}

// NewGaussian returns the Gaussian profile of a noise multiplier.
func NewGaussian(noiseMultiplier float64) (Gaussian, error) {
	if err := noiserange.Check("gaussian", noiseMultiplier); err != nil {
		return nil, err
	}
	return newGaussian(1 / noiseMultiplier), nil
}

func newGaussian(mu float64) gaussianProfile { return gaussianProfile{normalLoss{mu: mu}} }

// SelfReverse implements hook.SelfReverser: noise is symmetric.
func (g normalLoss) SelfReverse() bool { return true }

// Repeat implements Gaussian.
func (g gaussianProfile) Repeat(count int64, total Gaussian) Gaussian {
	var s xmath.Sum
	if t, ok := total.(gaussianProfile); ok {
		s.AddProduct(t.mu, t.mu)
		s.Add(t.lo)
	}
	s.AddProduct(float64(count), g.lo)
	p := g.mu * float64(count)
	s.AddProduct(p, g.mu)
	s.AddProduct(math.FMA(g.mu, float64(count), -p), g.mu)
	mu := math.Sqrt(s.Value())
	s.AddProduct(-mu, mu)
	return gaussianProfile{normalLoss{mu: mu, lo: s.Value()}}
}

// NoiseMultiplier returns σ.
func (g normalLoss) NoiseMultiplier() float64 { return 1 / g.mu }

// Tails implements Profile: P(L > ε) = Φ̄(ε/μ − μ/2), Q(L > ε) = Φ̄(ε/μ + μ/2).
func (g normalLoss) Tails(eps, tol float64) Tails {
	e := eps / g.mu
	x, z := e-g.mu/2, e+g.mu/2
	// Rounding of the argument: ε/μ and the sum, and μ itself (1/σ, or 2 ulps after
	// Repeat).
	dx := xmath.U*(4*math.Abs(e)+3*g.mu+max(math.Abs(x), math.Abs(z))) + tol/g.mu
	t := Tails{
		P: xmath.LogNormalTail(x), Q: xmath.LogNormalTail(z),
		PC: xmath.LogNormalTail(-x), QC: xmath.LogNormalTail(-z),
	}
	t.Err = tailErr(t.P, t.Q, xmath.NormalHazard(z+dx)*dx)
	t.ErrC = tailErr(t.PC, t.QC, xmath.NormalHazard(-x+dx)*dx)
	return t
}

// tailErr is the error of a pair of logarithms of normal tails: 5 u relative in
// the logarithm and 5 u in the mass (xmath.LogNormalTail), and the effect of
// the argument's error (hazard × error, the hazard taken at its largest).
func tailErr(a, b, arg float64) float64 {
	e := 5*xmath.U*(1+max(math.Abs(a), math.Abs(b))) + arg
	if math.IsNaN(e) || math.IsInf(e, 0) {
		return 0 // both tails are empty
	}
	return e
}

// Support implements Profile.
func (g normalLoss) Support() Support {
	return Support{Min: math.Inf(-1), Max: math.Inf(1), LogPInf: math.Inf(-1), LogQInf: math.Inf(-1), Spike: math.NaN()}
}

// LogDelta implements hook.LogDeltaer. With x = ε/μ − μ/2 and Mills' ratio R,
// δ = φ(x)·(R(x) − R(x+μ)); for small μ the difference is the integral of
// −R′(t) = 1 − tR(t) > 0 over [x, x+μ].
func (g normalLoss) LogDelta(eps float64) (logDelta, err float64) {
	e := eps / g.mu
	x := e - g.mu/2
	reach := g.mu * (2.3 + max(0, -x))
	if x < -30 || g.mu >= 0.25 { // e^{x²/2} stays in range
		return logDeltaFromTails(g.Tails(eps, 0), eps)
	}
	// Gauss-Legendre with 5 nodes leaves μ^11·(5!)⁴/(11·(10!)³) = 4e-13·μ^11 times
	// the tenth derivative. −R′(t) = ∫₀^∞ s·e^{−ts−s²/2} ds, so its tenth derivative
	// is E[s^10] times itself under the density s·e^{−ts−s²/2}, and E[s^10]^(1/10)
	// ≤ 2.3 + max(0, −t) (2.283 at t = 0). It falls by at most e^reach over the
	// interval.
	quad := 4e-13 * math.Pow(reach, 10) * math.Exp(reach)
	nodes := [5]float64{0, -0.5384693101056831, 0.5384693101056831, -0.906179845938664, 0.906179845938664}
	weights := [5]float64{0.5688888888888889, 0.47862867049936647, 0.47862867049936647, 0.23692688505618908, 0.23692688505618908}
	sum := 0.0
	for i, n := range nodes {
		sum += weights[i] * xmath.MillsSlope(x+g.mu/2*(1+n))
	}
	logDelta = xmath.LogNormalDensity(x) + xmath.Log(sum*g.mu/2)
	dx := xmath.U * (4*math.Abs(e) + 3*g.mu + math.Abs(x))
	// d log δ/dx = −x + …, at most |x| + 3 in size; MillsSlope loses up to (4x²+40)u, measured.
	err = (math.Abs(x)+3)*dx + xmath.U*(40+8*x*x+2*math.Abs(logDelta)) + quad
	if x < 0 {
		if d, e := logDeltaFromTails(g.Tails(eps, 0), eps); e < err {
			return d, e
		}
	}
	return min(0, logDelta), err
}

// The profile of Laplace noise, with tails and their errors in closed form.

// Laplace is the pair Lap(1, b) against Lap(0, b): the Laplace mechanism with
// noise multiplier b (noise scale over L1 sensitivity). Its loss has atoms at
// ±1/b and a density between them. It is its own reverse.
//
// Source: Zhu, Dong and Wang, AISTATS 2022, Table 1 (dominating pair of the
// Laplace mechanism).
type Laplace interface {
	Profile
	// NoiseMultiplier returns b.
	NoiseMultiplier() float64
	isLaplace()
}

// A laplaceProfile is the loss of Laplace noise that is added to a sum; see NewLaplaceLike.
type laplaceProfile struct{ laplaceLoss }

func (laplaceProfile) isLaplace() {}

func newLaplace(m float64) laplaceProfile { return laplaceProfile{laplaceLoss{m}} }

// A laplaceLoss is a privacy loss with atoms at ±m and the density of Laplace noise between them.
type laplaceLoss struct {
	m float64 // 1/b, the largest loss
}

// NewLaplace returns the Laplace profile of a noise multiplier.
func NewLaplace(noiseMultiplier float64) (Laplace, error) {
	if err := noiserange.Check("laplace", noiseMultiplier); err != nil {
		return nil, err
	}
	return newLaplace(1 / noiseMultiplier), nil
}

// SelfReverse implements hook.SelfReverser: noise is symmetric.
func (l laplaceLoss) SelfReverse() bool { return true }

// NoiseMultiplier returns b.
func (l laplaceLoss) NoiseMultiplier() float64 { return 1 / l.m }

// Tails implements Profile: on [−m, m), m = 1/b, P(L ≤ ε) = ½e^{(ε−m)/2} and
// Q(L > ε) = ½e^{−(ε+m)/2}.
func (l laplaceLoss) Tails(eps, tol float64) Tails {
	inf := math.Inf(-1)
	switch {
	case eps < -l.m:
		return Tails{P: 0, Q: 0, PC: inf, QC: inf}
	case eps >= l.m:
		return Tails{P: inf, Q: inf, PC: 0, QC: 0}
	}
	pc := (eps-l.m)/2 - math.Ln2
	q := -(eps+l.m)/2 - math.Ln2
	// P ≥ ½ ≥ PC where P is a complement (and Q alike), so that a shift by tol moves
	// its logarithm by −log(2 − e^{tol/2}) at most.
	err := xmath.U*(2+3*l.m+2*math.Abs(eps)) + tol/2*(1+2*tol)
	return Tails{P: xmath.Log1mExp(pc), Q: q, PC: pc, QC: xmath.Log1mExp(q), Err: err, ErrC: err}
}

// Support implements Profile.
func (l laplaceLoss) Support() Support {
	return Support{Min: -l.m, Max: l.m, LogPInf: math.Inf(-1), LogQInf: math.Inf(-1),
		Atoms: []float64{-l.m, l.m}, Spike: math.NaN(), LossErr: xmath.U * l.m}
}

// NewLaplaceLike returns the profile of Laplace noise of a noise multiplier for a mechanism that
// adds no such noise to a sum: what is proved of Laplace noise on a sample or for groups of
// records does not hold for it.
func NewLaplaceLike(noiseMultiplier float64) (Profile, error) {
	l, err := NewLaplace(noiseMultiplier)
	if err != nil {
		return nil, err
	}
	return laplaceLike{l.(laplaceProfile).laplaceLoss}, nil
}

type laplaceLike struct{ laplaceLoss }

// LaplaceLike implements hook.LaplaceLike.
func (laplaceLike) LaplaceLike() {}

// gaussianLike is the profile of Gaussian noise that dominates other noise: what is proved of Gaussian noise by more than its
// pair does not hold for it.
type gaussianLike struct{ normalLoss }

// GaussianLike implements hook.GaussianLike.
func (gaussianLike) GaussianLike() {}

// Differences of tails without cancellation, for log δ where both tails are nearly
// equal.

// LogTailDifference implements hook.TailDifferencer:
// P(L > ε) − Q(L > ε) = P(|N(0,1) − ε/μ| < μ/2) up to ends.
func (g normalLoss) LogTailDifference(eps, tol float64) (logDiff, err float64) {
	x := eps / g.mu
	dx := xmath.U*(4*math.Abs(x)+3*g.mu) + tol/g.mu
	logDiff, err = xmath.LogNormalBetween(x, g.mu)
	// The density in the window is at least that at its far end: moving the window
	// by dx changes the logarithm by the mean of |x| there at most, and a width that
	// is off by 3u by no more.
	return logDiff, err + dx*(math.Abs(x)+g.mu/2+dx) + 4*xmath.U*(1+g.mu*(math.Abs(x)+g.mu))
}

// LogTailDifference implements hook.TailDifferencer: with x the output,
// P − Q = rate·P(|N(0,1) − x| < μ).
func (g gaussianPlusMinus) LogTailDifference(eps, tol float64) (logDiff, err float64) {
	x, dx := g.threshold(eps, tol)
	dx += xmath.U * math.Abs(x)
	logDiff, err = xmath.LogNormalBetween(x, 2*g.mu)
	logDiff += g.logRate
	return logDiff, err + dx*(math.Abs(x)+g.mu+dx) + 4*xmath.U*(1+math.Abs(logDiff)+math.Abs(g.logRate)+g.mu*(math.Abs(x)+g.mu))
}

// LogTailDifference implements hook.TailDifferencer: on [−m, m),
// P − Q = 1 − e^{−m/2}cosh(ε/2) = −expm1(−m/2) − 2e^{−m/2}sinh²(ε/4).
func (l laplaceLoss) LogTailDifference(eps, tol float64) (logDiff, err float64) {
	if eps < -l.m || eps >= l.m {
		return math.Inf(-1), 0
	}
	s := math.Sinh(eps / 4)
	a, b := -math.Expm1(-l.m/2), 2*math.Exp(-l.m/2)*s*s
	d := a - b
	// |d/dε e^{−m/2}cosh(ε/2)| = ½e^{−m/2}|sinh(ε/2)| ≤ e^{−m/2}(cosh(ε/4)|sinh(ε/4)|).
	slope := math.Exp(-l.m/2) * math.Cosh(eps/4+tol) * math.Sinh(math.Abs(eps)/4+tol)
	e := (xmath.U*(6+l.m)*(a+b) + slope*tol*(1+1e-9)) / d
	if !(e < 0.5) {
		return xmath.Log(max(d, 0)), math.Inf(1)
	}
	return xmath.Log(d), -math.Log1p(-e) + 2*xmath.U*math.Abs(xmath.Log(d))
}

// LogTailDifference implements hook.TailDifferencer: the masses at or above −ε change
// places.
func (r reversed) LogTailDifference(eps, tol float64) (logDiff, err float64) {
	if d, ok := r.base.(hook.TailDifferencer); ok {
		return d.LogTailDifference(math.Nextafter(-eps, math.Inf(-1)), tol+2*xmath.U*math.Abs(eps))
	}
	return 0, math.Inf(1)
}
