// The profile of Laplace noise, with tails and their errors in closed form.

package profiles

import (
	"math"

	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Laplace is the pair Lap(1, b) against Lap(0, b): the Laplace mechanism with
// noise multiplier b (noise scale over L1 sensitivity). Its loss has atoms at
// ±1/b and a density between them. It is its own reverse.
//
// Source: Zhu, Dong and Wang, AISTATS 2022, Table 1 (dominating pair of the
// Laplace mechanism).
type Laplace struct {
	m float64 // 1/b, the largest loss
}

// NewLaplace returns the Laplace profile of a noise multiplier.
func NewLaplace(noiseMultiplier float64) (Laplace, error) {
	if err := noiserange.Check("laplace", noiseMultiplier); err != nil {
		return Laplace{}, err
	}
	return Laplace{1 / noiseMultiplier}, nil
}

// SelfReverse implements SelfReverser: noise is symmetric.
func (l Laplace) SelfReverse() bool { return true }

// NoiseMultiplier returns b.
func (l Laplace) NoiseMultiplier() float64 { return 1 / l.m }

// Tails implements Profile: on [−m, m), m = 1/b, P(L ≤ ε) = ½e^{(ε−m)/2} and
// Q(L > ε) = ½e^{−(ε+m)/2}.
func (l Laplace) Tails(eps, tol float64) Tails {
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
func (l Laplace) Support() Support {
	return Support{Min: -l.m, Max: l.m, LogPInf: math.Inf(-1), LogQInf: math.Inf(-1),
		Atoms: []float64{-l.m, l.m}, Spike: math.NaN(), LossErr: xmath.U * l.m}
}

// LaplaceLike is the profile of Laplace noise for a mechanism that adds no such noise to a
// sum: what is proved of Laplace noise on a sample or for groups of records does not hold
// for it.
type LaplaceLike struct{ Laplace }
