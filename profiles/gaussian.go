package profiles

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// Gaussian is the pair N(1, σ²) against N(0, σ²), up to scale N(μ, 1) against
// N(0, 1) with μ = 1/σ: the Gaussian mechanism with noise multiplier σ (noise
// standard deviation over L2 sensitivity), in any dimension. Its loss is
// N(μ²/2, μ²) under P. It is its own reverse.
//
// Source: Balle and Wang, ICML 2018, Theorem 8; dominance in every dimension
// because the loss depends only on the distance of the means.
type Gaussian struct {
	mu float64
}

// NewGaussian returns the Gaussian profile of a noise multiplier.
func NewGaussian(noiseMultiplier float64) (Gaussian, error) {
	if err := checkNoise("gaussian", noiseMultiplier); err != nil {
		return Gaussian{}, err
	}
	return Gaussian{1 / noiseMultiplier}, nil
}

// The range of noise multipliers: beyond it losses (up to 1/σ²) or their
// squares leave float64.
const minNoise, maxNoise = 1e-6, 1e15

func checkNoise(mechanism string, sigma float64) error {
	if !(sigma >= minNoise && sigma <= maxNoise) {
		return fmt.Errorf("%s: noise-multiplier: %v is not in [%g, %g]", mechanism, sigma, minNoise, maxNoise)
	}
	return nil
}

func (g Gaussian) selfReverse() bool { return true }

// NoiseMultiplier returns σ.
func (g Gaussian) NoiseMultiplier() float64 { return 1 / g.mu }

// Tails implements Profile: P(L > ε) = Φ̄(ε/μ − μ/2), Q(L > ε) = Φ̄(ε/μ + μ/2).
func (g Gaussian) Tails(eps, tol float64) Tails {
	e := eps / g.mu
	x, z := e-g.mu/2, e+g.mu/2
	// Rounding of the argument: ε/μ and the sum, and μ = 1/σ itself.
	dx := xmath.U*(3*math.Abs(e)+2*g.mu+max(math.Abs(x), math.Abs(z))) + tol/g.mu
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
func (g Gaussian) Support() Support {
	return Support{Min: math.Inf(-1), Max: math.Inf(1), LogPInf: math.Inf(-1), LogQInf: math.Inf(-1), Spike: math.NaN()}
}
